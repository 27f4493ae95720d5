"""
The rows of calibration.py that are not a comparison of rules on the scenarios.

Each function measures one row and returns it with its kind, ``what``. Counts are kept with their repetitions; what can
be added up exactly, over all outcomes, is kept as a share.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from further_scenarios import CLUSTERS, MARGINS, NEEDED, NOISES, PLANNED, UNEQUAL, cluster_labels
from gates_under_test import arm, not_worse, outcomes
from looks_rows import CELLS as SERIES
from looks_rows import PLANS, climb, looks, looks_power, named_cases, planned_runs
from pass_fail import CELLS, SHIFTS, exact, sizes, t_and_sign_flip
from pass_fail import power as pass_fail_power
from scipy import stats
from streams import stream

from benchgate.gates.compared import Compared
from benchgate.gates.deciding import deciding
from benchgate.gates.policy import GatePolicy
from benchgate.statistics import Goal, paired_detectable, welch_detectable
from benchgate.statistics.detectable import detectable
from benchgate.statistics.paired import paired_test
from benchgate.statistics.pass_fail import pass_fail_p
from benchgate.statistics.safety import incident_pass_chance

if TYPE_CHECKING:
    from collections.abc import Callable

REPETITIONS = 2000
INCIDENTS = 1 / 50
LIMIT = 0.05
POWER = 0.8
TESTS = {"t and sign-flip": t_and_sign_flip, "exact test": exact}
MOST, PILOTS = 300, 400
BEYOND = Goal(target=1e3)
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
    fewest = TESTS[test](n)

    def found(count: int) -> float:
        d = [1.0] * count + [0.0] * (n - count)
        d[: count // 2] = [-1.0] * (count // 2)
        effect = paired_detectable(d, BEYOND, width=1.0, exact=test == "exact test").effect or 1.0
        return pass_fail_power(fewest, max(share, effect), effect)

    power = sum(float(w) * found(k) for k, w in enumerate(_binomial(n, share)))
    return {"scenario": f"pairs, {share:.0%} change, {test}", "n": n, "found": power}


def planned_samples(rate: float, n: int) -> dict[str, Any]:
    """Add up the same for Welch's test on two samples of n cases that pass or fail."""
    region = _welch_region(n)

    def found(passed: int) -> float:
        side = [1.0] * passed + [0.0] * (n - passed)
        effect = welch_detectable(side, side, BEYOND, score_range=(0.0, 1.0)).effect or 1.0
        after = min(1.0, rate + effect)
        before = max(0.0, after - effect)
        return float(_binomial(n, before) @ region @ _binomial(n, after))

    power = sum(float(w) * found(k) for k, w in enumerate(_binomial(n, rate)))
    return {"scenario": f"samples, {rate:.0%} pass", "n": n, "found": power}


def _binomial(n: int, p: float) -> Any:
    return stats.binom.pmf(np.arange(n + 1), n, p)


@cache
def _welch_region(n: int) -> Any:
    return np.array([[_welch_passes(n, b, c) for c in range(n + 1)] for b in range(n + 1)])


def _welch_passes(n: int, baseline: int, candidate: int) -> bool:
    if baseline >= candidate:
        return False
    sides = [np.repeat([1.0, 0.0], [count, n - count]) for count in (baseline, candidate)]
    before, after = (arm(side, named=False) for side in sides)
    compared = Compared(baseline=before, candidate=after, policy=GatePolicy())
    return deciding(compared).answers().passed


def planned_scores(number: int, n: int) -> dict[str, Any]:
    """Count how often the paired test finds, on new cases, what was promised from others of the same population."""
    scenario, count = PLANNED[number], 0
    pilots, fresh = (_differences(scenario, n, part) for part in ("planned", "fresh"))
    for pilot, new in zip(pilots, fresh, strict=True):
        effect = paired_detectable(pilot.tolist(), BEYOND, width=1.0).effect
        count += effect is not None and _finds(new + effect)
    return _row(scenario=scenario.name, n=n, passed=count)


def planned_cases(number: int, n: int) -> dict[str, Any]:
    """Count how often the test finds a gain on as many new cases as n others of the population asked for."""
    scenario, count, asked = NEEDED[number], 0, 0
    for pilot in _differences(scenario, n, "planned cases", PILOTS):
        exact = {*pilot.tolist()} <= {-1.0, 0.0, 1.0}
        goal = Goal(target=scenario.gain)
        cases = paired_detectable(pilot.tolist(), goal, width=1.0, exact=exact).cases
        if cases is None or cases > MOST:
            continue
        asked += 1
        gains = (scenario.gain, 0.0) if exact else (0.0, scenario.gain)
        fresh = _differences(scenario, cases, f"needed {asked}", 1, gains[0])[0] + gains[1]
        count += _finds(fresh, exact=exact)
    name = f"{scenario.name}, cases for {scenario.gain:g}"
    return {**_row(scenario=name, n=n, passed=count), "repetitions": asked}


def _differences(scenario: Any, n: int, part: str, count: int = 0, gain: float = 0.0) -> Any:
    sides = scenario.draw(stream(scenario.name, n, part), count or REPETITIONS, n, gain)
    before, after = (side.mean(axis=2) if side.ndim == 3 else side for side in sides)
    return (after - before).round(12)


def _finds(differences: Any, *, exact: bool = False) -> bool:
    d = differences.tolist()
    if exact:
        return pass_fail_p(d.count(1.0), d.count(-1.0), len(d)) <= 0.025
    p = paired_test(d, n_resamples=999).p_greater
    return p is not None and p <= 0.025


def planned_clusters(name: str) -> dict[str, Any]:
    """Count the same for cases in clusters that differ in size."""
    sizes = UNEQUAL[name]
    labels = [str(number) for number, size in enumerate(sizes) for _ in range(size)]
    rng, count, half = stream(name, "planned"), 0, 2 * REPETITIONS
    shared = np.repeat(rng.normal(0, 0.2, (half, len(sizes))), sizes, axis=1)
    differences = shared + rng.normal(0, 0.1, shared.shape)
    for pilot, fresh in zip(differences[::2], differences[1::2], strict=True):
        effect = detectable([(pilot.tolist(), labels)], BEYOND).effect
        if effect is not None:
            p = paired_test((fresh + effect).tolist(), labels, n_resamples=999).p_greater
            count += p is not None and p <= 0.025
    return _row(scenario=name, n=len(labels), passed=count)


def safety(n: int) -> dict[str, Any]:
    """Add up how often a candidate passes the check of its penalty, by its true rise, with and without a bound."""
    chances = {
        f"{rise:.2f} {name}": sum(
            float(weight) * incident_pass_chance(n, k, INCIDENTS + rise, limit=LIMIT, confidence=c)
            for k, weight in enumerate(_binomial(n, INCIDENTS))
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
    "planned cases": (planned_cases, [(i, n) for i in range(len(NEEDED)) for n in (12, 30)]),
    "looks": (looks, SERIES),
    "looks power": (looks_power, SERIES),
    "forecast": (planned_runs, [(i, n) for i in range(len(PLANS)) for n in (23, 50)]),
    "named cases": (named_cases, [(i, n) for i in range(len(PLANS)) for n in (10, 23, 50)]),
    "climb": (climb, [(1, kind) for kind in ("noise", "gain")]),
    "safety": (safety, [(n,) for n in (10, 23, 30, 50, 59, 100, 200)]),
}
"""By kind of row: the function that measures one, and its arguments for each."""


def further(kind: str, number: int) -> dict[str, Any]:
    """Measure one row of a kind."""
    function, rows = FURTHER[kind]
    return {"what": kind, **function(*rows[number])}
