"""What a gate decides, and the reason codes it gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from benchgate.wire.model import DisplayText, Number, WireModel

if TYPE_CHECKING:
    from benchgate.gates.figures import Figures
    from benchgate.gates.policy import GatePolicy


PREFIX: Final = "checkpoint_promotion_blocked_"
REASONS: Final = (
    "incomplete_run",
    "baseline_missing",
    "baseline_mismatch",
    "checkpoint_mismatch",
    "case_mismatch",
    "non_finite_value",
    "score_out_of_range",
    "insufficient_cases",
    "zero_variance",
    "block_severity_failure_mode",
    "safety_regression",
    "safety_upper_bound",
    "safety_missing",
    "safety_bound_unavailable",
    "seed_reproducibility",
    "sample_sensitivity",
    "significant_regression",
    "delta_below_minimum",
    "not_significant",
    "inconclusive_underpowered",
    "exact_evidence_required",
)
"""All reason codes without their prefix, in the order in which a decision lists them."""


REJECTING: Final = frozenset(
    {
        "block_severity_failure_mode",
        "safety_regression",
        "safety_upper_bound",
        "significant_regression",
        "delta_below_minimum",
        "not_significant",
    }
)
"""Reasons that speak against the candidate; any other says that the evidence is not enough."""


Blocker = tuple[str, str]
"""A reason code without its prefix, and its message."""


class Remark(WireModel):
    """A code and what it says in this case."""

    code: DisplayText
    message: DisplayText


class CheckpointPromotionDecision(WireModel):
    """
    What a gate decided.

    :param outcome: ``promote``; ``reject`` if something speaks against the candidate; else ``hold``.
    :param reason_codes: every failed condition, in fixed order; empty iff promote.
    :param notes: codes of what a reader should know; they never block.
    :param remarks: a sentence for each reason and note.
    :param minimum_detectable_effect: the difference that a comparison of this size could have seen.
    """

    outcome: Literal["promote", "hold", "reject"]
    promotion_allowed: bool
    reason_codes: tuple[str, ...]
    notes: tuple[str, ...]
    remarks: tuple[Remark, ...]
    minimum_detectable_effect: Number | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GateInput:
    """
    What a decision is made of.

    :param evidence: ``None`` if there was nothing to compare with.
    :param blockers: conditions that failed before any statistics: an incomplete run, a missing baseline.
    :param further: what gates of plugins object to, by name; each holds the decision.
    """

    policy: GatePolicy
    trial_count: int = 1
    figures: Figures | None = None
    blockers: tuple[Blocker, ...] = ()
    further: tuple[Blocker, ...] = ()
