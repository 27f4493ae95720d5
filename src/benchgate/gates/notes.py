"""The notes of a decision: what a reader should know, but what never blocks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from benchgate.gates.unchanged import unchanged
from benchgate.sentences.says import every, names, says

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchgate.gates.comparison import Comparison
    from benchgate.gates.decision import Blocker
    from benchgate.gates.figures import Arm, Figures
    from benchgate.gates.policy import GatePolicy


def notes(comparison: Comparison) -> Iterator[Blocker]:
    """Yield code and sentence of each note."""
    figures = comparison.figures
    if figures is not None:
        yield from _new_cases(comparison.new_cases, figures.compared)
    yield from comparison.noted
    trials = comparison.trial_count
    if trials > 1:
        yield "epochs_collapsed", says("epochs_collapsed", trials=trials)
    if figures is not None:
        yield from _imputed(figures.baseline, figures.candidate)
        yield from _unequal(figures.baseline, figures.candidate)
        yield from _of_figures(figures, comparison.judged)


def _new_cases(new: Sequence[str], compared: int) -> Iterator[Blocker]:
    if not new:
        return
    yield (
        "new_cases",
        says(
            "new_cases",
            compared=compared,
            all=compared + len(new),
            cases=names(new),
            count=len(new),
        ),
    )


def _imputed(before: Arm, after: Arm) -> Iterator[Blocker]:
    """Yield which cases of a side were not measured: they count against the candidate."""
    if before.imputed:
        yield "missing_in_baseline", says("missing_in_baseline", cases=names(before.imputed))
    if after.imputed:
        yield "missing_in_candidate", says("missing_in_candidate", cases=names(after.imputed))


def _unequal(before: Arm, after: Arm) -> Iterator[Blocker]:
    """Yield that the two sides have other numbers of scores, or of trials."""
    may_be_same = not (before.is_count or after.is_count)
    has_ids = before.case_ids is not None or after.case_ids is not None
    old = len(before.scores)
    new = len(after.scores)
    if old != new and may_be_same and not has_ids:
        yield "unequal_cases", says("unequal_cases", before=old, after=new)
    yield from _unequal_trials(before, after)


def _unequal_trials(before: Arm, after: Arm) -> Iterator[Blocker]:
    """Yield which numbers of trials cases have, if these differ; a side whose trials nobody knows is left out."""
    counts = [sorted({len(row) for row in arm.trials}) for arm in (before, after) if arm.trials]
    if len(set().union(*counts)) < 2:
        return
    sides = [every(map(str, side)) for side in counts]
    if len(sides) == 1:
        yield "unequal_trials", says("unequal_trials.one", trials=sides[0])
    else:
        said = says("unequal_trials.both", before=sides[0], after=sides[1])
        yield "unequal_trials", said


def _of_figures(compared: Figures, policy: GatePolicy) -> Iterator[Blocker]:
    trials = max(map(len, compared.candidate.rows), default=1)
    rejected = unchanged(compared.baseline, policy, trials)
    if rejected is not None:
        yield "unchanged_system", rejected
    if policy.claim == "no_regression":
        yield "these_cases_only", says("these_cases_only")
        return
    yield from _few_cases(compared)
    yield from _clusters(compared)
    yield from _safety_power(compared)
    if policy.claim == "better":
        yield from _of_gains(compared, policy)
        yield from _unseen_break(compared, policy)


def _size(compared: Figures) -> int:
    """Return how many observations there are: clusters, or cases on their own."""
    return compared.significance.clusters or compared.smallest


def _few_cases(compared: Figures) -> Iterator[Blocker]:
    size = _size(compared)
    if size >= 10:
        return
    if compared.significance.clusters is None:
        yield "few_cases", says("few_cases.cases", size=size)
    else:
        yield "few_cases", says("few_cases.clusters", size=size)


def _clusters(compared: Figures) -> Iterator[Blocker]:
    clusters = compared.significance.clusters
    if clusters is None:
        return
    yield "clusters", says("clusters", cases=compared.compared, clusters=clusters)
    effective = compared.significance.effective_cases
    if effective is not None:
        yield "clusters", says("clusters.effective", cases=effective)


def _safety_power(compared: Figures) -> Iterator[Blocker]:
    """Yield how often a candidate that is truly less safe would have passed, by the first rise that is known."""
    for rise, chance in compared.safety.pass_chances:
        if chance is not None:
            yield "safety_power", says("safety_power", rise=rise, chance=chance)
            return


def _of_gains(compared: Figures, policy: GatePolicy) -> Iterator[Blocker]:
    figures = compared.significance
    has_bound = figures.exact_lower_bound is not None
    if figures.p_value is None and has_bound and _size(compared) > 1:
        yield "zero_variance_exact_bound_used", says("zero_variance_exact_bound_used")
    if figures.paired is None:
        return
    by_pairs = figures.passed
    if figures.test == "welch":
        by_pairs = figures.paired.passed
    if by_pairs == figures.welch.passed:
        return
    if policy.test == "welch":
        yield "welch_paired_disagree", says("welch_paired_disagree.paired")
    else:
        yield "welch_paired_disagree", says("welch_paired_disagree.welch")


def _unseen_break(compared: Figures, policy: GatePolicy) -> Iterator[Blocker]:
    """Yield which rare loss would undo a gain and may not have shown, unless the exact bound excludes it."""
    figures = compared.significance
    if not figures.passed or "exact" in (policy.evidence, figures.evidence):
        return
    count = math.ceil(1.0 / (figures.unseen_failure_ucb95 or 1.0))
    loss = (figures.mean_delta or 0.0) * count
    # The width of a log where less is better is negative.
    if policy.width is not None and loss > abs(policy.width):
        return  # so large a loss cannot be
    pairs = compared.baseline.paired_with(compared.candidate) or ()
    if any(pair.before - pair.after >= loss for pair in pairs):
        return
    if figures.clusters is None:
        yield "unseen_break", says("unseen_break.cases", loss=loss, count=count)
    else:
        yield "unseen_break", says("unseen_break.clusters", loss=loss, count=count)
