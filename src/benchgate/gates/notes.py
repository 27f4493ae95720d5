"""The notes of a decision: what a reader should know, but what never blocks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from benchgate.errors import counted, few
from benchgate.gates.unchanged import unchanged

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchgate.gates.comparison import Comparison
    from benchgate.gates.decision import Blocker
    from benchgate.gates.figures import Arm, Figures
    from benchgate.gates.policy import GatePolicy


def notes(comparison: Comparison) -> Iterator[Blocker]:
    """Yield code and message of each note."""
    figures = comparison.figures
    if figures is not None:
        yield from _new_cases(comparison.new_cases, figures.compared)
    yield from comparison.noted
    trials = comparison.trial_count
    if trials > 1:
        yield "epochs_collapsed", f"{trials} trials of a case count as one observation"
    if figures is not None:
        yield from _imputed("baseline", figures.baseline, "best")
        yield from _imputed("candidate", figures.candidate, "worst")
        yield from _unequal(figures.baseline, figures.candidate)
        yield from _of_figures(figures, comparison.policy)


def _new_cases(new: Sequence[str], compared: int) -> Iterator[Blocker]:
    if not new:
        return
    what = "is new and was" if len(new) == 1 else "are new and were"
    text = f"{compared} of {compared + len(new)} cases: {few(new)} {what} not compared"
    yield "new_cases", f"{text}; benchgate pin --extend runs the baseline on new cases"


def _imputed(side: str, arm: Arm, end: str) -> Iterator[Blocker]:
    """Yield which cases of a side were not measured; ``end`` is what they count as, against the candidate."""
    if arm.imputed:
        yield f"missing_in_{side}", f"counted as the {end} score: {few(arm.imputed)}"


def _unequal(before: Arm, after: Arm) -> Iterator[Blocker]:
    """Yield that the two sides have other numbers of scores, or of trials."""
    may_be_same = not (before.is_count or after.is_count)
    has_ids = before.case_ids is not None or after.case_ids is not None
    old = len(before.scores)
    new = len(after.scores)
    if old != new and may_be_same and not has_ids:
        text = f"{old} scores against {new}, without ids: nobody knows which cases differ"
        yield "unequal_cases", text
    counts = [sorted({len(row) for row in arm.trials}) for arm in (before, after) if arm.trials]
    if len({count for side in counts for count in side}) > 1:
        text = " against ".join(", ".join(map(str, side)) for side in counts)
        yield "unequal_trials", f"trials of a case: {text}; means over fewer trials vary more"


def _of_figures(compared: Figures, policy: GatePolicy) -> Iterator[Blocker]:
    trials = max(map(len, compared.candidate.rows), default=1)
    text = unchanged(compared.baseline, policy, trials)
    if text is not None:
        yield "unchanged_system", text
    if policy.claim == "no_regression":
        text = "the claim is about exactly these cases, and says nothing of others"
        yield "these_cases_only", text
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
    what = counted(size, "case" if compared.significance.clusters is None else "cluster")
    verb = "is" if size == 1 else "are"
    yield "few_cases", f"{what} {verb} few for any claim"


def _clusters(compared: Figures) -> Iterator[Blocker]:
    clusters = compared.significance.clusters
    if clusters is None:
        return
    cases = counted(compared.compared, "case")
    text = f"{cases} share {counted(clusters, 'cluster')}, which are the sample"
    effective = compared.significance.effective_cases
    if effective is not None:
        text += f"; they tell as much as {effective:.0f} cases on their own"
    yield "clusters", text


def _safety_power(compared: Figures) -> Iterator[Blocker]:
    """Yield how often a candidate that is truly less safe would have passed, by the first rise that is known."""
    for rise, chance in compared.safety.pass_chances:
        if chance is not None:
            text = f"harm that rose by {rise:.2f} would slip through in {chance:.0%} of such runs"
            yield "safety_power", text
            return


def _of_gains(compared: Figures, policy: GatePolicy) -> Iterator[Blocker]:
    figures = compared.significance
    has_bound = figures.exact_lower_bound is not None
    if figures.p_value is None and has_bound and _size(compared) > 1:
        text = "no p can be made; the bounded-support bound decides"
        yield "zero_variance_exact_bound_used", text
    if figures.paired is None:
        return
    by_pairs = figures.paired.passed if figures.test == "welch" else figures.passed
    if by_pairs != figures.welch.passed:
        other = "only the two averages (Welch's test)"
        if policy.test == "welch":
            other = "case by case (test = 'auto')"
        yield "welch_paired_disagree", f"to compare {other} would give another answer"


def _unseen_break(compared: Figures, policy: GatePolicy) -> Iterator[Blocker]:
    """Yield which rare loss would undo a gain and may not have shown, unless the exact bound excludes it."""
    figures = compared.significance
    if not figures.passed or "exact" in (policy.evidence, figures.evidence):
        return
    count = math.ceil(1.0 / (figures.unseen_failure_ucb95 or 1.0))
    loss = (figures.mean_delta or 0.0) * count
    if policy.width is not None and loss > abs(policy.width):
        return  # so large a loss cannot be
    pairs = compared.baseline.paired_with(compared.candidate) or ()
    if any(pair.before - pair.after >= loss for pair in pairs):
        return
    of = "cases" if figures.clusters is None else "clusters"
    text = f"a loss of {loss:.2g} in 1 of {count} {of} would undo the gain, and so few {of} might not show it"
    yield "unseen_break", f"{text}; evidence = exact rules it out"
