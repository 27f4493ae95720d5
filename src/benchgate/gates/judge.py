"""Judges a finished run: from its report to a decision and the reasons for the exit status."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from benchgate.aggregate import fingerprints
from benchgate.errors import brief
from benchgate.gates.baseline import arm
from benchgate.gates.blockers import baseline_blockers, run_blockers
from benchgate.gates.cures import cure
from benchgate.gates.decision import Facts, GateInput
from benchgate.gates.exit_status import HELD, ExitRule, failures
from benchgate.gates.labels import agreement
from benchgate.gates.run_diff import changes, relabelled_note, since_pin
from benchgate.gates.unscored import incompleteness, too_many, unscored_note

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.gates.baseline import Baseline, BaselineChoice
    from benchgate.gates.decision import Blocker, CheckpointPromotionDecision
    from benchgate.gates.figures import Arm, Figures
    from benchgate.gates.labels import Label
    from benchgate.gates.looks import LookNumber
    from benchgate.gates.policy import GatePolicy
    from benchgate.gates.run_diff import RunChanges
    from benchgate.models import BenchRunReport, Side
    from benchgate.training.checkpoints import Checkpoints
    from benchgate.training.episodes import Episode


Gate = Callable[["BenchRunReport", "BenchRunReport | None"], str | None]
"""
A further gate: takes the candidate's report and the baseline's, returns ``None`` or why it objects.

