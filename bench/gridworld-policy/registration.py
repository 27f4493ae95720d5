"""Registers the task class ``gridworld-policy``."""

from __future__ import annotations

from benchgate import register_task_class

from .rubric import GridworldPolicyRubric


@register_task_class(
    "gridworld-policy",
    systems={
        "claims-success": "systems.controls:ClaimsSuccess",
        "do-nothing": "systems.controls:DoNothing",
        "early": {"call": "systems.policy:early", "checkpoint": "checkpoints/early.json"},
        "late": {"call": "systems.policy:late", "checkpoint": "checkpoints/late.json"},
        "reckless": {"call": "systems.policy:reckless", "checkpoint": "checkpoints/reckless.json"},
    },
    default_system="late",
)
class GridworldPolicy(GridworldPolicyRubric):
    """The rubric as the harness knows it; the scoring itself is in :mod:`.rubric`."""
