"""Gymnasium's CliffWalking with wind: the environment that policies are trained and tested in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import gymnasium
from _benchgate_bench.gridworld_policy.cliff import turned

if TYPE_CHECKING:
    from collections.abc import Iterator

ENVIRONMENT: Final = "CliffWalking-v1"
"""Without Gymnasium's own slipperiness, which turns two actions in three."""


class Wind(gymnasium.ActionWrapper[Any, Any, Any]):
    """
    Turns some actions by a quarter turn.

    :param slip: how often, as a probability.
    :param draws: a number in [0, 1) for each step.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], slip: float, draws: Iterator[float]) -> None:
        super().__init__(env)
        self._slip = slip
        self._draws = draws

    def action(self, action: Any) -> int:
        """Return the action after the wind."""
        return turned(int(action), next(self._draws), self._slip)


def windy_cliff(slip: float, draws: Iterator[float], horizon: int) -> Wind:
    """Return the environment; an episode is truncated after ``horizon`` steps."""
    return Wind(gymnasium.make(ENVIRONMENT, max_episode_steps=horizon), slip, draws)


def reset_to(env: Wind, cell: int, seed: int) -> int:
    """Begin an episode at a cell; Gymnasium has only one start, and a fall still leads back there."""
    env.reset(seed=seed)
    cliff: Any = env.unwrapped
    cliff.s = cell
    return cell
