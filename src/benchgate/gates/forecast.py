"""
What a run is going to show, before it is run: the gate itself is asked about simulated runs.

Each simulated run has as many cases as the baseline, drawn from its cases with replacement, cluster by cluster. A trial
of the candidate is drawn from the trials of its case or, as often as trials of a case differ, from those of all cases
(Polya's urn: then trials of a case agree as those of the baseline do), and gains. All gain alike, or each case or
cluster gains nothing or twice as much, or it loses as much or gains thrice as much, with equal odds. A baseline with
one trial of each case, or whose trials all agree, does not show how far two sides agree on a case: then nothing is
taken to be shared, which promises less than pairs will find. Penalties, costs and passes are those of the baseline.
"""

from __future__ import annotations

import math
import random
from dataclasses import replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Final, NamedTuple

from benchgate.gates.decide import decide
from benchgate.gates.facts import VectorFacts
from benchgate.gates.looks import declared_looks, judged_at
from benchgate.gates.policy import POWER
from benchgate.gates.safety import unchanged_rejected
from benchgate.gates.weigh import weigh_arms
from benchgate.statistics.bounds import gaffke_lower, gaffke_upper
from benchgate.statistics.summary import grouped, mean, summarize

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchgate.gates.decision import CheckpointPromotionDecision
    from benchgate.gates.figures import Arm, CaseFacts
    from benchgate.gates.policy import GatePolicy

REPETITIONS: Final = 200
"""Most simulated runs of a gain."""
MOST_CASES: Final = 500
"""Above it simulated runs take too long, and the formula of a hold answers."""
_CASES: Final = 2400
"""Cases in all runs of a gain: about a second of CPU, for each of at most six gains. Counted, not timed, so that a plan
says the same on every machine."""
_LEAST: Final = 20
"""Fewest simulated runs of a gain, however many cases each has."""
_NEAR: Final = 0.1
"""A simulated share this close to the power is near enough: the rest of the way is computed."""
_LOOKS: Final = 1000
"""Looks beyond which nobody asks whether one can promote."""
_NORMAL = NormalDist()

