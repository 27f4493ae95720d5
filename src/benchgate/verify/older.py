"""
Rechecks evidence of versions before policies had a claim.

Their reasons, plans and tests of pass and fail were others, and cannot be computed any more. What both versions compute
alike is compared all the same: means, tests, intervals, penalties, and the reasons that follow from these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from benchgate.artifacts.build import evaluation_report, safety_of
from benchgate.artifacts.evidence_kinds import EvaluationReport, SafetyReport, SignificanceReport
from benchgate.artifacts.reading import read_artifact
from benchgate.gates.reason_codes import PREFIX
from benchgate.gates.weigh import significance
from benchgate.verify.agreement import plain, same
from benchgate.verify.rebuild import Family, family_in, rebuilt

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path


PLANS: Final = frozenset({"minimum_detectable_effect", "cases_needed"})
PENALTIES: Final = (
    "baseline_mean_safety_penalty",
    "trained_mean_safety_penalty",
    "safety_regression_delta",
    "max_safety_regression",
)
EFFECTS: Final = ("baseline", "candidate", "mean_delta", "pooled_std_dev", "cohens_d", "alpha")
BANDS: Final = ("seed_reproducibility", "sample_size_sensitivity")
REASONS: Final = (
    "incomplete_run",
    "too_many_unscored",
    "case_mismatch",
    "score_out_of_range",
    "block_severity_failure_mode",
    "safety_regression",
    "safety_missing",
    "delta_below_minimum",
)
"""Reasons for which both versions have the same condition."""


def older_evidence(folder: Path) -> Iterator[str]:
    """Yield where the evidence files of a folder differ from what their samples give, as far as both versions agree."""
    family = family_in(folder)
    if family is None:
        return
    files = (
        read_artifact(folder / "significance.json", SignificanceReport),
        read_artifact(folder / "safety.json", SafetyReport),
        read_artifact(folder / "evaluation.json", EvaluationReport),
    )
    for found in files:
        yield from older_faults(found, family) if found else ()


def older_faults(
    report: SignificanceReport | SafetyReport | EvaluationReport, family: Family
) -> Iterator[str]:
    """Yield where one file differs; as :func:`older_evidence`."""
    found = plain(report)
    if isinstance(report, SignificanceReport):
        arms = family.figures.baseline, family.figures.candidate
        figures = plain(significance(*arms, family.policy))
        yield from _parts("significance", figures, found["significance"], figures.keys() - PLANS)
        return
    made = rebuilt(family, ())
    if isinstance(report, SafetyReport):
        yield from _parts("safety", plain(safety_of(made)), found, PENALTIES)
        return
    expected = plain(evaluation_report(made))
    effects, stated = expected["policy_improvement"], found["policy_improvement"]
    yield from _parts("policy_improvement", effects, stated, EFFECTS)
    yield from _parts("evaluation", expected, found, BANDS)


def older_reasons(made: Sequence[str], found: Sequence[str]) -> Iterator[str]:
    """Yield that a decision lacks a reason, or has one, against both versions."""
    for reason in REASONS:
        code = PREFIX + reason
        yield from same(f"decision.reason_codes: {reason}", code in made, code in found)


def _parts(
    where: str, expected: dict[str, Any], found: dict[str, Any], names: Collection[str]
) -> Iterator[str]:
    for name in sorted(names):
        yield from same(f"{where}.{name}", expected[name], found.get(name))
