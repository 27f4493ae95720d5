"""The notes of a decision: what a reader should know, but what never blocks."""

from __future__ import annotations

import math
from collections import Counter
from statistics import variance
from typing import TYPE_CHECKING, Final

from benchgate.aggregate import fingerprints, mean
from benchgate.errors import counted, few
from benchgate.gates.episodes import episode_notes
from benchgate.gates.unchanged import unchanged
from benchgate.statistics.student import t_upper_quantile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.gates.decision import Blocker, Facts, GateInput
    from benchgate.gates.figures import Figures, Significance
    from benchgate.gates.policy import GatePolicy
    from benchgate.models import BenchRunReport


SAME_BYTES: Final = (
    "same_bytes",
    "both files have the same bytes: is the baseline the old one?",
)
"""The note on two files that are no evidence of two versions, unless both gave exactly the same."""

NOISE_FROM: Final = 20
"""Outputs with several verdicts from which on the observer's noise is estimated."""


def notes(inputs: GateInput) -> Iterator[Blocker]:
    """Yield code and message of each note."""
    if inputs.with_new and inputs.figures:
        known, ids = inputs.figures.compared, inputs.with_new.candidate.case_ids or ()
        new = {*ids} - {*(inputs.figures.candidate.case_ids or ())}
        what = "is new and was" if len(new) == 1 else "are new and were"
        text = f"{known} of {len(ids)} cases: {few(new)} {what} not compared"
        yield "new_cases", f"{text}; benchgate pin --extend runs the baseline on new cases"
    yield from inputs.noted
    if inputs.trial_count > 1:
        yield "epochs_collapsed", f"{inputs.trial_count} trials of a case count as one observation"
    if inputs.figures is not None:
        yield from _arms(inputs.figures)
        yield from _of_figures(inputs.figures, inputs.policy)


def _of_figures(compared: Figures, policy: GatePolicy) -> Iterator[Blocker]:
    figures = compared.significance
    trials = max(map(len, compared.candidate.rows), default=1)
    if text := unchanged(compared.baseline, policy, trials):
        yield "unchanged_system", text
    if policy.claim == "no_regression":
        text = "the claim is about exactly these cases, and says nothing of others"
        yield "these_cases_only", text
        return
    size = figures.clusters or compared.smallest
    if size < 10:
        what = counted(size, "case" if figures.clusters is None else "cluster")
        yield "few_cases", f"{what} {'is' if size == 1 else 'are'} few for any claim"
    yield from _clusters(compared)
    # How often a candidate that is truly less safe would have passed the check of the penalty.
    for rise, chance in [pair for pair in compared.safety.pass_chances if pair[1] is not None][:1]:
        text = f"harm that rose by {rise:.2f} would slip through in {chance:.0%} of such runs"
        yield "safety_power", text
    if policy.claim == "better":
        yield from _of_gains(figures, policy, size)
        yield from _unseen_break(compared, policy)


def _of_gains(figures: Significance, policy: GatePolicy, size: int) -> Iterator[Blocker]:
    if figures.p_value is None and figures.exact_lower_bound is not None and size > 1:
        text = "no p can be made; the bounded-support bound decides"
        yield "zero_variance_exact_bound_used", text
    by_pairs = (
        figures.passed if figures.test != "welch" else figures.paired and figures.paired.passed
    )
    if figures.paired and by_pairs != figures.welch.passed:
        advice = "; under test = 'auto' the paired one decides" if policy.test == "welch" else ""
        yield "welch_paired_disagree", f"Welch and the paired test disagree{advice}"


def _unseen_break(compared: Figures, policy: GatePolicy) -> Iterator[Blocker]:
    """Yield which rare loss would undo a gain and may not have shown, unless the exact bound excludes it."""
    figures = compared.significance
    if not figures.passed or "exact" in (policy.evidence, figures.evidence):
        return
    count = math.ceil(1.0 / (figures.unseen_failure_ucb95 or 1.0))
    loss, width = (figures.mean_delta or 0.0) * count, policy.width
    pairs = compared.baseline.paired_with(compared.candidate) or ()
    if (width is None or loss <= abs(width)) and not any(p.before - p.after >= loss for p in pairs):
        of = "cases" if figures.clusters is None else "clusters"
        text = f"a loss of {loss:.2g} in 1 of {count} {of} would not have been seen, and would undo the gain"
        yield "unseen_break", f"{text}; evidence = exact excludes it"


def _clusters(compared: Figures) -> Iterator[Blocker]:
    clusters, effective = compared.significance.clusters, compared.significance.effective_cases
    if clusters is not None:
        text = f"{counted(compared.compared, 'case')} share {counted(clusters, 'cluster')}, which are the sample"
        if effective is not None:
            text += f"; they tell as much as {effective:.0f} cases on their own"
        yield "clusters", text


