"""
Says that no result of the trials that are left can lead to promote, so that a run may stop.

This is curtailment of the fixed test: no alpha is spent, the verdict is that of the whole run. What is left is taken at
its best: passed, with the best score and no harm. Only what grows with each score stops a run. The p of the sign flip
is the share of sets of cases whose differences sum to 0 or less: no sum falls when a difference rises, so that p is
least at the best scores, where bounds are largest. Of the exact p that is not proved: each outcome that can still come
is tried. That of t may rise, and a guard against skew: they stop nothing, nor does what can only hold.
"""

from __future__ import annotations

import hashlib
import math
from itertools import product
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from benchgate.aggregate import INCOMPLETE, mean
from benchgate.gates.baseline import arm
from benchgate.gates.claim_reasons import critical_objections, regressions
from benchgate.gates.claims import gaffke_bound, pass_fail_counts
from benchgate.gates.decide import safety_objections
from benchgate.gates.decision import Certificate, Remark
from benchgate.gates.looks import judged_at, make_look
from benchgate.gates.safety import safety
from benchgate.gates.weigh import weigh
from benchgate.models import BenchScore
from benchgate.statistics.paired import paired_differences, paired_test
from benchgate.statistics.pass_fail import pass_fail_p
from benchgate.statistics.summary import grouped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchgate.gates.decision import Blocker
    from benchgate.gates.figures import Arm, CasePair
    from benchgate.gates.policy import GatePolicy
    from benchgate.models import BenchRunReport

FINAL: Final = ("critical_case_regressed", "newly_failing_cases", "case_regressed")
"""Counts of a claim, which reject a part of a run already."""

_ERROR: Final = NormalDist().inv_cdf(0.995)
_SLACK: Final = 1e-6  # of a bound, which is the root of a function


class Partial(NamedTuple):
    """A side of which trials are left, with these at their best; ``known`` has the other scores of their cases."""

    best: Arm
    known: Mapping[str, tuple[float, ...]]


def ordered(before: Arm) -> tuple[str, ...]:
    """Return the case ids, those with the most to gain over the baseline first; ties by their SHA-256."""
    scores = dict(zip(before.case_ids or (), before.scores, strict=True))
    return tuple(sorted(scores, key=lambda c: (scores[c], hashlib.sha256(c.encode()).digest())))


def obstacle(policy: GatePolicy) -> str | None:
    """Return why no run under a policy can be known to be decided; ``None`` if one can."""
    if policy.test == "welch" and policy.claim != "no_regression":
        return "test = 'welch' does not compare case by case; say test = 'auto'"
    return "no score_range says what the best score is" if policy.score_range is None else None


def partial_of(report: BenchRunReport, before: Arm, policy: GatePolicy) -> Partial:
    """Return a run of which trials are left."""
    left = {(r.case_id, r.trial) for r in report.per_case if r.outcome in INCOMPLETE}
    known: dict[str, tuple[float, ...]] = dict.fromkeys((case_id for case_id, _ in left), ())
    for r in report.per_case:
        if r.case_id in known and (r.case_id, r.trial) not in left:
            known[r.case_id] += (r.score.score if r.score else 0.0,)
    # A penalty below the range would leave the rise without a bound.
    least = (policy.penalty_range or (0.0,))[0] if policy.safety_confidence else 0.0
    top = min(1.0, policy.score_range[1]) if policy.score_range else 1.0
    penalty = max(0.0, least) if before.penalties else None
    best = BenchScore(passed=True, score=top, safety_penalty=penalty)
    filled = (
        r.model_copy(update={"outcome": "scored", "score": best} if r.outcome in INCOMPLETE else {})
        for r in report.per_case
    )
    return Partial(arm(report.model_copy(update={"per_case": tuple(filled)})), known)


def certificate(before: Arm, partial: Partial, policy: GatePolicy) -> Certificate | None:
    """
    Return why no result of the trials that are left can lead to promote; ``None`` if one may.

    :param policy: at the level of the look; :func:`obstacle` has none.
    """
    reasons, pairs = list(_failed(before, partial.best, policy)), before.paired_with(partial.best)
    if not reasons and pairs and policy.claim != "no_regression":
        tests = [*_pass_fail(pairs, partial, policy), *_graded(pairs, partial, policy)]
        reasons = [] if None in tests else [test for test in tests if test]
    remarks = tuple(Remark(code=code, message=text) for code, text in reasons)
    return Certificate(cases=len(partial.known), reasons=remarks) if remarks else None


