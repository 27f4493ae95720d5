"""
The default gate as a function of two vectors, for a harness that measures how often it errs.

Such a harness calls ``gate(baseline, candidate)`` with arrays of scores, or of scores by trial, and counts promotions.
The measured tables stand in docs/explanation/statistics.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchgate.gates.figures import Arm
from benchgate.gates.policy import GatePolicy
from benchgate.gates.vectors import compare_vectors

if TYPE_CHECKING:
    from collections.abc import Sequence


def _arm(scores: Any, *, named: bool) -> Arm:
    means: Sequence[float] = scores.mean(axis=1) if scores.ndim == 2 else scores
    ids = tuple(f"c{number:05}" for number in range(len(means))) if named else None
    return Arm(scores=tuple(map(float, means)), case_ids=ids)


def _promotes(baseline: Any, candidate: Any, **policy: Any) -> bool:
    named = policy.get("test") == "auto"
    arms = _arm(baseline, named=named), _arm(candidate, named=named)
    inside = all(0 <= score <= 1 for arm in arms for score in arm.scores)
    limits = {"score_range": (0.0, 1.0) if inside else None}
    rules = GatePolicy(min_cases=2, safety="optional", **limits, **policy)
    return compare_vectors(*arms, rules).decision.promotion_allowed


def welch(baseline: Any, candidate: Any) -> bool:
    """Decide by the default policy, which binds Welch's test."""
    return _promotes(baseline, candidate)


def auto(baseline: Any, candidate: Any) -> bool:
    """Decide by the policy of the shipped benches, which pairs cases of one id."""
    return _promotes(baseline, candidate, test="auto")


def exact(baseline: Any, candidate: Any) -> bool:
    """Decide by ``evidence = "exact"`` with pairing."""
    return _promotes(baseline, candidate, test="auto", evidence="exact")


# What the harness reads: trials are to be given as trials, the nominal level, and for which designs.
for gate, paired in ((welch, None), (auto, True), (exact, True)):
    gate.accepts_epochs = True  # type: ignore[attr-defined]
    gate.nominal = 0.025  # type: ignore[attr-defined]
    gate.paired = paired  # type: ignore[attr-defined]
