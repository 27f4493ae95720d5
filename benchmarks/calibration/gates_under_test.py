"""
What calibration.py compares: the gate under three policies, and three rules that are often used in its place.

Each takes two arrays, baseline and candidate, with one repetition a row, and says for each row whether it promotes.
Trials are a third axis. The gate takes the mean of each case, the other rules take each trial for a case.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from benchgate.gates import pairs, pass_fail, weigh
from benchgate.gates.decide import decide
from benchgate.gates.facts import VectorFacts
from benchgate.gates.figures import Arm
from benchgate.gates.inference import Answers
from benchgate.gates.policy import GatePolicy
from benchgate.gates.two_samples import ConstantSamples, TwoSamples
from benchgate.statistics.bounds import _simplex_cdf as simplex_cdf

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def _without_bound(better: Any) -> Any:
    """Answer by Welch's test alone where scores vary."""

    def answer(samples: TwoSamples) -> Answers:
        if isinstance(samples, ConstantSamples):
            return better(samples)
        return Answers(
            passed=samples.passed, limit=samples.policy.min_delta, p_value=samples.p_value
        )

    return answer


def _side_of_limit(bound: Any) -> Any:
    """Answer with a number on the side of the limit that the bound is on: one value of its function is enough."""

    def answer(differences: Any, labels: Any, policy: GatePolicy) -> float | None:
        values = np.unique(differences)
        is_plain = policy.width is not None and not any(labels) and len(values) > 2
        if not is_plain:
            return bound(differences, labels, policy)
        limit = policy.min_delta if policy.margin is None else -policy.margin
        low, top = -policy.width, values[-1]
        if top <= limit:
            return limit - SLACK
        levels, counts = np.unique((np.array(differences) - low) / (top - low), return_counts=True)
        points, weights = np.append(0.0, levels), np.append(1.0, counts)
        below = simplex_cdf(points, weights, (limit - low) / (top - low))
        return limit + SLACK if below < policy.alpha / 2 else limit - SLACK

    return answer


QUICK = {
    (pass_fail, "pass_fail_test"): cache,
    (pass_fail, "pass_fail_p"): cache,
    (pairs, "paired_interval"): lambda _: lambda *_, **__: (-math.inf, math.inf),
    (TwoSamples, "better"): _without_bound,
    (weigh, "sample_size_sensitivity"): lambda _: lambda *_: None,
    (pairs, "gaffke_bound"): _side_of_limit,
}
SLACK = 1e-6
"""Distance from a limit of a number that only says on which side of it a bound is."""
RESAMPLES = 999
BLOCK = 250
"""Repetitions that share their bootstrap weights."""


@contextmanager
def quick() -> Iterator[None]:
    """
    Let the gate decide faster, and the same.

    Many draws have the same counts, more than the tests keep; no outcome depends on the interval, on the sample band,
    nor by Welch's test on the bound where scores vary. Of other bounds all that matters is whether they exceed 0.
    """
    kept = {place: getattr(*place) for place in QUICK}
    for (module, name), other in QUICK.items():
        setattr(module, name, other(kept[module, name]))
    try:
        yield
    finally:
        for (module, name), there in kept.items():
            setattr(module, name, there)


def arm(scores: Any, *, named: bool, clusters: tuple[str, ...] | None = None) -> Arm:
    """Return one side; ``named`` gives its cases ids, so that they can be paired."""
    ids = tuple(f"c{number:05}" for number in range(len(scores))) if named else None
    trials = tuple(map(tuple, scores.tolist())) if scores.ndim > 1 else None
    means = scores.mean(axis=1) if scores.ndim > 1 else scores
    return Arm(scores=tuple(means.tolist()), case_ids=ids, clusters=clusters, trials=trials)


@quick()
def outcomes(
    before: Any, after: Any, *, paired: bool, clusters: tuple[str, ...] | None = None
) -> dict[str, list[str]]:
    """
    Decide by the gate, without penalties and a least number of cases: promote, hold or reject.

    ``welch`` has no ids, ``auto`` is the default of benches, which pairs cases of one id, and ``exact``
    the same with ``evidence = "exact"``.

    :param clusters: of the cases; ``None`` if each is one of its own.
    """
    common: dict[str, Any] = {"min_cases": 2, "safety": "optional"}
    found: dict[str, list[str]] = {"welch": []}
    if paired:
        found |= {"auto": [], "exact": []}
    sides = [side.mean(axis=2) if side.ndim == 3 else side for side in (before, after)]
    for row in zip(*sides, strict=True):
        plain = tuple(arm(side, named=False, clusters=clusters) for side in row)
        found["welch"].append(
            decide(VectorFacts(policy=GatePolicy(**common), sides=plain)).decision.outcome
        )
        if paired:
            named = tuple(arm(side, named=True, clusters=clusters) for side in row)
            policy = GatePolicy(**common, test="auto", evidence="exact")
            decision = decide(VectorFacts(policy=policy, sides=named)).decision
            # ``exact`` adds one reason, and all reasons are listed.
            added = [c for c in decision.reason_codes if c.endswith("_exact_evidence_required")]
            only = len(added) == len(decision.reason_codes)
            found["auto"].append("promote" if only else decision.outcome)
            found["exact"].append(decision.outcome)
    return found


