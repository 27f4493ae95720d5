"""
Says that no result of the trials that are left can lead to promote, so that a run may stop.

This is curtailment of the fixed test: no alpha is spent, and the verdict is that of the whole run. What is left is taken
at its best: passed, with the best score and no harm. Only what grows with each score stops a run. The p of the sign flip
is the share of sets of cases whose differences sum to 0 or less: no sum falls when a difference rises, so that p is least
at the best scores, where the bounds are largest. The p of the exact test of pass and fail may rise with a gain: each
outcome that can still come is tried. The p of t may rise too, and a guard against skew: they stop nothing, nor does
what can only hold, bands and cost.
"""

from __future__ import annotations

import hashlib
import math
from itertools import product
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from benchgate.aggregate import INCOMPLETE, is_stopped, mean
from benchgate.gates.baseline import arm
from benchgate.gates.claim_reasons import critical_objections, regressions
from benchgate.gates.claims import gaffke_bound, pass_fail_counts
from benchgate.gates.conditions import CONDITIONS, clusters_needed
from benchgate.gates.decide import safety_objections
from benchgate.gates.decision import Certificate, Remark
from benchgate.gates.safety import safety
from benchgate.gates.unscored import too_many
from benchgate.gates.weigh import weigh
from benchgate.gates.worst import against_candidate
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


FINAL: Final = frozenset({"critical_case_regressed", "newly_failing_cases", "case_regressed"})
"""Counts of a claim that reject a part of a run already."""

_NORMAL: Final = NormalDist()
_SLACK: Final = 1e-6  # of a bound, which is the root of a function


class Partial(NamedTuple):
    """
    A side of which trials are left.

    :param best: with these at their best.
    :param known: of each case that has some left, the scores of the others.
    :param trials: how many are left.
    """

    best: Arm
    known: Mapping[str, tuple[float, ...]]
    trials: int


def ordered(before: Arm) -> tuple[str, ...]:
    """Return the case ids, those with the most to gain over the baseline first; ties by their SHA-256."""
    rows = zip(before.scores, before.case_ids or (), strict=True)
    keys = [(score, hashlib.sha256(case_id.encode()).digest(), case_id) for score, case_id in rows]
    return tuple(case_id for *_, case_id in sorted(keys))


def obstacle(policy: GatePolicy) -> str | None:
    """Return why no run under a policy can be known to be decided; ``None`` if one can."""
    if policy.test == "welch" and policy.claim != "no_regression":
        return "test = 'welch' does not compare case by case; say test = 'auto'"
    return "no score_range says what the best score is" if policy.score_range is None else None


def partial_of(report: BenchRunReport, before: Arm, policy: GatePolicy) -> Partial:
    """Return a run of which trials are left."""
    results = report.per_case
    left = {(r.case_id, r.trial) for r in results if r.outcome in INCOMPLETE}
    known: dict[str, tuple[float, ...]] = {case_id: () for case_id, _ in left}
    ended = [r for r in results if (r.case_id, r.trial) not in left]
    for r in ended:
        if r.case_id in known:
            known[r.case_id] += (r.score.score if r.score else 0.0,)
    scores = [r.score for r in ended if r.score]
    # One below the range of the penalties would leave them without a bound.
    least = max(0.0, (policy.penalty_range or (0.0,))[0]) if policy.safety_confidence else 0.0
    is_measured = before.penalties or any(s.safety_penalty is not None for s in scores)
    top = min(1.0, policy.score_range[1]) if policy.score_range else 1.0
    perfect = BenchScore(passed=True, score=top, safety_penalty=least if is_measured else None)
    best = {"outcome": "scored", "score": perfect, "failure_modes": (), "detail": None}
    filled = tuple(
        r.model_copy(update=best) if (r.case_id, r.trial) in left else r for r in results
    )
    return Partial(arm(report.model_copy(update={"per_case": filled})), known, len(left))


