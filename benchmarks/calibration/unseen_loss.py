"""
Measure in which promotions the note ``unseen_break`` speaks, and what narrower rules would do.

    python benchmarks/calibration/unseen_loss.py    # 5 minutes

``wrong`` are promotions of candidates without a gain from the populations where a few cases lose much; ``right`` are
those of candidates with a true gain, from all populations of pairs. A population counts as often as it is promoted.
Each further column keeps the note only where its rule holds. Scores that only pass or fail are left out: the exact
bound decides there, and the note never speaks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from further_scenarios import SKEWED
from gates_under_test import quick
from scenarios import SCENARIOS
from shares import table_of
from skew import RANGES, asked, both, sides_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scenarios import Scenario

SIZES = (10, 20, 30, 50, 100)
DRAWS = 3000
MOST = 100
"""Promotions of a row that the gate is asked about."""
BREAKS = (
    "partial credit",
    "90 % unchanged, 2 % lose .4",
    "4 % lose up to .45",
    "+.25, 0, -.75",
    "60/30/10 % of 0, +1/3, -1",
    "50/40/10 % of 0, +.25, -1",
    "70/24/6 % of 0, +.25, -1",
    "pair rare break",
)
"""Populations in which a few cases lose much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Promotion:
    """
    One promotion.

    :param speaks: the note does.
    :param loss: which one would undo the gain.
    :param differences: of the cases.
    :param width: of the score range.
    """

    speaks: bool
    loss: float
    differences: Any
    width: float


RULES: dict[str, Callable[[Promotion], bool]] = {
    "as it is": lambda _: True,
    "a case lost something": lambda one: bool(one.differences.min() < 0.0),
    "at most twice the largest loss": lambda one: one.loss <= -2 * one.differences.min(),
    "at most 5 deviations": lambda one: one.loss <= 5 * one.differences.std(ddof=1),
    "at most half the range": lambda one: one.loss <= one.width / 2,
    "skewness at most 1.5": lambda one: _skewness(one.differences) <= 1.5,
}


def _skewness(values: Any) -> float:
    rest = values - values.mean()
    return float((rest**3).mean() / values.std() ** 3)


def populations() -> Iterator[Scenario]:
    """Yield the pairs whose scores have a range and do not only pass or fail."""
    yield from (s for s in SKEWED if s.name in RANGES and "clusters" not in s.name)
    yield from (s for s in SCENARIOS if s.paired and "bern" not in s.name)


def promotions(scenario: Scenario, n: int, gain: float) -> tuple[float, list[Promotion]]:
    """Return how often a candidate is promoted, and some of the promotions."""
    sides = sides_of(scenario, n, gain, DRAWS)
    _, now = both(scenario, sides, None, np.random.default_rng(1))
    which = np.flatnonzero(now)[:MOST]
    with quick():
        made = asked(scenario, sides, None, which)
    low, high = RANGES.get(scenario.name, (0.0, 1.0))
    found = []
    for at, one in zip(which, made, strict=True):
        if one.decision.outcome != "promote":
            continue
        differences = (sides[1][at] - sides[0][at]).round(12)
        count = math.ceil(1 / one.figures.significance.unseen_failure_ucb95)
        found.append(
            Promotion(
                speaks="note_unseen_break" in one.decision.notes,
                loss=float(differences.mean()) * count,
                differences=differences,
                width=high - low,
            )
        )
    return float(now.mean()), found


def shares(n: int, *, wrong: bool) -> list[str]:
    """Return in what percent of the promotions the note speaks, by each rule."""
    total = 0.0
    spoken = dict.fromkeys(RULES, 0.0)
    for scenario in populations():
        if wrong and scenario.name not in BREAKS:
            continue
        rate, found = promotions(scenario, n, 0.0 if wrong else scenario.gain)
        if not found:
            continue
        total += rate
        for name, rule in RULES.items():
            count = sum(one.speaks and rule(one) for one in found)
            spoken[name] += rate * count / len(found)
    return [f"{100 * spoken[name] / total:.0f}" for name in RULES]


def main() -> None:
    """Print the table."""
    rows = []
    for n in SIZES:
        rows.append(["wrong", str(n), *shares(n, wrong=True)])
        rows.append(["right", str(n), *shares(n, wrong=False)])
    print(table_of(["promotion", "n"], list(RULES), rows))


if __name__ == "__main__":
    main()
