"""Judges a finished run: from its report to a decision and the reasons for the exit status."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, NamedTuple

from benchgate.errors import brief
from benchgate.gates.decision import Facts, Objection
from benchgate.gates.exit_status import HELD, ExitRule, failures
from benchgate.gates.run_diff import changes
from benchgate.gates.unscored import incompleteness

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.gates.baseline import Baseline, BaselineChoice
    from benchgate.gates.decision import CheckpointPromotionDecision
    from benchgate.gates.figures import Figures
    from benchgate.gates.labels import Label
    from benchgate.gates.looks import RecordedLook
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


Counter = Callable[["BenchRunReport", "BenchRunReport"], "RecordedLook"]
"""Takes the baseline's report and the candidate's, and returns this look at the baseline."""


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
        if self.baseline is None or self.choice.system is None:
            return None
        return self.baseline.report

    @property
    def reports(self) -> dict[Side, BenchRunReport]:
        """The reports of this session."""
        found: dict[Side, BenchRunReport] = {"candidate": self.report}
        if self.beside is not None:
            found["baseline"] = self.beside
        return found


class Opinions(NamedTuple):
    """
    What further gates say.

    :param objections: of those that object.
    :param broken: which of them failed: no evidence will mend those.
    """

    objections: tuple[Objection, ...] = ()
    broken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement(RunFacts):
    """
    A run with its comparison with the baseline, and the decision.

    :param figures: of the comparison; ``None`` if there was none.
    :param decision: ``None`` for a selection of cases, which is not judged.
    :param changes: case by case; ``None`` without a baseline of the same class.
    :param faults: why the exit status is 1.
    :param held: why it is not 0 though there is no fault.
    :param objections: of further gates, and ``broken`` those of them that failed.
    :param look: at the baseline; ``None`` if it is none, or nobody counts.
    """

    figures: Figures | None
    decision: CheckpointPromotionDecision | None
    changes: RunChanges | None
    faults: tuple[str, ...]
    held: tuple[str, ...]
    objections: tuple[Objection, ...]
    broken: tuple[str, ...]
    look: RecordedLook | None

    @property
    def failures(self) -> tuple[str, ...]:
        """Why the exit status is not 0; empty if it is 0."""
        return (*self.faults, *self.held)

    @property
    def exit_status(self) -> int:
        """0, 1 or :data:`~benchgate.gates.exit_status.HELD`."""
        if self.faults:
            return 1
        if self.held:
            return HELD
        return 0


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
    :param count: counts a look at a baseline; ``None`` if nobody counts.
    :param asked: an earlier judgement of the run, which says what its gates said, so that none is asked twice.
    """
    report = facts.report
    before = None
    if report.scope == "full":
        before = _comparable(facts)
    look = _look(count, before, report)
    opinions = _opinions(report, before, gates, asked)
    figures = None
    decision = None
    if report.scope == "full":
        figures, decision = decision_of(_decided_by(facts, look, opinions))
    return Judgement(
        **{field.name: getattr(facts, field.name) for field in fields(RunFacts)},
        figures=figures,
        decision=decision,
        changes=_changes(facts),
        faults=tuple(_faults(facts, decision, opinions.broken)),
        held=tuple(_held(facts, decision, opinions)),
        objections=opinions.objections,
        broken=opinions.broken,
        look=look,
    )


def _comparable(facts: RunFacts) -> BenchRunReport | None:
    """Return the report of the baseline that a full run can be compared with; ``None`` if it cannot."""
    # Imported here: where a part of the cases is run, as from an editor, nothing is compared.
    from benchgate.gates.blockers import baseline_blockers

    baseline = facts.baseline
    if baseline is None or any(baseline_blockers(facts.report, baseline.facts)):
        return None
    return baseline.report


def _look(
    count: Counter | None, before: BenchRunReport | None, report: BenchRunReport
) -> RecordedLook | None:
    """Return the look that a run is; ``None`` if nobody counts, or so little was run that it is none."""
    if count is None or before is None or report.scope != "full":
        return None
    if report.complete or report.stopped:
        return count(before, report)
    return None


