"""Judges a finished run: from its report to a decision and the reasons for the exit status."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from benchgate.gates.exit_status import HELD, ExitRule, failures
from benchgate.gates.unscored import incompleteness
from benchgate.sentences.says import clauses, says

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.gates.baseline import Baseline
    from benchgate.gates.choice import BaselineChoice
    from benchgate.gates.decide import Decided
    from benchgate.gates.decision import CheckpointPromotionDecision, Objection
    from benchgate.gates.facts import RunFacts
    from benchgate.gates.figures import Figures
    from benchgate.gates.looks import RecordedLook
    from benchgate.gates.policy import GatePolicy
    from benchgate.gates.run_diff import RunChanges
    from benchgate.models import BenchRunReport, Side
    from benchgate.sentences.says import Says
    from benchgate.training.checkpoints import Checkpoints


Gate = Callable[["BenchRunReport", "BenchRunReport | None"], str | None]
"""
A further gate: takes the candidate's report and the baseline's, returns ``None`` or why it objects.

Its name in the decision is its ``name`` attribute, else its ``__name__``.
"""


Counter = Callable[["BenchRunReport", "BenchRunReport"], "RecordedLook"]
"""Takes the baseline's report and the candidate's, and returns this look at the baseline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedRun:
    """
    A finished run, and what is known of it besides what its decision follows from.

    :param facts: without a look, and without what further gates say.
    :param choice: how the baseline was chosen, and so whether the decision affects the exit status.
    :param baseline: as it was read; ``None`` if there is none.
    :param checkpoints: that the two sides play; ``None`` if they play none.
    :param is_part: of a run that is put together and judged later, or of a floor, which is not judged.
    :param floor: what a system that does nothing got, else empty; ``is_floor_fault`` says that it must not have.
    """

    facts: RunFacts
    choice: BaselineChoice
    baseline: Baseline | None
    checkpoints: Checkpoints | None = None
    exit_rule: ExitRule = "strict"
    is_part: bool = False
    floor: tuple[str, ...] = ()
    is_floor_fault: bool = False

    @property
    def report(self) -> BenchRunReport:
        """The results of the run."""
        return self.facts.report

    @property
    def beside(self) -> BenchRunReport | None:
        """The report of a baseline that ran in the same session, or of its log; ``None`` if there is none."""
        return self.facts.beside

    @property
    def reports(self) -> dict[Side, BenchRunReport]:
        """The reports of this session."""
        found: dict[Side, BenchRunReport] = {"candidate": self.report}
        if self.beside is not None:
            found["baseline"] = self.beside
        return found

    @property
    def before(self) -> BenchRunReport | None:
        """The report of the baseline; ``None`` if there is none, or none that can be read."""
        if self.baseline is None:
            return None
        return self.baseline.report


