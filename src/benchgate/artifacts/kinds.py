"""The model of each kind of artifact, by name."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from benchgate.artifacts.evidence_kinds import (
    ArmReport,
    EvaluationReport,
    ProofBundle,
    SafetyReport,
    SignificanceReport,
)
from benchgate.artifacts.pin import Pin
from benchgate.artifacts.run_kinds import PromotionReport, RunRecord
from benchgate.artifacts.trial_kinds import Head, PlanFile, SelectedRecord, TrialFile
from benchgate.cassettes.manifest import CassetteManifest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.wire.model import WireModel

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
        "cassette": CassetteManifest,
        "pin": Pin,
    }
)
