"""
Says that no result of the cases that are left can lead to promote, so that a run may stop.

This is curtailment of the fixed test: it spends no alpha, and the verdict is that of the whole run. The cases that are
left are taken at their best: passed, with the best score and no harm. That is the best for a test too. A bound grows
with each score. The p of a sign flip falls: it is the share of sets of cases whose differences sum to 0 or less. For
the exact p each outcome that can still come is tried. The p of t, and a guard against skew, may rise with a better
score, so they never stop a run; neither do conditions that can only hold.

A certificate lists what has failed already. If nothing has, it lists each test that may yet be in charge, with the best
that it can reach.
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

_SLACK: Final = 1e-6
"""How far a bound, which is found as the root of a function, may be from its true value."""

_ENUMERATED: Final = 20
"""Pairs up to which the p of a sign flip is exact."""

_MOST_DRAWN: Final = 99_999
"""Patterns that a p is drawn from if the first draw leaves the decision in doubt."""

_Z_99: Final = 2.576
"""Standard errors that contain 99 % of draws."""


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
        value=low or 0.0,  # of no bound nothing is said: it may pass
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
    if flip.n > _ENUMERATED:
        # If this p is exact, that of the scores to come may still be drawn.
        draws = flip.n_resamples or _MOST_DRAWN
        error = _Z_99 * math.sqrt(p * (1.0 - p) / draws)
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
            # One that passes is enough; a difference below the limit cannot pass, and its p takes long.
            if least > level and (gained - lost) / n > limit - _SLACK:
                p = pass_fail_p(gained, lost, n, alpha=compared.policy.alpha, null_delta=limit)
                least = min(least, p)
    return _Best(code="p_pass_fail", value=least, needed=level, may_pass=least <= level)
