"""The cases of a run as a report shows them: grouped by what changed, the worst change first."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby, islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from benchgate.aggregate import INCOMPLETE, case_figures
from benchgate.gates.claim_reasons import risen
from benchgate.gates.run_diff import changes
from benchgate.models import BenchRunReport, BenchScore, LogSource, RunDigests, TrialResult
from benchgate.report.outputs import MAX_SHOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from benchgate.aggregate import CaseFigures
    from benchgate.artifacts.evidence_kinds import ArmReport, Sample
    from benchgate.artifacts.run_kinds import AboutCase
    from benchgate.gates.run_diff import RunChanges
    from benchgate.report.answers import Answers, AnswersView
    from benchgate.report.outputs import Outputs, OutputView
    from benchgate.report.source import Source
    from benchgate.wire.model import WireModel


class Group(NamedTuple):
    """
    Cases to which the same happened.

    :param rows: how many of them a comment lists; of the others it says their number.
    """

    title: str
    meaning: str
    rows: int = 0
    cases: tuple[CaseView, ...] = ()


GROUPS: Final = {
    "harm": Group("More harm", "it did more harm, whatever the score did", 20),
    "newly_failing": Group("Newly failing", "passed in the baseline, fails now", 50),
    "errors": Group("Errors", "has no score: it counts as 0 and not passed", 20),
    "fell": Group("Lower scores", "the score fell; passed or failed as before", 20),
    "failing": Group("Failing", "in the baseline too", 20),
    "newly_passing": Group("Newly passing", "failed in the baseline, passes now", 5),
    "rose": Group("Higher scores", "the score rose; passed before, too", 5),
    "same": Group("As before", "the score did not change"),
    "missing": Group("Not in this run", "only the baseline has it", 5),
    "passing": Group("Passing", "as in the baseline"),
    "new": Group("Not in the baseline", "only this run has it", 5),
    "plain": Group("Not compared", "no pairs of cases are known"),
}
"""The groups of cases, those first to which something happened."""
OF_GRADED: Final = {"fell": "the score fell", "rose": "the score rose"}
"""What groups mean where nobody said which scores pass."""
WITHOUT_OUTPUT: Final = frozenset({"same", "missing", "passing", "new", "plain"})
"""Groups whose cases are shown without their outputs: they neither fail nor changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseView:
    """
    A case as a row, and what it opens to.

    :param before: the baseline's figures; ``None`` if it has none of this case.
    :param delta: score minus that of the baseline.
    :param trials: the results; empty for plain vectors.
    :param earlier: the baseline's results, if this report has them.
    :param inputs: beginnings of the input's text files, by path; ``None`` if they are not shown.
    :param answers: what two logs say of it; ``None`` if they say nothing, or are not there.
    """

    case_id: str
    before: CaseFigures | None
    after: CaseFigures | None
    delta: float | None
    trials: tuple[TrialResult, ...] = ()
    earlier: tuple[TrialResult, ...] = ()
    about: AboutCase | None = None
    cluster: str | None = None
    held_out: bool = False
    critical: bool = False
    inputs: Mapping[str, str] | None = None
    output: OutputView | None = None
    answers: AnswersView | None = None


@dataclass(frozen=True, slots=True)
class Compared:
    """
    Both sides of a comparison, case by case.

    :param before: ``None`` without a baseline. :param figures: of the baseline's cases and of the candidate's.
    :param changes: ``None`` if there is nothing to compare.
    """

    before: BenchRunReport | None
    after: BenchRunReport | None
    figures: tuple[Sequence[CaseFigures], Sequence[CaseFigures]]
    changes: RunChanges | None

    @classmethod
    def of(cls, source: Source) -> Compared:
        """Compare the sides of a run or a proof."""
        before, after = sides(source)
        found = None
        if before is not None and after is not None:
            found = changes(before, after)
        return cls(before, after, (_figures(before), _figures(after)), found)

    @property
    def by_case(self) -> tuple[dict[str, CaseFigures], dict[str, CaseFigures]]:
        """The figures by the ids of their cases."""
        before, after = self.figures
        return {one.case_id: one for one in before}, {one.case_id: one for one in after}


def _figures(side: BenchRunReport | None) -> Sequence[CaseFigures]:
    if side is None:
        return ()
    return case_figures(side.per_case)


