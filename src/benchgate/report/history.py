"""The recorded runs of a class, one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.artifacts.evidence_kinds import SignificanceReport
from benchgate.audit.chain import RECORD_FILE, numbered
from benchgate.looks.chain import ChainLooks

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.looks.chain import RecordHead


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRun:
    """
    A run in the history of its class.

    :param look: its number among the looks at its baseline, see :mod:`benchgate.looks.chain`; ``None`` if it is none.
    :param pinned: a later run was compared with this very record: it had become the baseline.
    :param head: what ``benchgate verify --head`` takes if this is the newest run.
    """

    folder: Path
    record: RecordHead
    mean_delta: float | None
    look: int | None
    pinned: bool
    head: str

    @property
    def figures(self) -> tuple[float | None, float | None, float | None]:
        """Mean score, its bound and the change against the baseline; nothing of an incomplete run."""
        report = self.record.report
        if not report.complete:
            return None, None, None
        return report.mean_score, report.score_lower_bound_95, self.mean_delta

    def plain(self) -> dict[str, object]:
        """Return it as JSON values."""
        record = self.record
        report = self.record.report
        return {
            "cost_usd": report.total_cost_usd,
            "run_id": report.run_id,
            "complete": report.complete,
            "system": report.system,
            "case_count": report.case_count,
            "passed_count": report.passed_count,
            "mean_score": report.mean_score,
            "score_lower_bound_95": report.score_lower_bound_95,
            "seq": record.seq,
            "time": record.finished_at.isoformat(),
            "mean_delta": self.mean_delta,
            "decision": record.decision.outcome,
            "look": self.look,
            "pinned": self.pinned,
            "head": self.head,
            "folder": self.folder.name,
        }


def past_runs(runs: Path) -> list[PastRun]:
    """Return the runs with a record in ``runs/<class>/``, the oldest first; none that are damaged."""
    chain = ChainLooks()
    read = []
    for _, folder in numbered(runs):
        head = chain.read(folder / RECORD_FILE)
        if head is None:
            continue
        record, sha256 = head
        counted = chain.add_record(record, folder)
        number = None
        if counted is not None:
            number = counted.look.number
        read.append((folder, record, number, sha256))
    baselines = {record.baseline.sha256 for _, record, *_ in read if record.baseline}
    return [
        PastRun(
            folder=folder,
            record=record,
            mean_delta=_mean_delta(folder),
            look=look,
            pinned=sha256 in baselines,
            head=f"{record.seq}:{sha256}",
        )
        for folder, record, look, sha256 in read
    ]


def _mean_delta(folder: Path) -> float | None:
    evidence = SignificanceReport.read_or_none(folder / "evidence" / "significance.json")
    if evidence is None:
        return None
    return evidence.significance.mean_delta
