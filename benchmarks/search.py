"""
Measure what searches make of a gate: how often they fool it, and how much of a gain they reach.

    python benchmarks/search.py false      two adaptive searches without any true gain, 2,000 loops each
    python benchmarks/search.py gain       a gain of .4 in eight settings of twenty, three levels of noise

A setting shifts each case by an amount of its own, which stays: by none on average over all cases that there could be.
So a combination of settings that did well on some cases does well on these again, and is no better. The gate is asked
itself wherever t alone passes at the level of the look; its p is never below that of t.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from scipy.stats import t as student

from benchgate.errors import EvalError
from benchgate.gates.figures import Arm
from benchgate.gates.looks import judged_at
from benchgate.gates.policy import make_policy
from benchgate.gates.vectors import compare_vectors
from benchgate.looks.acceptor import Acceptor

LOOPS, CASES = 2000, 50
GAINS, GOOD, EACH, STEPS, EVERY = 20, 8, 0.05, 200, 10
GAIN_LOOPS = 20
IDS = tuple(f"c{number:03}" for number in range(2 * CASES))


def promotes(before: Any, after: Any, policy: Any, look: int) -> bool:
    """Ask the gate, unless t alone says no."""
    difference = after - before
    spread = difference.std(ddof=1) / np.sqrt(len(difference))
    level = judged_at(policy, look).alpha
    if 2 * student.sf(difference.mean() / spread, len(difference) - 1) > level:
        return False
    sides = (
        Arm(scores=tuple(side.tolist()), case_ids=IDS[: len(side)]) for side in (before, after)
    )
    return compare_vectors(*sides, policy, look=look).decision.promotion_allowed


def fooled(settings: int, *, held: bool) -> float:
    """Return the share of loops that accept a combination of settings, none of which is better."""
    rng = np.random.default_rng([settings, held])
    looks = f"spend:{settings}" if held else "spend"
    policy = make_policy(
        {"test": "auto", "safety": "optional", "score_range": None, "looks": looks}
    )
    wrong = 0
    for _ in range(LOOPS):
        cases = 2 * CASES if held else CASES
        shift = rng.normal(0.0, 0.1, (settings, cases))
        noise = rng.normal(0.0, 0.05, (settings * 2 + 1, cases))
        base, alone = noise[0], shift + noise[1 : settings + 1]
        seen = slice(0, CASES)
        gains = (alone - base)[:, seen].mean(axis=1)
        order = np.argsort(-abs(gains))
        mixed = shift * (gains / np.linalg.norm(gains))[:, None]
        if not held:  # a look at each setting alone, then one at all, as much of each as it gained
            asked = [*alone, mixed.sum(axis=0) + noise[-1]]
            wrong += any(promotes(base, one, policy, k) for k, one in enumerate(asked, start=1))
            continue
        sums = np.cumsum(mixed[order], axis=0) + noise[settings + 1 :]
        part = slice(CASES, None)
        wrong += any(
            promotes(base[part], one[part], policy, k) for k, one in enumerate(sums, start=1)
        )
    return wrong / LOOPS


class World:
    """Twenty settings, eight of which are worth .05 each and the others cost as much."""

    def __init__(self, rng: Any, noise: float, *, graded: bool) -> None:
        self.rng, self.noise, self.graded = rng, noise, graded
        self.worth = np.where(np.arange(GAINS) < GOOD, EACH, -EACH)
        self.shift = rng.normal(0.0, 0.02, (GAINS, 2 * CASES))
        self.level = rng.uniform(0.1, 0.5, 2 * CASES)
        self.trials = 0

    def worth_of(self, on: Any) -> float:
        """Return the true gain."""
        return float(self.worth[on].sum())

    def held(self, on: Any, ids: tuple[str, ...]) -> dict[str, list[float]]:
        """Run each held case, one that passes or fails eight times: a search asks seldom, and can pay for it."""
        runs = [self.measure(on, ids) for _ in range(1 if self.graded else 8)]
        return {case: [run[case] for run in runs] for case in ids}

    def measure(self, on: Any, ids: tuple[str, ...]) -> dict[str, float]:
        """Run each case once."""
        at = [int(case[1:]) for case in ids]
        self.trials += len(at)
        mean = self.level[at] + self.worth_of(on) + self.shift[on][:, at].sum(axis=0)
        mean = np.clip(mean + self.rng.normal(0.0, self.noise, len(at)), 0.0, 1.0)
        scores = mean if self.graded else (self.rng.random(len(at)) < mean).astype(float)
        return dict(zip(ids, scores.tolist(), strict=True))

    def climb(self, ids: tuple[str, ...], acceptor: Any = None) -> tuple[float, int, int]:
        """Climb by the mean of some cases; return the gain, false acceptances and acceptances."""
        on = np.zeros(GAINS, bool)
        best = np.mean(list(self.measure(on, ids).values()))
        accepted = wrong = 0
        for step in range(1, STEPS + 1):
            tried = on.copy()
            flip = self.rng.integers(GAINS)
            tried[flip] = not tried[flip]
            mean = np.mean(list(self.measure(tried, ids).values()))
            if mean > best:
                if acceptor is None:
                    accepted, wrong = (
                        accepted + 1,
                        wrong + (self.worth_of(tried) <= self.worth_of(on)),
                    )
                on, best = tried, mean
            if acceptor is not None and step % EVERY == 0 and (on != acceptor.incumbent).any():
                before = self.worth_of(acceptor.incumbent)
                if acceptor.look(on.copy()).accepted:
                    accepted, wrong = accepted + 1, wrong + (self.worth_of(on) <= before)
        end = on if acceptor is None else acceptor.incumbent
        return self.worth_of(end), wrong, accepted


def reached() -> None:
    """Print the table of docs/how-to/search-in-a-loop.md."""
    print("| scores | noise | rule | gain reached of .4 | accepted wrongly | trials paid |")
    print("|---|---|---|---|---|---|")
    for graded in (True, False):
        for noise in (0.05, 0.15, 0.3):
            for rule in ("the mean went up", "`Acceptor`"):
                rng, found = np.random.default_rng([graded, int(100 * noise)]), []
                for _ in range(GAIN_LOOPS):
                    world, acceptor = World(rng, noise, graded=graded), None
                    ids = IDS
                    if rule != "the mean went up":
                        policy = {"looks": f"spend:{STEPS // EVERY}", "score_range": [0, 1]}
                        start = np.zeros(GAINS, bool)
                        acceptor = Acceptor(IDS, world.held, start, policy=policy)
                        ids = acceptor.search
                    found.append((*world.climb(ids, acceptor), world.trials))
                gain, wrong, accepted, trials = np.array(found, dtype=float).T
                kind = "graded" if graded else "pass or fail"
                row = f"| {kind} | {noise} | {rule} | {gain.mean():.2f} "
                row += f"| {int(wrong.sum())} of {int(accepted.sum())} | {trials.mean():,.0f} |"
                print(row, flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["false"]:
        for settings in (25, 40):
            for held in (False, True):
                where = "held cases, spend:K" if held else "the same cases, spend"
                print(
                    f"{settings} settings combined, {where}: {fooled(settings, held=held):.2%}",
                    flush=True,
                )
    elif sys.argv[1:] == ["gain"]:
        reached()
    else:
        raise EvalError("give false or gain")
