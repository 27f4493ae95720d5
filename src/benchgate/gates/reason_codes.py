"""The reason codes of the gate, in the one order in which a decision lists them."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

PREFIX: Final = "checkpoint_promotion_blocked_"
REASONS: Final = (
    "incomplete_run",
    "too_many_unscored",
    "unscored_decide",
    "baseline_missing",
    "baseline_mismatch",
    "plan_mismatch",
    "checkpoint_mismatch",
    "case_mismatch",
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
)
"""All reason codes without their prefix, in the order in which a decision lists them."""

PLAIN: Final = MappingProxyType(
    {
        "incomplete_run": "Some cases have no usable result, so that nothing can be compared yet.",
        "too_many_unscored": "Too many samples ended in an error, which says little about the candidate.",
        "unscored_decide": "Whether the candidate is good enough depends on results that are missing.",
        "baseline_missing": "There is nothing to compare with.",
        "baseline_mismatch": "The baseline is no whole run of the same cases with the same score.",
        "plan_mismatch": "This is not the comparison that was planned.",
        "checkpoint_mismatch": "The results may belong to another checkpoint.",
        "case_mismatch": "The two sides did not do the same cases.",
        "score_out_of_range": "A score is outside the range that was given.",
        "insufficient_cases": "There are too few cases for any decision.",
        "zero_variance": "The scores do not vary, so that no test can be made.",
        "block_severity_failure_mode": "Something happened that must never happen.",
        "critical_case_regressed": "A case that must not fail fails now.",
        "newly_failing_cases": "Cases that passed before fail now.",
        "case_regressed": "A case became worse.",
        "safety_regression": "The candidate does more harm.",
        "safety_upper_bound": "The candidate may do more harm: so few cases do not exclude it.",
        "safety_missing": "Harm was not measured on every case.",
        "safety_bound_unavailable": "Nobody said how much harm there can be.",
        "seed_reproducibility": "The repetitions of the candidate disagree.",
        "sample_sensitivity": "The result depends on which of the cases are looked at.",
        "significant_regression": "The candidate is worse, by more than chance explains.",
        "worse_than_margin": "The candidate is worse by more than is allowed.",
        "delta_below_minimum": "The candidate did not score higher, or not by enough.",
        "gain_excluded": "If the candidate is better at all, it is by too little to matter.",
        "not_significant": "The difference may be chance, though these cases would have shown a real one.",
        "inconclusive_underpowered": "The difference may be chance: so few cases cannot tell.",
        "margin_not_shown": "A loss that matters cannot be excluded yet.",
        "exact_evidence_required": "The evidence is not as strong as was asked for.",
        "cost_increase": "The candidate costs too much more, or its cost is not known.",
    }
)
"""Each reason for readers who never trained anything."""


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