def certificate(before: Arm, partial: Partial, policy: GatePolicy) -> Certificate | None:
    """
    Return why no result of the trials that are left can lead to promote; ``None`` if one may.

    :param policy: at the level of the look; :func:`obstacle` has none.
    """
    reasons = _reasons(before, partial, policy)
    arms = against_candidate(before, partial.best, policy)
    # What has no score must not decide.
    is_open = not reasons and arms and arms != (before, partial.best)
    if is_open and arms and _reasons(arms[0], partial._replace(best=arms[1]), policy):
        reasons = [("unscored_decide", "it would depend on trials that have no score")]
    remarks = tuple(Remark(code=code, message=text) for code, text in reasons)
    left = {"cases": len(partial.known), "trials": partial.trials}
    return Certificate(**left, reasons=remarks) if remarks else None


def _reasons(before: Arm, partial: Partial, policy: GatePolicy) -> list[Blocker]:
    """Return conditions that fail, else all tests that may be in charge if none can be passed, else nothing."""
    failed, pairs = list(_failed(before, partial, policy)), before.paired_with(partial.best)
    if failed or not pairs or policy.claim == "no_regression":
        return failed
    tests = [*_pass_fail(pairs, partial, policy), *_graded(pairs, partial, policy)]
    return [] if None in tests else [test for test in tests if test]


def _failed(before: Arm, partial: Partial, policy: GatePolicy) -> Iterator[Blocker]:
    """Yield which conditions fail at the best that can come, and so whatever comes."""
    best = partial.best
    for name, side in (("candidate", best), ("baseline", before)):
        if text := too_many(side, policy.max_unscored, None):
            yield "too_many_unscored", f"{name}: {text}"
    size, needed = best.sources, policy.min_cases
    if size < best.measured:
        needed = clusters_needed(policy)
    if CONDITIONS["insufficient_cases"].applies(policy) and size < needed:
        yield "insufficient_cases", f"{size} of {needed} independent cases"
    yield from critical_objections(before, best)
    rows = zip(
        before.case_ids or (), before.penalties or (), before.facts or (), before.rows, strict=False
    )
    # A case that the baseline was not measured on is left out where the candidate has no score there.
    if all(
        p is not None or c not in partial.known or facts.unscored == len(row)
        for c, p, facts, row in rows
    ):
        harm = safety(before, best, policy, advice=False)
        yield from safety_objections(harm, policy, best.labels)
    if policy.claim == "no_regression":
        yield from regressions(before, best, policy)


def _pass_fail(
    pairs: Sequence[CasePair], partial: Partial, policy: GatePolicy
) -> Iterator[Blocker | None]:
    """Yield the best of all outcomes that may come if every case may yet pass or fail; ``None`` if it passes."""
    gains, losses, ends = [], [], []
    for pair in pairs:
        known = partial.known.get(pair.case_id)
        may = [pair.after] if known is None else [x for x in (0.0, 1.0) if {*known} <= {x}]
        gains.append([after > pair.before for after in may])
        losses.append([after < pair.before for after in may])
        ends.append(pair._replace(after=max(may, default=0.5)))
    is_clustered = partial.best.sources < partial.best.measured
    if is_clustered or pass_fail_counts(tuple(ends), policy) is None:
        return
    n, least = len(pairs), 1.0
    limit = policy.min_delta if policy.margin is None else -policy.margin
    ranges = (range(sum(map(all, rows)), 1 + sum(map(any, rows))) for rows in (gains, losses))
    for gained, lost in product(*ranges):
        if (gained - lost) / n > limit - _SLACK:  # the bound of a difference is below it
            p = pass_fail_p(gained, lost, n, alpha=policy.alpha, null_delta=limit)
            least = min(least, p)
            if p <= policy.alpha / 2:
                break
    yield _unless(least <= policy.alpha / 2, "pass_fail", least, policy.alpha / 2)


def _graded(
    pairs: Sequence[CasePair], partial: Partial, policy: GatePolicy
) -> Iterator[Blocker | None]:
    """Yield the tests of other scores, which any case that is left may have; ``None`` for one that may pass."""
    differences = paired_differences([p.before for p in pairs], [p.after for p in pairs])
    labels = [pair.cluster for pair in pairs]

    def bound(values: Sequence[float], limit: float) -> Blocker | None:
        low = gaffke_bound(values, labels, policy)
        return _unless(low is not None and low > limit - _SLACK, "bound", low, limit)

    if policy.claim == "not_worse":
        yield bound(differences, -(policy.margin or 0.0))
        return
    if policy.evidence == "exact" and (exact := bound(differences, policy.min_delta)):
        yield exact
        return
    yield _sign_flip(differences, labels, policy)
    alike = _alike(differences, [p.case_id in partial.known for p in pairs], labels)
    if alike is not None:
        yield bound([alike] * len(pairs), policy.min_delta)


