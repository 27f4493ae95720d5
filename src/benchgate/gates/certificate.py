"""
Says that no result of the cases that are left can lead to promote, so that a run may stop.

This is curtailment of the fixed test: no alpha is spent, the verdict is that of the whole run. What is left is taken at
its best: passed, with the best score and no harm. Bounds grow with each score, and the p of a sign flip, the share of
sets of cases whose differences sum to 0 or less, falls; of the exact p each outcome that can still come is tried. That
of t may rise, and a guard against skew: they stop nothing, nor does what can only hold. A certificate has what fails
already, else each test that may yet be in charge, with the best that it can reach.
"""

from __future__ import annotations

import hashlib
import math
from itertools import product
from typing import TYPE_CHECKING, Final

from benchgate.gates.claim_reasons import critical_objections, regressions
from benchgate.gates.claims import gaffke_bound, pass_fail_counts
from benchgate.gates.decide import safety_objections
from benchgate.gates.decision import Remark
from benchgate.gates.looks import judged_at
from benchgate.gates.missing import counted_as_best
from benchgate.gates.safety import safety
from benchgate.statistics.paired import paired_differences, paired_test
from benchgate.statistics.pass_fail import pass_fail_p

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.gates.figures import Arm
    from benchgate.gates.policy import GatePolicy

_SLACK: Final = 1e-6  # of a bound, which is the root of a function


def ordered(before: Arm) -> tuple[str, ...]:
    """Return the case ids, those with the most to gain over the baseline first; ties by their SHA-256."""
    scores = dict(zip(before.case_ids or (), before.scores, strict=True))
    return tuple(sorted(scores, key=lambda c: (scores[c], hashlib.sha256(c.encode()).digest())))


def certificate(before: Arm, partial: Arm, stated: GatePolicy, look: int | None) -> list[Remark]:
    """Return why no result of the cases that ``partial`` lacks can lead to promote at a look; nothing if one may."""
    policy = judged_at(stated, look)
    best = counted_as_best(before, partial, policy)
    reasons = [*critical_objections(before, best, policy)]
    # A case that the baseline has no penalty of is left out where the candidate has no score.
    if None not in (before.penalties or ()):
        harm = safety(before, best, policy, advice=False)
        reasons += safety_objections(harm, policy, best.labels)
    if policy.claim == "no_regression":
        reasons += regressions(before, best, policy)
    elif not reasons:
        for code, value, needed, may_pass in _tests(before, best, policy):
            if may_pass:
                return []
            reasons.append((code, f"{value:.3g} at best, needed {needed:.3g}"))
    return [Remark(code=code, message=text) for code, text in reasons]


def _tests(before: Arm, best: Arm, policy: GatePolicy) -> Iterator[tuple[str, float, float, bool]]:
    """Yield each test that some results may put in charge: its best value, its limit, and whether it may pass."""
    pairs, level = before.paired_with(best) or (), policy.alpha / 2
    limit = policy.min_delta if policy.margin is None else -policy.margin
    labels = [pair.cluster for pair in pairs]
    differences = paired_differences([p.before for p in pairs], [p.after for p in pairs])
    if policy.claim == "better":
        flip = paired_test(differences, labels, alpha=policy.alpha, null_delta=limit).sign_flip
        p, draws = flip.p_greater, flip.n_resamples or 99_999
        # Up to 20 every p is exact; else this one, or that of other scores, may be drawn: its error in 99 % of draws.
        error = 2.576 * math.sqrt(p * (1.0 - p) / draws) if flip.n > 20 else 0.0
        yield "p_sign_flip", p, level, p - error <= level
    low = gaffke_bound(differences, labels, policy)  # of a margin, or of clusters that are alike
    yield "exact_lower_bound", low or 0.0, limit, low is None or low > limit - _SLACK
    counts = pass_fail_counts(pairs, policy) if before.sources == before.measured else None
    if counts is not None:
        (gains, losses, n), least = counts, 1.0
        left = [pair.before < pair.after for pair in pairs if pair.case_id in best.imputed]
        lost = range(losses, losses + left.count(False) + 1)
        for gained, failed in product(range(gains, gains - left.count(True) - 1, -1), lost):
            if least > level and (gained - failed) / n > limit - _SLACK:
                p = pass_fail_p(gained, failed, n, alpha=policy.alpha, null_delta=limit)
                least = min(least, p)
        yield "p_pass_fail", least, level, least <= level
