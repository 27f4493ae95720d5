"""
What a run is going to show, before it is run: the gate itself is asked about simulated runs.

Each simulated run has as many cases as the baseline, drawn from its cases with replacement, cluster by cluster. A trial
of the candidate is drawn from the trials of its case or, as often as trials of a case differ, from those of all cases
(Polya's urn: then trials of a case agree as those of the baseline do), and gains: all alike, or each case or cluster
nothing or twice as much, with equal odds. A baseline with one trial of each case, or whose trials all agree, does not
show how far two sides agree on a case: then nothing is taken to be shared, which promises less than pairs will find.
Penalties, costs and passes are those of the baseline.
"""

from __future__ import annotations

import math
import random
from dataclasses import replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Final, NamedTuple

from benchgate.gates.decide import decide
from benchgate.gates.decision import GateInput
from benchgate.gates.looks import declared_looks, judged_at
from benchgate.gates.policy import POWER
from benchgate.gates.vectors import weigh_arms
from benchgate.statistics.bounds import gaffke_lower, gaffke_upper
from benchgate.statistics.summary import grouped, mean, summarize

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchgate.gates.decision import CheckpointPromotionDecision
    from benchgate.gates.figures import Arm, CaseFacts
    from benchgate.gates.policy import GatePolicy

REPETITIONS: Final = 200
"""Most simulated runs of a gain."""
MOST_CASES: Final = 120
"""Above it so few runs can be simulated in the time that a formula knows more."""
_CASES: Final = 2400
"""Cases in all runs of a gain: about a second of CPU, for each of at most four gains. Counted, not timed, so that a
plan says the same on every machine."""
_LEAST: Final = 20
_NEAR: Final = 0.1
_LOOKS: Final = 1000
"""Looks beyond which nobody asks whether one can promote."""
_NORMAL = NormalDist()


