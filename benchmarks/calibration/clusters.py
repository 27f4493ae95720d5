"""
Measure how often tests and bounds err on cases that come in clusters, and how often they find a true gain.

    python benchmarks/calibration/clusters.py [--repetitions 2000]

A value is the cluster's effect (sd .2) plus the case's own (sd .1), clipped to the range of the scores; in rows ``pass
or fail`` 40 % of the cases change, up or down with a chance that the cluster's cases share. Every row draws from a
stream of its own. Every share has its 95 % Clopper-Pearson interval; nominal is 2.5 % one-sided. ``plain`` takes each
case for independent, and ``Gaffke`` is measured on every tenth draw. Clusters of one case show what a test does
without clusters.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
from scipy import special

from benchgate.statistics.bounds import gaffke_lower, mover_gaffke
from benchgate.statistics.paired import paired_t, paired_test
from benchgate.statistics.welch import welch_test

if TYPE_CHECKING:
    from collections.abc import Callable

SEED = 20_261_122
LEVEL = 0.025
GAIN = 0.2
Rule = dict[str, bool]


def normal(rng: Any, sizes: Any, mean: float) -> Any:
    """Draw normal effects of clusters and cases."""
    return mean + np.repeat(rng.normal(0.0, 0.2, len(sizes)), sizes) + _own(rng, sizes)


def skewed(rng: Any, sizes: Any, mean: float) -> Any:
    """Draw cluster effects with a long left tail."""
    effects = 0.2 * (1.0 - rng.exponential(1.0, len(sizes)))
    return mean + np.repeat(effects, sizes) + _own(rng, sizes)


def pass_or_fail(rng: Any, sizes: Any, mean: float) -> Any:
    """Draw -1, 0 or 1."""
    up = np.repeat(rng.beta(1.0 + 2.5 * mean, 1.0 - 2.5 * mean, len(sizes)), sizes)
    changed, way = rng.random((2, len(up)))
    return np.where(changed < 0.4, np.where(way < up, 1.0, -1.0), 0.0)


def _own(rng: Any, sizes: Any) -> Any:
    return rng.normal(0.0, 0.1, sizes.sum())


def even(size: int, number: int) -> Callable[[Any], Any]:
    """Give all clusters one size."""
    return lambda _rng: np.full(number, size)


def uneven(number: int) -> Callable[[Any], Any]:
    """Draw sizes from 1 to 15."""
    return lambda rng: rng.integers(1, 16, number)


def one_large(number: int) -> Callable[[Any], Any]:
    """Give one cluster half of the cases."""
    return lambda _rng: np.array([5] * (number - 1) + [5 * (number - 1)])


SIZES = {
    **{f"{number} x 5": even(5, number) for number in (3, 4, 5, 6, 10, 20)},
    "40 x 3": even(3, 40),
    **{f"{number}, sizes 1-15": uneven(number) for number in (3, 4, 6, 10, 20, 40)},
    "10, one has half": one_large(10),
}
ALONE = {f"{number} x 1": even(1, number) for number in (10, 40)}
SKEWED = {**ALONE, **{name: SIZES[name] for name in ("10 x 5", "10, sizes 1-15", "40 x 3")}}


def arm(rng: Any, sizes: Any, effect: Any, mean: float) -> tuple[list[float], list[str]]:
    """Draw the values of one arm and their clusters."""
    values = effect(rng, sizes, mean)
    return values.tolist(), [str(label) for label in np.repeat(np.arange(len(sizes)), sizes)]


def paired(rng: Any, sizes: Any, effect: Any, gain: float, *, bounds: bool) -> Rule:
    """Judge differences in [-1, 1]."""
    d, labels = arm(rng, sizes(rng), effect, gain)
    d = np.clip(d, -1.0, 1.0).tolist()
    test = paired_test(d, labels)
    found = {
        "plain": _passes(paired_t(d).p_greater),
        "t": _passes(test.t.p_greater),
        "t and sign-flip": _passes(test.p_greater),
    }
    if bounds:
        found["Gaffke"] = gaffke_lower(d, labels, confidence=1 - LEVEL, low=-1.0) > 0.0
    return found


def unpaired(rng: Any, sizes: Any, effect: Any, gain: float, *, bounds: bool) -> Rule:
    """Judge two arms of scores, each with clusters of its own."""
    arms = [arm(rng, sizes(rng), effect, 0.5 + shift) for shift in (0.0, gain)]
    (b, of_b), (c, of_c) = arms
    lone = [str(index) for index in range(max(len(b), len(c)))]
    both = welch_test(b, c, (of_b, of_c))
    plain = welch_test(b, c, (lone[: len(b)], lone[: len(c)]))
    found = {"plain": _passes(plain.p_greater), "t": _passes(both.p_greater)}
    if bounds:
        inside = [np.clip(scores, 0.0, 1.0).tolist() for scores in (b, c)]
        lower, _ = mover_gaffke(*inside, (of_b, of_c), confidence=1 - LEVEL)
        found["Gaffke"] = lower > 0.0
    return found


def _passes(p: float | None) -> bool:
    return p is not None and p <= LEVEL


def interval(hits: int, size: int) -> str:
    """Write a share in percent, with its 95 % interval."""
    low = float(special.betaincinv(hits, size - hits + 1, 0.025)) if hits else 0.0
    high = float(special.betaincinv(hits + 1, size - hits, 0.975)) if hits < size else 1.0
    return f"{100 * hits / size:.1f} ({100 * low:.1f}-{100 * high:.1f})"


def row(judge: Callable[..., Rule], name: str, effect: Any, gain: float, size: int) -> str:
    """Count promotions of each column in one row."""
    key = (judge.__name__, name, effect.__name__, gain)
    rng = np.random.default_rng([SEED, *(crc32(str(part).encode()) for part in key)])
    sizes = (SIZES | ALONE)[name]
    found = [judge(rng, sizes, effect, gain, bounds=i % 10 == 0) for i in range(size)]
    judged = ([one[column] for one in found if column in one] for column in found[0])
    cells = [interval(sum(hits), len(hits)) for hits in judged]
    return f"| {name} | {effect.__name__} | {gain:g} | " + " | ".join(cells) + " |"


def main() -> None:
    """Print a table of each design."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=2000, metavar="N")
    size = parser.parse_args().repetitions
    plan = [(name, normal) for name in SIZES] + [(name, skewed) for name in SKEWED]
    for judge, effects, columns in (
        (paired, [*plan, *((name, pass_or_fail) for name in SIZES)], 4),
        (unpaired, plan, 3),
    ):
        head = (
            ("plain", "t", "t and sign-flip", "Gaffke")
            if columns == 4
            else ("plain", "t", "Gaffke")
        )
        print(f"\n{judge.__name__}\n\n| clusters | effects | gain | {' | '.join(head)} |")
        print("|---|---|---:|" + "---:|" * columns)
        for name, effect in effects:
            for gain, repetitions in ((0.0, size), (GAIN, size // 4)):
                print(row(judge, name, effect, gain, repetitions), flush=True)


if __name__ == "__main__":
    main()
