"""Converts steps of a Gymnasium environment to the fields of a trajectory, without importing Gymnasium."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from benchgate.training.errors import MalformedPayload
from benchgate.wire.clock import now
from benchgate.wire.plain import plain_json


def trajectory_fields(
    steps: Iterable[Any],
    columns: Mapping[str, Iterable[Any] | None],
    first_observation: Any,
    head: Mapping[str, Any],
) -> dict[str, Any]:
    """
    Return the fields of a trajectory; all are plain JSON builtins except ``created_at``.

    :param columns: further values of each step, by field of the step; ``None`` for a field that is not known.
    :param head: the fields of the trajectory that do not depend on the steps.
    :raises MalformedPayload: see :meth:`~benchgate.training_types.EpisodeTrajectory.from_gymnasium_steps`.
    """
    tuples = [_step_tuple(at, step) for at, step in enumerate(steps)]
    rows = _columns(columns, len(tuples))
    observation = _plain(first_observation, "first_observation")
    terminated = truncated = False
    fields_of_steps = []
    for at, (next_observation, reward, ends, is_cut, _) in enumerate(tuples):
        if terminated or truncated:
            field = f"steps[{at}]"
            raise MalformedPayload(f"{field} follows the end of the episode", (field,))
        terminated = _flag(ends, f"steps[{at}].terminated")
        truncated = _flag(is_cut, f"steps[{at}].truncated")
        fields_of_steps.append(
            {
                "step_index": at,
                "observation": observation,
                "reward": _number(reward, f"steps[{at}].reward"),
                "done": terminated or truncated,
                **{name: values[at] for name, values in rows.items()},
            }
        )
        observation = _plain(next_observation, f"steps[{at}].observation")
    return {
        **head,
        "steps": fields_of_steps,
        "total_return": _sum([step["reward"] for step in fields_of_steps]),
        "created_at": head["created_at"] or now(),
        "metadata": {
            **_plain(head["metadata"], "metadata"),
            "final_observation": observation,
            "terminated": terminated,
            "truncated": truncated,
        },
    }


def _step_tuple(at: int, step: Any) -> tuple[Any, ...]:
    if isinstance(step, (tuple, list)) and len(step) == 5:
        return tuple(step)
    found = f"{len(step)} values" if isinstance(step, (tuple, list)) else type(step).__qualname__
    field = f"steps[{at}]"
    message = (
        f"{field} is {found}; expected (observation, reward, terminated, truncated, info): "
        "Gymnasium's five, not the four of old Gym"
    )
    raise MalformedPayload(message, (field,), (found,))


def _columns(columns: Mapping[str, Iterable[Any] | None], count: int) -> dict[str, list[Any]]:
    rows: dict[str, list[Any]] = {}
    for name, column in columns.items():
        if column is None:
            continue
        values = [_plain(value, f"{name}s[{at}]") for at, value in enumerate(column)]
        if len(values) != count:
            fields = (f"len({name}s)", "len(steps)")
            message = f"{fields[0]} is {len(values)}; expected that of {fields[1]}, {count}"
            raise MalformedPayload(message, fields, (len(values), count))
        rows[name] = values
    return rows


def _plain(value: Any, field: str) -> Any:
    try:
        return plain_json(_without_arrays(value), field, finite=False)
    except RecursionError as error:
        raise MalformedPayload(f"{field} contains itself", (field,)) from error
    except ValueError as error:
        raise MalformedPayload(str(error), (field,)) from error


def _without_arrays(value: Any) -> Any:
    """Replace arrays and array scalars, at any depth, by lists and builtins."""
    if isinstance(value, Mapping):
        return {key: _without_arrays(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_arrays(item) for item in value]
    tolist = getattr(value, "tolist", None)  # numpy, torch and jax have it
    return tolist() if callable(tolist) else value


def _flag(value: Any, field: str) -> bool:
    flag = _plain(value, field)
    if isinstance(flag, bool):
        return flag
    raise MalformedPayload(f"{field} is {flag!r}; expected true or false", (field,), (flag,))


def _number(value: Any, field: str) -> float:
    number = _plain(value, field)
    if isinstance(number, (int, float)) and not isinstance(number, bool):
        return float(number)
    raise MalformedPayload(f"{field} is {number!r}; expected a number", (field,), (number,))


def _sum(rewards: list[float]) -> float:
    try:
        return math.fsum(rewards)
    except (OverflowError, ValueError):
        return math.nan  # for validation to report: the sum is too large, or has both infinities
