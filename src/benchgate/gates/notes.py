"""The notes of a decision: what a reader should know, but what never blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.gates.decision import GateInput
    from benchgate.gates.figures import Figures
    from benchgate.gates.policy import GatePolicy
    from benchgate.gates.reason_codes import Blocker


def notes(given: GateInput) -> Iterator[Blocker]:
    """Yield code and message of each note."""
    if given.trial_count > 1:
        yield "epochs_collapsed", f"{given.trial_count} trials of a case count as one observation"
    if given.without_advantages:
        unchecked = "they were not compared with the steps"
        yield "no_advantages", f"{given.without_advantages} trials gave no advantages: {unchecked}"
    if given.figures is not None:
        yield from _of_figures(given.figures, given.policy)


def _of_figures(compared: Figures, policy: GatePolicy) -> Iterator[Blocker]:
    figures = compared.significance
    if compared.smallest < 10:
        yield "few_cases", f"{compared.smallest} cases are few for any claim"
    if figures.p_value is None and figures.exact_lower_bound is not None:
        yield (
            "zero_variance_exact_bound_used",
            "no p can be made; the bounded-support bound decides",
        )
    if figures.paired and figures.paired.passed != figures.welch.passed:
        advice = "; test = 'auto' binds the paired one" if policy.test == "welch" else ""
        yield "welch_paired_disagree", f"Welch and the paired test disagree{advice}"
    if (
        figures.paired
        and figures.test == "paired"
        and figures.paired.sign_flip_method == "monte_carlo"
    ):
        yield "monte_carlo_p", f"sign-flip p from {figures.paired.n_resamples} drawn patterns"
    if figures.unseen_failure_ucb95 is not None:
        rate = f"{figures.unseen_failure_ucb95:.1%}"
        yield (
            "unseen_failure_bound",
            f"a failure in up to {rate} of such cases may have stayed unseen",
        )
