"""The reasons for which a run exits with a status other than 0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from benchgate.aggregate import INCOMPLETE
from benchgate.gates.unscored import incompleteness
from benchgate.sentences.says import says

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.gates.choice import BaselineChoice
    from benchgate.gates.decision import CheckpointPromotionDecision, Outcome
    from benchgate.models import BenchRunReport
    from benchgate.sentences.says import Says


ExitRule = Literal["strict", "gate"]
HELD: Final = 10
"""Exit status where all that failed is that the gate, which binds, has too little evidence."""


def failures(
    report: BenchRunReport,
    decision: CheckpointPromotionDecision | None,
    choice: BaselineChoice,
    exit_rule: ExitRule,
    *,
    is_part: bool = False,
) -> Iterator[Says]:
    """
    Yield why a run must not exit with 0; a gate that was requested but not evaluated is one reason.

    :param is_part: the gate follows when the run is put together.
    """
    outcome = None
    if decision is not None:
        outcome = decision.outcome
    # The gate of a part follows, and with it the decision.
    is_undecided = outcome is None and not is_part
    if is_undecided and choice.requested:
        yield says("exit.not_evaluated")
    if outcome == "reject" and choice.binding:
        yield says("exit.reject")
    if report.block_severity_failure_modes:
        from benchgate.gates.blockers import blocking

        yield says("exit.block", modes=blocking(report))
    if not report.complete and not report.stopped:
        yield says("exit.incomplete", parts=incompleteness(report))
    # Where nothing is decided, nothing but the cases says how the run went.
    if exit_rule == "strict" or is_undecided:
        yield from _failed_cases(report, outcome)


def _failed_cases(report: BenchRunReport, outcome: Outcome | None) -> Iterator[Says]:
    # A case without a result did not fail: that the run is incomplete says so.
    ended = [r for r in report.shown.per_case if r.outcome not in INCOMPLETE]
    failed = len({result.case_id for result in ended if not result.passed})
    if not failed:
        return
    if outcome == "promote":
        yield says("exit.gate_alone", failed=failed, cases=report.case_count)
    else:
        yield says("exit.failed_cases", failed=failed, cases=report.case_count)