class Chance(NamedTuple):
    """In how many simulated runs a candidate with a gain was promoted; none are simulated where a formula is used."""

    gain: float
    share: float
    runs: int

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the share: on 0 and 1 these are the bounds of Clopper and Pearson."""
        passed = round(self.share * self.runs)
        outcomes = [1.0] * passed + [0.0] * (self.runs - passed)
        return gaffke_lower(outcomes, confidence=0.975), gaffke_upper(outcomes, confidence=0.975)


class Forecast(NamedTuple):
    """
    What a comparison with a baseline can show; ``None`` is not known, or not to be had.

    :param units: cases, or clusters where cases share some.
    :param obstacle: why even the best candidate would not be promoted; ``None`` if it would.
    :param looks: looks at this baseline that can promote, from the first; ``None`` if any can.
    :param chance: of the policy's target effect, or of no gain for ``not_worse``; ``None`` if nothing is inferred, or
        all scores are equal, which does not say how they vary.
    :param uneven: the same if half of the units gain nothing and half twice as much.
    :param detectable: the gain that is found with the policy's power.
    :param smallest_margin: what ``not_worse`` can show if no case changes.
    :param is_lower_limit: no two trials of a case differ in the baseline, so that pairing may find more.
    """

    units: int
    obstacle: str | None
    looks: int | None
    chance: Chance | None = None
    uneven: Chance | None = None
    detectable: float | None = None
    smallest_margin: float | None = None
    is_lower_limit: bool = False


def forecast(
    baseline: Arm, policy: GatePolicy, trials: int, *, look: int | None = None
) -> Forecast:
    """
    Return what a run of so many trials of each case can show.

    :param trials: of the candidate.
    :param look: number that the run has among the looks at this baseline; the figures are at its level.
    """
    now, is_large = judged_at(policy, look), len(baseline.scores) > MOST_CASES
    decision = _best_decision(baseline, now)
    limits = Forecast(
        units=len(grouped(baseline.scores, baseline.labels)),
        obstacle=None if decision.promotion_allowed else decision.remarks[0].message,
        looks=_looks(baseline, policy) if policy.looks != "count" else None,
    )
    if policy.claim == "no_regression":
        return limits
    runs = Simulation(baseline, now, trials)
    if policy.claim == "not_worse":
        same = weigh_arms(baseline, baseline, now, advice=False)[0].significance
        # To exclude a loss of the margin takes what it takes to find a gain of the margin.
        gain = {"claim": "better", "margin": None, "target_effect": now.margin}
        return limits._replace(
            chance=_by_formula(runs, now.model_copy(update=gain))[0]._replace(gain=0.0)
            if is_large
            else runs.chance(0.0),
            smallest_margin=same.smallest_margin,
            is_lower_limit=runs.is_blind,
        )
    if limits.obstacle is not None:
        return limits._replace(chance=Chance(policy.target_effect, 0.0, 0))
    if not runs.is_binary and len({*runs.pool}) == 1:
        return limits
    chance, effect = (_by_formula if is_large else _by_simulation)(runs, now)
    lower = runs.is_blind and policy.test != "welch"
    least = None if is_large else runs.chance(min(policy.target_effect, runs.room), is_uneven=True)
    return limits._replace(chance=chance, uneven=least, detectable=effect, is_lower_limit=lower)


class Simulation:
    """
    Runs of candidates against a baseline.

    :param policy: at the level of the look that is planned.
    :param trials: of the candidate.
    """

    def __init__(self, baseline: Arm, policy: GatePolicy, trials: int) -> None:
        """Learn from the trials how far those of a case agree."""
        self.baseline, self.policy, self.trials = baseline, policy, trials
        self.rows = baseline.rows
        self.pool = [score for row in self.rows for score in row]
        self.is_blind = not any(len({*row}) > 1 for row in self.rows)
        within = mean(summarize(row).variance or 0.0 for row in self.rows)
        error = within * mean(1.0 / len(row) for row in self.rows)
        between = (summarize(map(mean, self.rows)).variance or 0.0) - error
        self.weight = math.inf if self.is_blind or between <= 0.0 else within / between
        low, high = policy.score_range or (0.0, 1.0)
        self.is_binary = {*self.pool} <= {low, high}
        self.high = high if policy.score_range is not None or self.is_binary else math.inf
        self.room = self.high - mean(self.pool)
        self.clusters = grouped(range(len(self.rows)), baseline.labels)
        self.facts = [_cut(facts, trials) for facts in baseline.facts or ()]

    def chance(self, gain: float, *, is_uneven: bool = False) -> Chance:
        """Count promotions of candidates with a gain, in runs that are the same for every gain."""
        count = max(_LEAST, min(REPETITIONS, _CASES // len(self.rows)))
        runs = (self.sides(gain, number, is_uneven=is_uneven) for number in range(count))
        promoted = sum(_decision(*sides, self.policy).promotion_allowed for sides in runs)
        return Chance(gain, promoted / count, count)

    def sides(self, gain: float, number: int, *, is_uneven: bool = False) -> tuple[Arm, Arm]:
        """Return both sides of a simulated run: the same for each number."""
        coin = random.Random(f"gains {number}")  # noqa: S311 - for statistics, not for secrets
        gains = [2.0 * gain * coin.randrange(2) if is_uneven else gain for _ in self.clusters]
        draw = random.Random(number)  # noqa: S311 - for statistics, not for secrets
        drawn = [
            (index, place)
            for place, cluster in enumerate(draw.choices(self.clusters, k=len(self.clusters)))
            for index in cluster
        ]
        order = [index for index, _ in drawn]
        before = replace(
            self.baseline.at(order),
            case_ids=self.baseline.case_ids and tuple(f"{n:06}" for n in range(len(order))),
            clusters=self.baseline.clusters and tuple(f"{place}" for _, place in drawn),
        )
        after = tuple(tuple(self._trials(draw, self.rows[at], gains[place])) for at, place in drawn)
        facts = tuple(self.facts[index] for index in order) if self.facts else None
        scores = tuple(map(mean, after))
        return before, replace(before, scores=scores, trials=after, facts=facts)

    def _trials(self, draw: random.Random, row: Sequence[float], gain: float) -> Iterator[float]:
        urn = [*row]
        for _ in range(self.trials):
            new = 1.0 if math.isinf(self.weight) else self.weight / (self.weight + len(urn))
            score = draw.choice(self.pool if draw.random() < new else urn)
            urn.append(score)
            passes = draw.random() * self.room < gain  # drawn always, so that all gains share it
            if self.is_binary:
                yield self.high if passes else score
            else:
                yield min(self.high, score + gain)


def _cut(facts: CaseFacts, trials: int) -> CaseFacts:
    """Return the facts of a case of which so many trials are run: as many end without a score as of these."""
    names = ("errors", "timeouts", "failed")
    kept = {name: tuple(at for at in getattr(facts, name) if at < trials) for name in names}
    return facts.model_copy(update=kept)


def _decision(before: Arm, after: Arm, policy: GatePolicy) -> CheckpointPromotionDecision:
    figures, blockers = weigh_arms(before, after, policy, advice=False)
    return decide(GateInput(policy=policy, figures=figures, blockers=blockers))


def _best_decision(baseline: Arm, policy: GatePolicy) -> CheckpointPromotionDecision:
    """Ask the gate about a candidate that is as good as scores allow, without harm, at the baseline's cost."""
    n, low = len(baseline.scores), (policy.penalty_range or (0.0, 1.0))[0]
    far = 100.0 * (policy.target_effect + max(map(abs, baseline.scores), default=0.0))
    top = policy.score_range and policy.score_range[1]
    scores = tuple(far * (2 + i / n) if top is None else top for i in range(n))
    passed = (facts.model_copy(update={"passed": True}) for facts in baseline.facts or ())
    best = replace(
        baseline,
        scores=scores,
        trials=tuple((score,) for score in scores),
        penalties=baseline.penalties and (low,) * n,
        facts=tuple(passed) or None,
    )
    return _decision(baseline, best, policy)