def sides(source: Source) -> tuple[BenchRunReport | None, BenchRunReport | None]:
    """
    Return the results of baseline and candidate, to be compared case by case.

    Of a side that did not run in this session, and of plain vectors, they are what the evidence says of its samples.
    """
    report = source.report
    record = source.record
    after = report or _of_arm(source.trained, None, source.log)
    if source.baseline is not None and record is not None and record.rerun is not None:
        return record.rerun, after
    if source.judged is not None and source.judged.run.before is not None:
        return source.judged.run.before, after
    return _of_arm(source.baseline, report, source.log), after


def _of_arm(
    arm: ArmReport | None, like: BenchRunReport | None, log: LogSource | None
) -> BenchRunReport | None:
    """
    Return the results that the samples of one side stand for.

    :param like: the report of the other side, which says the rest: the two were comparable.
    """
    if arm is None:
        return None
    results = tuple(
        _result(sample, number, score)
        for sample in arm.samples
        if sample.case_id is not None
        for number, score in enumerate(sample.trials or (sample.score,))
    )
    digests = _unchecked(RunDigests, cases={}, scorer="")
    side: BenchRunReport = like or _unchecked(BenchRunReport, digests=digests, scope="full")
    return side.model_copy(update={"per_case": results, "source": log})


def _result(sample: Sample, trial: int, score: float) -> TrialResult:
    facts = sample.facts
    is_passed = facts is not None and facts.passed is True  # of an error nobody knows
    if facts is not None and facts.passed is False:
        is_passed = trial not in {*facts.failed, *facts.errors, *facts.timeouts}
    cost = 0.0
    if facts is not None and facts.cost_usd is not None:
        cost = facts.cost_usd
    points = _unchecked(
        BenchScore,
        passed=is_passed,
        score=score,
        safety_penalty=sample.safety_penalty,
        cost_usd=cost,
    )
    fields = {"case_id": sample.case_id, "trial": trial, "outcome": "scored"}
    result: TrialResult = _unchecked(TrialResult, **fields, score=points)
    return result


def _unchecked(model: type[WireModel], **fields: Any) -> Any:
    """Return a model as it is: scores of plain vectors have any range, and nothing of this is written."""
    return model.model_construct(**fields)


def groups(
    source: Source, compared: Compared, outputs: Outputs, answers: Answers
) -> dict[str, Group]:
    """
    Return all cases by the key of their group, those to which something happened first.

    :param answers: what two logs say of some of them.
    """
    changes = compared.changes
    grouped = ids_of_groups(source, compared)
    having_room = first_shown(grouped, without=WITHOUT_OUTPUT)
    views = _Views(source, compared, outputs, answers)
    named = dict(GROUPS)
    if changes is not None and changes.is_graded:
        for key, meaning in OF_GRADED.items():
            named[key] = named[key]._replace(meaning=meaning)
    found: dict[str, Group] = {}
    for key in _order(source):
        if not grouped[key]:
            continue
        is_shown = key not in WITHOUT_OUTPUT
        cases = tuple(
            views.of(case_id, is_shown=is_shown, has_room=case_id in having_room)
            for case_id in grouped[key]
        )
        found[key] = named[key]._replace(cases=cases)
    return found


class _Views:
    """What is shown of each case, from all that a run or a proof says of it."""

    def __init__(
        self, source: Source, compared: Compared, outputs: Outputs, answers: Answers
    ) -> None:
        """Sort results, earlier results and figures by case."""
        report = source.report
        record = source.record
        self._report = report
        self._outputs = outputs
        self._answers = answers
        self._before, self._after = compared.by_case
        self._trials: dict[str, tuple[TrialResult, ...]] = {}
        self._earlier: dict[str, tuple[TrialResult, ...]] = {}
        self._about: Mapping[str, AboutCase] = {}
        if report is not None:
            self._trials = _by_case(report.per_case)
        if record is not None:
            self._about = record.about_cases
            if record.rerun is not None:
                self._earlier = _by_case(record.rerun.per_case)
        # Answers of a proof belong to trials too, though it has no report of them.
        self._judged = self._trials
        if not self._judged and compared.after is not None:
            self._judged = _by_case(compared.after.per_case)

    def of(self, case_id: str, *, is_shown: bool, has_room: bool) -> CaseView:
        """
        Return the view of a case.

        :param is_shown: its group shows texts.
        :param has_room: it is among the first, of which the page has room for texts.
        """
        report = self._report
        results = self._trials.get(case_id, ())
        about = self._about.get(case_id)
        was = self._before.get(case_id)
        now = self._after.get(case_id)
        if results and all(trial.outcome in INCOMPLETE for trial in results):
            now = None  # it did not run: a score of 0 would read as a loss
        delta = None
        if was is not None and now is not None:
            delta = now.score - was.score
        cluster = None
        is_critical = False
        if report is not None:
            cluster = report.clusters.get(case_id)
            is_critical = case_id in report.critical
        inputs = None
        if about is not None and results and is_shown and has_room:
            inputs = about.input
        output = None
        worst = _worst(results)
        if worst is not None and is_shown:
            output = self._outputs.of(case_id, worst.trial, has_room=has_room)
        answered = 0
        said = _worst(self._judged.get(case_id, ()))
        if said is not None:
            answered = said.trial
        return CaseView(
            case_id=case_id,
            before=was,
            after=now,
            delta=delta,
            trials=results,
            earlier=self._earlier.get(case_id, ()),
            about=about,
            cluster=cluster,
            held_out=any(trial.held_out for trial in results),
            critical=is_critical,
            inputs=inputs,
            output=output,
            answers=self._answers.of(case_id, answered),
        )


