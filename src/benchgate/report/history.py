"""The recorded runs of a class, one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import AwareDatetime

from benchgate.artifacts.evidence_kinds import SignificanceReport
from benchgate.artifacts.reading import read_artifact
from benchgate.audit.chain import RECORD_FILE, numbered
from benchgate.errors import Unreadable
from benchgate.gates.decision import CheckpointPromotionDecision
from benchgate.looks.chain import ChainLooks
from benchgate.wire.canonical import sha256_hex
from benchgate.wire.files import read_bytes
from benchgate.wire.model import Count, NonNegative, Sha256, UnitInterval, Version, WireModel
from benchgate.wire.parsing import MAX_JSON_BYTES

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path


class PastReport(WireModel):
    """The figures of a recorded run, without its results."""

    run_id: Sha256
    system: str
    complete: bool
    case_count: Count
    passed_count: Count
    mean_score: UnitInterval
    score_lower_bound_95: UnitInterval | None
    total_cost_usd: NonNegative


class PastBaseline(WireModel):
    """What a run was compared with: the digest of its file; none of a system that ran beside the candidate."""

    sha256: Sha256 | None = None


class PastRecord(WireModel):
    """The fields of a record that a history shows: only these, so that many records can be read quickly."""

    schema_version: Version
    seq: Count
    finished_at: AwareDatetime
    report: PastReport
    decision: CheckpointPromotionDecision | None
    baseline: PastBaseline | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRun:
    """
    A run in the history of its class.

    :param look: its number among the looks at its baseline, see :mod:`benchgate.looks.chain`; ``None`` if it is none.
    :param baseline: SHA-256 of the record that it was compared with; ``None`` if it was compared with none.
    :param pinned: a later run was compared with this very record: it had become the baseline.
    :param head: SHA-256 of its record.
    """

    seq: int
    folder: Path
    time: datetime
    report: PastReport
    decision: CheckpointPromotionDecision | None
    mean_delta: float | None
    look: int | None
    baseline: str | None
    pinned: bool
    head: str

    def plain(self) -> dict[str, object]:
        """Return it as JSON values."""
        report = self.report.model_dump()
        return {
            "cost_usd": report.pop("total_cost_usd"),
            **report,
            "seq": self.seq,
            "time": self.time.isoformat(),
            "mean_delta": self.mean_delta,
            "decision": self.decision.outcome if self.decision else None,
            "look": self.look,
            "pinned": self.pinned,
            "head": f"{self.seq}:{self.head}",
            "folder": self.folder.name,
        }


def past_runs(runs: Path) -> list[PastRun]:
    """Return the runs with a record in ``runs/<class>/``, the oldest first; none that are damaged."""
    folders = [folder for _, folder in numbered(runs)]
    read = [(folder, one) for folder in folders if (one := _record(folder)) is not None]
    baselines = {record.baseline.sha256 for _, (record, _) in read if record.baseline}
    chain = ChainLooks()
    looks = {folder: chain.add(folder / RECORD_FILE) for folder in folders}
    past = []
    for folder, (record, head) in read:
        report = record.report
        figures = read_artifact(folder / "evidence" / "significance.json", SignificanceReport)
        past.append(
            PastRun(
                seq=record.seq,
                folder=folder,
                time=record.finished_at,
                report=report,
                decision=record.decision,
                mean_delta=figures.significance.mean_delta if figures else None,
                look=looks[folder],
                baseline=record.baseline.sha256 if record.baseline else None,
                pinned=head in baselines,
                head=head,
            )
        )
    return past


def _record(folder: Path) -> tuple[PastRecord, str] | None:
    try:
        data = read_bytes(folder / RECORD_FILE, limit=MAX_JSON_BYTES)
        return PastRecord.parse(folder / RECORD_FILE, data, "record"), sha256_hex(data)
    except Unreadable:
        return None
