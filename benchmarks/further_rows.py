"""
The rows of calibration.py that are not a comparison of rules on the scenarios.

Each function measures one row and returns it with its kind, ``what``. Counts are kept with their repetitions; what can
be added up exactly, over all outcomes, is kept as a share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from further_scenarios import CLUSTERS, MARGINS, NOISES, PLANNED, UNEQUAL, cluster_labels
from gates_under_test import not_worse, outcomes
from looks_rows import CELLS as SERIES
from looks_rows import PLANS, climb, looks, looks_power, planned_runs
from pass_fail import CELLS, SHIFTS, exact, sizes
from pass_fail import power as pass_fail_power
from streams import stream

from benchgate.statistics import (
    clustered_detectable,
    clustered_paired_test,
    incident_pass_chance,
    paired_binary_power,
    paired_detectable,
    paired_test,
    pass_fail_gains,
    sign_flip_and_t_gains,
    welch_binary_power,
    welch_binary_region,
    welch_detectable,
)
from benchgate.statistics.binary_power import binomial

if TYPE_CHECKING:
    from collections.abc import Callable

REPETITIONS = 2000
INCIDENTS = 1 / 50
LIMIT = 0.05
POWER = 0.8
TESTS = {"t and sign-flip": sign_flip_and_t_gains, "exact test": pass_fail_gains}
BEYOND = 1e3
"""A target that no number of cases is looked up for."""


def clusters(number: int, what: str) -> dict[str, Any]:
    """Count decisions on cases that come in clusters, without a gain (``error``) or with it (``power``)."""
    scenario, n = CLUSTERS[number], CLUSTERS[number].sizes[0]
    gain = scenario.gain if what == "power" else 0.0
    sides = scenario.draw(stream(scenario.name, n, what), REPETITIONS, n, gain)
    labels = cluster_labels(n)
    found = {"scenario": scenario.name, "n": n, "gain": gain, **_decided(*sides, labels)}
    plain = _decided(*sides)["promoted"]
    return {**found, "ignored": plain}


def noise(number: int, n: int) -> dict[str, Any]:
    """Count decisions where both sides are one system, whose trials of a task differ as published ones do."""
    scenario = NOISES[number]
    sides = scenario.draw(stream(scenario.name, n), REPETITIONS, n, 0.0)
    flips = [np.ptp(side, axis=2).mean() for side in sides if side.shape[2] > 1]
    flipping = float(np.mean(flips)) if flips else None
    return {"scenario": scenario.name, "n": n, "flipping": flipping, **_decided(*sides)}


def identical(p: float, n: int) -> dict[str, Any]:
    """Count decisions where every case has the same score on both sides."""
    side = (stream("identical", p, n).random((REPETITIONS, n)) < p).astype(float)
    return {"scenario": f"identical, p={p}", "n": n, **_decided(side, side)}


def at_margin(number: int, n: int) -> dict[str, Any]:
    """Count promotions under "not worse" of candidates that are worse by exactly the margin, and of equal ones."""
    scenario = MARGINS[number]
    passed = {}
    for name, gain in (("at the margin", -scenario.gain), ("equal", 0.0)):
        sides = scenario.draw(stream(scenario.name, n, name), REPETITIONS, n, gain)
        passed[name] = int(np.sum(not_worse(*sides, scenario.gain)))
    return _row(scenario=scenario.name, margin=scenario.gain, n=n, passed=passed)


def enumerated(n: int) -> dict[str, Any]:
    """Enumerate the exact test of pass and fail: size at each difference, and its power on some populations."""
    region = exact(n)
    power = {f"{share:g} {gain:g}": pass_fail_power(region, share, gain) for share, gain in CELLS}
    size = {f"{shift:+g}": size for shift, size in zip(SHIFTS, sizes(n), strict=True)}
    return {"n": n, "size": size, "power": power}


def planned_pairs(test: str, share: float, n: int) -> dict[str, Any]:
    """Add up how often a test finds the effect that was promised from n pairs like these."""
    region = TESTS[test]

    def found(changed: int) -> float:
        d = [1.0] * changed + [0.0] * (n - changed)
        d[: changed // 2] = [-1.0] * (changed // 2)
        effect = paired_detectable(d, target=BEYOND, width=1.0, region=region).effect or 1.0
        return paired_binary_power(max(share, effect), effect, region(n))

    power = sum(float(w) * found(k) for k, w in enumerate(binomial(n, share)))
    return {"scenario": f"pairs, {share:.0%} change, {test}", "n": n, "found": power}


def planned_samples(rate: float, n: int) -> dict[str, Any]:
    """Add up the same for Welch's test on two samples of n cases that pass or fail."""
    region = welch_binary_region(n, n)

    def found(passed: int) -> float:
        arm = [1.0] * passed + [0.0] * (n - passed)
        promised = welch_detectable(arm, arm, target=BEYOND, score_range=(0.0, 1.0)).effect
        effect = min(1.0, promised or 1.0)
        after = min(1.0, rate + effect)
        return welch_binary_power(max(0.0, after - effect), after, region)

    power = sum(float(w) * found(k) for k, w in enumerate(binomial(n, rate)))
    return {"scenario": f"samples, {rate:.0%} pass", "n": n, "found": power}