def _decided_by(facts: RunFacts, look: RecordedLook | None, opinions: Opinions) -> Facts:
    """Return what the decision on a full run follows from."""
    baseline = None
    if facts.baseline is not None:
        baseline = facts.baseline.facts
    return Facts(
        report=facts.report,
        policy=facts.policy,
        baseline=baseline,
        beside=facts.beside,
        look=look,
        checkpoint_problems=facts.checkpoint_problems,
        objections=opinions.objections,
        episodes=facts.episodes,
        replays=facts.replays,
        labels=facts.labels,
    )


def _changes(facts: RunFacts) -> RunChanges | None:
    """Return the changes case by case, even if the two runs cannot be compared as a whole."""
    report = facts.report
    before = facts.baseline.report if facts.baseline else None
    if before is None or before.task_class != report.task_class:
        return None
    return changes(before, report)


def _faults(
    facts: RunFacts,
    decision: CheckpointPromotionDecision | None,
    broken: Iterable[str],
) -> Iterator[str]:
    """Yield why the exit status is 1."""
    is_part = facts.is_part
    yield from failures(facts.report, decision, facts.choice, facts.exit_rule, is_part=is_part)
    yield from _unusable(facts)
    if facts.is_floor_fault:
        yield from facts.floor
    yield from broken
    if facts.checkpoint_problems:
        yield f"checkpoint: {brief(facts.checkpoint_problems, '; ')}"


def _held(
    facts: RunFacts, decision: CheckpointPromotionDecision | None, opinions: Opinions
) -> Iterator[str]:
    """Yield why the exit status is not 0 even without a fault; a gate that failed is a fault."""
    if facts.choice.binding and decision is not None and decision.outcome == "hold":
        yield "the gate decided hold"
    for objection in opinions.objections:
        text = f"gate {objection.gate}: {objection.text}"
        if text not in opinions.broken:
            yield text


def decision_of(facts: Facts) -> tuple[Figures | None, CheckpointPromotionDecision]:
    """Return what follows from the facts: the figures, ``None`` if nothing is compared, and the decision."""
    # Imported here: where a part of the cases is run, as from an editor, nothing is decided.
    from benchgate.gates.decide import decide
    from benchgate.gates.gate_input import input_of

    inputs = input_of(facts)
    return inputs.figures, decide(inputs)


def _unusable(facts: RunFacts) -> Iterator[str]:
    """Yield that nothing can be compared with the baseline, now or with more evidence."""
    baseline = facts.baseline
    if baseline is None or not facts.choice.binding:
        return
    beside = facts.beside
    if beside is not None and not beside.complete:
        yield f"the run of the baseline is incomplete: {incompleteness(beside)}"
    elif baseline.problems and facts.report.scope == "full":
        yield f"the baseline cannot be used: {baseline.path.name}: {brief(baseline.problems, '; ')}"


def _opinions(
    report: BenchRunReport,
    before: BenchRunReport | None,
    gates: Iterable[Gate],
    asked: Judgement | None,
) -> Opinions:
    """Return what further gates say of a run, or what they said; none is asked about a part of the cases."""
    if asked is not None:
        return Opinions(asked.objections, asked.broken)
    if report.scope != "full":
        return Opinions()
    objections: list[Objection] = []
    broken: list[str] = []
    for gate in gates:
        name = _name(gate)
        try:
            objection = gate(report, before)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # sys.exit too: the record must still be written
            objection = f"the gate failed: {type(error).__name__}: {error}"
            broken.append(f"gate {name}: {objection}")
        if objection is not None:
            objections.append(Objection(gate=name, text=str(objection)))
    return Opinions(tuple(objections), tuple(broken))


def _name(gate: Gate) -> str:
    named = getattr(gate, "name", None) or getattr(gate, "__name__", type(gate).__name__)
    return str(named)
