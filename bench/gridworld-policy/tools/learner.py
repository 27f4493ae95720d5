"""Tabular Q-learning on the windy cliff, with one seeded generator for exploration, ties and wind."""

from __future__ import annotations

import copy
from collections import deque
from dataclasses import dataclass, field
from itertools import repeat
from typing import TYPE_CHECKING, Final

from _benchgate_bench.gridworld_policy.cliff import FALL_REWARD, MOVES
from _benchgate_bench.gridworld_policy.systems.environment import Wind, windy_cliff
from _benchgate_bench.gridworld_policy.systems.policy import DISCOUNT

if TYPE_CHECKING:
    import random

HORIZON: Final = 200
RATE_POWER: Final = 0.6
CELLS: Final = 48
RECENT: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """
    How to train.

    :param slip: strength of the wind, see :func:`~_benchgate_bench.gridworld_policy.cliff.turned`.
    :param exploration: how often an action is drawn at random, as a probability.
    :param rate: the smallest learning rate.
    :param fall_reward: the reward of a fall for the learner, instead of the environment's own.
    """

    slip: float
    exploration: float = 0.1
    rate: float = 0.0
    fall_reward: int = FALL_REWARD


@dataclass(slots=True)
class Learner:
    """
    The state of a training run.

    :param table: for each cell the value of each action, in discounted return.
    :param visits: how often each action was tried in each cell, since the last branch.
    :param recent: returns of the last hundred episodes, as the environment gives them, exploration included.
    """

    rng: random.Random
    table: list[list[float]] = field(
        default_factory=lambda: [[0.0] * len(MOVES) for _ in range(CELLS)]
    )
    visits: list[list[int]] = field(
        default_factory=lambda: [[0] * len(MOVES) for _ in range(CELLS)]
    )
    global_step: int = 0
    episode_count: int = 0
    recent: deque[int] = field(default_factory=lambda: deque(maxlen=RECENT))

    def branch(self) -> Learner:
        """Return a copy that can be trained further on its own, with the same table and fresh learning rates."""
        other = copy.deepcopy(self)
        other.visits = [[0] * len(MOVES) for _ in range(CELLS)]
        return other

    @property
    def mean_reward(self) -> float:
        """Mean return of the recent training episodes."""
        return sum(self.recent) / len(self.recent)

    def train(self, episodes: int, recipe: Recipe) -> None:
        """Train on further episodes, each from Gymnasium's own start."""
        draws = (draw() for draw in repeat(self.rng.random))
        env = windy_cliff(recipe.slip, draws, HORIZON)
        for _ in range(episodes):
            self.recent.append(self._episode(env, recipe))
            self.episode_count += 1
        env.close()

    def _episode(self, env: Wind, recipe: Recipe) -> int:
        cell, _ = env.reset(seed=0)
        total, ended = 0, False
        while not ended:
            action = self._choose(cell, recipe.exploration)
            following, given, terminated, truncated, _ = env.step(action)
            reward = int(float(given))
            ahead = 0.0 if terminated else DISCOUNT * max(self.table[following])
            learnt = recipe.fall_reward if reward == FALL_REWARD else reward
            self._learn(cell, action, learnt + ahead, recipe.rate)
            total += reward
            self.global_step += 1
            cell, ended = following, terminated or truncated
        return total

    def _choose(self, cell: int, exploration: float) -> int:
        if self.rng.random() < exploration:
            return self.rng.randrange(len(MOVES))
        best = max(self.table[cell])
        return self.rng.choice([at for at, value in enumerate(self.table[cell]) if value == best])

    def _learn(self, cell: int, action: int, target: float, least: float) -> None:
        self.visits[cell][action] += 1
        rate = max(1.0 / self.visits[cell][action] ** RATE_POWER, least)
        self.table[cell][action] += rate * (target - self.table[cell][action])
