"""
Measure what the guard against skewness changes: the rule before it and the rule with it, on the same draws.

    python benchmarks/calibration/skew.py --repetitions 2000    # 8 minutes

Rows of 500 cases have 2,000 draws. Both rules are computed for all draws at once; a test holds them to those of the
gate. ``before`` needs the exact sign-flip test and Student's t (of clusters CR2), or Welch's t. ``now`` counts ties of
the sign flips half and has the guard in the place of t; beside Welch's t it has the guard. Scores that only pass or
fail are left out: neither rule of theirs has changed. ``rejected`` is by the same rule mirrored. The interval and the
note ``unseen_break`` are asked of the gate itself, on fewer draws.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import numpy as np
from further_scenarios import CLUSTERS, SKEWED, cluster_labels, labels_of
from gates_under_test import judged
from scenarios import SCENARIOS
from scipy import special
from shares import simulated, table_of
from streams import stream

from benchgate.statistics.bounds import gaffke_lower, mover_gaffke
from benchgate.statistics.clusters import pooled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scenarios import Scenario

LEVEL = 0.025
DRAWN = 9999
"""Patterns of signs, where there are more than 12 units."""
ASKED = 1000
"""Draws on which the gate is asked."""
RANGES: dict[str, tuple[float, float]] = {
    "partial credit": (-1.0, 1.0),
    "90 % unchanged, 2 % lose .4": (-0.5, 0.5),
    "85 % unchanged, right tail": (-1.0, 1.0),
    "4 % lose up to .45": (-0.5, 0.5),
    "+.25, 0, -.75": (0.0, 1.0),
    "60/30/10 % of 0, +1/3, -1": (0.0, 1.0),
    "50/40/10 % of 0, +.25, -1": (0.0, 1.0),
    "70/24/6 % of 0, +.25, -1": (0.0, 1.0),
    "10 clusters, one in ten breaks": (-1.0, 1.0),
}
"""Lowest and highest score where differences are drawn that have such."""


def evened(t: Any, skew: Any) -> Any:
    """Return Hall's cubic of t, for the skewness of the mean."""
    return t + skew / 6 + skew * t**2 / 3 + skew**2 * t**3 / 27


def flips(totals: Any, rng: Any) -> tuple[Any, Any]:
    """Return the one-sided p of the sign flips of each row, for "greater": the exact one, and that with half ties."""
    n = totals.shape[1]
    if n <= 12:
        signs = 2.0 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1) - 1.0
        extra = 0
    else:
        signs, extra = rng.choice([-1.0, 1.0], (DRAWN, n)), 1
    observed, size = totals.sum(axis=1, keepdims=True), np.abs(totals)
    near = 1e-9 * size.max(axis=1, keepdims=True)
    hits, above = [], []
    for at in range(0, len(totals), 500):
        sums = size[at : at + 500] @ signs.T
        hits.append((sums >= (observed - near)[at : at + 500]).sum(axis=1))
        above.append((sums > (observed + near)[at : at + 500]).sum(axis=1))
    exact = (np.concatenate(hits) + extra) / (len(signs) + extra)
    half = (np.concatenate(hits) + np.concatenate(above)) / 2
    changed = (size > near).sum(axis=1)
    # The observed pattern counts in full. Few changes among many cases are counted out by the gate, and not drawn.
    own = np.maximum(0.5 ** (changed + 1), extra / (len(signs) + extra))
    return exact, half / len(signs) + own


def paired(d: Any, labels: tuple[str, ...] | None, rng: Any) -> tuple[Any, Any, Any]:
    """Return for each row of differences whether it passes, before and now, and the sign flips of now alone."""
    names = list(dict.fromkeys(labels or range(d.shape[1])))
    at = np.array([names.index(label) for label in labels or range(d.shape[1])])
    sizes, count, n = np.bincount(at), len(names), d.shape[1]
    totals = d @ np.eye(count)[at]
    mean = d.mean(axis=1)
    rest = totals - mean[:, None] * sizes
    weights, df = _of_clusters(sizes)
    with np.errstate(all="ignore"):
        old_t = mean / np.sqrt((rest**2 * weights).sum(axis=1)) * n
        variance = (rest**2).sum(axis=1) * count / (count - 1)
        third = (rest**3).sum(axis=1) * count**2 / ((count - 1) * (count - 2))
        skew = third / variance**1.5 * (1 + 3 / count)
        new = special.stdtr(count - 1, -evened(mean * n / np.sqrt(variance), skew))
        old = special.stdtr(df, -old_t)
    varies = np.ptp(rest / sizes, axis=1) > 1e-12
    exact, half = flips(totals, rng)
    flip = (half <= LEVEL) & varies
    return (exact <= LEVEL) & varies & (old <= LEVEL), flip & (new <= LEVEL), flip


def _of_clusters(sizes: Any) -> tuple[Any, float]:
    """Return the weights of CR2, and its degrees of freedom, which depend on the sizes alone."""
    groups = [[float(number % 2)] * int(size) for number, size in enumerate(sizes)]
    spread = pooled([groups])
    return 1.0 / (1.0 - sizes / sizes.sum()), spread.df if spread else 1.0


