"""Registers the task class ``migration-chainguard-distroless``."""

from __future__ import annotations

from benchgate import register_task_class

from .facts import MigrationFacts
from .rubric import MigrationRubric


@register_task_class(
    "migration-chainguard-distroless",
    systems={
        "claims-success": "systems.controls:ClaimsSuccess",
        "do-nothing": "systems.controls:DoNothing",
        "stage-aware": "systems.stage_aware:StageAware",
        "table-converter": "systems.table_converter:TableConverter",
    },
    default_system="stage-aware",
    facts_model=MigrationFacts,
    observe="observers.build:build",
)
class MigrationChainguardDistroless(MigrationRubric):
    """The rubric as the harness knows it; the scoring itself is in :mod:`.rubric`."""