def planned_scores(number: int, n: int) -> dict[str, Any]:
    """Count how often the paired test finds, on new cases, what was promised from others of the same population."""
    scenario = PLANNED[number]
    sides = scenario.draw(stream(scenario.name, n, "planned"), 2 * REPETITIONS, n, 0.0)
    before, after = (side.mean(axis=2) if side.ndim == 3 else side for side in sides)
    differences = (after - before).round(12)
    count = 0
    for pilot, fresh in zip(differences[::2], differences[1::2], strict=True):
        effect = paired_detectable(pilot.tolist(), target=BEYOND, width=1.0).effect
        if effect is not None:
            p = paired_test((fresh + effect).tolist(), n_resamples=999).p_greater
            count += p is not None and p <= 0.025
    return _row(scenario=scenario.name, n=n, passed=count)


def planned_clusters(name: str) -> dict[str, Any]:
    """Count the same for cases in clusters that differ in size."""
    sizes = UNEQUAL[name]
    labels = [str(number) for number, size in enumerate(sizes) for _ in range(size)]
    rng, count, half = stream(name, "planned"), 0, 2 * REPETITIONS
    shared = np.repeat(rng.normal(0, 0.2, (half, len(sizes))), sizes, axis=1)
    differences = shared + rng.normal(0, 0.1, shared.shape)
    for pilot, fresh in zip(differences[::2], differences[1::2], strict=True):
        effect = clustered_detectable([(pilot.tolist(), labels)], target=BEYOND).effect
        if effect is not None:
            p = clustered_paired_test((fresh + effect).tolist(), labels, n_resamples=999).p_greater
            count += p is not None and p <= 0.025
    return _row(scenario=name, n=len(labels), passed=count)


def safety(n: int) -> dict[str, Any]:
    """Add up how often a candidate passes the check of its penalty, by its true rise, with and without a bound."""
    chances = {
        f"{rise:.2f} {name}": sum(
            float(weight) * incident_pass_chance(n, k, INCIDENTS + rise, limit=LIMIT, confidence=c)
            for k, weight in enumerate(binomial(n, INCIDENTS))
            if weight > 1e-9
        )
        for name, c in (("point", None), ("bound", 0.95))
        for rise in (0.0, 0.05, 0.10, 0.20)
    }
    return {"n": n, "passed": chances}


def _row(**columns: Any) -> dict[str, Any]:
    return {**columns, "repetitions": REPETITIONS}


def _decided(before: Any, after: Any, clusters: tuple[str, ...] | None = None) -> dict[str, Any]:
    found = outcomes(before, after, paired=True, clusters=clusters)
    return _row(
        **{
            name: {rule: rows.count(outcome) for rule, rows in found.items()}
            for name, outcome in (("promoted", "promote"), ("rejected", "reject"))
        }
    )


FURTHER: dict[str, tuple[Callable[..., dict[str, Any]], list[tuple[Any, ...]]]] = {
    "clusters": (
        clusters,
        [(i, what) for i in range(len(CLUSTERS)) for what in ("error", "power")],
    ),
    "noise": (noise, [(i, n) for i, s in enumerate(NOISES) for n in s.sizes]),
    "identical": (identical, [(p, n) for p in (0.5, 0.95) for n in (10, 30, 100)]),
    "margin": (at_margin, [(i, n) for i, s in enumerate(MARGINS) for n in s.sizes]),
    "enumerated": (enumerated, [(n,) for n in range(5, 201)]),
    "planned pairs": (
        planned_pairs,
        [(test, s, n) for test in TESTS for s in (0.1, 0.2, 0.4) for n in (12, 23, 50, 100)],
    ),
    "planned samples": (planned_samples, [(p, n) for p in (0.5, 0.8, 0.95) for n in (10, 30, 100)]),
    "planned scores": (planned_scores, [(i, n) for i in range(len(PLANNED)) for n in (8, 12, 30)]),
    "planned clusters": (planned_clusters, [(name,) for name in UNEQUAL]),
    "looks": (looks, SERIES),
    "looks power": (looks_power, SERIES),
    "forecast": (planned_runs, [(i, n) for i in range(len(PLANS)) for n in (23, 50)]),
    "climb": (climb, [(1, kind) for kind in ("noise", "gain")]),
    "safety": (safety, [(n,) for n in (10, 23, 30, 50, 59, 100, 200)]),
}
"""By kind of row: the function that measures one, and its arguments for each."""


def further(kind: str, number: int) -> dict[str, Any]:
    """Measure one row of a kind."""
    function, rows = FURTHER[kind]
    return {"what": kind, **function(*rows[number])}
