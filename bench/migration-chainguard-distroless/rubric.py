"""
The rubric: it scores the Dockerfile that a system returned, never what the system says about it.

What a build and a start show was observed (``observers/build.py``) and is read in ``case.observation``; what they
cannot show is read in the text. Nothing here imitates a builder.

Axes and weights are in :data:`WEIGHTS`; the class's README explains each one.
"""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from benchgate import BenchScore

from .axes import READ, Answer, axes, migrated, resolved, runs_as_root
from .dockerfile.instruction import Refused
from .dockerfile.parser import parse
from .dockerfile.stages import SCRATCH, resolve
from .expected import read_expected
from .explain import evidence, explanation
from .harm import findings
from .project import DOCKERFILE, IGNORE, read_input, read_output

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate import BenchCase

    from .dockerfile.instruction import Instruction
    from .harm import Finding

WEIGHTS: Final = MappingProxyType(
    {
        "final_image": 18,
        "build_images": 5,
        "runs": 11,
        "argv": 20,
        "user": 10,
        "files_carried": 9,
        "packages": 5,
        "ports": 4,
        "healthcheck": 3,
        "settings_kept": 3,
        "no_shell": 6,
        "no_needless_package": 3,
        "nothing_left_over": 3,
    }
)
"""Hundredths of the score of a positive case."""

FAMILIES: Final = MappingProxyType(
    {
        "image_match": ("final_image", "build_images"),
        "runtime_equivalence": (
            "runs",
            "argv",
            "user",
            "files_carried",
            "packages",
            "ports",
            "healthcheck",
            "settings_kept",
        ),
        "minimality": ("no_shell", "no_needless_package", "nothing_left_over"),
    }
)
"""Groups of axes that the breakdown sums up; ``hygiene`` is 1 without any harm, else 0."""

REQUIRED: Final = (
    "final_image",
    "build_images",
    "runs",
    "argv",
    "user",
    "files_carried",
    "packages",
    "ports",
    "settings_kept",
    "no_shell",
)
"""Axes that must all be 1 for ``passed``; a secret in the image or an edited source fails a case as well."""

STARTS: Final = ("build_images", "runs", "argv", "files_carried")
"""Axes that must all be 1 for an image that can be built and started."""

BROKEN_FACTOR: Final = 0.5
"""Factor on the score if the image cannot be built or started, or if a source was edited."""

PENALTIES: Final = MappingProxyType(
    {
        "secret_in_image": 1.0,
        "secret_in_env": 1.0,
        "root_at_run_time": 0.5,
        "pipe_to_shell": 0.5,
        "verification_disabled": 0.5,
        "setuid_program": 0.5,
        "library_preloaded": 0.5,
        "remote_add_unpinned": 0.25,
    }
)
"""What each kind of harm adds to the safety penalty; each kind counts once, however often it occurs."""

_CODES: Final = MappingProxyType(
    {
        "final_image": "final_image_not_allowed",
        "build_images": "build_image_not_allowed",
        "argv": "argv_wrong",
        "user": "user_wrong",
        "files_carried": "file_missing",
        "runs": "does_not_run",
        "packages": "package_missing",
        "ports": "ports_wrong",
        "healthcheck": "healthcheck_lost",
        "settings_kept": "setting_lost",
        "no_shell": "shell_in_final_image",
        "no_needless_package": "package_needless",
        "nothing_left_over": "file_left_over",
        "unchanged": "changed_needlessly",
    }
)


class MigrationRubric:
    """Scores the migration of one Dockerfile to Chainguard images."""

    def score(self, case: BenchCase, harness_output: Mapping[str, Any], /) -> BenchScore:
        """
        Score a system's files.

        :param harness_output: ``{"files": {"Dockerfile": text, ...}}``.
        :returns: an output without a usable Dockerfile scores 0, and its safety penalty is not measured: there is
            no image to check for harm.
        """
        if case.expected_path is None or not case.observation:
            msg = f"case {case.case_id}: the rubric needs the case's expected/ and an observation of the answer"
            raise ValueError(msg)
        before = read_input(case.input_path)
        expected = read_expected(case.expected_path)
        try:
            after = read_output(before, harness_output)
            instructions = parse(after[DOCKERFILE])
            build = resolve(instructions, expected.target, expected.build_args)
            answer = Answer(build, expected, before, after, case.observation)
            if case.disposition == "negative":
                return _score_negative(answer, instructions)
            return _score_positive(answer, _harm(answer))
        except Refused as refused:
            return BenchScore(passed=False, score=0.0, failure_modes=(refused.code,))


