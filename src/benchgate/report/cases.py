"""The cases of a run as a report shows them: grouped by what changed, the worst change first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from benchgate.aggregate import CaseFigures, case_figures
from benchgate.gates.run_diff import case_changes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchgate.artifacts.evidence_kinds import ArmReport
    from benchgate.artifacts.run_kinds import AboutCase
    from benchgate.gates.run_diff import RunChanges
    from benchgate.models import TrialResult
    from benchgate.report.outputs import Outputs, OutputView
    from benchgate.report.source import Source

ERRORS: Final = "errors"
TITLES: Final[Mapping[str, tuple[str, str]]] = {
    "newly_failing": ("Newly failing", "passed in the baseline, fails now"),
    ERRORS: ("Errors", "has no score: it counts as 0 and not passed"),
    "fell": ("Lower scores", "the score fell; passed or failed as before"),
    "newly_passing": ("Newly passing", "failed in the baseline, passes now"),
    "rose": ("Higher scores", "the score rose; passed or failed as before"),
    "missing": ("Not in this run", "only the baseline has it"),
    "failing": ("Failing", "as in the baseline"),
    "passing": ("Passing", "as in the baseline"),
    "new": ("Not in the baseline", "only this run has it"),
    "plain": ("Not compared", "no pairs of cases are known"),
}
"""The groups of cases in the order in which they are shown."""
WITH_OUTPUT: Final = frozenset(
    {"newly_failing", ERRORS, "fell", "newly_passing", "rose", "failing"}
)
"""Groups whose cases are shown with their outputs: they fail, or they changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseView:
    """
    A case as a row, and what it opens to.

    :param before: the baseline's figures; ``None`` if it has none of this case.
    :param delta: score minus that of the baseline.
    :param trials: the results; empty for plain vectors.
    :param earlier: the baseline's results, if this report has them.
    :param inputs: beginnings of the input's text files, by path; empty if they are not shown.
    """

    case_id: str
    group: str
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


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseGroup:
    """Cases to which the same happened."""

    key: str
    cases: tuple[CaseView, ...]

    @property
    def title(self) -> str:
        """What happened to them."""
        return TITLES[self.key][0]

    @property
    def meaning(self) -> str:
        """The same in a sentence."""
        return TITLES[self.key][1]

    @property
    def is_open(self) -> bool:
        """Whether it is shown without a click: all but the cases to which nothing happened."""
        return self.key != "passing"


def arm_figures(arm: ArmReport | None) -> list[CaseFigures]:
    """Return the figures of each case that evidence has; of plain vectors, as far as they name cases."""
    return [
        CaseFigures(
            case_id=sample.case_id,
            score=sample.score,
            trials=sample.trials or (),
            safety_penalty=sample.safety_penalty,
            passed=sample.facts is not None and sample.facts.passed,
            cost_usd=sample.facts.cost_usd if sample.facts else None,
            duration_seconds=(sample.facts.duration_seconds if sample.facts else None) or 0.0,
        )
        for sample in (arm.samples if arm else ())
        if sample.case_id is not None
    ]


def sides(source: Source) -> tuple[list[CaseFigures], list[CaseFigures]]:
    """Return the figures of the baseline's cases and of the candidate's, from the evidence as far as it has them."""
    report, record = source.report, source.record
    after = case_figures(report.per_case) if report else arm_figures(source.after)
    if source.before is None and record is not None and record.rerun is not None:
        return case_figures(record.rerun.per_case), after
    return arm_figures(source.before), after


def groups(source: Source, changes: RunChanges, outputs: Outputs) -> list[CaseGroup]:
    """Return all cases, those to which something happened first."""
    before, after = ({case.case_id: case for case in side} for side in sides(source))
    report, record = source.report, source.record
    trials = _by_case(report.per_case if report else ())
    earlier = _by_case(record.rerun.per_case if record and record.rerun else ())
    kinds = _kinds(changes, before, after, trials)
    deltas = {
        change.case_id: change.delta
        for change in (*changes.newly_failing, *changes.newly_passing, *changes.moved)
    }
    ordered = sorted(
        kinds, key=lambda c: (list(TITLES).index(kinds[c]), _rank(kinds[c], deltas.get(c, 0.0)), c)
    )
    views: dict[str, list[CaseView]] = {}
    for case_id in ordered:
        about = record.about_cases.get(case_id) if record else None
        with_output = kinds[case_id] in WITH_OUTPUT and bool(trials.get(case_id))
        inputs = (
            {p: t for p, t in about.input.items() if outputs.take(t)}
            if about and with_output
            else None
        )
        views.setdefault(kinds[case_id], []).append(
            CaseView(
                case_id=case_id,
                group=kinds[case_id],
                before=before.get(case_id),
                after=after.get(case_id),
                delta=deltas.get(case_id, 0.0 if case_id in before and case_id in after else None),
                trials=trials.get(case_id, ()),
                earlier=earlier.get(case_id, ()),
                about=about,
                cluster=report.clusters.get(case_id) if report else None,
                held_out=any(trial.held_out for trial in trials.get(case_id, ())),
                critical=report is not None and case_id in report.critical,
                inputs=inputs,
                output=outputs.of(case_id, _worst(trials[case_id])) if with_output else None,
            )
        )
    return [CaseGroup(key=key, cases=tuple(views[key])) for key in TITLES if key in views]


def _by_case(results: Iterable[TrialResult]) -> dict[str, tuple[TrialResult, ...]]:
    found: dict[str, list[TrialResult]] = {}
    for result in results:
        found.setdefault(result.case_id, []).append(result)
    return {case_id: tuple(trials) for case_id, trials in found.items()}


def _kinds(
    changes: RunChanges,
    before: Mapping[str, CaseFigures],
    after: Mapping[str, CaseFigures],
    trials: Mapping[str, tuple[TrialResult, ...]],
) -> dict[str, str]:
    known = bool(trials) or not after
    kinds = {
        c: "passing" if case.passed else "failing" if known else "plain"
        for c, case in after.items()
    }
    kinds |= dict.fromkeys(changes.new if before else (), "new") | dict.fromkeys(
        changes.missing, "missing"
    )
    kinds |= {change.case_id: "fell" if change.delta < 0 else "rose" for change in changes.moved}
    kinds |= {change.case_id: "newly_passing" for change in changes.newly_passing}
    unscored = [c for c, found in trials.items() if any(trial.score is None for trial in found)]
    kinds |= dict.fromkeys(unscored, ERRORS)
    return kinds | {change.case_id: "newly_failing" for change in changes.newly_failing}


def _rank(kind: str, delta: float) -> float:
    return -delta if kind in {"newly_passing", "rose"} else delta


def _worst(trials: Sequence[TrialResult]) -> int:
    """Return the trial whose output is shown: the first one that failed, else the first one."""
    failed = [trial.trial for trial in trials if not trial.passed]
    return failed[0] if failed else trials[0].trial


def changes_of(source: Source) -> RunChanges:
    """Return what changed from the baseline, case by case; without a baseline every case is new."""
    before, after = sides(source)
    return case_changes(before, after)
