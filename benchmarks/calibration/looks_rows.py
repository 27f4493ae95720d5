"""
Rows of calibration.py on series: many candidates that are tried against one baseline.

Both sides have the same cases. A case passes at a rate of its own, or has a score around one; how much varies between
trials of a case is that of published runs of agents.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from gates_under_test import arm, quick
from streams import stream

from benchgate import LookLedger, accept
from benchgate.gates.decide import decide
from benchgate.gates.facts import VectorFacts
from benchgate.gates.forecast import Simulation
from benchgate.gates.looks import Look
from benchgate.gates.policy import GatePolicy, make_policy
from benchgate.gates.weigh import weigh_arms
from benchgate.looks.accept import KnownBy, looked_at_arms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.random import Generator

    from benchgate.gates.figures import Arm

SERIES = 2000
LOOKS = (10, 20)
ASKED = (1, 5, 20)
GAIN = 0.15
RUNS, STEPS, TASKS = 400, 200, 50
PLANNED, ASKED_EACH = 400, 2
MOST_NAMED = 400
"""More cases than a hold names here are not drawn."""


class Population(NamedTuple):
    """What a case is like, what a trial of it gives if a gain is added to it, and the test that fits."""

    name: str
    test: str
    cases: Callable[[Generator, int], Any]
    trial: Callable[[Generator, Any, float], Any]


def passes(rng: Generator, rate: Any, gain: float) -> Any:
    """Draw whether each case passes; the gain is a share of all cases."""
    return (rng.random(rate.shape) < np.minimum(rate + gain, 1.0)).astype(float)


def graded(rng: Generator, level: Any, gain: float) -> Any:
    """Draw scores around the level of each case."""
    return np.clip(level + gain + rng.normal(0.0, 0.15, level.shape), 0.0, 1.0)


def narrow(rng: Generator, level: Any, gain: float) -> Any:
    """Draw scores around the level of each case that keep within [0, 1]."""
    return np.clip(level + gain + rng.normal(0.0, 0.08, level.shape), 0.0, 1.0)


POPULATIONS = (
    Population(
        "pass or fail, tasks differ", "auto", lambda rng, n: rng.beta(0.72, 0.72, n), passes
    ),
    Population("scores, tasks differ", "auto", lambda rng, n: rng.beta(2.0, 2.0, n), graded),
    Population("pass or fail, all at 60 %", "welch", lambda _, n: np.full(n, 0.6), passes),
)
CELLS = [(i, n) for i in range(len(POPULATIONS)) for n in (23, 50)]


@quick()
def looks(number: int, n: int) -> dict[str, Any]:
    """Count series of worthless candidates, all against one baseline, of which any was promoted."""
    population, found = (
        POPULATIONS[number],
        {rule: np.zeros(max(LOOKS) + 1) for rule in _policies(POPULATIONS[number])},
    )
    rng = stream("looks", population.name, n)
    for _ in range(SERIES):
        cases = population.cases(rng, n)
        before = population.trial(rng, cases, 0.0)
        for rule, first in _first(
            population, before, (population.trial(rng, cases, 0.0) for _ in range(max(LOOKS)))
        ):
            found[rule][first:] += 1
    any_of = {rule: {str(k): int(counts[k]) for k in LOOKS} for rule, counts in found.items()}
    return {"scenario": population.name, "n": n, "any": any_of, "repetitions": SERIES}


def _policies(population: Population) -> dict[str, GatePolicy]:
    common: dict[str, Any] = {"min_cases": 2, "safety": "optional", "test": population.test}
    return {rule: GatePolicy(**common, looks=rule) for rule in ("count", "spend")}


def promising(before: Any, after: Any) -> bool:
    """Whether t is at least 1.5 by either test: no test of the gate passes below 1.9, and to ask it takes long."""
    n, delta = len(before), float(np.mean(after - before))
    paired, plain = (
        np.std(after - before, ddof=1),
        np.hypot(np.std(before, ddof=1), np.std(after, ddof=1)),
    )
    return delta > 0 and delta * np.sqrt(n) >= 1.5 * min(paired, plain)


def _promotes(before: Any, after: Any, policy: GatePolicy, number: int) -> bool:
    if not promising(before, after):
        return False
    sides = (arm(before, named=True), arm(after, named=True))
    look = Look(number=number, declared=policy.looks)
    return decide(VectorFacts(policy=policy, sides=sides, look=look)).decision.promotion_allowed


def _first(population: Population, before: Any, tried: Iterator[Any]) -> Iterator[tuple[str, int]]:
    """Yield the first look of a series that promotes, by each rule."""
    left = _policies(population)
    for look, after in enumerate(tried, start=1):
        # What is not promoted at the whole level is not at a part of it.
        if not _promotes(before, after, _policies(population)["count"], look):
            continue
        for rule in [
            rule for rule, policy in left.items() if _promotes(before, after, policy, look)
        ]:
            del left[rule]
            yield rule, look
        if not left:
            return


@quick()
def looks_power(number: int, n: int) -> dict[str, Any]:
    """Count promotions of a candidate with a gain at several looks of a series that spends alpha."""
    population = POPULATIONS[number]
    rng = stream("looks power", population.name, n)
    found = dict.fromkeys(map(str, ASKED), 0)
    for _ in range(SERIES):
        cases = population.cases(rng, n)
        sides = [population.trial(rng, cases, gain) for gain in (0.0, GAIN)]
        for look in ASKED:
            if not _promotes(*sides, _policies(population)["spend"], look):
                break
            found[str(look)] += 1
    return {
        "scenario": population.name,
        "n": n,
        "gain": GAIN,
        "promoted": found,
        "repetitions": SERIES,
    }


@quick()
def climb(number: int, kind: str) -> dict[str, Any]:
    """
    Run loops of many steps, which keep whatever ``accept`` lets them.

    :param kind: ``noise``, where no candidate is better; or ``gain``, where one of ten is, by .1, and three are worse.
    """
    population, rng = POPULATIONS[number], stream("climb", number, kind)
    runs = RUNS if kind == "noise" else RUNS // 10
    found = [_climbed(population, rng, kind) for _ in range(runs)]
    return {
        "scenario": population.name,
        "kind": kind,
        "accepted": sum(accepted > 0 for accepted, *_ in found),
        "mistakes": sum(mistakes > 0 for _, mistakes, _ in found),
        "gain": float(np.mean([gain for *_, gain in found])),
        "repetitions": runs,
    }


def _climbed(population: Population, rng: Generator, kind: str) -> tuple[int, int, float]:
    with TemporaryDirectory() as folder:
        return _climbed_in(LookLedger(Path(folder) / "looks.jsonl"), population, rng, kind)


def _climbed_in(
    ledger: LookLedger, population: Population, rng: Generator, kind: str
) -> tuple[int, int, float]:
    cases, level = population.cases(rng, TASKS), 0.0
    incumbent = population.trial(rng, cases, level)
    policy = {"test": population.test, "score_range": [0, 1], "looks": "spend"}
    accepted = mistakes = 0
    for _ in range(STEPS):
        step = 0.0 if kind == "noise" else float(rng.choice([0.1, -0.1, 0.0], p=[0.1, 0.3, 0.6]))
        candidate = population.trial(rng, cases, level + step)
        if _accepted(incumbent, candidate, policy, ledger, f"v{accepted}"):
            accepted, mistakes = accepted + 1, mistakes + (step <= 0)
            incumbent, level = candidate, level + step
    return accepted, mistakes, level


def _accepted(
    before: Any, after: Any, policy: dict[str, Any], ledger: LookLedger, name: str
) -> bool:
    if not promising(before, after):  # a look all the same
        sides = (arm(side, named=True) for side in (before, after))
        ledger.add(looked_at_arms(*sides, make_policy(policy), KnownBy(name=name)))
        return False
    sides = _by_case(before), _by_case(after)
    return accept(*sides, policy=policy, ledger=ledger, incumbent=name).promotion_allowed


def _by_case(scores: Any) -> dict[str, float]:
    return {f"c{number:05}": score for number, score in enumerate(scores.tolist())}


PLANS = (
    # name, test, trials of the baseline and of the candidate, cases, a trial, gain
    (
        "scores, 3 and 1 trials",
        "auto",
        3,
        1,
        lambda rng, n: rng.uniform(0.25, 0.6, n),
        narrow,
        0.05,
    ),
    (
        "scores, 2 and 2 trials",
        "auto",
        2,
        2,
        lambda rng, n: rng.uniform(0.25, 0.6, n),
        narrow,
        0.05,
    ),
    (
        "scores, 3 and 1 trials, Welch",
        "welch",
        3,
        1,
        lambda rng, n: rng.uniform(0.25, 0.6, n),
        narrow,
        0.12,
    ),
    (
        "pass or fail, 4 and 4 trials",
        "auto",
        4,
        4,
        lambda rng, n: 0.05 + 0.75 * rng.beta(0.72, 0.72, n),
        passes,
        0.15,
    ),
    (
        "pass or fail, all at 60 %, 1 trial",
        "auto",
        1,
        1,
        lambda _, n: np.full(n, 0.6),
        passes,
        0.25,
    ),
    (
        "pass or fail, all at 60 %, 1 trial, Welch",
        "welch",
        1,
        1,
        lambda _, n: np.full(n, 0.6),
        passes,
        0.25,
    ),
    (
        "pass or fail, tasks differ, 1 trial",
        "auto",
        1,
        1,
        lambda rng, n: 0.05 + 0.65 * rng.beta(0.72, 0.72, n),
        passes,
        0.25,
    ),
)


@quick()
def planned_runs(number: int, n: int) -> dict[str, Any]:
    """Count what ``benchgate plan`` predicts from baselines, and the promotions of candidates against them."""
    name, test, before, after, cases, trial, gain = PLANS[number]
    rng, predicted, promoted = stream("planned runs", name, n), 0, 0
    policy = GatePolicy(min_cases=2, safety="optional", test=test)
    for baseline in range(PLANNED):
        tasks = cases(rng, n)
        sides = [
            arm(np.stack([trial(rng, tasks, gained) for _ in range(count)], axis=1), named=True)
            for count, gained in ((before, 0.0), (after, gain))
        ]
        runs = Simulation(sides[0], policy, after)
        for run in range(ASKED_EACH):  # other draws for each baseline
            simulated = decide(
                VectorFacts(policy=policy, sides=runs.sides(gain, ASKED_EACH * baseline + run))
            )
            predicted += simulated.decision.promotion_allowed
        promoted += decide(VectorFacts(policy=policy, sides=sides)).decision.promotion_allowed
    return {
        "scenario": name,
        "n": n,
        "gain": gain,
        "predicted": predicted / PLANNED / ASKED_EACH,
        "promoted": promoted,
        "repetitions": PLANNED,
    }


def named_cases(number: int, n: int) -> dict[str, Any]:
    """
    Count how often a gain is found on as many cases as the hold of an equal candidate named, and how often a plan says.

    The first n cases are drawn without a gain. The cases that they ask for are new ones: a baseline on them is what
    ``benchgate plan`` is asked about, and the candidate against it has the gain.
    """
    name, test, before, after, cases, trial, gain = PLANS[number]
    rng = stream("named cases", name, n)
    policy = GatePolicy(min_cases=2, safety="optional", test=test, target_effect=gain)

    def sides(count: int, gained: float) -> list[Arm]:
        tasks = cases(rng, count)
        return [
            arm(np.stack([trial(rng, tasks, g) for _ in range(trials)], axis=1), named=True)
            for trials, g in ((before, 0.0), (after, gained))
        ]

    asked: list[int] = []
    predicted = promoted = 0
    while len(asked) < PLANNED:
        first = weigh_arms(*sides(n, 0.0), policy, advice=False)[0]
        needed = first.significance.cases_needed
        if needed is None or needed > MOST_NAMED:
            continue
        asked.append(needed)
        predicts, promotes = _planned_and_run(
            sides(needed, gain), policy, (gain, after), len(asked)
        )
        predicted += predicts
        promoted += promotes
    return {
        "scenario": name,
        "n": n,
        "gain": gain,
        "named": float(np.median(asked)),
        "predicted": predicted,
        "promoted": promoted,
        "repetitions": len(asked),
    }


@quick()
def _planned_and_run(
    sides: list[Arm], policy: GatePolicy, planned: tuple[float, int], number: int
) -> tuple[bool, bool]:
    """Return whether a simulated run promotes, and whether the real candidate is promoted."""
    gain, trials = planned
    simulated = Simulation(sides[0], policy, trials).sides(gain, number)
    decided = [decide(VectorFacts(policy=policy, sides=pair)) for pair in (simulated, sides)]
    predicts, promotes = (one.decision.promotion_allowed for one in decided)
    return predicts, promotes
