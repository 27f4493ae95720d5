"""What more evidence costs: more cases, or more trials of the cases there are, whichever takes fewer runs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from benchgate.aggregate import mean
from benchgate.sentences.says import says

if TYPE_CHECKING:
    from benchgate.gates.figures import Arm, Figures
    from benchgate.sentences.says import Says

Rows = tuple[tuple[float, ...], ...]


class Noise(NamedTuple):
    """
    How scores vary, in squared scores.

    :param trials: variance of one trial around the mean of its case, of both sides together.
    :param mean: what that adds to the variance of a difference, as each case has several trials.
    :param whole: variance of the difference of a case.
    """

    trials: float
    mean: float
    whole: float


def more_runs(figures: Figures) -> Says | None:
    """
    Return how to find the target effect, or to show the margin, with the fewest runs.

    :returns: ``None`` if no number of cases is known to be enough, or there are enough.
    """
    there = figures.compared
    needed = figures.significance.cases_needed
    if needed is None or needed <= there:
        return None
    if figures.significance.clusters is not None:
        return more_clusters(there, needed, figures.significance.clusters)
    more = needed - there
    trials = trials_needed(figures.baseline, figures.candidate, there / needed)
    if trials is None:
        return says("step.more_cases", more=more, there=there)
    for_cases = more * (_trials(figures.baseline) + _trials(figures.candidate))
    for_trials = there * sum(
        max(0, trials - _trials(arm)) for arm in (figures.baseline, figures.candidate)
    )
    if for_trials <= for_cases:
        return says(
            "step.trials_first",
            trials=trials,
            trial_runs=for_trials,
            more=more,
            there=there,
            case_runs=for_cases,
        )
    return says(
        "step.cases_first",
        more=more,
        there=there,
        case_runs=for_cases,
        trials=trials,
        trial_runs=for_trials,
    )


def more_clusters(there: int, needed: int, clusters: int) -> Says:
    """Return how many clusters are lacking, of the sizes there are."""
    more = needed - there
    sources = math.ceil(more * clusters / there)
    return says("step.more_clusters", sources=sources, more=more, there=clusters)


def trials_needed(before: Arm, after: Arm, share: float) -> int | None:
    """
    Return how many trials of each case, on both sides, leave a share of the variance of the mean difference.

    Trials average out how a case varies from trial to trial. What differs from case to case stays. So where both sides
    have the same number of trials, cases never take more runs; but somebody has to write them.

    :param share: of the variance there is now, in (0, 1).
    :returns: ``None`` if no number of trials does, or no case has two trials, so that nobody knows how it varies.
    """
    noise = _noise(before, after)
    if noise is None:
        return None
    between = max(0.0, noise.whole - noise.mean)
    room = noise.whole * share - between
    if room <= 0.0 or noise.trials <= 0.0:
        return None
    return math.ceil(noise.trials / room)


def _noise(before: Arm, after: Arm) -> Noise | None:
    of_before = _within(before.rows)
    of_after = _within(after.rows)
    if of_before is None:  # one trial of each case: taken to vary as the other side does
        of_before = of_after
    if of_after is None:
        of_after = of_before
    whole = _variance(before, after)
    if of_before is None or of_after is None or whole is None:
        return None
    return Noise(
        trials=of_before + of_after,
        mean=of_before * _per_trial(before.rows) + of_after * _per_trial(after.rows),
        whole=whole,
    )


def _within(rows: Rows) -> float | None:
    """Return the variance of a trial around the mean of its case; ``None`` if no case has two."""
    from benchgate.statistics.summary import summarize

    variances = [summarize(row).variance for row in rows if len(row) > 1]
    known = [variance for variance in variances if variance is not None]
    if not known:
        return None
    return mean(known)


def _per_trial(rows: Rows) -> float:
    return mean([1.0 / len(row) for row in rows])


def _variance(before: Arm, after: Arm) -> float | None:
    """Return the variance of a case's difference; where cases cannot be paired, of one case of each side."""
    from benchgate.statistics.paired import paired_differences
    from benchgate.statistics.summary import summarize

    pairs = before.paired_with(after)
    if pairs:
        differences = paired_differences(
            [pair.before for pair in pairs], [pair.after for pair in pairs]
        )
        return summarize(differences).variance
    first = summarize(before.scores).variance
    second = summarize(after.scores).variance
    if first is None or second is None:
        return None
    return first + second


def _trials(arm: Arm) -> int:
    """Return how many trials a case has, of most."""
    return max((len(row) for row in arm.rows), default=1)
