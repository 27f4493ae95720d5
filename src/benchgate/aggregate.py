"""Aggregates the results of trials into the report of a run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from benchgate.ids import RunPlan, run_id, suite_version
from benchgate.models import Aggregates, BenchRunReport, Suite
from benchgate.wire.canonical import digest
from benchgate.wire.frozen import EMPTY
from benchgate.wire.usage import Usage, total

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchgate.models import TrialResult
    from benchgate.taxonomy import Taxonomy


INCOMPLETE: Final = frozenset({"rubric_error", "skipped", "not_run", "unavailable"})
"""Outcomes that say nothing about the system; one such trial makes the run incomplete."""

UNSCORED: Final = "Unscored"
"""The type of error of a sample of a log that has neither a score nor an error."""

STOP: Final = "stop=decided: no result of it could have led to promote"
BEGUN: Final = f"{STOP}; it had begun, and is paid for"
"""What people read of a trial that was not run because its run stopped, or had begun then; code asks for ``why``."""

OF_A_STOP: Final = frozenset({"stopped", "set_aside"})
"""Why trials were not run of a run that stopped early."""

FAILED: Final = frozenset({"scored", "timeout"})
"""Outcomes of a trial that did not pass which say that its system failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFigures:
    """
    One case, averaged over its trials. The unit of analysis, because trials of one case are not independent.

    :param safety_penalty: mean over the trials that were scored; ``None`` if one of them has none, or none was scored.
    :param erred: whether it passes is not known: no trial failed, but one could not be scored.
    """

    case_id: str
    score: float
    trials: tuple[float, ...]
    safety_penalty: float | None
    passed: bool
    passed_trials: int
    erred: bool
    cost_usd: float | None
    duration_seconds: float


def is_capped(result: TrialResult) -> bool:
    """Whether a trial was not run because the cap on costs has no room for it."""
    return result.why == "capped"


def set_aside(result: TrialResult) -> TrialResult:
    """Return a trial that had begun when its run stopped as not run, but with its cost and its failure modes."""
    used = result.usage or Usage()
    if result.score is not None and result.score.cost_usd:
        # The score is dropped, and its cost with it. What was observed stays, with what that has cost.
        used = used.model_copy(update={"cost_usd": (used.cost_usd or 0.0) + result.score.cost_usd})
    new = {"outcome": "not_run", "why": "set_aside", "detail": BEGUN}
    return result.model_copy(update=new | {"score": None, "usage": used})


def mean(values: Sequence[float]) -> float:
    """Return the arithmetic mean; the order of the values does not matter."""
    try:
        return math.fsum(values) / len(values)
    except OverflowError:  # dividing first costs digits, failing would cost the run
        return math.fsum(value / len(values) for value in values)


def case_figures(results: Iterable[TrialResult]) -> list[CaseFigures]:
    """
    Average trials by case, sorted by case id.

    An unscored trial counts as score 0, and its penalty is left out. If the cost of one trial is unknown, so is that
    of its case.
    """
    return [figures_of(case_id, trials) for case_id, trials in by_case(results)]


def by_case(results: Iterable[TrialResult]) -> list[tuple[str, list[TrialResult]]]:
    """Return the trials of each case in their order, sorted by case id."""
    ordered = sorted(results, key=lambda result: (result.case_id, result.trial))
    cases = groupby(ordered, key=lambda result: result.case_id)
    return [(case_id, list(trials)) for case_id, trials in cases]


def figures_of(case_id: str, trials: Sequence[TrialResult]) -> CaseFigures:
    """Average the trials of one case, as :func:`case_figures`."""
    passed = all(trial.passed for trial in trials)
    scores = tuple(map(_score_of, trials))
    return CaseFigures(
        case_id=case_id,
        score=mean(scores),
        trials=scores,
        safety_penalty=_mean_if_known([t.score.safety_penalty for t in trials if t.score]),
        passed=passed,
        passed_trials=sum(trial.passed for trial in trials),
        erred=not passed and not any(map(has_failed, trials)),
        cost_usd=_mean_if_known([cost_of(trial) for trial in trials]),
        duration_seconds=mean([trial.duration_seconds for trial in trials]),
    )


def _score_of(trial: TrialResult) -> float:
    if trial.score is None:
        return 0.0
    return trial.score.score


def _mean_if_known(values: Sequence[float | None]) -> float | None:
    """Return the mean; ``None`` if there is no value, or one is not known: a mean of the others would hide it."""
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    return mean(known)


def has_failed(result: TrialResult) -> bool:
    """Whether a trial did not pass and says so."""
    return not result.passed and result.outcome in FAILED


def cost_of(result: TrialResult) -> float | None:
    """Return what a trial cost, system, observing and judging, in US dollars; ``None`` if none of them says."""
    judging = 0.0
    if result.score is not None:
        judging = result.score.cost_usd
    if result.observed is not None and result.observed.usage is not None:
        judging += result.observed.usage.cost_usd or 0.0
    if result.usage is not None and result.usage.cost_usd is not None:
        return result.usage.cost_usd + judging
    # A rubric that says nothing has a cost of 0, too: 0 alone is no report.
    return judging or None


