"""Whether what runs now must be taken back, in favour of what it replaced: the baseline of the comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchgate.gates.conditions import INCOMPARABLE, REASONS
from benchgate.gates.decision import PREFIX
from benchgate.wire.model import WireModel

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchgate.gates.figures import Figures
    from benchgate.gates.policy import GatePolicy


REQUIRED: Final = "rollback_required_"
NOT_EVALUATED: Final = "rollback_not_evaluated_"
ABSENT: Final = INCOMPARABLE | {
    "baseline_missing",
    "baseline_mismatch",
    "observer_mismatch",
    "checkpoint_mismatch",
    "score_out_of_range",
}
"""Reasons for which two sides cannot be compared: evidence neither for a rollback nor against it."""


class RollbackGate(WireModel):
    """
    Whether to go back to the baseline. Missing evidence never requires it.

    :param failing_checks: of ``block_severity_failure_mode``, ``safety_regression`` and ``significant_regression``, in
        this order; a rollback is required iff there is one.
    :param reason_codes: ``rollback_required_`` and each of them; then ``rollback_not_evaluated_`` and what kept a
        check from being made.
    """

    rollback_required: bool
    failing_checks: tuple[str, ...]
    reason_codes: tuple[str, ...]


def rollback_gate(
    figures: Figures, policy: GatePolicy, p_of_loss: float | None, codes: Sequence[str]
) -> RollbackGate:
    """
    Judge whether the candidate of a comparison must be taken back.

    :param policy: at the level of the look.
    :param p_of_loss: one-sided, for "the candidate is worse", whatever the claim is.
    :param codes: the reasons of the decision.
    """
    plain = {code.removeprefix(PREFIX) for code in codes}
    is_worse = p_of_loss is not None and p_of_loss <= policy.alpha / 2
    comparable = ABSENT.isdisjoint(plain)
    failing = {
        "block_severity_failure_mode": "block_severity_failure_mode" in plain,
        "safety_regression": comparable and "safety_regression" in plain,
        "significant_regression": comparable and is_worse,
    }
    checks = tuple(check for check, fails in failing.items() if fails)
    return RollbackGate(
        rollback_required=bool(checks),
        failing_checks=checks,
        reason_codes=(
            *(REQUIRED + check for check in checks),
            *(NOT_EVALUATED + code for code in _absent(plain, figures)),
        ),
    )


def _absent(plain: set[str], figures: Figures) -> Iterator[str]:
    """Yield what kept a check from being made, in the order of the reasons of a decision."""
    absent = ABSENT | {"safety_missing"}
    yield from (code for code in REASONS if code in plain and code in absent)
    if figures.smallest < 2:
        yield "insufficient_cases"