def welch(before: Any, after: Any) -> tuple[Any, Any]:
    """Return the same of two samples."""
    parts = []
    for side in (before, after):
        n = side.shape[1]
        rest = side - side.mean(axis=1, keepdims=True)
        v = (rest**2).sum(axis=1) / (n * (n - 1))
        parts.append((v, (rest**3).sum(axis=1) / (n * (n - 1) * (n - 2)), n - 1))
    (v_b, k_b, m_b), (v_c, k_c, m_c) = parts
    with np.errstate(all="ignore"):
        t = (after.mean(axis=1) - before.mean(axis=1)) / np.sqrt(v_b + v_c)
        df = (v_b + v_c) ** 2 / (v_b**2 / m_b + v_c**2 / m_c)
        skew = (k_c - k_b) / (v_b + v_c) ** 1.5 * (1 + 3 / (df + 1))
        old = special.stdtr(df, -t) <= LEVEL
        new = special.stdtr(df, -evened(t, skew)) <= LEVEL
    varies = (np.ptp(before, axis=1) > 0) & (np.ptp(after, axis=1) > 0)
    binary = [len(row) <= 2 for row in map(np.unique, np.hstack([before, after]))]
    return old & varies, old & varies & (new | np.array(binary))


def sides_of(scenario: Scenario, n: int, gain: float, count: int) -> tuple[Any, Any]:
    """Draw both sides; of trials the means."""
    sides = scenario.draw(stream("skew", scenario.name, n, gain), count, n, gain)
    return tuple(side.mean(axis=2) if side.ndim == 3 else side for side in sides)


def both(scenario: Scenario, sides: tuple[Any, Any], labels: Any, rng: Any) -> tuple[Any, Any]:
    """Return whether each row is promoted, before and now: where the exact bound agrees there is no guard."""
    if not scenario.paired:
        old, new = welch(*sides)
        for at in np.flatnonzero(old & ~new):
            arms = [side[at].tolist() for side in sides]
            new[at] = mover_gaffke(*arms, confidence=1 - LEVEL)[0] > 0
        return old, new
    d = (sides[1] - sides[0]).round(12)
    old, new, flip = paired(d, labels, rng)
    inside = scenario not in SKEWED or scenario.name in RANGES
    for at in np.flatnonzero(flip & ~new) if inside else ():
        low, high = RANGES.get(scenario.name, (0.0, 1.0))
        width = high - low
        values = d[at].tolist()
        new[at] = gaffke_lower(values, labels, confidence=1 - LEVEL, low=-width, high=width) > 0
    return old, new


def row(scenario: Scenario, n: int, count: int) -> list[str]:
    """Measure one row."""
    labels = cluster_labels(n) if scenario in CLUSTERS else labels_of(scenario)
    rng, cells = np.random.default_rng(1), []
    equal = sides_of(scenario, n, 0.0, count)
    gained = sides_of(scenario, n, scenario.gain, count)
    kinds = (equal, equal[::-1], gained)
    found = [both(scenario, sides, labels, rng) for sides in kinds]
    for old, new in found:
        cells.append(f"{100 * old.mean():.1f} → {simulated(int(new.sum()), count)}")
    holds, told = "", ["", ""]
    if scenario in SKEWED:
        made = asked(scenario, equal, labels, slice(0, ASKED))
        ends = [one.figures.significance for one in made]
        inside = sum((e.delta_ci_low or -9.0) <= 0.0 <= (e.delta_ci_high or 9.0) for e in ends)
        holds = f"{100 * inside / len(made):.1f}"
        told = [_told(scenario, kinds[k], labels, found[k][1]) for k in (0, 2)]
    return [scenario.name, str(n), *cells, holds, *told]


def asked(scenario: Scenario, sides: Any, labels: Any, which: Any) -> list[Any]:
    """Return what the gate says of some draws."""
    score_range = RANGES.get(scenario.name)
    if scenario not in SKEWED or not scenario.paired:
        score_range = (0.0, 1.0)
    picked = [side[which] for side in sides]
    return judged(*picked, paired=scenario.paired, clusters=labels, score_range=score_range)


def _told(scenario: Scenario, sides: Any, labels: Any, promoted: Any) -> str:
    """Return in how many promotions the note speaks, in percent, where the scores have a range."""
    which = np.flatnonzero(promoted)[: ASKED // 4]
    if not len(which) or (scenario.paired and scenario.name not in RANGES):
        return "-"
    made = [one.decision for one in asked(scenario, sides, labels, which)]
    right = [one for one in made if one.outcome == "promote"]
    return (
        f"{100 * sum('note_unseen_break' in one.notes for one in right) / max(1, len(right)):.0f}"
    )


def rows(count: int) -> Iterator[list[str]]:
    """Measure all rows: where symmetry does not hold, then those of calibration.py that do not only pass or fail."""
    old = [scenario for scenario in SCENARIOS if "bern" not in scenario.name]
    for scenario in (*SKEWED, *CLUSTERS, *old):
        for n in scenario.sizes:
            yield row(scenario, n, count if n < 500 else min(count, 2000))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=10_000, metavar="N")
    columns = ["promoted", "rejected", "promoted with a gain", "interval holds", "note, falsely"]
    made = rows(parser.parse_args().repetitions)
    print(table_of(["without a gain", "n"], [*columns, "note, rightly"], made), flush=True)


if __name__ == "__main__":
    main()
