"""The notes of a decision: what a reader should know, but what never blocks."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from statistics import variance
from typing import TYPE_CHECKING, Final, Self

from benchgate.aggregate import fingerprints, mean
from benchgate.errors import counted, few
from benchgate.gates.episodes import episode_notes
from benchgate.gates.unchanged import unchanged
from benchgate.statistics.student import t_upper_quantile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchgate.gates.decision import Blocker, Facts, GateInput
    from benchgate.gates.figures import Arm, Figures, Significance
    from benchgate.gates.policy import GatePolicy
    from benchgate.gates.run_side import RunSide
    from benchgate.models import BenchRunReport, Observer, TrialResult


SAME_BYTES: Final = (
    "same_bytes",
    "both files have the same bytes: is the baseline the old one?",
)
"""The note on two files that are no evidence of two versions, unless both gave exactly the same."""

NOISE_FROM: Final = 20
"""Outputs with several verdicts from which on the observer's noise is estimated."""


def notes(inputs: GateInput) -> Iterator[Blocker]:
    """Yield code and message of each note."""
    if inputs.with_new is not None and inputs.figures is not None:
        yield from _new_cases(inputs.figures, inputs.with_new)
    yield from inputs.noted
    if inputs.trial_count > 1:
        yield "epochs_collapsed", f"{inputs.trial_count} trials of a case count as one observation"
    if inputs.figures is not None:
        yield from _imputed("baseline", inputs.figures.baseline, "best")
        yield from _imputed("candidate", inputs.figures.candidate, "worst")
        yield from _unequal(inputs.figures.baseline, inputs.figures.candidate)
        yield from _of_figures(inputs.figures, inputs.policy)


def _new_cases(figures: Figures, with_new: Figures) -> Iterator[Blocker]:
    ids = with_new.candidate.case_ids or ()
    new = {*ids} - {*(figures.candidate.case_ids or ())}
    what = "is new and was" if len(new) == 1 else "are new and were"
    text = f"{figures.compared} of {len(ids)} cases: {few(new)} {what} not compared"
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


def run_notes(facts: Facts, before: RunSide | None) -> Iterator[Blocker]:
    """
    Yield what to know of a run besides its figures: what was not called, not compared, or not of one build.

    :param before: what it was compared with; ``None`` if it was not.
    """
    yield from episode_notes(facts.episodes)
    if facts.replays is not None:
        yield "replayed", f"no system was called; the outputs are those of {facts.replays}"
    yield from _rescored(facts.report)
    yield from _masked(facts.report, facts.beside)
    yield from _http(facts.report, facts.beside)
    builds = fingerprints(facts.beside)
    if before is not None:
        builds = before.fingerprints
    yield from _builds(fingerprints(facts.report), builds)
    if before is not None:
        yield from _source(facts.report, facts.beside)


def _rescored(report: BenchRunReport) -> Iterator[Blocker]:
    count = sum(result.differs for result in report.per_case)
    if count:
        text = f"not deterministic: {count} of {len(report.per_case)} scores differ"
        yield "not_deterministic", f"{text} from what the same rubric gave the same outputs"


def _builds(now: tuple[str, ...], before: tuple[str, ...]) -> Iterator[Blocker]:
    """Yield that more than one build of a model observed the two sides."""
    if len({*now, *before}) < 2:
        return
    text = f"the observer's provider was {few(now)}"
    if before:
        text += f"; for the baseline {few(before)}"
    yield "observer_fingerprint", text