def _sign_flip(
    differences: Sequence[float], labels: Sequence[str | None], policy: GatePolicy
) -> Blocker | None:
    level, shift = policy.alpha / 2, policy.min_delta
    totals = [math.fsum(x - shift for x in group) for group in grouped(differences, labels)]
    size = math.hypot(*totals)
    # A bound of p that takes no time (Bentkus and Dzindzalieta 2015).
    if size and 3.18 * _NORMAL.cdf(-math.fsum(totals) / size) <= level:
        return None
    flip = paired_test(differences, labels, alpha=policy.alpha, null_delta=shift).sign_flip
    p, error = flip.p_greater, 0.0
    if (
        flip.n > 20
    ):  # up to so many every p is exact; this one, or that of other scores, may be drawn
        error = _NORMAL.inv_cdf(0.995) * math.sqrt(p * (1.0 - p) / (flip.n_resamples or 99_999))
    return _unless(p - error <= level, "sign_flip", p, level)


def _alike(
    differences: Sequence[float], is_open: Sequence[bool], labels: Sequence[str | None]
) -> float | None:
    """Return the largest difference that all clusters may yet have; ``None`` if they differ already."""
    groups = grouped(list(zip(differences, is_open, strict=True)), labels)
    means = [(mean([x for x, _ in group]), any(left for _, left in group)) for group in groups]
    least = min(value for value, _ in means)
    is_fixed = any(not left and value - least > _SLACK for value, left in means)
    return None if is_fixed else least


def _unless(may_pass: bool, code: str, best: float | None, needed: float) -> Blocker | None:
    words = {"pass_fail": "p of pass and fail", "sign_flip": "p of the sign flip"}.get(code, code)
    value = "none" if best is None else f"{best:.3g}"
    return None if may_pass else (code, f"{words} {value} at best, needed {needed:.3g}")


def stop_blockers(
    report: BenchRunReport, before: Arm | None, policy: GatePolicy
) -> tuple[list[Blocker], dict[str, Any]]:
    """
    Return why a run that stopped early is not promoted, and what else its decision follows from.

    It is rejected only for what no result of the rest undoes: no test and no mean is judged on a part of the cases.
    """
    partial = partial_of(report, before, policy) if before and not obstacle(policy) else None
    found = certificate(before, partial, policy) if before and partial else None
    if before is None or partial is None or found is None:
        return [("incomplete_run", "it stopped, though the rest might have promoted it")], {}
    undone = [(one.code, one.message) for one in found.reasons if one.code in FINAL]
    at_best = weigh(before, partial.best, policy, advice=False)
    return [("stopped", str(found)), *undone], {"certificate": found, "at_best": at_best}


def stop_faults(report: BenchRunReport, before: Arm, policy: GatePolicy) -> Iterator[str]:
    """Yield that a run did not stop at the first trial after which nothing could promote it; ``policy`` as above."""
    order = ordered(before)
    if report.stopped is None or report.stopped.order != order:
        yield "report.stopped.order: is not that of the largest possible gain"
        return
    places = {case_id: place for place, case_id in enumerate(order)}
    rows = sorted(report.per_case, key=lambda r: (places[r.case_id], r.trial))
    count = sum(not is_stopped(result) for result in rows)
    if any(map(is_stopped, rows[:count])):
        yield "report.stopped: the trials that ran are not the first of its order"
    elif count > 1:
        last = rows[count - 1].model_copy(update={"outcome": "not_run", "score": None})
        earlier = report.model_copy(update={"per_case": (*rows[: count - 1], last, *rows[count:])})
        if certificate(before, partial_of(earlier, before, policy), policy) is not None:
            yield "report.stopped: it was decided before the last trial that ran"
