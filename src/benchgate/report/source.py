"""Reads what a report shows: the record of a run with the files beside it, or a proof of plain vectors."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from benchgate.artifacts.evidence_kinds import (
    ArmReport,
    EvaluationReport,
    ProofBundle,
    SafetyReport,
    SignificanceReport,
)
from benchgate.artifacts.run_kinds import PromotionReport, RunRecord
from benchgate.artifacts.trial_kinds import SelectedRecord
from benchgate.audit.chain import RECORD_FILE
from benchgate.errors import ArtifactError, Unreadable
from benchgate.gates.conditions import REJECTING
from benchgate.gates.decision import PREFIX, CheckpointPromotionDecision, Remark
from benchgate.gates.figures import Figures, SafetyFigures
from benchgate.wire.canonical import sha256_hex
from benchgate.wire.files import read_bytes
from benchgate.wire.model import WireModel
from benchgate.wire.parsing import MAX_JSON_BYTES, read_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from benchgate.gates.decision import Outcome
    from benchgate.gates.judge import Judgement
    from benchgate.gates.policy import GatePolicy
    from benchgate.models import BenchRunReport, LogSource
    from benchgate.models.texts import ReadTexts

Model = TypeVar("Model", bound=WireModel)

EVIDENCE: Final[tuple[tuple[str, type[WireModel]], ...]] = (
    ("baseline", ArmReport),
    ("trained", ArmReport),
    ("significance", SignificanceReport),
    ("safety", SafetyReport),
    ("evaluation", EvaluationReport),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OfLogs:
    """
    What whoever just judged two logs knows of them, and no file has.

    :param read_texts: reads their questions and answers.
    :param judged: the judgement, if nobody recorded it: its evidence alone does not say what to do next.
    """

    read_texts: ReadTexts
    judged: Judgement | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """
    A run or a proof as it was read; what is not there is ``None``.

    :param folder: of the record, where its trials lie too.
    :param proof: of plain vectors; that of a run says no more than its record.
    :param judged: what was judged just now and is not recorded; beside its proof.
    :param log: what the results were read from; ``None`` for those of a bench and for plain vectors.
    :param problems: files that are missing or are not those that record or proof name; they are not shown.
    """

    folder: Path | None = None
    record: RunRecord | None = None
    selected: SelectedRecord | None = None
    proof: ProofBundle | None = None
    judged: Judgement | None = None
    baseline: ArmReport | None = None
    trained: ArmReport | None = None
    significance: SignificanceReport | None = None
    safety: SafetyReport | None = None
    evaluation: EvaluationReport | None = None
    log: LogSource | None = None
    problems: tuple[str, ...] = ()

    @property
    def report(self) -> BenchRunReport | None:
        """The results of the run."""
        if self.judged is not None:
            return self.judged.report.shown
        if self.record is not None:
            return self.record.report
        if self.selected is not None:
            return self.selected.report
        return None

    @property
    def policy(self) -> GatePolicy | None:
        """The thresholds that the decision was made by."""
        if self.record is not None:
            return self.record.policy
        if self.significance is not None:
            return self.significance.policy
        return None

    @property
    def figures(self) -> Figures | None:
        """What the comparison found; ``None`` if there was none, or a file of it is missing."""
        if self.judged is not None:
            return self.judged.figures
        before = self.baseline
        after = self.trained
        tests = self.significance
        safety = self.safety
        if before is None or after is None or tests is None or safety is None:
            return None
        return Figures(
            baseline=before.arm,
            candidate=after.arm,
            significance=tests.significance,
            safety=SafetyFigures(
                evaluated=safety.safety_regression_delta is not None,
                baseline_mean=safety.baseline_mean_safety_penalty,
                candidate_mean=safety.trained_mean_safety_penalty,
                delta=safety.safety_regression_delta,
                upper_bound=None,
                pass_chances=safety.pass_chances,
            ),
            cost=self.evaluation.cost if self.evaluation else None,
        )

    @property
    def decision(self) -> CheckpointPromotionDecision | None:
        """What was decided; a proof has no outcome, but its reasons tell it."""
        if self.judged is not None:
            return self.judged.decision
        if self.proof is None:
            if self.record is None:
                return None
            return self.record.decision
        failed = self.proof.failure_analysis
        remarks: tuple[Remark, ...] = ()
        outcome: Outcome = "promote"
        if failed is not None:
            outcome = "hold"
            rows = zip(failed.reasons, failed.details, failed.says, strict=False)
            remarks = tuple(Remark(code=code, message=text, says=said) for code, text, said in rows)
        codes = tuple(remark.code for remark in remarks)
        if any(code.removeprefix(PREFIX) in REJECTING for code in codes):
            outcome = "reject"
        return CheckpointPromotionDecision(
            outcome=outcome,
            promotion_allowed=failed is None,
            reason_codes=codes,
            notes=(),
            remarks=remarks,
            minimum_detectable_effect=None,
            look=self.proof.look,
        )


def read_source(path: Path, of_logs: OfLogs | None = None) -> Source:
    """
    Read a run by its folder or its record, or a proof.

    :param of_logs: what else is known of it, if it was judged just now.
    :raises ArtifactError: it is none of these.
    """
    file = _file(path)
    data = read_bytes(file, limit=MAX_JSON_BYTES)
    try:
        head = read_json(data)
    except ValueError as error:
        raise Unreadable(file, str(error)) from error
    kind = head.get("report_kind") if isinstance(head, dict) else None
    if kind == "record":
        return _run(file, RunRecord.parse(file, data, "record of a run"))
    if kind == "selected":
        selected = SelectedRecord.parse(file, data, "report of a selection")
        return Source(folder=file.parent, selected=selected)
    if kind is None and isinstance(head, dict) and "failure_analysis" in head:
        source = _proof(file, ProofBundle.parse(file, data, "proof"))
        return replace(source, judged=of_logs.judged if of_logs is not None else None)
    raise ArtifactError(file, "is no record of a run and no proof; see benchgate runs")


def _file(path: Path) -> Path:
    if not os.path.isdir(path):
        return path
    for name in (RECORD_FILE, "report.json", "proof.json"):
        if os.path.exists(path / name):
            return path / name
    raise ArtifactError(path, f"has none of {RECORD_FILE}, report.json and proof.json")


def _run(file: Path, record: RunRecord) -> Source:
    files = _Files(file.parent / "evidence", record.evidence_files)
    parts: dict[str, Any] = {name: files.read(f"{name}.json", model) for name, model in EVIDENCE}
    record = record.model_copy(update={"report": record.report.shown})
    parts["log"] = record.report.source
    return Source(folder=file.parent, record=record, problems=tuple(files.problems), **parts)


def _proof(file: Path, proof: ProofBundle) -> Source:
    # The evidence of a run: its record says more.
    promotion = PromotionReport.read_or_none(file.with_name("promotion.json"))
    reference = promotion.record_ref if promotion else None
    if reference is not None:
        record_file = file.parent / reference.path
        record = RunRecord.read_or_none(record_file)
        if record is not None and record.report.run_id == proof.run_id:
            return _run(record_file, record)
    named = proof.artifacts.model_dump()
    digests = proof.artifact_sha256.model_dump()
    files = _Files(file.parent, {named[key]: digests[key] for key in named})
    parts: dict[str, Any] = {
        "baseline": files.read(proof.artifacts.baseline_report, ArmReport),
        "trained": files.read(proof.artifacts.trained_report, ArmReport),
        "significance": files.read(proof.artifacts.significance_report, SignificanceReport),
        "safety": files.read(proof.artifacts.safety_regression_report, SafetyReport),
    }
    if promotion is not None:
        parts["log"] = promotion.subject.source
    return Source(proof=proof, problems=tuple(files.problems), **parts)


class _Files:
    """Reads files that a record or a proof names with their digests, and collects what is wrong with them."""

    def __init__(self, folder: Path, digests: Mapping[str, str]) -> None:
        self._folder = folder
        self._digests = digests
        self.problems: list[str] = []

    def read(self, name: str, model: type[Model]) -> Model | None:
        if name not in self._digests:
            return None
        try:
            data = read_bytes(self._folder / name, limit=MAX_JSON_BYTES)
            if sha256_hex(data) == self._digests[name]:
                return model.parse(self._folder / name, data, "artifact")
            why = "is not the file that was recorded"
        except Unreadable as error:
            why = error.why
        self.problems.append(f"{name}: {why}; not shown")
        return None
