"""Every kind of artifact by the name that ``benchgate schema`` and ``report_kind`` know."""

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
from benchgate.artifacts.run_kinds import CaseFile, Head, PromotionReport, RunRecord, SelectedRecord

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
        "case": CaseFile,
        "head": Head,
    }
)
