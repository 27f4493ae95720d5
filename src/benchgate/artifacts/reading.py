"""Reads an artifact where a damaged one is told by somebody else."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from benchgate.errors import Unreadable

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.wire.model import WireModel

Model = TypeVar("Model", bound="WireModel")


def read_artifact(path: Path, model: type[Model]) -> Model | None:
    """Read an artifact; ``None`` if it is missing or damaged."""
    try:
        return model.read_file(path, "artifact")
    except Unreadable:
        return None
