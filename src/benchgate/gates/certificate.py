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
from typing import TYPE_CHECKING, Final, NamedTuple

from benchgate.gates.claim_reasons import critical_objections, regressions
from benchgate.gates.compared import Compared
from benchgate.gates.decision import Remark, by_code
from benchgate.gates.harm_reasons import safety_objections
from benchgate.gates.looks import judged_at
from benchgate.gates.missing import counted_as_best
from benchgate.gates.pairs import Pairs
from benchgate.gates.pass_fail import PairCounts, pass_fail_counts
from benchgate.gates.safety import safety
from benchgate.sentences.says import says
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


def certificate(before: Arm, partial: Arm, stated: GatePolicy, number: int | None) -> list[Remark]:
    """Return why no result of the cases that ``partial`` lacks can lead to promote at a look; nothing if one may."""
    policy = judged_at(stated, number)
    best = counted_as_best(before, partial, policy)
    reasons = [*critical_objections(before, best, policy)]
    # A case that the baseline has no penalty of is left out where the candidate has no score.
    if None not in (before.penalties or ()):
        harm = safety(before, best, policy, advice=False)
        reasons += safety_objections(harm, policy, best.labels)
    if policy.claim == "no_regression":
        reasons += regressions(before, best, policy)
    elif not reasons:
        for test in _tests(before, best, policy):
            if test.may_pass:
                return []
            said = says("certificate", value=test.value, needed=test.needed)
            reasons.append((test.code, said))
    return [Remark.of(code, said) for code, said in by_code(reasons).items()]


class _Best(NamedTuple):
    """The best that a test can still reach, what it needs, and whether some result may pass it."""

    code: str
    value: float
    needed: float
    may_pass: bool


def _tests(before: Arm, best: Arm, policy: GatePolicy) -> Iterator[_Best]:
    """Yield each test that some results may put in charge."""
    compared = Compared(baseline=before, candidate=best, policy=policy)
    pairs = Pairs(compared)
    if policy.claim == "better":
        yield _best_flip(pairs)
    # The bound decides about a margin, and where clusters are alike.
    low = pairs.lower_bound
    yield _Best(
        code="exact_lower_bound",
        value=low or 0.0,
        needed=compared.limit,
        may_pass=low is None or low > compared.limit - _SLACK,
    )
    counts = pass_fail_counts(compared)
    if counts is not None and before.sources == before.measured:
        yield _best_count(compared, counts)


def _best_flip(pairs: Pairs) -> _Best:
    flip = pairs.guarded(pairs.compared.limit).sign_flip
    level = pairs.policy.alpha / 2
    p = flip.half_ties_greater
    error = 0.0
    if flip.n > 20:
        # Up to 20 every p is exact; else this one, or that of other scores, may be drawn: its error in 99 % of draws.
        draws = flip.n_resamples or 99_999
        error = 2.576 * math.sqrt(p * (1.0 - p) / draws)
    return _Best(code="p_sign_flip", value=p, needed=level, may_pass=p - error <= level)


def _best_count(compared: Compared, counts: PairCounts) -> _Best:
    """Return the smallest exact p of all that the cases that are left, which count as passed so far, can still do."""
    gains, losses, n = counts
    level = compared.policy.alpha / 2
    limit = compared.limit
    left = [
        pair.before < pair.after
        for pair in compared.pairs
        if pair.case_id in compared.candidate.imputed
    ]
    gained_at_least = gains - left.count(True)
    lost_at_most = losses + left.count(False)
    least = 1.0
    for gained in range(gains, gained_at_least - 1, -1):
        for lost in range(losses, lost_at_most + 1):
            if least > level and (gained - lost) / n > limit - _SLACK:
                p = pass_fail_p(gained, lost, n, alpha=compared.policy.alpha, null_delta=limit)
                least = min(least, p)
    return _Best(code="p_pass_fail", value=least, needed=level, may_pass=least <= level)
