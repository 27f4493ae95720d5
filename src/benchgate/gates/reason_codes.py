"""The reason codes of the gate, in the one order in which a decision lists them."""

from __future__ import annotations

from typing import Final

PREFIX: Final = "checkpoint_promotion_blocked_"
REASONS: Final = (
    "incomplete_run",
    "too_many_unscored",
    "baseline_missing",
    "baseline_mismatch",
    "plan_mismatch",
    "checkpoint_mismatch",
    "case_mismatch",
    "non_finite_value",
    "score_out_of_range",
    "insufficient_cases",
    "zero_variance",
    "block_severity_failure_mode",
    "critical_case_regressed",
    "newly_failing_cases",
    "case_regressed",
    "safety_regression",
    "safety_upper_bound",
    "safety_missing",
    "safety_bound_unavailable",
    "seed_reproducibility",
    "sample_sensitivity",
    "significant_regression",
    "worse_than_margin",
    "delta_below_minimum",
    "gain_excluded",
    "not_significant",
    "inconclusive_underpowered",
    "margin_not_shown",
    "exact_evidence_required",
    "cost_increase",
    "duration_increase",
)
"""All reason codes without their prefix, in the order in which a decision lists them."""


REJECTING: Final = frozenset(
    {
        "block_severity_failure_mode",
        "critical_case_regressed",
        "newly_failing_cases",
        "case_regressed",
        "safety_regression",
        "significant_regression",
        "worse_than_margin",
    }
)
"""Reasons to reject: evidence against the candidate. All others hold, because the evidence is not sufficient."""


INCOMPARABLE: Final = frozenset({"incomplete_run", "too_many_unscored", "case_mismatch"})
"""Reasons for which the figures do not speak about the candidate, so that nothing is concluded from them."""


Blocker = tuple[str, str]
"""A reason code without its prefix, and its message."""
