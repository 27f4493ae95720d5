"""
Measure how often whoever follows the advice of a hold has a worthless candidate promoted.

    python benchmarks/calibration/second_look.py [--repetitions 4000]

A candidate without a gain is compared on n cases. If that holds, somebody looks again, and the share is of those who
have a promotion at the first look or at the second:

* "the same cases": on the same cases, run again;
* "the cases that next names": with as many more cases as the decision asks for, run again on all of them;
* "the same, outputs kept": the same, with the outputs of the first look on the first cases;
* "the worst number": outputs kept, and the number of new cases is chosen by how well the candidate did on the first,
  which the decision does not do.

Under ``spend:2`` each look has half of alpha, under ``count`` the whole.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np
from gates_under_test import arm, quick
from looks_rows import POPULATIONS, Population, promising
from shares import simulated, table_of
from streams import stream

from benchgate.gates.decide import decide
from benchgate.gates.facts import VectorFacts
from benchgate.gates.looks import Look
from benchgate.gates.policy import GatePolicy, make_policy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.random import Generator

    from benchgate.gates.decide import Decided

RULES = ("count", "spend:2")
SIZES = (20,)
MOST = 1000
"""Cases that somebody has in all."""
SECOND = (
    "the same cases",
    "the cases that next names",
    "the same, outputs kept",
    "the worst number",
)
FACTORS = (0.1, 0.25, 0.5, 1, 2, 4, 8)


def judged(before: Any, after: Any, policy: GatePolicy, number: int) -> Decided:
    """Judge a candidate at a look."""
    look = Look(number=number, declared=policy.looks)
    return decide(
        VectorFacts(
            policy=policy, sides=(arm(before, named=True), arm(after, named=True)), look=look
        )
    )


def promoted_later(before: Any, after: Any, policy: GatePolicy) -> bool:
    """Return whether a second look promotes."""
    if not promising(before, after):
        return False
    return judged(before, after, policy, 2).decision.promotion_allowed


def worst_number(before: Any, after: Any, level: float) -> int:
    """Return the number of new cases with which the old ones help most to pass a one-sided level."""
    differences = after - before
    n, spread = len(differences), float(np.std(differences, ddof=1))
    bar = 1.96 if level > 0.02 else 2.24
    if not spread:
        return n
    z = math.sqrt(n) * float(np.mean(differences)) / spread

    def needed(more: int) -> float:
        return (bar * math.sqrt(n + more) - math.sqrt(n) * z) / math.sqrt(more)

    return min((max(2, round(n * factor)) for factor in FACTORS), key=needed)


def second_look(
    rng: Generator, population: Population, cases: Any, sides: tuple[Any, Any], rule: str
) -> Iterator[str]:
    """Yield each way to look a second time that leads to a promotion, or ``first`` if the first look does."""
    policy = make_policy(
        {"min_cases": 2, "safety": "optional", "test": population.test, "looks": rule}
    )
    before, after = sides
    first = judged(before, after, policy, 1)
    if first.decision.outcome != "hold":
        if first.decision.promotion_allowed:
            yield "first"
        return
    again = population.trial(rng, cases, 0.0)
    if promoted_later(before, again, policy):
        yield SECOND[0]
    needed = first.figures.significance.cases_needed or 0
    numbers = {SECOND[3]: worst_number(before, after, 0.05 / (4 if ":" in rule else 2))}
    if len(before) < needed <= MOST:
        numbers[SECOND[2]] = needed - len(before)
    for way, more in numbers.items():
        new = population.cases(rng, more)
        grown = np.append(before, population.trial(rng, new, 0.0))
        candidate = population.trial(rng, new, 0.0)
        if promoted_later(grown, np.append(after, candidate), policy):
            yield way
        # Run again, it has other results on the first cases too.
        is_advised = way == SECOND[2]
        if is_advised and promoted_later(grown, np.append(again, candidate), policy):
            yield SECOND[1]


def row(population: Population, n: int, rule: str, repetitions: int) -> list[str]:
    """Return a row of the table."""
    # By Welch's test the faster gate does not say how many cases are needed.
    with nullcontext() if population.test == "welch" else quick():
        return _row(population, n, rule, repetitions)


def _row(population: Population, n: int, rule: str, repetitions: int) -> list[str]:
    rng = stream("second look", population.name, n, rule)
    found: Counter[str] = Counter()
    for _ in range(repetitions):
        cases = population.cases(rng, n)
        before = population.trial(rng, cases, 0.0)
        after = population.trial(rng, cases, 0.0)
        found.update(second_look(rng, population, cases, (before, after), rule))
    shares = [simulated(found["first"] + found[way], repetitions) for way in SECOND]
    return [population.name, str(n), f"`{rule}`", simulated(found["first"], repetitions), *shares]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repetitions", type=int, default=4000)
    repetitions = parser.parse_args().repetitions
    rows = [
        row(population, n, rule, repetitions)
        for population in POPULATIONS
        for n in SIZES
        for rule in RULES
    ]
    print(table_of(["a second look", "n", "looks"], ["the first alone", *SECOND], rows))


if __name__ == "__main__":
    main()