class Opinions(NamedTuple):
    """
    What further gates say.

    :param objections: of those that object.
    :param broken: those of them that failed: no evidence will mend those.
    """

    objections: tuple[Objection, ...] = ()
    broken: tuple[Objection, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """
    A run with its decision, and what these mean for the exit status.

    :param run: with all facts, its look among them.
    :param decided: ``None`` for a selection of cases, which is not judged.
    :param broken: the objections of further gates that failed.
    :param changes: case by case; ``None`` without a baseline of the same class.
    :param faults: why the exit status is 1.
    :param held: why it is not 0 though there is no fault.
    """

    run: FinishedRun
    decided: Decided | None
    broken: tuple[Objection, ...]
    changes: RunChanges | None
    faults: tuple[str, ...]
    held: tuple[str, ...]

    @property
    def report(self) -> BenchRunReport:
        """The results of the run."""
        return self.run.report

    @property
    def policy(self) -> GatePolicy:
        """The policy as it was stated."""
        return self.run.facts.policy

    @property
    def decision(self) -> CheckpointPromotionDecision | None:
        """The decision; ``None`` for a selection of cases."""
        if self.decided is None:
            return None
        return self.decided.decision

    @property
    def figures(self) -> Figures | None:
        """The figures of the comparison; ``None`` if there was none."""
        if self.decided is None:
            return None
        return self.decided.figures

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

    @property
    def shown(self) -> Judgement:
        """The same with what is shown of the report: of a run that stopped early what ran until then."""
        facts = replace(self.run.facts, report=self.report.shown)
        return replace(self, run=replace(self.run, facts=facts))

    def at(self, look: RecordedLook) -> Judgement:
        """Return the judgement at another look; no further gate is asked again."""
        if self.decided is None:
            raise ValueError("a selection of cases is no look")
        run = replace(self.run, facts=replace(self.run.facts, look=look))
        return _judgement(run, self.decided.at(look), self.broken, self.changes)


def judge(
    run: FinishedRun, *, gates: Iterable[Gate] = (), count: Counter | None = None
) -> Judgement:
    """
    Compare a run with its baseline and decide.

    :param gates: further gates; one that raises an exception counts as objecting.
    :param count: counts a look at a baseline; ``None`` if nobody counts.
    """
    if run.report.scope != "full":
        return _judgement(run, None, (), _changes(run))
    # Imported here: where a part of the cases is run, as from an editor, nothing is decided.
    from benchgate.gates.decide import decide

    before = _comparable(run)
    look = None
    if count is not None and before is not None and (run.report.complete or run.report.stopped):
        look = count(before, run.report)
    opinions = _opinions(run.report, before, gates)
    facts = replace(run.facts, look=look, objections=opinions.objections)
    run = replace(run, facts=facts)
    return _judgement(run, decide(facts), opinions.broken, _changes(run))


def _judgement(
    run: FinishedRun,
    decided: Decided | None,
    broken: tuple[Objection, ...],
    changes: RunChanges | None,
) -> Judgement:
    decision = None
    if decided is not None:
        decision = decided.decision
    return Judgement(
        run=run,
        decided=decided,
        broken=broken,
        changes=changes,
        faults=tuple(_faults(run, decision, broken)),
        held=tuple(one.text for one in _held(run, decision, broken)),
    )


def _comparable(run: FinishedRun) -> BenchRunReport | None:
    """Return the report of the baseline that a full run can be compared with; ``None`` if it cannot."""
    from benchgate.gates.blockers import baseline_blockers

    baseline = run.baseline
    if baseline is None or any(baseline_blockers(run.report, baseline.facts)):
        return None
    return baseline.report


def _changes(run: FinishedRun) -> RunChanges | None:
    """Return the changes case by case, even if the two runs cannot be compared as a whole."""
    if run.before is None or run.before.task_class != run.report.task_class:
        return None
    from benchgate.gates.run_diff import changes

    return changes(run.before, run.report)


def _faults(
    run: FinishedRun,
    decision: CheckpointPromotionDecision | None,
    broken: Iterable[Objection],
) -> Iterator[str]:
    """Yield why the exit status is 1."""
    said = [
        *failures(run.report, decision, run.choice, run.exit_rule, is_part=run.is_part),
        *_unusable(run),
    ]
    yield from (one.text for one in said)
    if run.is_floor_fault:
        yield from run.floor
    yield from (_of_gate(one).text for one in broken)
    problems = run.facts.checkpoint_problems
    if problems:
        yield says("exit.checkpoint", problems=clauses(problems)).text


def _held(
    run: FinishedRun,
    decision: CheckpointPromotionDecision | None,
    broken: Collection[Objection],
) -> Iterator[Says]:
    """Yield why the exit status is not 0 even without a fault; a gate that failed is a fault."""
    if run.choice.binding and decision is not None and decision.outcome == "hold":
        yield says("exit.hold")
    yield from (_of_gate(one) for one in run.facts.objections if one not in broken)


def _of_gate(objection: Objection) -> Says:
    return says("exit.gate", gate=objection.gate, text=objection.text)


def _unusable(run: FinishedRun) -> Iterator[Says]:
    """Yield that nothing can be compared with the baseline, now or with more evidence."""
    baseline = run.baseline
    if baseline is None or not run.choice.binding:
        return
    beside = run.beside
    if beside is not None and not beside.complete:
        yield says("exit.incomplete_baseline", parts=incompleteness(beside))
    elif baseline.problems and run.report.scope == "full":
        yield says(
            "exit.unusable_baseline",
            path=baseline.path.name,
            problems=clauses(baseline.problems),
        )


def _opinions(
    report: BenchRunReport,
    before: BenchRunReport | None,
    gates: Iterable[Gate],
) -> Opinions:
    """Return what further gates say of a run."""
    from benchgate.gates.decision import Objection

    objections: list[Objection] = []
    broken: list[Objection] = []
    for gate in gates:
        name = _name(gate)
        try:
            text = gate(report, before)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # sys.exit too: the record must still be written
            failed = says("exit.gate_failed", error=type(error).__name__, text=str(error))
            broken.append(Objection(gate=name, text=failed.text))
            objections.append(broken[-1])
        else:
            if text is not None:
                objections.append(Objection(gate=name, text=str(text)))
    return Opinions(tuple(objections), tuple(broken))


def _name(gate: Gate) -> str:
    named = getattr(gate, "name", None) or getattr(gate, "__name__", type(gate).__name__)
    return str(named)
