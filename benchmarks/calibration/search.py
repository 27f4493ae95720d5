"""
Measure what searches make of a gate: how often they fool it, and how much of a gain they reach.

    python benchmarks/calibration/search.py false      two adaptive searches without any true gain, 2,000 loops each
    python benchmarks/calibration/search.py gain       a gain of .4 in eight settings of twenty, three levels of noise

Looks at held cases are those of benchgate.Acceptor, and what the search does next depends on its answer. A setting
shifts each case by an amount of its own, which stays: by none on average over all cases that there could be. So a
combination of settings that did well on some cases does well on these again, and is no better. Of looks at the cases
that are searched the gate is asked only where t alone passes at their level; its p is never below that of t.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy.stats import t as student

from benchgate.errors import EvalError
from benchgate.gates.decide import decide
from benchgate.gates.facts import VectorFacts
from benchgate.gates.figures import Arm
from benchgate.gates.looks import Look, judged_at
from benchgate.gates.policy import make_policy
from benchgate.looks.acceptor import Acceptor
from benchgate.looks.ledger import LookLedger

LOOPS, CASES = 2000, 50
GAINS, GOOD, EACH, STEPS, LOOKS = 20, 8, 0.05, 200, 5
EVERY = STEPS // LOOKS
GAIN_LOOPS = 200
IDS = tuple(f"c{number:03}" for number in range(2 * CASES))


def promotes(before: Any, after: Any, policy: Any, number: int) -> bool:
    """Ask the gate, unless t alone says no."""
    difference = after - before
    spread = difference.std(ddof=1) / np.sqrt(len(difference))
    level = judged_at(policy, number).alpha
    if 2 * student.sf(difference.mean() / spread, len(difference) - 1) > level:
        return False
    sides = tuple(
        Arm(scores=tuple(side.tolist()), case_ids=IDS[: len(side)]) for side in (before, after)
    )
    look = Look(number=number, declared=policy.looks)
    return decide(VectorFacts(policy=policy, sides=sides, look=look)).decision.promotion_allowed


def fooled(settings: int) -> float:
    """Return the share of loops that accept a combination of settings at looks at the cases that they search on."""
    rng = np.random.default_rng([settings, 0])
    policy = make_policy(
        {"test": "auto", "safety": "optional", "score_range": None, "looks": "spend"}
    )
    wrong = 0
    for _ in range(LOOPS):
        shift = rng.normal(0.0, 0.1, (settings, CASES))
        noise = rng.normal(0.0, 0.05, (settings + 2, CASES))
        base, alone = noise[0], shift + noise[1:-1]
        gains = (alone - base).mean(axis=1)
        mixed = shift * (gains / np.linalg.norm(gains))[:, None]
        # A look at each setting alone, then one at all, as much of each as it gained.
        asked = [*alone, mixed.sum(axis=0) + noise[-1]]
        wrong += any(promotes(base, one, policy, k) for k, one in enumerate(asked, start=1))
    return wrong / LOOPS


class Mixer:
    """
    A search that mixes settings by what each gained on its own cases, and goes by the answer to each look.

    :param worth: true gain of the first setting; the others have none.
    """

    def __init__(self, rng: Any, settings: int, worth: float) -> None:
        self.rng, self.settings, self.worth = rng, settings, worth
        self.shift = rng.normal(0.0, 0.1, (settings, 2 * CASES))

    def measure(self, weights: Any, ids: tuple[str, ...]) -> dict[str, float]:
        """Run each case once."""
        at = [int(case[1:]) for case in ids]
        means = weights @ self.shift[:, at] + weights[0] * self.worth
        scores = means + self.rng.normal(0.0, 0.05, len(at))
        return dict(zip(ids, scores.tolist(), strict=True))

    def ends(self) -> tuple[bool, bool]:
        """
        Take all looks that were declared; return whether one accepted what is no better, and one what is.

        It adds one setting a look, those first that gained or lost most. What a look accepted is done once more: the
        setting that was added last, which tipped it, is doubled.
        """
        with TemporaryDirectory() as folder:
            return self._ends(LookLedger(Path(folder) / "looks.jsonl"))

    def _ends(self, ledger: LookLedger) -> tuple[bool, bool]:
        mixed, looks = np.zeros(self.settings), self.settings
        policy = {"looks": f"spend:{looks}"}
        acceptor = Acceptor(IDS, self.measure, mixed, policy=policy, ledger=ledger)
        tried = (mixed, *np.eye(self.settings))
        means = [np.mean(list(self.measure(one, acceptor.search).values())) for one in tried]
        gains = np.array(means[1:]) - means[0]
        gains /= np.linalg.norm(gains)
        coming, last, ends = iter(np.argsort(-abs(gains))), None, [False, False]
        for _ in range(looks):
            added = next(coming) if last is None else last
            mixed = mixed.copy()
            mixed[added] += gains[added]
            is_better = bool(mixed[0] * self.worth > acceptor.incumbent[0] * self.worth)
            accepted = acceptor.look(mixed).accepted
            ends[is_better] |= accepted
            last = added if accepted else None
        return ends[0], ends[1]


def fooled_held(settings: int, worth: float) -> str:
    """Return the shares of loops of an Acceptor with a false acceptance, and with a right one."""
    rng = np.random.default_rng([settings, 1, int(10 * worth)])
    wrong, right = np.mean([Mixer(rng, settings, worth).ends() for _ in range(LOOPS)], axis=0)
    return f"{wrong:.2%}" + (f", and {right:.2%} accept the better" if worth else "")


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

    def climb(self, acceptor: Acceptor[Any] | None = None) -> tuple[float, int, int]:
        """
        Flip one setting at a time, and keep it if the mean of the cases went up.

        :param acceptor: is asked every 40 steps; without one, what is kept is accepted.
        :returns: the gain, false acceptances and acceptances.
        """
        ids = IDS if acceptor is None else acceptor.search
        on = np.zeros(GAINS, bool)
        best, ends = self.mean(on, ids), [0, 0]
        for step in range(1, STEPS + 1):
            tried = on.copy()
            flip = self.rng.integers(GAINS)
            tried[flip] = not tried[flip]
            mean = self.mean(tried, ids)
            if mean > best:
                ends[self.worth_of(tried) > self.worth_of(on)] += acceptor is None
                on, best = tried, mean
            if acceptor is not None and step % EVERY == 0:
                self.ask(acceptor, on, ends)
        end = on if acceptor is None else acceptor.incumbent
        return self.worth_of(end), ends[0], sum(ends)

    def learn(self, acceptor: Acceptor[Any]) -> tuple[float, int, int]:
        """Turn each setting on at random, and keep it if the steps with it have the higher mean; as :meth:`climb`."""
        tried = self.rng.random((STEPS, GAINS)) < 0.5
        means, ends = np.zeros(STEPS), [0, 0]
        for step, on in enumerate(tried):
            means[step] = self.mean(on, acceptor.search)
            if (step + 1) % EVERY == 0:
                seen = slice(0, step + 1)
                effects = (tried[seen] - 0.5).T @ (means[seen] - means[seen].mean())
                self.ask(acceptor, effects > 0, ends)
        return self.worth_of(acceptor.incumbent), ends[0], sum(ends)

    def mean(self, on: Any, ids: tuple[str, ...]) -> float:
        """Run each case once, and return the mean."""
        return float(np.mean(list(self.measure(on, ids).values())))

    def ask(self, acceptor: Acceptor[Any], on: Any, ends: list[int]) -> None:
        """Look, if the settings are not the incumbent's, and count a false or a right acceptance."""
        is_better = self.worth_of(on) > self.worth_of(acceptor.incumbent)
        if (on != acceptor.incumbent).any():
            ends[is_better] += acceptor.look(on.copy()).accepted