def aggregates(
    results: Sequence[TrialResult],
    taxonomy: Taxonomy,
    *,
    bounded: bool,
    clusters: Mapping[str, str],
) -> Aggregates:
    """
    Return the figures over some results; without results the mean score is 0 and the mean penalty unknown.

    :param bounded: also compute the lower bound of the mean score; leave it out for hand-picked cases, because a bound
        says something about other cases only if these are a sample of them.
    :param clusters: by case id; a case that is left out is a cluster of its own.
    """
    cases = case_figures(results)
    mean_score = 0.0
    if cases:
        mean_score = mean([case.score for case in cases])
    lower = None
    if bounded and cases:
        from benchgate.statistics.bounds import gaffke_lower

        labels = [clusters.get(case.case_id) for case in cases]
        lower = gaffke_lower([case.score for case in cases], labels)
    return Aggregates(
        case_count=len(cases),
        mean_score=mean_score,
        score_lower_bound_95=lower,
        passed_count=sum(case.passed for case in cases),
        total_cost_usd=math.fsum(cost_of(result) or 0.0 for result in results),
        mean_safety_penalty=_mean_if_known([case.safety_penalty for case in cases]),
        block_severity_failure_modes=taxonomy.blocks(
            mode for result in results for mode in result.failure_modes
        ),
        usage=total(result.usage for result in results),
    )


def axis_means(results: Iterable[TrialResult]) -> dict[str, float]:
    """Return the mean of each part of the score, over the trials that have it."""
    values: dict[str, list[float]] = {}
    for result in results:
        if result.score is None:
            continue
        for axis, value in result.score.breakdown.items():
            values.setdefault(axis, []).append(value)
    return {axis: mean(of_axis) for axis, of_axis in values.items()}


def fingerprints(report: BenchRunReport | None) -> tuple[str, ...]:
    """Return which builds of a model the observations name, sorted."""
    found: set[str] = set()
    if report is not None:
        for result in report.per_case:
            if result.observed is not None:
                found.update(result.observed.fingerprints)
    return tuple(sorted(found))


def outputs_digest(report: BenchRunReport | Any | None) -> str | None:
    """
    Return what looks at a baseline are counted by that is observed again, or extended; else ``None``.

    :param report: of the baseline, or what else has these fields.
    """
    if report is not None and report.parts:
        return str(report.parts[0].counted_by)
    if report is None or report.observer is None:
        return None
    return digest([[r.case_id, r.trial, r.observed and r.observed.output] for r in report.per_case])


def irregular(result: TrialResult) -> bool:
    """Whether a trial makes its run incomplete: it was retried, or ended in one of :data:`INCOMPLETE`."""
    return result.outcome in INCOMPLETE or result.reruns > 0


def stopped_early(results: Iterable[TrialResult]) -> bool:
    """Return whether a run stopped early: trials were not run because of that, and all others are as they should be."""
    lacking = [result for result in results if irregular(result)]
    return bool(lacking) and all(r.why in OF_A_STOP and not r.reruns for r in lacking)


def build_report(
    plan: RunPlan,
    results: Iterable[TrialResult],
    taxonomy: Taxonomy,
    *,
    interrupted: bool = False,
    critical: Iterable[str] = (),
    clusters: Mapping[str, str] = EMPTY,
    retired: Mapping[str, str] = EMPTY,
) -> BenchRunReport:
    """
    Build the report of a run.

    :param results: one for each planned trial, in any order; of a run that may stop, in that of its cases.
    :param interrupted: the session ended early, which makes the run incomplete.
    :param critical: ids of the cases that may not newly fail.
    :param clusters: the ``cluster`` of each case that names one, by case id.
    :param retired: cases of the class that are no longer run, and why.
    """
    ordered = tuple(sorted(results, key=lambda result: (result.case_id, result.trial)))
    is_regular = not any(irregular(result) for result in ordered)
    terms: dict[str, Any] = {"bounded": plan.scope == "full", "clusters": clusters}
    held_out = [result for result in ordered if result.held_out]
    of_held_out = None
    if held_out:
        of_held_out = aggregates(held_out, taxonomy, **terms)
    stopped: tuple[str, ...] = ()
    if stopped_early(ordered):
        # In the order in which the cases ran, which says by which baseline the run stopped.
        stopped = tuple(dict.fromkeys(result.case_id for result in results))
    return BenchRunReport(
        **dict(aggregates(ordered, taxonomy, **terms)),
        run_id=run_id(plan.task_class, ordered),
        plan_id=plan.plan_id(),
        task_class=plan.task_class,
        scope=plan.scope,
        suite=Suite(name=plan.task_class, version=suite_version(plan.digests.cases)),
        system=plan.system,
        isolation_class=plan.isolation_class,
        reads=plan.reads,
        observer=plan.observer,
        trial_count=plan.trial_count,
        seed=plan.seed,
        complete=bool(ordered) and is_regular and not interrupted,
        per_case=ordered,
        critical=tuple(sorted({*critical} & {result.case_id for result in ordered})),
        held_out=of_held_out,
        digests=plan.digests,
        clusters=clusters,
        retired=retired,
        stopped=stopped,
    )
