"""
Says that no result of the cases that are left can lead to promote, so that a run may stop.

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
from typing import TYPE_CHECKING, Any, Final

from benchgate.aggregate import begun, cost_of, mean
from benchgate.gates.baseline import arm
from benchgate.gates.claim_reasons import critical_objections, regressions
from benchgate.gates.claims import gaffke_bound, pass_fail_counts
from benchgate.gates.decide import safety_objections
from benchgate.gates.decision import Certificate, Remark
from benchgate.gates.looks import judged_at, make_look
from benchgate.gates.missing import counted_as_best
from benchgate.gates.safety import safety
from benchgate.gates.weigh import weigh
from benchgate.statistics.paired import paired_differences, paired_test
from benchgate.statistics.pass_fail import pass_fail_p
from benchgate.statistics.summary import grouped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.gates.decision import Blocker
    from benchgate.gates.figures import Arm
    from benchgate.gates.policy import GatePolicy
    from benchgate.models import BenchRunReport

FINAL: Final = ("critical_case_regressed", "newly_failing_cases", "case_regressed")
"""Counts of a claim, which reject a part of a run already."""

_ERROR: Final = NormalDist().inv_cdf(0.995)
_SLACK: Final = 1e-6  # of a bound, which is the root of a function


def ordered(before: Arm) -> tuple[str, ...]:
    """Return the case ids, those with the most to gain over the baseline first; ties by their SHA-256."""
    scores = dict(zip(before.case_ids or (), before.scores, strict=True))
    return tuple(sorted(scores, key=lambda c: (scores[c], hashlib.sha256(c.encode()).digest())))


def obstacle(policy: GatePolicy) -> str | None:
    """Return why no run under a policy can be known to be decided; ``None`` if one can."""
    if policy.test == "welch" and policy.claim != "no_regression":
        return "test = 'welch' does not compare case by case; say test = 'auto'"
    return "no score_range says what the best score is" if policy.score_range is None else None


def certificate(before: Arm, partial: Arm, policy: GatePolicy) -> Certificate | None:
    """
    Return why no result of the cases that ``partial`` lacks can lead to promote; ``None`` if one may.

    :param policy: at the level of the look; :func:`obstacle` has none.
    """
    best = counted_as_best(before, partial, policy)
    left = {*(before.case_ids or ())} - {*(partial.case_ids or ())}
    reasons = list(_failed(before, best, policy))
    if not reasons and policy.claim != "no_regression":
        for code, value, needed, may_pass in _tests(before, best, left, policy):
            if may_pass:
                return None
            what = "bound" if code == "bound" else "p"
            reached = "none" if value is None else f"{value:.3g}"
            reasons.append((code, f"{what} {reached} at best, needed {needed:.3g}"))
    remarks = tuple(Remark(code=code, message=text) for code, text in reasons)
    return Certificate(cases=len(left), reasons=remarks) if remarks else None


def _failed(before: Arm, best: Arm, policy: GatePolicy) -> Iterator[Blocker]:
    """Yield which conditions fail at the best that can come, and so whatever comes."""
    yield from critical_objections(before, best)
    # A case that the baseline has no penalty of is left out where the candidate has no score.
    if None not in (before.penalties or ()):
        harm = safety(before, best, policy, advice=False)
        yield from safety_objections(harm, policy, best.labels)
    if policy.claim == "no_regression":
        yield from regressions(before, best, policy)


def _tests(
    before: Arm, best: Arm, left: set[str], policy: GatePolicy
) -> Iterator[tuple[str, float | None, float, bool]]:
    """Yield each test that some results may put in charge: its best value, its limit, and whether it may pass."""
    pairs, level, shift = before.paired_with(best) or (), policy.alpha / 2, policy.min_delta
    labels = [pair.cluster for pair in pairs]
    differences = paired_differences([p.before for p in pairs], [p.after for p in pairs])
    limit = shift if policy.margin is None else -policy.margin
    counts = pass_fail_counts(pairs, policy) if best.sources == best.measured else None
    if counts is not None:
        (gains, losses, n), least = counts, 1.0
        gainable = sum(pair.case_id in left and pair.before < pair.after for pair in pairs)
        lost = range(losses, losses + len(left) - gainable + 1)
        for gained, failed in product(range(gains, gains - gainable - 1, -1), lost):
            if least > level and (gained - failed) / n > limit - _SLACK:
                p = pass_fail_p(gained, failed, n, alpha=policy.alpha, null_delta=limit)
                least = min(least, p)
        yield "pass_fail", least, level, least <= level
    # All others may come with other scores.
    constant = [min(mean(group) for group in grouped(differences, labels))] * len(pairs)
    if policy.claim != "not_worse":
        flip = paired_test(differences, labels, alpha=policy.alpha, null_delta=shift).sign_flip
        p, error = flip.p_greater, 0.0
        if flip.n > 20:  # up to so many every p is exact; else this one, or another, may be drawn
            error = _ERROR * math.sqrt(p * (1.0 - p) / (flip.n_resamples or 99_999))
        yield "sign_flip", p, level, p - error <= level
    # Clusters that are alike have no p: the bound decides.
    low = gaffke_bound(differences if policy.claim == "not_worse" else constant, labels, policy)
    yield "bound", low, limit, low is not None and low > limit - _SLACK


def stop_blockers(
    report: BenchRunReport, before: Arm | None, policy: GatePolicy, look: int | None
) -> tuple[list[Blocker], dict[str, Any]]:
    """
    Return why a run that stopped early is not promoted, and what its decision has besides.

    It is rejected only for what no result of the rest undoes: no test and no mean is judged on a part of the cases.
    """
    judged, ran, found = judged_at(policy, look), report.shown, None
    if before is not None and not obstacle(policy) and report.stopped == ordered(before):
        found = certificate(before, arm(ran), judged)
    if before is None or found is None:
        return [("incomplete_run", "it stopped, though the rest might have promoted it")], {}
    undone = [(one.code, one.message) for one in found.reasons if one.code in FINAL]
    counted = look and make_look(policy, look, weigh(before, before, judged, advice=False))
    paid = tuple(result.case_id for result in report.per_case if begun(result))
    costs = [cost for result in ran.per_case if (cost := cost_of(result)) is not None]
    saved = len(report.per_case) - len(ran.per_case) - len(paid)
    cost = mean(costs) * saved if costs else None
    found = found.model_copy(update={"begun": paid, "saved_trials": saved, "saved_cost_usd": cost})
    return [("stopped", str(found)), *undone], {"certificate": found, "look": counted}