def _looks(baseline: Arm, policy: GatePolicy) -> int | None:
    """Return how many looks can promote; ``None`` if nothing limits them."""

    def promotes(look: int) -> bool:
        return _best_decision(baseline, judged_at(policy, look)).promotion_allowed

    if declared := declared_looks(policy):
        return declared * promotes(1)
    if promotes(_LOOKS):
        return None
    last, beyond = 0, _LOOKS
    while beyond - last > 1:
        middle = (last + beyond) // 2
        last, beyond = (middle, beyond) if promotes(middle) else (last, middle)
    return last


def _by_simulation(runs: Simulation, policy: GatePolicy) -> tuple[Chance, float | None]:
    """Return the chance of the target, and the gain of the policy's power, from the nearest one that was tried."""
    chance = runs.chance(min(policy.target_effect, runs.room))
    tries = [chance]
    for _ in range(3):
        gain = _scaled(tries[-1], policy, runs.room)
        if abs(tries[-1].share - POWER) < _NEAR or gain == tries[-1].gain:
            break
        tries.append(runs.chance(gain))
    nearest = min(reversed(tries), key=lambda tried: abs(tried.share - POWER))
    gain = _scaled(nearest, policy, math.inf)
    is_found = gain <= runs.room or nearest.share >= POWER
    return chance._replace(gain=policy.target_effect), min(gain, runs.room) if is_found else None


def _by_formula(runs: Simulation, policy: GatePolicy) -> tuple[Chance, float | None]:
    figures = weigh_arms(*runs.sides(0.0, 0), policy, advice=False)[0].significance
    effect, least = figures.minimum_detectable_effect, policy.min_delta
    if effect is None or effect <= least:
        return Chance(policy.target_effect, 0.0, 0), None
    level, power = _quantiles(policy)
    ratio = (policy.target_effect - least) / (effect - least)
    share = _NORMAL.cdf(ratio * (level + power) - level)
    return Chance(policy.target_effect, share, 0), effect


def _scaled(tried: Chance, policy: GatePolicy, room: float) -> float:
    """Return the gain that has the policy's power, as far as the normal curve through a gain that was tried says it."""
    level, power = _quantiles(policy)
    share = min(0.98, max(0.05, tried.share))
    ratio = (level + power) / (level + _NORMAL.inv_cdf(share))
    beyond = max(tried.gain - policy.min_delta, 0.01 * policy.target_effect)
    return min(room, policy.min_delta + beyond * ratio)


def _quantiles(policy: GatePolicy) -> tuple[float, float]:
    return -_NORMAL.inv_cdf(policy.alpha / 2), _NORMAL.inv_cdf(POWER)