def _order(source: Source) -> list[str]:
    """Return the groups as they are shown: in a promotion more harm comes after what got better."""
    keys = [*GROUPS]
    if source.decision is not None and source.decision.promotion_allowed:
        keys.remove("harm")
        keys.insert(keys.index("rose") + 1, "harm")
    return keys


def _worst(results: Iterable[TrialResult]) -> TrialResult | None:
    """Return the trial that is shown of a case: the first that does not pass, else the first."""
    return min(results, key=attrgetter("passed", "trial"), default=None)


def first_shown(
    grouped: Mapping[str, Sequence[str]], *, without: AbstractSet[str] = frozenset()
) -> frozenset[str]:
    """Return the cases of which a page has room for texts, in the order of their groups."""
    ids = (case_id for key in grouped if key not in without for case_id in grouped[key])
    return frozenset(islice(ids, MAX_SHOWN))


def ids_of_groups(source: Source, compared: Compared) -> dict[str, list[str]]:
    """Return the ids of each group, each case in one of them, the largest change of a kind first."""
    changes = compared.changes
    ids: dict[str, list[str]] = {key: [] for key in GROUPS}
    if changes is not None:
        ids |= _changed(changes, compared)
    elif source.report is not None:
        unscored = (result for result in source.report.per_case if result.score is None)
        ids["errors"] = sorted({result.case_id for result in unscored})
    # What happened to a case first in the order of the groups is where it is shown.
    seen: set[str] = set()
    for key in GROUPS:
        ids[key] = [case_id for case_id in ids[key] if case_id not in seen]
        seen.update(ids[key])
    before, after = compared.by_case
    for case_id in sorted({*before, *after} - seen):
        case = after.get(case_id) or before[case_id]
        ids[_unchanged(case, source, changes)].append(case_id)
    return ids


def _changed(changes: RunChanges, compared: Compared) -> dict[str, list[str]]:
    """Return the ids of the groups of cases to which something happened; a case may be in several."""
    before, after = compared.by_case
    ids = {
        key: [change.case_id for change in getattr(changes, key)]
        for key in ("newly_failing", "fell", "newly_passing", "rose")
    }
    if not changes.is_graded:
        ids["rose"] = [case_id for case_id in ids["rose"] if after[case_id].passed]
    ids["errors"] = [case_id for case_id, _ in changes.errors]
    ids["missing"] = list(changes.missing)
    ids["new"] = list(changes.new)
    ids["harm"] = []
    if not changes.is_rescored:
        rises = risen(_penalties(before), _penalties(after))
        ids["harm"] = [case_id for case_id, *_ in rises if case_id not in changes.changed]
    return ids


def _penalties(side: Mapping[str, CaseFigures]) -> dict[str, float | None]:
    return {case_id: case.safety_penalty for case_id, case in side.items()}


def _unchanged(case: CaseFigures, source: Source, changes: RunChanges | None) -> str:
    """Return the group of a case to which nothing happened."""
    if changes is not None and changes.is_graded:
        return "same"
    if case.passed:
        return "passing"
    if source.report is not None:
        return "failing"
    return "plain"  # of plain vectors nobody knows what passes


def _by_case(results: Iterable[TrialResult]) -> dict[str, tuple[TrialResult, ...]]:
    ordered = sorted(results, key=attrgetter("case_id", "trial"))
    return {i: tuple(trials) for i, trials in groupby(ordered, key=attrgetter("case_id"))}