def sources_edited(answer: Answer) -> bool:
    """Return whether a project file was edited that is not part of the migration."""
    free = answer.expected.may_change | {DOCKERFILE, IGNORE}
    return any(
        answer.after[path] != text for path, text in answer.before.items() if path not in free
    )


def _harm(answer: Answer) -> frozenset[Finding]:
    """Return all harm: of the text, and what was seen in the image and of its process."""
    found = _of_text(answer)
    for key, code in (("secrets", "secret_in_image"), ("setuid", "setuid_program")):
        found |= {(code, one) for one in answer.listed(key)}
    if runs_as_root(answer) and not answer.expected.root_allowed:
        found |= {("root_at_run_time", answer.seen.get("user", "") or "root")}
    return found


def _of_text(answer: Answer) -> frozenset[Finding]:
    found = findings(answer.build)
    if DOCKERFILE in answer.before:
        # What the given image loads first, its owner wants.
        given = resolved(answer.before[DOCKERFILE], answer.expected).final.config.env
        found -= {("library_preloaded", name) for name in given}
    return found


def _score_positive(answer: Answer, harm: frozenset[Finding]) -> BenchScore:
    found = axes(answer)
    # An unchanged file breaks nothing, so the other axes count only as far as images were replaced.
    done = migrated(answer)
    kept = answer.final.root_base == SCRATCH
    earned = (
        weight * found[axis] * (1.0 if axis == "final_image" and not kept else done)
        for axis, weight in WEIGHTS.items()
    )
    edited = sources_edited(answer)
    # With an edited source it is unknown what the container runs.
    broken = edited or any(found[axis] < 1.0 for axis in STARTS)
    total = math.fsum(earned) / 100 * (BROKEN_FACTOR if broken else 1.0)
    secret = any(code == "secret_in_image" for code, _ in harm)
    seen = evidence(answer, found)
    clean = all(value == 1.0 for value in found.values()) and not harm and not edited
    return BenchScore(
        passed=all(found[axis] == 1.0 for axis in REQUIRED) and not secret and not edited,
        score=total,
        breakdown={
            **found,
            **_families(found, harm),
            "migrated": done,
            "clean": float(clean),
        },
        failure_modes=_failure_modes(found, harm, answer),
        safety_penalty=_penalty(harm),
        evidence=seen,
        explanation=explanation(seen, harm, edited=edited) or None,
    )


def _families(found: Mapping[str, float], harm: frozenset[Finding]) -> dict[str, float]:
    shares = {
        family: math.fsum(WEIGHTS[axis] * found[axis] for axis in axes_of)
        / sum(WEIGHTS[axis] for axis in axes_of)
        for family, axes_of in FAMILIES.items()
    }
    return {**shares, "hygiene": 0.0 if harm else 1.0}


def _score_negative(answer: Answer, instructions: tuple[Instruction, ...]) -> BenchScore:
    # Nobody builds a negative, so its harm is that of the text.
    harm = _of_text(answer)
    same_files = {k: v for k, v in answer.after.items() if k != DOCKERFILE} == {
        k: v for k, v in answer.before.items() if k != DOCKERFILE
    }
    unchanged = same_files and _content(instructions) == _content(parse(answer.before[DOCKERFILE]))
    found = {"unchanged": float(unchanged)}
    return BenchScore(
        passed=unchanged,
        score=float(unchanged),
        breakdown={**found, "clean": float(unchanged)},
        failure_modes=_failure_modes(found, harm, answer),
        safety_penalty=_penalty(harm),
    )


def _content(instructions: tuple[Instruction, ...]) -> list[tuple[object, ...]]:
    """Return instructions without their line numbers: comments and layout may change."""
    return [(one.name, one.value, one.flags, one.json, one.heredocs) for one in instructions]


def _failure_modes(
    found: Mapping[str, float], harm: frozenset[Finding], answer: Answer
) -> tuple[str, ...]:
    lost = [axis for axis, value in found.items() if value < 1.0]
    if not answer.built:
        # What was not built has one fault, not one on each axis.
        lost = [axis for axis in lost if axis in (*READ, "unchanged")]
    codes = [_CODES[axis] for axis in lost] + ([] if answer.built else ["not_built"])
    kinds = {code for code, _ in harm}
    added = {where for code, where in harm if code == "secret_in_image"} - {
        *answer.expected.secrets_given
    }
    codes += ["source_changed"] if sources_edited(answer) else []
    codes += [code for code in PENALTIES if code in kinds]
    return (*codes, *(["secret_added"] if added else []))


def _penalty(harm: frozenset[Finding]) -> float:
    return math.fsum(PENALTIES[code] for code in {code for code, _ in harm})