def _arms(figures: Figures) -> Iterator[Blocker]:
    """Yield what to know about the two sides themselves: values that were not measured, and trials that differ."""
    before, after = figures.baseline, figures.candidate
    for name, arm in (("baseline", before), ("candidate", after)):
        if arm.imputed:
            cases = few(arm.imputed)
            end = "best" if name == "baseline" else "worst"  # either way against the candidate
            yield f"missing_in_{name}", f"counted as the {end} score: {cases}"
    sizes = len(before.scores), len(after.scores)
    if before.case_ids is after.case_ids is None and sizes[0] != sizes[1]:
        text = f"{sizes[0]} scores against {sizes[1]}, without ids: nobody knows which cases differ"
        yield "unequal_cases", text
    counts = [sorted({len(row) for row in arm.trials}) for arm in (before, after) if arm.trials]
    if len({count for side in counts for count in side}) > 1:
        text = " against ".join(", ".join(map(str, side)) for side in counts)
        yield "unequal_trials", f"trials of a case: {text}; means over fewer trials vary more"


def run_notes(facts: Facts) -> Iterator[Blocker]:
    """Yield what to know of a run besides its figures: what was not called, not compared, or not of one build."""
    yield from episode_notes(facts.episodes)
    if facts.replays is not None:
        yield "replayed", f"no system was called; the outputs are those of {facts.replays}"
    if count := sum(result.differs for result in facts.report.per_case):
        text = f"not deterministic: {count} of {len(facts.report.per_case)} scores differ"
        yield "not_deterministic", f"{text} from what the same rubric gave the same outputs"
    yield from _masked(facts.report, facts.beside)
    yield from _http(facts.report, facts.beside)
    now, before = fingerprints(facts.report), facts.fingerprints or fingerprints(facts.beside)
    if len({*now, *before}) > 1:
        text = f"the observer's provider was {few(now)}"
        yield "observer_fingerprint", f"{text}; for the baseline {few(before)}" if before else text
    yield from _source(facts.report, facts.beside if facts.baseline else None)


def observer_noise(report: BenchRunReport, figures: Figures | None) -> Iterator[Blocker]:
    """
    Yield how often verdicts on one output differ, and how much of the difference's variance is the observer's.

    Its variance is that of the verdicts on one output, pooled over the candidate's and taken for both sides.
    """
    seen = [(r.case_id, rows) for r in report.per_case if len(rows := r.verdicts()) > 1]
    if report.observer is None or len(seen) < NOISE_FROM:
        return
    flips = Counter(case for case, rows in seen if len({passed for passed, _ in rows}) > 1)
    text = f"verdicts differ on {flips.total()} of {counted(len(seen), 'output')}"
    text += f", of case {few(flips)}" if flips else ""
    head, count = figures and figures.significance, report.observer.observations
    test = head and (head.paired if head.test == "paired" else head.welch)
    if figures and head and test and test.df and (room := _half_width(head)):
        own = mean([variance([score for _, score in rows]) for _, rows in seen]) / count
        arms = figures.baseline, figures.candidate
        own *= sum(sum(1 / len(row) for row in a.rows) / len(a.scores) ** 2 for a in arms)
        part = min(1.0, own * (t_upper_quantile(head.alpha / 2, test.df) / room) ** 2)
        with_more = room * math.sqrt(1 - part * (1 - count / (count + 2)))
        text += f"; the difference is known to +-{room:.3f}, with {count + 2} verdicts an output it would be "
        text += f"+-{with_more:.3f} (the observer's part is {part:.0%})"
    yield "observer_noise", text


def _half_width(head: Significance) -> float:
    low, high = head.delta_ci_low, head.delta_ci_high
    return 0.0 if low is None or high is None else (high - low) / 2


def _masked(*reports: BenchRunReport | None) -> Iterator[Blocker]:
    """Yield how many trials of the session said a key or token."""
    results = [result for report in reports if report is not None for result in report.per_case]
    if count := sum(result.masked for result in results):
        what = "a key or token in what they returned or said was masked"
        yield "secret_masked", f"{count} of {counted(len(results), 'trial')}: {what}"


def _http(*reports: BenchRunReport | None) -> Iterator[Blocker]:
    """Yield how many trials of the session asked no service, because a recording answered them."""
    results = [result for report in reports if report is not None for result in report.per_case]
    names = {name for result in results for name in result.http_cassettes}
    if names:
        count = sum(bool(result.http_cassettes) for result in results)
        of = f"{len(results)} trials were answered by {', '.join(sorted(names))}"
        yield "http_replayed", f"the requests of {count} of {of}"


def _source(report: BenchRunReport, before: BenchRunReport | None) -> Iterator[Blocker]:
    """Yield that both logs are the same, and which cases both name and neither has a result of: not compared."""
    if report.source is None or before is None or before.source is None:
        return
    if report.source.sha256 == before.source.sha256:
        yield SAME_BYTES
    both = {*report.source.without} & {*before.source.without}
    if both:
        text = f"{counted(len(both), 'case')} without a result in either log: {few(both)}"
        yield "not_compared", text