RULES = {
    "the mean went up": lambda world, _: world.climb(),
    "the mean of one half, then `Acceptor`": World.climb,
    "all steps of one half, then `Acceptor`": World.learn,
}


def reached() -> None:
    """Print the table of search.md."""
    print("| scores | noise | rule | gain reached of .4 | accepted wrongly | trials paid |")
    print("|---|---|---|---|---|---|")
    policy = {"looks": f"spend:{LOOKS}", "score_range": [0, 1]}
    for graded in (True, False):
        for noise in (0.05, 0.15, 0.3):
            for rule, search in RULES.items():
                rng, found = np.random.default_rng([graded, int(100 * noise)]), []
                for _ in range(GAIN_LOOPS):
                    world = World(rng, noise, graded=graded)
                    with TemporaryDirectory() as folder:
                        ledger = LookLedger(Path(folder) / "looks.jsonl")
                        first = np.zeros(GAINS, bool)
                        acceptor = Acceptor(IDS, world.held, first, policy=policy, ledger=ledger)
                        found.append((*search(world, acceptor), world.trials))
                gain, wrong, accepted, trials = np.array(found, dtype=float).T
                kind = "graded" if graded else "pass or fail"
                row = f"| {kind} | {noise} | {rule} | {gain.mean():.2f} "
                row += f"| {int(wrong.sum())} of {int(accepted.sum())} | {trials.mean():,.0f} |"
                print(row, flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["false"]:
        for settings in (25, 40):
            where = f"{settings} settings combined"
            print(f"{where}, looks at the same cases, spend: {fooled(settings):.2%}", flush=True)
            print(f"{where}, Acceptor: {fooled_held(settings, 0.0)}", flush=True)
            print(f"{where}, Acceptor, one is better: {fooled_held(settings, 0.3)}", flush=True)
    elif sys.argv[1:] == ["gain"]:
        reached()
    else:
        raise EvalError("give false or gain")
