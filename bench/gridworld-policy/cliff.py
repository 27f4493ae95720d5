"""
The rubric's own cliff: map, wind and moves in plain Python, without code shared with Gymnasium.

At step ``t`` a policy chooses an action, the wind of that case and step may turn it by a quarter turn, and the
turned action moves the walker. The wind depends only on the case's seed and ``t``, so actions can be replayed.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

MOVES: Final = ((-1, 0), (0, 1), (1, 0), (0, -1))
"""Row and column steps of the actions 0 to 3: up, right, down, left."""

STEP_REWARD: Final = -1
FALL_REWARD: Final = -100


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """
    The task of a case.

    :param rows: the map: ``S`` is where a fall leads back to, ``G`` the goal, ``C`` cliff, ``.`` ground.
    :param start: the cell of the first observation; cells are numbered row by row from 0.
    :param horizon: the episode is truncated after that many steps.
    :param slip: the probability that the wind turns an action, half of it to each side.
    """

    rows: tuple[str, ...]
    start: int
    horizon: int
    slip: float

    @classmethod
    def read(cls, input_path: Path) -> Task:
        """Return the task in a case's ``input/``."""
        task = json.loads((input_path / "task.json").read_text(encoding="utf-8"))
        return cls(
            rows=tuple(task["map"]),
            start=task["start"],
            horizon=task["horizon"],
            slip=task["slip"],
        )

    def find(self, letter: str) -> int:
        """Return the cell of a letter that occurs once in the map."""
        return "".join(self.rows).index(letter)

    @property
    def goal(self) -> int:
        """The cell where the episode ends."""
        return self.find("G")

    def move(self, cell: int, action: int) -> tuple[int, int]:
        """Return the next cell and the reward of a move, without wind."""
        width = len(self.rows[0])
        row = min(max(cell // width + MOVES[action][0], 0), len(self.rows) - 1)
        column = min(max(cell % width + MOVES[action][1], 0), width - 1)
        if self.rows[row][column] == "C":
            return self.find("S"), FALL_REWARD
        return row * width + column, STEP_REWARD

    def fewest_steps(self) -> int:
        """Return the length of the shortest path to the goal; wind cannot shorten it."""
        steps = {self.start: 0}
        queue = deque(steps)
        while queue:
            cell = queue.popleft()
            for action in range(len(MOVES)):
                following = self.move(cell, action)[0]
                if following not in steps:
                    steps[following] = steps[cell] + 1
                    queue.append(following)
        return steps[self.goal]


def turned(action: int, draw: float, slip: float) -> int:
    """
    Return the action after the wind.

    :param draw: a number in [0, 1); below ``slip / 2`` the wind turns the action left, below ``slip`` right.
    """
    if draw < slip / 2:
        return (action - 1) % len(MOVES)
    return (action + 1) % len(MOVES) if draw < slip else action


def wind(seed: int, step: int) -> float:
    """Return the draw of a step, in [0, 1): 48 bits of SHA-256 over seed and step."""
    text = hashlib.sha256(f"{seed}|{step}".encode()).digest()
    return int.from_bytes(text[:6], "big") / 2**48