@dataclass(frozen=True, slots=True)
class _Verdicts:
    """
    The verdicts on each output that has several.

    :param outputs: the case of each, and whether it passed by each verdict, with which score.
    :param count: how many verdicts the observer gives an output.
    """

    outputs: Sequence[tuple[str, tuple[tuple[bool, float], ...]]]
    count: int

    @classmethod
    def of(cls, report: BenchRunReport, observer: Observer) -> Self:
        rows = [(result.case_id, result.verdicts()) for result in report.per_case]
        return cls([(case_id, row) for case_id, row in rows if len(row) > 1], observer.observations)

    def flips(self) -> str:
        """Return on how many outputs they differ, and of which cases these are."""
        cases = Counter(
            case_id
            for case_id, row in self.outputs
            if len({has_passed for has_passed, _ in row}) > 1
        )
        text = f"verdicts differ on {cases.total()} of {counted(len(self.outputs), 'output')}"
        if cases:
            text += f", of case {few(cases)}"
        return text

    def share(self, figures: Figures, quantile: float, room: float) -> float:
        """
        Return how much of the variance of the difference is the observer's, at most 1.

        Its variance is that of the verdicts on one output, pooled over the candidate's and taken for both sides.

        :param quantile: of the test; half the width of the interval, ``room``, is so many standard errors.
        """
        spread = [variance([score for _, score in row]) for _, row in self.outputs]
        own = mean(spread) / self.count
        own *= sum(
            sum(1 / len(row) for row in arm.rows) / len(arm.scores) ** 2
            for arm in (figures.baseline, figures.candidate)
        )
        return min(1.0, own * (quantile / room) ** 2)

    def precision(self, figures: Figures) -> str:
        """Return how well the difference is known, and how well it would be with more verdicts; empty if unknown."""
        head = figures.significance
        test = head.paired if head.test == "paired" else head.welch
        room = _half_width(head)
        if test is None or not test.df or not room:
            return ""
        part = self.share(figures, t_upper_quantile(head.alpha / 2, test.df), room)
        more = self.count + 2
        narrower = room * math.sqrt(1 - part * (1 - self.count / more))
        text = (
            f"the difference is known to +-{room:.3f}, with {more} verdicts an output it would be "
        )
        return f"{text}+-{narrower:.3f} (the observer's part is {part:.0%})"


def observer_noise(report: BenchRunReport, figures: Figures | None) -> Iterator[Blocker]:
    """Yield how often verdicts on one output differ, and how much of the difference's variance is the observer's."""
    if report.observer is None:
        return
    verdicts = _Verdicts.of(report, report.observer)
    if len(verdicts.outputs) < NOISE_FROM:
        return
    text = verdicts.flips()
    precision = "" if figures is None else verdicts.precision(figures)
    if precision:
        text += f"; {precision}"
    yield "observer_noise", text


def _half_width(head: Significance) -> float:
    if head.delta_ci_low is None or head.delta_ci_high is None:
        return 0.0
    return (head.delta_ci_high - head.delta_ci_low) / 2


def _results(*reports: BenchRunReport | None) -> list[TrialResult]:
    """Return the results of the reports of a session."""
    return [result for report in reports if report is not None for result in report.per_case]


def _masked(*reports: BenchRunReport | None) -> Iterator[Blocker]:
    """Yield how many trials of the session said a key or token."""
    results = _results(*reports)
    count = sum(result.masked for result in results)
    if count:
        what = "a key or token in what they returned or said was masked"
        yield "secret_masked", f"{count} of {counted(len(results), 'trial')}: {what}"


def _http(*reports: BenchRunReport | None) -> Iterator[Blocker]:
    """Yield how many trials of the session asked no service, because a recording answered them."""
    results = _results(*reports)
    names = {name for result in results for name in result.http_cassettes}
    if names:
        count = sum(bool(result.http_cassettes) for result in results)
        of = f"{len(results)} trials were answered by {', '.join(sorted(names))}"
        yield "http_replayed", f"the requests of {count} of {of}"


def _source(report: BenchRunReport, before: BenchRunReport | None) -> Iterator[Blocker]:
    """Yield that both logs are the same, and which cases both name and neither has a result of: not compared."""
    if report.source is None or before is None or before.source is None:
        return
    one, other = report.source, before.source
    if (one.sha256, one.told) == (other.sha256, other.told):
        yield SAME_BYTES
    both = {*report.source.without} & {*before.source.without}
    if both:
        text = f"{counted(len(both), 'case')} without a result in either log: {few(both)}"
        yield "not_compared", text
