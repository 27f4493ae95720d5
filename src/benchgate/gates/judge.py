"""A finished run, judged: from its report to a decision and an exit status."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from benchgate.aggregate import INCOMPLETE
from benchgate.gates.baseline import arm, differences
from benchgate.gates.decide import GateInput, decide

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.gates.baseline import Baseline, BaselineChoice
    from benchgate.gates.decide import Blocker, CheckpointPromotionDecision
    from benchgate.gates.figures import Evidence
    from benchgate.gates.policy import GatePolicy
    from benchgate.models import BenchRunReport
    from benchgate.training.checkpoints import Checkpoints

ExitRule = Literal["strict", "gate"]
EXIT_RULES: Final = ("strict", "gate")

Gate = Callable[["BenchRunReport", "BenchRunReport | None"], str | None]
"""
A further gate: gets the candidate's report and the baseline's, returns ``None`` or why it objects.

Its name in the decision is its ``name`` attribute, else its ``__name__``.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """
    A run's report with what was decided about it.

    :param decision: ``None`` if the run is a selection: nothing was evaluated.
    :param baseline: what it was compared with; ``None`` if there was nothing.
    :param failures: why the exit status is not 0; empty if it is.
    """

    report: BenchRunReport
    policy: GatePolicy
    baseline: Baseline | None
    choice: BaselineChoice
    evidence: Evidence | None
    decision: CheckpointPromotionDecision | None
    failures: tuple[str, ...]
    checkpoints: Checkpoints | None = None


def judge(
    report: BenchRunReport,
    *,
    policy: GatePolicy,
    choice: BaselineChoice,
    baseline: Baseline | None,
    gates: Iterable[Gate] = (),
    checkpoints: Checkpoints | None = None,
    checkpoint_problems: tuple[str, ...] = (),
    exit_rule: ExitRule = "strict",
) -> Judgement:
    """
    Compare a run with its baseline and decide.

    :param choice: how the baseline was chosen; says whether the decision binds the exit status.
    :param gates: further gates; one that raises objects.
    :param checkpoint_problems: why the evidence does not belong to the checkpoint that is the subject.
    """
    blockers = [*run_blockers(report), *_baseline_blockers(report, baseline)]
    if checkpoint_problems:
        blockers.append(("checkpoint_mismatch", "; ".join(checkpoint_problems[:3])))
    comparable = baseline is not None and not any(c == "baseline_mismatch" for c, _ in blockers)
    before = baseline.report if baseline and comparable else None
    evidence, objections = _evidence(report, before, policy)
    blockers += objections
    further = tuple(_further(gates, report, before)) if report.scope == "full" else ()
    decision = None
    if report.scope == "full":
        decision = decide(
            GateInput(
                policy=policy,
                trial_count=report.trial_count,
                evidence=evidence,
                blockers=tuple(blockers),
                further=further,
            )
        )
    return Judgement(
        report=report,
        policy=policy,
        baseline=baseline,
        choice=choice,
        evidence=evidence,
        decision=decision,
        checkpoints=checkpoints,
        failures=(
            *_failures(report, decision, choice, exit_rule),
            *(f"checkpoint: {problem}" for problem in checkpoint_problems[:3]),
            *(f"gate {name}: {objection}" for name, objection in further),
        ),
    )


def _evidence(
    report: BenchRunReport, before: BenchRunReport | None, policy: GatePolicy
) -> tuple[Evidence | None, tuple[Blocker, ...]]:
    if before is None or report.scope != "full":
        return None, ()
    # Here, not above: scipy is imported when a gate runs, not before.
    from benchgate.gates.vectors import weigh_arms

    return weigh_arms(arm(before), arm(report), policy)


def run_blockers(report: BenchRunReport) -> Iterator[Blocker]:
    """Yield what in a run itself stops a promotion, before anything is compared."""
    if not report.complete:
        yield "incomplete_run", _incompleteness(report)
    if report.block_severity_failure_modes:
        yield "block_severity_failure_mode", f"severity block: {_blocking(report)}"


def _blocking(report: BenchRunReport) -> str:
    """Name each blocking code with what is behind it and the cases that have it."""
    found: dict[str, list[str]] = {}
    for result in report.per_case:
        for mode in result.failure_modes:
            if mode.code in report.block_severity_failure_modes:
                told = mode.code == "unknown_failure_mode"
                label = f"{mode.code} {mode.detail!r}" if told else mode.code
                found.setdefault(label, []).append(result.case_id)
    return "; ".join(f"{label} in {_some(ids)}" for label, ids in sorted(found.items()))


def _some(ids: list[str]) -> str:
    unique = list(dict.fromkeys(ids))
    return f"{', '.join(unique[:3])}{', ...' if unique[3:] else ''}"


def _incompleteness(report: BenchRunReport) -> str:
    parts = []
    for outcome in sorted(INCOMPLETE):
        ids = [r.case_id for r in report.per_case if r.outcome == outcome]
        if ids:
            parts.append(f"{len(ids)} {outcome} ({_some(ids)})")
    rerun = [r.case_id for r in report.per_case if r.reruns]
    if rerun:
        parts.append(f"{len(rerun)} run again ({_some(rerun)})")
    return "; ".join(parts) or "the session ended early"


def _baseline_blockers(report: BenchRunReport, baseline: Baseline | None) -> Iterator[Blocker]:
    if baseline is None:
        yield "baseline_missing", "there is no baseline to compare with"
        return
    problems = baseline.problems
    if not problems and baseline.report is not None:
        problems = differences(baseline.report, report)
    if problems:
        yield "baseline_mismatch", f"{baseline.path.name}: {'; '.join(problems)}"


def _further(
    gates: Iterable[Gate], report: BenchRunReport, before: BenchRunReport | None
) -> Iterator[Blocker]:
    for gate in gates:
        name = str(getattr(gate, "name", None) or getattr(gate, "__name__", type(gate).__name__))
        try:
            objection = gate(report, before)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # sys.exit too: the record must still be written
            objection = f"the gate failed: {type(error).__name__}: {error}"
        if objection is not None:
            yield name, str(objection)


def _failures(
    report: BenchRunReport,
    decision: CheckpointPromotionDecision | None,
    choice: BaselineChoice,
    exit_rule: ExitRule,
) -> Iterator[str]:
    """Yield why a run does not exit with 0; promotion is never inferred from what is absent."""
    if decision is None:
        if choice.requested:
            yield "a gate was asked for, but only a part of the cases was selected: not evaluated"
    elif choice.binding and not decision.promotion_allowed:
        yield f"the gate decided {decision.outcome}"
    if report.block_severity_failure_modes:
        yield f"severity block: {_blocking(report)}"
    if not report.complete:
        yield f"the run is incomplete: {_incompleteness(report)}"
    failed = report.case_count - report.passed_count
    if failed and (exit_rule == "strict" or decision is None):
        yield f"{failed} of {report.case_count} cases failed"
