"""Reading artifacts: every kind by its name, and one reader for all."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeVar

from benchgate.artifacts.evidence_kinds import (
    ArmReport,
    EvaluationReport,
    ProofBundle,
    SafetyReport,
    SignificanceReport,
)
from benchgate.artifacts.run_kinds import CaseFile, Head, PromotionReport, RunRecord, SelectedRecord
from benchgate.wire.files import read_regular
from benchgate.wire.model import WireModel

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


MAX_BYTES: Final = 256 * 1024 * 1024
Model = TypeVar("Model", bound=WireModel)


def read_artifact(path: Path, model: type[Model]) -> Model | None:
    """Read an artifact; ``None`` if it is not there or does not hold."""
    try:
        return model.read_json(read_regular(path, limit=MAX_BYTES))
    except (OSError, ValueError):
        return None


KINDS: Final[Mapping[str, type[WireModel]]] = MappingProxyType(
    {
        "baseline": ArmReport,
        "trained": ArmReport,
        "significance": SignificanceReport,
        "safety": SafetyReport,
        "evaluation": EvaluationReport,
        "proof": ProofBundle,
        "promotion": PromotionReport,
        "record": RunRecord,
        "selected": SelectedRecord,
        "case": CaseFile,
        "head": Head,
    }
)