def judged(
    before: Any, after: Any, *, paired: bool, clusters: tuple[str, ...] | None = None, **policy: Any
) -> list[Any]:
    """Return what the gate says of each row, under a policy, without penalties and a least number of cases."""
    rules = GatePolicy(min_cases=2, safety="optional", **policy)
    return [
        decide(
            VectorFacts(
                policy=rules,
                sides=tuple(arm(side, named=paired, clusters=clusters) for side in row),
            )
        )
        for row in zip(before, after, strict=True)
    ]


@quick()
def not_worse(before: Any, after: Any, margin: float) -> list[bool]:
    """Say whether the gate promotes under the claim ``not_worse``, with pairs by id and without penalties."""
    low = -margin if (after < 0).any() else 0.0
    policy = GatePolicy(
        claim="not_worse",
        margin=margin,
        test="auto",
        min_cases=2,
        safety="optional",
        score_range=(low, 1.0),
    )
    decisions = (
        decide(
            VectorFacts(policy=policy, sides=tuple(arm(side, named=True) for side in row))
        ).decision
        for row in zip(before, after, strict=True)
    )
    return [decision.outcome == "promote" for decision in decisions]


def _moments(side: Any) -> tuple[Any, Any]:
    """Return means and unbiased variances of the rows; rows of one value have the variance 0 exactly."""
    constant = side.max(axis=1) == side.min(axis=1)
    return side.mean(axis=1), np.where(constant, 0.0, side.var(axis=1, ddof=1))


def _difference(before: Any, after: Any) -> tuple[Any, Any, Any]:
    """Return difference of the means, squared error of each arm's mean."""
    (mean_b, var_b), (mean_c, var_c) = _moments(before), _moments(after)
    return mean_c - mean_b, var_b / before.shape[1], var_c / after.shape[1]


def z(before: Any, after: Any) -> Any:
    """Promote if the difference exceeds 1.96 standard errors."""
    delta, b, c = _difference(before, after)
    return delta > 1.96 * np.sqrt(b + c)


def welch_p(before: Any, after: Any) -> tuple[Any, Any]:
    """Return the difference and the two-sided p of Welch's t test as in the textbook; 0 without any variance."""
    delta, b, c = _difference(before, after)
    with np.errstate(all="ignore"):
        df = (b + c) ** 2 / (b**2 / (before.shape[1] - 1) + c**2 / (after.shape[1] - 1))
        p = 2 * special.stdtr(df, -np.abs(delta) / np.sqrt(b + c))
    return delta, np.where(b + c > 0, p, np.where(delta == 0, 1.0, 0.0))


def raw_welch(before: Any, after: Any) -> Any:
    """Promote if the two-sided p is at most 0.05 and the difference positive."""
    delta, p = welch_p(before, after)
    return (p <= 0.05) & (delta > 0)


def bca(before: Any, after: Any, rng: Any, *, paired: bool) -> Any:
    """Promote if the lower end of the one-sided 95 % BCa interval of the difference exceeds 0, and exists."""
    if paired:
        return bca_lower(after - before, rng=rng) > 0
    return bca_lower(after, -before, rng=rng) > 0


def bca_lower(*arms: Any, rng: Any) -> Any:
    """Return the lower end of the one-sided 95 % BCa interval of the sum of the arms' means, or NaN."""
    rows = range(0, len(arms[0]), BLOCK)
    return np.concatenate([_bca_block([arm[at : at + BLOCK] for arm in arms], rng) for at in rows])


def _bca_block(arms: list[Any], rng: Any) -> Any:
    estimate = sum(arm.mean(axis=1) for arm in arms)
    drawn = sum(arm @ _weights(arm.shape[1], rng) for arm in arms)
    # What each case adds to the estimate; its skewness is the acceleration.
    share = np.concatenate(
        [(arm - arm.mean(axis=1, keepdims=True)) / arm.shape[1] for arm in arms], axis=1
    )
    at = estimate[:, None]
    below = ((drawn < at - 1e-12).mean(axis=1) + (drawn <= at + 1e-12).mean(axis=1)) / 2
    with np.errstate(all="ignore"):
        acceleration = (share**3).sum(axis=1) / (6 * (share**2).sum(axis=1) ** 1.5)
        bias = special.ndtri(below)
        tail = bias + special.ndtri(0.05)
        level = special.ndtr(bias + tail / (1 - acceleration * tail))
    level = np.where(np.isfinite(bias) & np.isfinite(level), level, np.nan)
    drawn.sort(axis=1)
    place = np.nan_to_num(level) * (RESAMPLES - 1)
    low = np.floor(place).astype(int)
    row = np.arange(len(drawn))
    left, right = drawn[row, low], drawn[row, np.minimum(low + 1, RESAMPLES - 1)]
    return np.where(np.isnan(level), np.nan, left + (place - low) * (right - left))


def _weights(n: int, rng: Any) -> Any:
    return rng.multinomial(n, np.full(n, 1 / n), size=RESAMPLES).T / n


def flat(rule: Callable[..., Any]) -> Callable[..., Any]:
    """Give a rule each trial as if it were a case."""

    def on_trials(before: Any, after: Any, *rest: Any, **options: Any) -> Any:
        return rule(*(side.reshape(len(side), -1) for side in (before, after)), *rest, **options)

    return on_trials