Shares = tuple[float, float]
"""What a unit gains, as a share of the mean gain: one of two values, with equal odds."""
EVEN: Final[Shares] = (1.0, 1.0)
UNEVEN: Final[Shares] = (0.0, 2.0)
LOSING: Final[Shares] = (-1.0, 3.0)
"""The standard deviation of the gains is twice their mean, as it is where a change helps most cases and hurts some."""


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
    :param step: what to do first about the obstacle; empty if there is none.
    :param looks: looks at this baseline that can promote, from the first; ``None`` if any can.
    :param chance: of the policy's target effect, or of no gain for ``not_worse``; ``None`` if nothing is inferred, or
        all scores are equal, which does not say how they vary.
    :param uneven: the same if half of the units gain nothing and half twice as much.
    :param losing: the same if half of the units gain thrice as much and the others lose as much.
    :param detectable: the gain that is found with the policy's power.
    :param smallest_margin: what ``not_worse`` can show if no case changes.
    :param chance_rejection: how often an agent that did not change is rejected because its harm rises by chance.
    :param is_lower_limit: no two trials of a case differ in the baseline, so that pairing may find more.
    """

    units: int
    obstacle: str | None
    looks: int | None
    chance: Chance | None = None
    uneven: Chance | None = None
    losing: Chance | None = None
    detectable: float | None = None
    smallest_margin: float | None = None
    chance_rejection: float = 0.0
    is_lower_limit: bool = False
    step: str = ""


def forecast(
    baseline: Arm, policy: GatePolicy, trials: int, *, look: int | None = None
) -> Forecast:
    """
    Return what a run of so many trials of each case can show.

    :param trials: of the candidate.
    :param look: number that the run has among the looks at this baseline; the figures are at its level.
    """
    now = judged_at(policy, look)
    best = _best_decision(baseline, now)
    obstacle = None
    step = ""
    if not best.promotion_allowed:
        obstacle = best.remarks[0].message
        step = best.advice
    limits = Forecast(
        units=len(grouped(baseline.scores, baseline.labels)),
        obstacle=obstacle,
        looks=_looks(baseline, policy),
        chance_rejection=_chance_rejection(baseline, policy, trials),
        step=step,
    )
    if policy.claim == "no_regression":
        return limits
    runs = Simulation(baseline, now, trials)
    if policy.claim == "not_worse":
        return _of_margin(limits, runs)
    if obstacle is not None:
        return limits._replace(chance=Chance(policy.target_effect, 0.0, 0))
    if not runs.is_binary and len({*runs.pool}) == 1:
        return limits
    return _of_gain(limits, runs)


def _chance_rejection(baseline: Arm, policy: GatePolicy, trials: int) -> float:
    """Return how often harm rises by chance; ``trials`` above the baseline's are taken to be independent."""
    if policy.claim == "no_regression":
        return 0.0
    penalties = [penalty for penalty in baseline.penalties or () if penalty is not None]
    there = max((len(row) for row in baseline.rows), default=1)
    return unchanged_rejected(penalties, len(baseline.scores), policy, max(1, trials // there))


def _of_margin(limits: Forecast, runs: Simulation) -> Forecast:
    """Add what a candidate that is as good as the baseline can show."""
    policy = runs.policy
    same = weigh_arms(runs.baseline, runs.baseline, policy, advice=False)[0].significance
    if runs.is_too_large:
        # To exclude a loss of the margin takes what it takes to find a gain of the margin.
        gain = {"claim": "better", "margin": None, "target_effect": policy.margin}
        chance, _ = _by_formula(runs, policy.model_copy(update=gain))
        chance = chance._replace(gain=0.0)
    else:
        chance = runs.chance(0.0)
    return limits._replace(
        chance=chance, smallest_margin=same.smallest_margin, is_lower_limit=runs.is_blind
    )


def _of_gain(limits: Forecast, runs: Simulation) -> Forecast:
    """Add what a candidate that is better can show."""
    policy = runs.policy
    uneven = None
    losing = None
    if runs.is_too_large:
        chance, effect = _by_formula(runs, policy)
    else:
        chance, effect = _by_simulation(runs, policy)
        gain = min(policy.target_effect, runs.room)
        uneven = runs.chance(gain, UNEVEN)
        losing = runs.chance(gain, LOSING)
    return limits._replace(
        chance=chance,
        uneven=uneven,
        losing=losing,
        detectable=effect,
        is_lower_limit=runs.is_blind and policy.test != "welch",
    )


class Simulation:
    """
    Runs of candidates against a baseline.

    :param policy: at the level of the look that is planned.
    :param trials: of the candidate.
    """

    def __init__(self, baseline: Arm, policy: GatePolicy, trials: int) -> None:
        """Learn from the trials how far those of a case agree."""
        self.baseline = baseline
        self.policy = policy
        self.trials = trials
        self.rows = baseline.rows
        self.pool = [score for row in self.rows for score in row]
        self.is_blind = not any(len({*row}) > 1 for row in self.rows)
        self.weight = self._weight()
        low, high = policy.score_range or (0.0, 1.0)
        self.is_binary = {*self.pool} <= {low, high}
        self.low = -math.inf
        self.high = math.inf
        if policy.score_range is not None or self.is_binary:
            self.low = low
            self.high = high
        self.room = self.high - mean(self.pool)
        self.clusters = grouped(range(len(self.rows)), baseline.labels)
        self.facts = [_cut(facts, trials) for facts in baseline.facts or ()]

    def _weight(self) -> float:
        """Return as how many trials of a case those of all cases count; infinite if its own trials say nothing."""
        within = mean(summarize(row).variance or 0.0 for row in self.rows)
        error = within * mean(1.0 / len(row) for row in self.rows)
        between = (summarize(map(mean, self.rows)).variance or 0.0) - error
        if self.is_blind or between <= 0.0:
            return math.inf
        return within / between

    @property
    def is_too_large(self) -> bool:
        """Whether so few of these runs can be simulated that a formula knows more."""
        return len(self.baseline.scores) > MOST_CASES

    def chance(self, gain: float, shares: Shares = EVEN) -> Chance:
        """Count promotions of candidates with a gain, in runs that are the same for every gain."""
        count = max(_LEAST, min(REPETITIONS, _CASES // len(self.rows)))
        runs = (self.sides(gain, number, shares) for number in range(count))
        promoted = sum(_decision(*sides, self.policy).promotion_allowed for sides in runs)
        return Chance(gain, promoted / count, count)

    def sides(self, gain: float, number: int, shares: Shares = EVEN) -> tuple[Arm, Arm]:
        """Return both sides of a simulated run: the same for each number."""
        coin = random.Random(f"gains {number}")  # noqa: S311 - for statistics, not for secrets
        gains = [gain * shares[coin.randrange(2)] for _ in self.clusters]
        draw = random.Random(number)  # noqa: S311 - for statistics, not for secrets
        clusters = draw.choices(self.clusters, k=len(self.clusters))
        drawn = [(index, place) for place, cluster in enumerate(clusters) for index in cluster]
        before = self._baseline_of(drawn)
        trials = [
            tuple(self._trials(draw, self.rows[index], gains[place])) for index, place in drawn
        ]
        facts = None
        if self.facts:
            facts = tuple(self.facts[index] for index, _ in drawn)
        scores = tuple(map(mean, trials))
        return before, replace(before, scores=scores, trials=tuple(trials), facts=facts)

    def _baseline_of(self, drawn: Sequence[tuple[int, int]]) -> Arm:
        """Return the baseline of these cases, each with the number of its cluster; one may come more than once."""
        case_ids = None
        if self.baseline.case_ids is not None:
            case_ids = tuple(f"{n:06}" for n in range(len(drawn)))
        clusters = None
        if self.baseline.clusters is not None:
            clusters = tuple(f"{place}" for _, place in drawn)
        cases = self.baseline.at([index for index, _ in drawn])
        return replace(cases, case_ids=case_ids, clusters=clusters)

    def _trials(self, draw: random.Random, row: Sequence[float], gain: float) -> Iterator[float]:
        """Yield trials of a case from an urn that begins with its own ones; what was drawn is there twice then."""
        urn = [*row]
        for _ in range(self.trials):
            new = 1.0
            if math.isfinite(self.weight):
                new = self.weight / (self.weight + len(urn))
            source = urn
            if draw.random() < new:
                source = self.pool
            score = draw.choice(source)
            urn.append(score)
            chance = draw.random()  # drawn always, so that all gains share it
            if self.is_binary:
                yield self._changed(score, gain, chance)
            else:
                yield max(self.low, min(self.high, score + gain))

    def _changed(self, score: float, gain: float, chance: float) -> float:
        """Return a pass or a fail, so that as many of either change as make the gain or the loss."""
        if gain >= 0.0 and chance * self.room < gain:
            return self.high
        if gain < 0.0 and chance * (self.high - self.low - self.room) < -gain:
            return self.low
        return score


def _cut(facts: CaseFacts, trials: int) -> CaseFacts:
    """Return the facts of a case of which so many trials are run: as many end without a score as of these."""
    names = ("errors", "timeouts", "failed")
    kept = {name: tuple(at for at in getattr(facts, name) if at < trials) for name in names}
    return facts.model_copy(update=kept)


def _decision(before: Arm, after: Arm, policy: GatePolicy) -> CheckpointPromotionDecision:
    return decide(VectorFacts(policy=policy, sides=(before, after)), advice=False).decision


def _best_decision(baseline: Arm, policy: GatePolicy) -> CheckpointPromotionDecision:
    """Ask the gate about a candidate that is as good as scores allow, without harm, at the baseline's cost."""
    scores = _best_scores(baseline.scores, policy)
    penalties = None
    if baseline.penalties is not None:
        lowest, _ = policy.penalty_range or (0.0, 1.0)
        penalties = (lowest,) * len(scores)
    facts = None
    if baseline.facts:
        facts = tuple(case.model_copy(update={"passed": True}) for case in baseline.facts)
    best = replace(
        baseline,
        scores=scores,
        trials=tuple((score,) for score in scores),
        penalties=penalties,
        facts=facts,
    )
    return _decision(baseline, best, policy)


def _best_scores(scores: Sequence[float], policy: GatePolicy) -> tuple[float, ...]:
    """Return the highest score for each case; without a range scores far above these, no two of them alike."""
    n = len(scores)
    if policy.score_range is not None:
        return (policy.score_range[1],) * n
    far = 100.0 * (policy.target_effect + max(map(abs, scores), default=0.0))
    return tuple(far * (2 + i / n) for i in range(n))


def _looks(baseline: Arm, policy: GatePolicy) -> int | None:
    """Return how many looks can promote; ``None`` if nothing limits them."""
    if policy.looks == "count":
        return None

    def promotes(look: int) -> bool:
        return _best_decision(baseline, judged_at(policy, look)).promotion_allowed

    declared = declared_looks(policy)
    if declared is not None:
        # All of them have the same level.
        return declared if promotes(1) else 0
    if promotes(_LOOKS):
        return None
    # By halving: each look has a lower level than those before it, so that they promote too if it does.
    last = 0
    beyond = _LOOKS
    while beyond - last > 1:
        middle = (last + beyond) // 2
        if promotes(middle):
            last = middle
        else:
            beyond = middle
    return last


def _by_simulation(runs: Simulation, policy: GatePolicy) -> tuple[Chance, float | None]:
    """Return the chance of the target, and the gain of the policy's power, from the nearest one that was tried."""
    # A target that has no room is simulated as far as there is room, and named as what was asked.
    chance = runs.chance(min(policy.target_effect, runs.room))
    of_target = chance._replace(gain=policy.target_effect)
    if len(runs.rows) * _LEAST > _CASES:
        # So few runs do not tell a gain that is found in 80 % of them from one that is found in 95 %.
        return of_target, _found_by_formula(runs, policy)
    tries = [chance]
    for _ in range(3):
        gain = _scaled(tries[-1], policy, runs.room)
        if abs(tries[-1].share - POWER) < _NEAR or gain == tries[-1].gain:
            break
        tries.append(runs.chance(gain))
    nearest = min(reversed(tries), key=lambda tried: abs(tried.share - POWER))
    gain = _scaled(nearest, policy, math.inf)
    if gain > runs.room and nearest.share < POWER:
        return of_target, None
    return of_target, min(gain, runs.room)


def _by_formula(runs: Simulation, policy: GatePolicy) -> tuple[Chance, float | None]:
    """Return the same from what a hold says that a test of this size finds."""
    effect = _found_by_formula(runs, policy)
    least = policy.min_delta
    if effect is None or effect <= least:
        return Chance(policy.target_effect, 0.0, 0), None
    level, power = _quantiles(policy)
    ratio = (policy.target_effect - least) / (effect - least)
    share = _NORMAL.cdf(ratio * (level + power) - level)
    return Chance(policy.target_effect, share, 0), effect


def _found_by_formula(runs: Simulation, policy: GatePolicy) -> float | None:
    """Return the gain that a hold would say is found; of one simulated run, as the baseline alone has no pairs."""
    sides = runs.sides(0.0, 0)
    figures, _ = weigh_arms(*sides, policy, advice=False)
    return figures.significance.minimum_detectable_effect


def _scaled(tried: Chance, policy: GatePolicy, room: float) -> float:
    """Return the gain that has the policy's power, as far as the normal curve through a gain that was tried says it."""
    level, power = _quantiles(policy)
    share = min(0.98, max(0.05, tried.share))  # the quantile of 0 or 1 is infinite
    ratio = (level + power) / (level + _NORMAL.inv_cdf(share))
    beyond = max(tried.gain - policy.min_delta, 0.01 * policy.target_effect)
    return min(room, policy.min_delta + beyond * ratio)


def _quantiles(policy: GatePolicy) -> tuple[float, float]:
    return -_NORMAL.inv_cdf(policy.alpha / 2), _NORMAL.inv_cdf(POWER)
