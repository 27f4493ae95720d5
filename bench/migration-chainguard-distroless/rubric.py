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

from .axes import AXES, FAMILIES, READ, Answer, axes, migrated, runs_as_root
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
            return _score_positive(answer)
        except Refused as refused:
            return BenchScore(passed=False, score=0.0, failure_modes=(refused.code,))


def sources_edited(answer: Answer) -> bool:
    """Return whether a project file was edited that is not part of the migration."""
    free = answer.expected.may_change | {DOCKERFILE, IGNORE}
    return any(
        answer.after[path] != text for path, text in answer.before.items() if path not in free
    )


def _harm(answer: Answer) -> frozenset[Finding]:
    """Return all harm: of the text; and what was seen in the image and of its process, which a negative has not."""
    # What the given image loads first, its owner wants.
    found = findings(answer.build) - {("library_preloaded", name) for name in answer.given.env}
    if answer.seen.get("asked") is False:
        return found
    for key, code in (("secrets", "secret_in_image"), ("setuid", "setuid_program")):
        found |= {(code, one) for one in answer.listed(key)}
    if runs_as_root(answer) and not answer.expected.root_allowed:
        found |= {("root_at_run_time", answer.seen.get("user", "") or "root")}
    return found


def _score_positive(answer: Answer) -> BenchScore:
    found, harm, edited = axes(answer), _harm(answer), sources_edited(answer)
    # An unchanged file breaks nothing, so the other axes count only as far as images were replaced.
    done = migrated(answer)
    whole = ("final_image",) if answer.final.root_base != SCRATCH else ()
    earned = (
        axis.weight * found[name] * (1.0 if name in whole else done) for name, axis in AXES.items()
    )
    lost = [axis for name, axis in AXES.items() if found[name] < 1.0]
    # With an edited source it is unknown what the container runs.
    broken = edited or any(axis.starts for axis in lost)
    secret = any(code == "secret_in_image" for code, _ in harm)
    seen = evidence(answer, found)
    return BenchScore(
        passed=not (secret or edited or any(axis.required for axis in lost)),
        score=math.fsum(earned) / 100 * (BROKEN_FACTOR if broken else 1.0),
        breakdown={
            **found,
            **_families(found),
            "hygiene": float(not harm),
            "migrated": done,
            "clean": float(not (lost or harm or edited)),
        },
        failure_modes=_failure_modes(found, harm, answer),
        safety_penalty=_penalty(harm),
        evidence=seen,
        explanation=explanation(seen, harm, edited=edited) or None,
    )


def _families(found: Mapping[str, float]) -> dict[str, float]:
    shares = {}
    for family in FAMILIES:
        held = {name: axis.weight for name, axis in AXES.items() if axis.family == family}
        earned = math.fsum(weight * found[name] for name, weight in held.items())
        shares[family] = earned / sum(held.values())
    return shares


def _score_negative(answer: Answer, instructions: tuple[Instruction, ...]) -> BenchScore:
    harm, given = _harm(answer), parse(answer.before[DOCKERFILE])
    same_files = {**answer.before, DOCKERFILE: ""} == {**answer.after, DOCKERFILE: ""}
    # Comments and layout may change, and so the numbers of lines.
    before, after = ([replace(one, line=0) for one in held] for held in (given, instructions))
    unchanged = same_files and before == after
    found = {"unchanged": float(unchanged)}
    return BenchScore(
        passed=unchanged,
        score=float(unchanged),
        breakdown={**found, "clean": float(unchanged)},
        failure_modes=_failure_modes(found, harm, answer),
        safety_penalty=_penalty(harm),
    )


def _failure_modes(
    found: Mapping[str, float], harm: frozenset[Finding], answer: Answer
) -> tuple[str, ...]:
    # What was not built has one fault, not one on each axis.
    lost = [axis for axis, held in found.items() if held < 1.0 and (answer.built or axis in READ)]
    codes = [AXES[axis].code if axis in AXES else "changed_needlessly" for axis in lost]
    codes += [] if answer.built else ["not_built"]
    codes += ["source_changed"] if sources_edited(answer) else []
    kinds = {code for code, _ in harm}
    codes += [code for code in HARMS if code in kinds]
    secrets = {where for code, where in harm if code == "secret_in_image"}
    return (*codes, *(["secret_added"] if secrets - answer.expected.secrets_given else []))


def _penalty(harm: frozenset[Finding]) -> float:
    return math.fsum(HARMS[code][0] for code in {code for code, _ in harm})
