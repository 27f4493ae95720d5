"""Compares two runs case by case."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchgate.aggregate import INCOMPLETE, case_figures, mean
from benchgate.gates.case_labels import labels_of, labels_of_side, relabelled
from benchgate.gates.policy import TOLERANCE
from benchgate.sentences.says import clauses, says

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from benchgate.aggregate import CaseFigures
    from benchgate.gates.case_labels import LabelChange
    from benchgate.gates.decision import Blocker
    from benchgate.gates.run_side import SideHead
    from benchgate.models import BenchRunReport


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseChange:
    """
    One case that both runs have, with its mean score in each.

    :param passed: how many of its trials pass, in each.
    :param trials: how many it has, in each.
    :param codes: the failure modes of its trials in the second run.
    """

    case_id: str
    before: float
    after: float
    passed: tuple[int, int]
    trials: tuple[int, int]
    codes: tuple[str, ...] = ()

    @property
    def delta(self) -> float:
        """Score after minus score before."""
        return self.after - self.before

    @property
    def keeps_majority(self) -> bool:
        """Whether most trials pass in both runs, or in neither: one trial of several may have changed by chance."""
        passed_before, passed_after = self.passed
        trials_before, trials_after = self.trials
        return (2 * passed_before > trials_before) == (2 * passed_after > trials_after)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """
    How often the trials of two runs pass that have different numbers of them.

    A case passes if all of its trials do, which three do less often than one: the same system would seem to gain by
    running fewer.

    :param before: share of the trials of a case that pass, averaged over the cases of the first run; ``now`` of the
        second.
    :param trials_before: the most trials that a case of the first run has; ``trials`` of the second.
    """

    before: float
    now: float
    trials_before: int
    trials: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunChanges:
    """
    The differences of two runs.

    The largest change of a kind is first, and those in which most trials pass as before are last; ids are sorted.

    A case is only among the changes if its scores can be compared: its files are the same, and each of its trials says
    something about the system.

    :param fell: cases with a lower score that pass, or fail, in both runs; ``rose`` with a higher one.
    :param errors: cases of the second run of which a trial was not scored, each with how it ended; of the others only
        ``newly_failing`` may have them too.
    :param same: number of cases that did not change.
    :param new: ids of cases that only the second run has.
    :param missing: ids of cases that only the first run has; none if the second is a selection.
    :param changed: ids of cases whose files differ.
    :param is_rescored: the runs were scored by different rubrics, so that no score can be compared.
    :param is_graded: of logs of which nobody said which scores pass: cases are only higher or lower.
    :param rates: what to compare in place of how many cases pass, if the numbers of trials differ; else ``None``.
    """

    newly_failing: tuple[CaseChange, ...]
    newly_passing: tuple[CaseChange, ...]
    fell: tuple[CaseChange, ...]
    rose: tuple[CaseChange, ...]
    errors: tuple[tuple[str, str], ...]
    same: int
    new: tuple[str, ...]
    missing: tuple[str, ...]
    changed: tuple[str, ...]
    is_rescored: bool
    is_graded: bool = False
    rates: Rates | None = None


def changes(before: BenchRunReport, after: BenchRunReport) -> RunChanges:
    """Compare two runs case by case, to see which cases explain a difference of the means."""
    old = _figures(before)
    new = _figures(after)
    edited = _edited(before, after) & old.keys() & new.keys()
    errors = _by_case((r.case_id, r.outcome) for r in after.shown.per_case if r.outcome != "scored")
    is_graded = lacks_mark(before) or lacks_mark(after)
    kinds: dict[str, list[CaseChange]] = defaultdict(list)
    for change in _case_changes(before, after, old, new, edited):
        case_id = change.case_id
        has_error = case_id in errors
        if is_graded:
            kind = _kind_by_score(change, has_error=has_error)
        else:
            kind = _kind(change, old[case_id], new[case_id], has_error=has_error)
        kinds[kind].append(change)
    for changes_of_kind in kinds.values():
        changes_of_kind.sort(
            key=lambda c: (c.keeps_majority and not is_graded, -abs(c.delta), c.case_id)
        )
    return RunChanges(
        newly_failing=tuple(kinds["newly_failing"]),
        newly_passing=tuple(kinds["newly_passing"]),
        fell=tuple(kinds["fell"]),
        rose=tuple(kinds["rose"]),
        errors=tuple((case_id, ", ".join(errors[case_id])) for case_id in sorted(errors)),
        same=len(kinds["same"]),
        new=tuple(sorted(new.keys() - old.keys())),
        missing=_missing(after, old.keys() - new.keys()),
        changed=tuple(sorted(edited)),
        is_rescored=before.digests.scorer != after.digests.scorer,
        is_graded=is_graded,
        rates=_rates(old, new),
    )


def _figures(report: BenchRunReport) -> dict[str, CaseFigures]:
    return {case.case_id: case for case in case_figures(report.per_case)}


def _edited(before: BenchRunReport, after: BenchRunReport) -> set[str]:
    """Return the cases whose files differ, or are known of one run only."""
    files = before.digests.cases
    files_now = after.digests.cases
    ids = files.keys() | files_now.keys()
    return {case_id for case_id in ids if files.get(case_id) != files_now.get(case_id)}


def _missing(after: BenchRunReport, gone: Iterable[str]) -> tuple[str, ...]:
    """Return the cases that are gone and not retired; a selection of cases lacks none."""
    if after.scope != "full":
        return ()
    return tuple(sorted(case_id for case_id in gone if case_id not in after.retired))


def _case_changes(
    before: BenchRunReport,
    after: BenchRunReport,
    old: Mapping[str, CaseFigures],
    new: Mapping[str, CaseFigures],
    edited: set[str],
) -> Iterator[CaseChange]:
    """Yield each case whose scores in both runs can be compared."""
    silent = {r.case_id for r in (*before.per_case, *after.per_case) if r.outcome in INCOMPLETE}
    codes = _by_case((r.case_id, mode.code) for r in after.per_case for mode in r.failure_modes)
    for case_id in (old.keys() & new.keys()) - silent - edited:
        was = old[case_id]
        now = new[case_id]
        yield CaseChange(
            case_id=case_id,
            before=was.score,
            after=now.score,
            passed=(was.passed_trials, now.passed_trials),
            trials=(len(was.trials), len(now.trials)),
            codes=codes.get(case_id, ()),
        )


def lacks_mark(report: BenchRunReport) -> bool:
    """Whether nobody said which scores of a log pass, and they are not 0 and 1, which say it themselves."""
    source = report.source
    if source is None or source.passed is not None:
        return False
    return any(one.score is not None and one.score.score not in (0, 1) for one in report.per_case)


def _rates(old: Mapping[str, CaseFigures], new: Mapping[str, CaseFigures]) -> Rates | None:
    both = old.keys() & new.keys()
    if all(len(old[case_id].trials) == len(new[case_id].trials) for case_id in both):
        return None
    return Rates(
        before=_passing(old.values()),
        now=_passing(new.values()),
        trials_before=max(len(case.trials) for case in old.values()),
        trials=max(len(case.trials) for case in new.values()),
    )


def _passing(cases: Iterable[CaseFigures]) -> float:
    return mean([case.passed_trials / len(case.trials) for case in cases])


def _kind(change: CaseChange, was: CaseFigures, now: CaseFigures, *, has_error: bool) -> str:
    if len(was.trials) == len(now.trials):
        is_new = was.passed != now.passed
    else:
        # From all of them to none, or back: anything less is a rate that fell or rose.
        is_new = {_passing([was]), _passing([now])} == {0, 1}
    if not is_new:
        return _kind_by_score(change, has_error=has_error)
    if now.passed:
        return "newly_passing"
    return "newly_failing"


def _kind_by_score(change: CaseChange, *, has_error: bool) -> str:
    if has_error:
        return "error"
    # Means of the same scores may differ in the last digit: the gate has this tolerance, too.
    if change.delta < -TOLERANCE:
        return "fell"
    if change.delta > TOLERANCE:
        return "rose"
    return "same"


def _by_case(words: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """Return the words of each case, each once, in their order."""
    by_case: dict[str, dict[str, None]] = {}
    for case_id, word in words:
        by_case.setdefault(case_id, {})[word] = None
    return {case_id: tuple(once) for case_id, once in by_case.items()}


def since_pin(before: SideHead, now: BenchRunReport | Any) -> tuple[LabelChange, ...]:
    """
    Return what is labelled otherwise than in the baseline; a log has its own labels.

    :param now: the report of a run, or what else has these fields.
    """
    if before.log is not None or now.source is not None:
        return ()
    return relabelled(labels_of_side(before), labels_of(now))


def relabelled_note(
    since_pin: Iterable[LabelChange], since_look: Iterable[LabelChange]
) -> Iterator[Blocker]:
    """Yield what was labelled otherwise when the baseline was pinned, or when the same results were looked at."""
    pinned = [change.said for change in since_pin]
    if pinned:
        yield "relabelled", says("relabelled.pin", changes=clauses(pinned))
    looked_at = [change.said for change in since_look]
    if looked_at:
        yield "relabelled", says("relabelled.look", changes=clauses(looked_at))