Its name in the decision is its ``name`` attribute, else its ``__name__``.
"""


Counter = Callable[["BenchRunReport", "BenchRunReport"], "LookNumber"]
"""Takes the baseline's report and the candidate's, and returns the number of this look at the baseline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """
    A finished run, and what else is known of it when it is judged.

    :param choice: how the baseline was chosen, and so whether the decision affects the exit status.
    :param baseline: the run that it is to be compared with; ``None`` if there is none.
    :param checkpoint_problems: why the run is not evidence about the candidate's checkpoint.
    :param episodes: of the RL payloads of scored trials.
    :param replays: what the outputs were taken from; ``None`` if a system was called.
    :param is_part: of a run that is put together and judged later, or of a floor, which is not judged.
    :param labels: what people say of outputs.
    :param floor: what a system that does nothing got, else empty; ``is_floor_fault`` says that it must not have.
    """

    report: BenchRunReport
    policy: GatePolicy
    choice: BaselineChoice
    baseline: Baseline | None
    checkpoints: Checkpoints | None = None
    checkpoint_problems: tuple[str, ...] = ()
    episodes: tuple[Episode, ...] = ()
    replays: object | None = None
    exit_rule: ExitRule = "strict"
    is_part: bool = False
    labels: tuple[Label, ...] = ()
    floor: tuple[str, ...] = ()
    is_floor_fault: bool = False

    @property
    def beside(self) -> BenchRunReport | None:
        """The report of a baseline that ran in the same session, or of its log; ``None`` if there is none."""
        return self.baseline.report if self.baseline and self.choice.system is not None else None

    @property
    def reports(self) -> dict[Side, BenchRunReport]:
        """The reports of this session."""
        of_candidate: dict[Side, BenchRunReport] = {"candidate": self.report}
        return of_candidate | ({"baseline": self.beside} if self.beside else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement(RunFacts):
    """
    A run with its comparison with the baseline, and the decision.

    :param figures: of the comparison; ``None`` if there was none.
    :param decision: ``None`` for a selection of cases, which is not judged.
    :param changes: case by case; ``None`` without a baseline of the same class.
    :param faults: why the exit status is 1.
    :param held: why it is not 0 though there is no fault.
    :param further: name and objection of each further gate that objected, and ``broken`` those of them that failed.
    """

    figures: Figures | None
    decision: CheckpointPromotionDecision | None
    changes: RunChanges | None
    faults: tuple[str, ...]
    held: tuple[str, ...]
    further: tuple[Blocker, ...]
    broken: tuple[str, ...]

    @property
    def look(self) -> int | None:
        """Number of this look at the baseline."""
        return self.decision.look.number if self.decision and self.decision.look else None

    @property
    def failures(self) -> tuple[str, ...]:
        """Why the exit status is not 0; empty if it is 0."""
        return (*self.faults, *self.held)

    @property
    def exit_status(self) -> int:
        """0, 1 or :data:`~benchgate.gates.exit_status.HELD`."""
        return 1 if self.faults else HELD if self.held else 0


def judge(
    facts: RunFacts,
    *,
    gates: Iterable[Gate] = (),
    count: Counter | None = None,
    asked: Judgement | None = None,
) -> Judgement:
    """
    Compare a run with its baseline and decide.

    :param gates: further gates; one that raises an exception counts as objecting.
    :param count: returns the number of a look at a baseline; ``None`` if nobody counts.
    :param asked: an earlier judgement of the run, which says what its gates said, so that none is asked twice.
    """
    report = facts.report
    baseline = facts.baseline
    excluded = tuple(baseline_blockers(report, baseline))
    then = baseline.report if baseline else None
    before = None if excluded else then
    checkpoint = brief(facts.checkpoint_problems, "; ")
    if checkpoint:
        excluded += (("checkpoint_mismatch", checkpoint),)
    is_look = before is not None and report.scope == "full" and (report.complete or report.stopped)
    look = None
    if count and before and is_look:
        look = count(before, report)
    further: tuple[Blocker, ...] = ()
    broken: tuple[str, ...] = ()
    if asked is not None:
        further = asked.further
        broken = asked.broken
    elif report.scope == "full":
        further, broken = _asked(gates, report, before)
    figures = None
    decision = None
    if report.scope == "full":
        figures, decision = decision_of(
            Facts(
                report=report,
                policy=facts.policy,
                baseline=arm(before, report) if before else None,
                beside=facts.beside,
                look=look,
                excluded=excluded,
                further=further,
                episodes=facts.episodes,
                replays=facts.replays,
                fingerprints=fingerprints(before) if before and not facts.beside else (),
                labels=facts.labels,
                relabelled=since_pin(before, report) if before else (),
            )
        )
    return Judgement(
        **{field.name: getattr(facts, field.name) for field in fields(RunFacts)},
        figures=figures,
        decision=decision,
        changes=changes(then, report) if then and then.task_class == report.task_class else None,
        faults=tuple(_faults(facts, decision, broken, checkpoint)),
        held=tuple(_held(facts, decision, further)),
        further=further,
        broken=broken,
    )


def _faults(
    facts: RunFacts,
    decision: CheckpointPromotionDecision | None,
    broken: Iterable[str],
    checkpoint: str,
) -> Iterator[str]:
    """Yield why the exit status is 1."""
    is_part = facts.is_part
    yield from failures(facts.report, decision, facts.choice, facts.exit_rule, is_part=is_part)
    yield from _unusable(facts)
    if facts.is_floor_fault:
        yield from facts.floor
    yield from broken
    if checkpoint:
        yield f"checkpoint: {checkpoint}"


def _held(
    facts: RunFacts, decision: CheckpointPromotionDecision | None, further: Iterable[Blocker]
) -> Iterator[str]:
    """Yield why the exit status is not 0 even without a fault."""
    if facts.choice.binding and decision is not None and decision.outcome == "hold":
        yield "the gate decided hold"
    for name, objection in further:
        yield f"gate {name}: {objection}"


def decision_of(facts: Facts) -> tuple[Figures | None, CheckpointPromotionDecision]:
    """Return what follows from the facts: the figures, ``None`` if nothing is compared, and the decision."""
    # Imported here: where a part of the cases is run, as from an editor, nothing is decided.
    from benchgate.gates.certificate import certificate, ordered
    from benchgate.gates.decide import decide
    from benchgate.gates.looks import judged_at, make_look
    from benchgate.gates.missing import counted_as_best, without_new
    from benchgate.gates.notes import observer_noise, run_notes
    from benchgate.gates.vectors import weigh_arms

    report, before, policy = facts.report, facts.baseline, facts.policy
    candidate, figures, with_new = arm(report), None, None
    blockers = [*run_blockers(report), *facts.excluded]
    sides: list[tuple[str, Arm, BenchRunReport | None]] = [("candidate", candidate, report)]
    noted = [*run_notes(facts)]
    early: dict[str, Any] = {}
    if before and report.stopped and report.stopped == ordered(before):
        found = certificate(before, arm(report.shown), policy, facts.look)
        look = facts.look and make_look(policy, facts.look, weigh_arms(before, before, policy)[0])
        early = {"certificate": tuple(found), "look": look}
        counts = ("case_regressed", "newly_failing_cases", "critical_case_regressed")
        blockers += [(one.code, one.message) for one in found if one.code in counts]
        blockers += [] if found else [("incomplete_run", "the rest might have promoted it")]
    elif before is not None:
        level, whole = judged_at(policy, facts.look), candidate
        candidate = without_new(before, whole) if report.source is None else whole
        figures, objections = weigh_arms(before, candidate, level)
        if candidate is not whole:
            solved = counted_as_best(whole, before, policy)
            with_new = weigh_arms(solved, whole, level, advice=False)[0]
        blockers += objections
        sides.append(("baseline", before, facts.beside))
        noted += unscored_note(before, "baseline")
    for name, side, of in sides:
        if text := too_many(side, policy.max_unscored, of):
            blockers.append(("too_many_unscored", f"{name}: {text}"))
    agreed, said = agreement(facts.labels, report.clusters)
    noted += [*unscored_note(candidate, "candidate"), *said, *observer_noise(report, figures)]
    noted += relabelled_note(facts.relabelled, getattr(facts.look, "relabelled", ()))
    if agreed < (least := policy.observer_min_agreement or 0.0):
        text = f"observer and people are known to agree on {agreed:.3f}; needed is {least:g}"
        blockers.append(("observer_not_trusted", text))
    decision = decide(
        GateInput(
            policy=policy,
            trial_count=report.trial_count,
            figures=figures,
            look=facts.look,
            blockers=tuple(blockers),
            further=facts.further,
            is_log=report.source is not None,
            cure=_cure(report, facts.beside),
            noted=tuple(noted),
            with_new=with_new,
        )
    )
    return figures, decision.model_copy(update=early)


def _cure(*reports: BenchRunReport | None) -> str | None:
    """Return what makes the first of some runs complete that is not."""
    for report in reports:
        if report is not None and not report.complete and not report.stopped:
            return cure(report)
    return None


def _unusable(facts: RunFacts) -> Iterator[str]:
    """Yield that nothing can be compared with the baseline, now or with more evidence."""
    baseline, beside = facts.baseline, facts.beside
    if baseline is None or not facts.choice.binding:
        return
    if beside is not None and not beside.complete:
        yield f"the run of the baseline is incomplete: {incompleteness(beside)}"
    elif baseline.problems and facts.report.scope == "full":
        yield f"the baseline cannot be used: {baseline.path.name}: {brief(baseline.problems, '; ')}"


def _asked(
    gates: Iterable[Gate], report: BenchRunReport, before: BenchRunReport | None
) -> tuple[tuple[Blocker, ...], tuple[str, ...]]:
    """Return name and objection of each further gate that objects, and which failed: no evidence will mend those."""
    further, broken = [], []
    for gate in gates:
        name = str(getattr(gate, "name", None) or getattr(gate, "__name__", type(gate).__name__))
        try:
            objection = gate(report, before)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # sys.exit too: the record must still be written
            objection = f"the gate failed: {type(error).__name__}: {error}"
            broken.append(f"gate {name}: {objection}")
        if objection is not None:
            further.append((name, str(objection)))
    return tuple(further), tuple(broken)