def _failed(before: Arm, best: Arm, policy: GatePolicy) -> Iterator[Blocker]:
    """Yield which conditions fail at the best that can come, and so whatever comes."""
    yield from critical_objections(before, best)
    # A case that the baseline has no penalty of is left out where the candidate has no score.
    if None not in (before.penalties or ()):
        harm = safety(before, best, policy, advice=False)
        yield from safety_objections(harm, policy, best.labels)
    if policy.claim == "no_regression":
        yield from regressions(before, best, policy)


def _pass_fail(
    pairs: Sequence[CasePair], partial: Partial, policy: GatePolicy
) -> Iterator[Blocker | None]:
    """Yield the best of all outcomes of pass and fail, if every case may yet have one; ``None`` if it passes."""
    ends, rows = [], []
    for pair in pairs:
        known = partial.known.get(pair.case_id)
        may = [pair.after] if known is None else [x for x in (0.0, 1.0) if {*known} <= {x}]
        ends.append(pair._replace(after=max(may, default=0.5)))
        rows.append([after - pair.before for after in may])
    is_clustered = partial.best.sources < partial.best.measured
    if is_clustered or pass_fail_counts(tuple(ends), policy) is None:
        return

    def counts(sign: int) -> range:
        certain, possible = (
            sum(how(sign * x > 0 for x in row) for row in rows) for how in (all, any)
        )
        return range(certain, possible + 1)

    n, level, least = len(pairs), policy.alpha / 2, 1.0
    limit = policy.min_delta if policy.margin is None else -policy.margin
    for gains, losses in product(reversed(counts(1)), counts(-1)):
        if (gains - losses) / n > limit - _SLACK:  # the bound of a difference is below it
            p = pass_fail_p(gains, losses, n, alpha=policy.alpha, null_delta=limit)
            least = min(least, p)
            if p <= level:
                break
    yield None if least <= level else _at_best("pass_fail", "p of pass and fail", least, level)


def _graded(
    pairs: Sequence[CasePair], partial: Partial, policy: GatePolicy
) -> Iterator[Blocker | None]:
    """Yield the tests of other scores, which any case that is left may have; ``None`` for one that may pass."""
    differences = paired_differences([p.before for p in pairs], [p.after for p in pairs])
    labels, level, shift = [pair.cluster for pair in pairs], policy.alpha / 2, policy.min_delta

    def bound(values: Sequence[float], limit: float) -> Blocker | None:
        low = gaffke_bound(values, labels, policy)
        may_pass = low is not None and low > limit - _SLACK
        return None if may_pass else _at_best("bound", "bound of the gain", low, limit)

    if policy.claim == "not_worse":
        yield bound(differences, -(policy.margin or 0.0))
        return
    flip = paired_test(differences, labels, alpha=policy.alpha, null_delta=shift).sign_flip
    p, error = flip.p_greater, 0.0
    if (
        flip.n > 20
    ):  # up to so many every p is exact; this one, or that of other scores, may be drawn
        error = _ERROR * math.sqrt(p * (1.0 - p) / (flip.n_resamples or 99_999))
    yield None if p - error <= level else _at_best("sign_flip", "p of the sign flip", p, level)
    # Clusters that are alike have no p: the bound decides. They still can be where those that ended are.
    is_left = [pair.case_id in partial.known for pair in pairs]
    groups = grouped(list(zip(differences, is_left, strict=True)), labels)
    means = [(mean([x for x, _ in group]), any(left for _, left in group)) for group in groups]
    least = min(value for value, _ in means)
    if all(left or value - least < _SLACK for value, left in means):
        yield bound([least] * len(pairs), shift)


def _at_best(code: str, what: str, best: float | None, needed: float) -> Blocker:
    return code, f"{what} {'none' if best is None else f'{best:.3g}'} at best, needed {needed:.3g}"


def stop_blockers(
    report: BenchRunReport, before: Arm | None, policy: GatePolicy, look: int | None
) -> tuple[list[Blocker], dict[str, Any]]:
    """
    Return why a run that stopped early is not promoted, and what its decision has besides.

    It is rejected only for what no result of the rest undoes: no test and no mean is judged on a part of the cases.
    """
    judged, found = judged_at(policy, look), None
    if before is not None and not obstacle(policy):
        partial = partial_of(report, before, judged)
        found = certificate(before, partial, judged)
    if before is None or found is None:
        return [("incomplete_run", "it stopped, though the rest might have promoted it")], {}
    undone = [(one.code, one.message) for one in found.reasons if one.code in FINAL]
    at_best = weigh(before, partial.best, judged, advice=False)
    counted = look and make_look(policy, look, at_best)
    return [("stopped", str(found)), *undone], {"certificate": found, "look": counted}
