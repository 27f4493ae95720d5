"""One run or proof, arranged for a reader: what was decided and why, then what it rests on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchgate.audit.chain import FOLDER_NAME
from benchgate.audit.runs import pin_command
from benchgate.errors import counted
from benchgate.report import words
from benchgate.report.answers import ELSEWHERE, Answers
from benchgate.report.case_worth import case_worth
from benchgate.report.cases import Compared, first_shown, groups, ids_of_groups
from benchgate.report.history import past_runs
from benchgate.report.outputs import outputs_of, pinned_run
from benchgate.sentences.formats import confidence
from benchgate.wording import lacking, spending
from benchgate.wording.block import Door, next_lines
from benchgate.wording.decision import DecisionView
from benchgate.wording.figures import parts_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchgate.aggregate import CaseFigures
    from benchgate.artifacts.run_kinds import RunRecord
    from benchgate.gates.figures import Figures
    from benchgate.gates.run_diff import RunChanges
    from benchgate.models import BenchRunReport
    from benchgate.models.texts import ReadTexts
    from benchgate.report.cases import Group
    from benchgate.report.history import PastRun
    from benchgate.report.source import Source
    from benchgate.wording.figures import Part
    from benchgate.wording.lines import Line


class Tile(NamedTuple):
    """One figure with its name and what it is to be compared with."""

    name: str
    value: str
    beside: str = ""
    tone: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """
    What a report shows of a run or a proof.

    :param baseline: ``None`` if there is none, or nobody knows its name.
    :param spent: what the run cost and how long it took; ``lacking`` which of its trials have no result or no score.
    :param door: what a reader can do with it here.
    :param passed_before: cases that pass in the baseline; ``None`` if there is none.
    :param axes: the mean of each part of the score, in the baseline if its run is at hand, and now.
    :param changes: case by case, against the baseline; ``None`` if there is none.
    :param about_answers: what to know of the questions and answers of logs; empty if it is none of logs.
    :param history: the runs of the class in the same store; empty if the record is not in one.
    """

    source: Source
    title: str
    candidate: str
    baseline: str | None
    decided: DecisionView
    figures: Figures | None
    spent: tuple[Line, ...]
    lacking: tuple[Line, ...]
    door: Door
    tiles: tuple[Tile, ...]
    changes: RunChanges | None
    groups: Mapping[str, Group]
    passed_before: int | None
    score_range: tuple[float, float]
    axes: tuple[Part, ...]
    baseline_outputs: bool
    about_answers: str
    history: tuple[PastRun, ...]

    @property
    def found(self) -> tuple[Line, ...]:
        """What the comparison found, and what it could not."""
        view = self.decided
        harm = (*view.harm, *view.harm_counts)
        return (
            *view.not_compared,
            *view.score,
            *harm,
            *view.test,
            *self.lacking,
            *view.people,
        )

    @property
    def next_steps(self) -> tuple[Line, ...]:
        """What to do with the decision; empty if nobody knows."""
        return tuple(next_lines(self.decided, self.door))

    @property
    def worth(self) -> list[dict[str, Any]]:
        """What each case is worth, by the newest 30 records, what says something first; empty without a history."""
        folder = self.source.folder
        if folder is None or not self.history:
            return []
        rows = case_worth(folder.resolve().parent, most=30)
        said = {row["case"] for row in rows if row["worth"] or row["flaky"]}
        return sorted(rows, key=lambda row: row["case"] not in said)

    @property
    def marks(self) -> list[tuple[float, str]]:
        """The lines that a difference is compared with."""
        policy = self.source.policy
        lines = [(0.0, "no difference")]
        if policy is not None and policy.claim == "better" and policy.min_delta:
            lines.append((policy.min_delta, f"must exceed {policy.min_delta:g}"))
        if policy is not None and policy.claim == "not_worse" and policy.margin is not None:
            lines.append((-policy.margin, f"margin {words.signed(-policy.margin, 2)}"))
        return lines


def view_of(
    source: Source, *, outputs: bool = True, read_texts: ReadTexts | None = None
) -> RunView:
    """
    Arrange a run or a proof for a reader.

    :param outputs: read outputs of the systems too, which takes time.
    :param read_texts: reads questions and answers of two logs; ``None`` if they are not there, or not of logs.
    """
    history = _history(source)
    compared = Compared.of(source)
    changes = compared.changes
    passed_before = None
    if changes is not None:
        passed_before = sum(case.passed for case in compared.figures[0])
    candidate, baseline = _names(source)
    is_log = source.report is not None and source.report.source is not None
    pinned = pinned_run(source.record, history)
    decided = _decided(source, (baseline or "", candidate), pinned[1] if pinned else None)
    figures = decided.figures
    folder = None
    if outputs and not is_log:  # a log has no outputs
        folder = source.folder
    shown = outputs_of(folder, source.record, pinned)
    answers = Answers(note=ELSEWHERE if source.log is not None else "")
    if read_texts is not None:
        answers = Answers.read(read_texts, first_shown(ids_of_groups(source, compared)))
    pin = ""
    if source.folder is not None and source.record is not None and history:
        pin = pin_command(source.folder, source.record.seq, Path.cwd())
    return RunView(
        source=source,
        title=_title(source),
        candidate=candidate,
        baseline=baseline,
        decided=decided,
        figures=figures,
        spent=tuple(_spent(source, figures)),
        lacking=tuple(_lacking(source)),
        door=Door(prefix=_prefix(source), pin=pin, has_codes=True),
        tiles=tuple(_tiles_of(source, figures, changes, passed_before)),
        changes=changes,
        groups=groups(source, compared, shown, answers),
        passed_before=passed_before,
        score_range=_range(source, [*compared.figures[0], *compared.figures[1]]),
        axes=decided.parts,
        baseline_outputs=shown.before is not None,
        about_answers=answers.note,
        history=tuple(history),
    )


def _title(source: Source) -> str:
    """Return what was measured: the task class of a run, or the suite of a proof."""
    if source.report is not None:
        return source.report.task_class
    if source.proof is not None:
        return source.proof.benchmark_suite.name
    return ""


def _spent(source: Source, figures: Figures | None) -> Iterator[Line]:
    if source.report is not None:
        yield from spending(source.report, figures)


def _lacking(source: Source) -> Iterator[Line]:
    if source.report is None:
        return
    reports = [source.report]
    if source.record is not None and source.record.rerun is not None:
        reports.append(source.record.rerun)
    yield from lacking(reports, _prefix(source))


def _prefix(source: Source) -> str:
    """Return what options begin with: a run of a bench most often was a session of pytest, and no record says it."""
    if source.report is None or source.report.source is not None:
        return "--"
    return "--bench-"


def _decided(source: Source, names: tuple[str, str], pinned: RunRecord | None) -> DecisionView:
    """Return what readers get of the decision; ``pinned`` is the record of the baseline, if it is at hand."""
    decided = DecisionView.of(
        source.decision,
        source.policy,
        names,
        source.figures,
        source.report,
        prefix=_prefix(source),
    )
    before = None
    if source.record is not None:
        before = source.record.rerun
    if pinned is not None:
        before = pinned.report
    return replace(decided, parts=parts_of(source.report, before))


def _history(source: Source) -> list[PastRun]:
    if source.record is None or source.folder is None:
        return []
    folder = source.folder.resolve()
    # A record that was copied elsewhere has no chain around it.
    if not FOLDER_NAME.fullmatch(folder.name):
        return []
    return past_runs(folder.parent)


def _names(source: Source) -> tuple[str, str | None]:
    """Return what candidate and baseline are called; ``None`` for no baseline, or one without a name."""
    if source.record is None:
        if source.proof is not None:
            return source.proof.trained.checkpoint_id, source.proof.baseline.checkpoint_id
        candidate = ""
        if source.report is not None:
            candidate = source.report.system
        return candidate, None
    record = source.record
    if record.baseline is None:
        return record.subject.id, None
    if source.evaluation is not None:  # the one file that names the baseline
        return record.subject.id, source.evaluation.baseline_policy_id
    if record.rerun is not None:
        return record.subject.id, record.rerun.system
    return record.subject.id, None


def _range(source: Source, cases: Sequence[CaseFigures]) -> tuple[float, float]:
    scores = [case.score for case in cases]
    if source.policy is not None and source.policy.score_range is not None:
        return source.policy.score_range
    if source.proof is None:
        return 0.0, 1.0
    # Of plain vectors nobody said which scores there can be: the plot has those that there are.
    return min(scores, default=0.0), max(scores, default=1.0)


def _tiles_of(
    source: Source, figures: Figures | None, changes: RunChanges | None, passed_before: int | None
) -> Iterator[Tile]:
    """Yield the figures that stand first."""
    yield from _score_tiles(source.report, figures)
    yield from _case_tiles(source.report, changes, passed_before)
    yield _safety_tile(source)
    if source.report is not None:
        yield from _cost_tiles(source.report, figures)


def _score_tiles(report: BenchRunReport | None, figures: Figures | None) -> Iterator[Tile]:
    if report is not None and not report.complete:
        yield Tile("Mean score", "not known", "the run is incomplete", "word")
    elif figures is not None:
        tests = figures.significance
        between = words.interval(tests.delta_ci_low, tests.delta_ci_high)
        beside = f"{confidence(tests.alpha)} interval {between}"
        if tests.test == "none":
            beside = "on these cases"
        yield Tile("Change", words.signed(tests.mean_delta), beside)
        before = f"before {words.number(tests.baseline_mean_reward)}"
        yield Tile("Mean score", words.number(tests.trained_mean_reward), before)
    elif report is not None:
        beside = ""
        if report.score_lower_bound_95 is not None:
            beside = f"95% lower bound {words.number(report.score_lower_bound_95)}"
        yield Tile("Mean score", words.number(report.mean_score), beside)


def _case_tiles(
    report: BenchRunReport | None, changes: RunChanges | None, passed_before: int | None
) -> Iterator[Tile]:
    if changes is not None and changes.is_graded:
        yield Tile("Cases lower", str(len(changes.fell)), f"{len(changes.rose)} higher")
        return
    if report is None:
        return
    yield _passed_tile(report, changes, passed_before)
    if changes is not None:
        tone = ""
        if changes.newly_failing:
            tone = "bad"
        beside = f"{len(changes.newly_passing)} newly passing"
        yield Tile("Newly failing", str(len(changes.newly_failing)), beside, tone)


def _cost_tiles(report: BenchRunReport, figures: Figures | None) -> Iterator[Tile]:
    costs = words.costs(report)
    if not costs:
        return
    beside = ", ".join(costs[1:])
    if figures is not None and figures.cost is not None and figures.cost.increase is not None:
        beside = f"{figures.cost.increase:+.1%} a case"
    yield Tile("Cost", costs[0], beside, "word")


def _passed_tile(
    report: BenchRunReport, changes: RunChanges | None, passed_before: int | None
) -> Tile:
    if changes is not None and changes.rates is not None:
        rates = changes.rates
        trials = f"{counted(rates.trials, 'trial')} a case, before {rates.trials_before}"
        return Tile("Trials passed", f"{rates.now:.1%}", f"before {rates.before:.1%}; {trials}")
    beside = ""
    if passed_before is not None:
        beside = f"before {passed_before}"
    return Tile("Cases passed", f"{report.passed_count} of {report.case_count}", beside)


def _safety_tile(source: Source) -> Tile:
    safety = source.safety
    report = source.report
    if safety is not None and safety.safety_regression_delta is not None:
        before = words.number(safety.baseline_mean_safety_penalty)
        beside = f"before {before}; a rise of {safety.max_safety_regression:g} is allowed"
        tone = ""
        if safety.promotion_allowed is False:
            tone = "bad"
        after = words.number(safety.trained_mean_safety_penalty)
        return Tile("Mean harm", after, beside, tone)
    if report is None or report.mean_safety_penalty is None:
        return Tile("Mean harm", "not measured", tone="word")
    return Tile("Mean harm", words.number(report.mean_safety_penalty))
