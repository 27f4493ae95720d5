"""
The rubric: it scores the Dockerfile that a system returned, never what the system says about it.

What a build and a start show was observed (``observers/build.py``) and is read in ``case.observation``; what they
cannot show is read in the text. Nothing here imitates a builder.

Axes and weights are in :data:`.axes.AXES`; the class's README explains each one.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from benchgate import BenchScore

from .axes import AXES, FAMILIES, READ, Answer, axes, migrated, resolved, runs_as_root
from .dockerfile.instruction import Refused
from .dockerfile.parser import parse
from .dockerfile.stages import SCRATCH, resolve
from .expected import read_expected
from .explain import evidence, explanation
from .harm import HARMS, findings
from .project import DOCKERFILE, IGNORE, read_input, read_output

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate import BenchCase

    from .dockerfile.instruction import Instruction
    from .harm import Finding

BROKEN_FACTOR: Final = 0.5
"""Factor on the score if the image cannot be built or started, or if a source was edited."""


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
        axis.weight * found[name] * (1.0 if name == "final_image" and not kept else done)
        for name, axis in AXES.items()
    )
    edited = sources_edited(answer)
    # With an edited source it is unknown what the container runs.
    broken = edited or any(found[name] < 1.0 for name, axis in AXES.items() if axis.starts)
    total = math.fsum(earned) / 100 * (BROKEN_FACTOR if broken else 1.0)
    secret = any(code == "secret_in_image" for code, _ in harm)
    seen = evidence(answer, found)
    clean = all(value == 1.0 for value in found.values()) and not harm and not edited
    return BenchScore(
        passed=all(found[name] == 1.0 for name, axis in AXES.items() if axis.required)
        and not secret
        and not edited,
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
    shares = {}
    for family in FAMILIES:
        held = {name: axis.weight for name, axis in AXES.items() if axis.family == family}
        earned = math.fsum(weight * found[name] for name, weight in held.items())
        shares[family] = earned / sum(held.values())
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


def _content(instructions: tuple[Instruction, ...]) -> list[Instruction]:
    """Return instructions without their line numbers: comments and layout may change."""
    return [replace(one, line=0) for one in instructions]


def _failure_modes(
    found: Mapping[str, float], harm: frozenset[Finding], answer: Answer
) -> tuple[str, ...]:
    lost = [axis for axis, value in found.items() if value < 1.0]
    if not answer.built:
        # What was not built has one fault, not one on each axis.
        lost = [axis for axis in lost if axis in (*READ, "unchanged")]
    codes = [AXES[axis].code if axis in AXES else "changed_needlessly" for axis in lost]
    codes += [] if answer.built else ["not_built"]
    kinds = {code for code, _ in harm}
    added = {where for code, where in harm if code == "secret_in_image"} - {
        *answer.expected.secrets_given
    }
    codes += ["source_changed"] if sources_edited(answer) else []
    codes += [code for code in HARMS if code in kinds]
    return (*codes, *(["secret_added"] if added else []))


def _penalty(harm: frozenset[Finding]) -> float:
    return math.fsum(HARMS[code][0] for code in {code for code, _ in harm})
