"""Registers the task class ``gridworld-policy``."""

from __future__ import annotations

from benchgate import register_task_class

from .rubric import GridworldPolicyRubric
from .systems.controls import ClaimsSuccess, DoNothing
from .systems.policy import CheckpointPolicy


@register_task_class(
    "gridworld-policy",
    systems={
        **{name: CheckpointPolicy(name) for name in ("early", "late", "reckless")},
        "claims-success": ClaimsSuccess(),
        "do-nothing": DoNothing(),
    },
    default_system="late",
)
class GridworldPolicy(GridworldPolicyRubric):
    """The rubric as the harness knows it; the scoring itself is in :mod:`.rubric`."""
