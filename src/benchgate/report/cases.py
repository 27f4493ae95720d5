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
    return case_figures(side.per_case) if side is not None else ()


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
    """Return the results that the samples of one side stand for; else it is as the other side: it was comparable."""
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
    points = _unchecked(
        BenchScore,
        passed=is_passed,
        score=score,
        safety_penalty=sample.safety_penalty,
        cost_usd=(facts.cost_usd if facts else None) or 0.0,
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
    report = source.report
    record = source.record
    changes = compared.changes
    before, after = compared.by_case
    trials = _by_case(report.per_case if report else ())
    judged = trials or _by_case(compared.after.per_case if compared.after else ())
    earlier = _by_case(record.rerun.per_case if record and record.rerun else ())
    about = record.about_cases if record else {}
    grouped = ids_of_groups(source, compared)
    having_room = first_shown(grouped, without=WITHOUT_OUTPUT)

    def view(key: str, case_id: str) -> CaseView:
        results = trials.get(case_id, ())
        facts = about.get(case_id)
        is_shown = key not in WITHOUT_OUTPUT
        has_room = case_id in having_room
        was = before.get(case_id)
        now = after.get(case_id)
        if results and all(trial.outcome in INCOMPLETE for trial in results):
            now = None  # it did not run: a score of 0 would read as a loss
        worst = _worst(results)
        said = _worst(judged.get(case_id, ()))
        return CaseView(
            case_id=case_id,
            before=was,
            after=now,
            delta=now.score - was.score if was and now else None,
            trials=results,
            earlier=earlier.get(case_id, ()),
            about=facts,
            cluster=report.clusters.get(case_id) if report else None,
            held_out=any(trial.held_out for trial in results),
            critical=report is not None and case_id in report.critical,
            inputs=facts.input if facts and results and is_shown and has_room else None,
            output=outputs.of(case_id, worst.trial, has_room=has_room)
            if worst and is_shown
            else None,
            answers=answers.of(case_id, said.trial if said else 0),
        )

    named = dict(GROUPS)
    if changes is not None and changes.is_graded:
        for key, meaning in OF_GRADED.items():
            named[key] = named[key]._replace(meaning=meaning)
    return {
        key: named[key]._replace(cases=tuple(view(key, case_id) for case_id in grouped[key]))
        for key in _order(source)
        if grouped[key]
    }


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
    before, after = compared.by_case
    ids: dict[str, list[str]] = {key: [] for key in GROUPS}
    if changes is not None:
        for key in ("newly_failing", "fell", "newly_passing", "rose"):
            ids[key] = [change.case_id for change in getattr(changes, key)]
        if not changes.is_graded:
            ids["rose"] = [case_id for case_id in ids["rose"] if after[case_id].passed]
        ids["errors"] = [case_id for case_id, _ in changes.errors]
        ids["missing"] = list(changes.missing)
        ids["new"] = list(changes.new)
        sides = [{i: case.safety_penalty for i, case in side.items()} for side in (before, after)]
        rises = () if changes.is_rescored else risen(*sides)
        ids["harm"] = [case_id for case_id, *_ in rises if case_id not in changes.changed]
    elif source.report is not None:
        unscored = (result for result in source.report.per_case if result.score is None)
        ids["errors"] = sorted({result.case_id for result in unscored})
    seen: set[str] = set()
    for key in GROUPS:
        ids[key] = [case_id for case_id in ids[key] if case_id not in seen]
        seen.update(ids[key])
    for case_id in sorted({*before, *after} - seen):
        case = after.get(case_id) or before[case_id]
        may_fail = source.report is not None
        if changes is not None and changes.is_graded:
            ids["same"].append(case_id)
        else:
            ids["passing" if case.passed else "failing" if may_fail else "plain"].append(case_id)
    return ids


def _by_case(results: Iterable[TrialResult]) -> dict[str, tuple[TrialResult, ...]]:
    ordered = sorted(results, key=attrgetter("case_id", "trial"))
    return {i: tuple(trials) for i, trials in groupby(ordered, key=attrgetter("case_id"))}
