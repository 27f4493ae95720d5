"""Reads artifacts: the model of each kind, by name, and one reader for all."""

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
from benchgate.artifacts.pin import Pin
from benchgate.artifacts.run_kinds import (
    Head,
    PlanFile,
    PromotionReport,
    RunRecord,
    SelectedRecord,
    TrialFile,
)
from benchgate.artifacts.sealed_plan import SealedPlan
from benchgate.cassettes.manifest import CassetteManifest
from benchgate.errors import Unreadable
from benchgate.wire.model import WireModel

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


Model = TypeVar("Model", bound=WireModel)


def read_artifact(path: Path, model: type[Model]) -> Model | None:
    """Read an artifact; ``None`` if it is missing or damaged, for callers that report this elsewhere."""
    try:
        return model.read_file(path, "artifact")
    except Unreadable:
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
        "case": TrialFile,
        "plan": PlanFile,
        "head": Head,
        "sealed_plan": SealedPlan,
        "cassette": CassetteManifest,
        "pin": Pin,
    }
)
