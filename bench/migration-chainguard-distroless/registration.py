"""Registers the task class ``migration-chainguard-distroless``."""

from __future__ import annotations

from benchgate import register_task_class

from .facts import MigrationFacts
from .rubric import MigrationRubric
from .systems.controls import ClaimsSuccess, DoNothing
from .systems.stage_aware import StageAware
from .systems.table_converter import TableConverter


@register_task_class(
    "migration-chainguard-distroless",
    systems={
        "claims-success": ClaimsSuccess(),
        "do-nothing": DoNothing(),
        "stage-aware": StageAware(),
        "table-converter": TableConverter(),
    },
    default_system="stage-aware",
    facts_model=MigrationFacts,
    observe="observers.build:build",
)
class MigrationChainguardDistroless(MigrationRubric):
    """The rubric as the harness knows it; the scoring itself is in :mod:`.rubric`."""
