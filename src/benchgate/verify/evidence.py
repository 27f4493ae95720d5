"""Holds evidence against its record: in the record's folder, in the copy, or wherever a folder of it lies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.artifacts.run_evidence import views
from benchgate.artifacts.run_kinds import OWN_RECORD, PromotionReport, RunRecord
from benchgate.errors import Unreadable
from benchgate.gates.rules import RULES
from benchgate.verify.facts import held_alone
from benchgate.verify.held import Held
from benchgate.verify.other_rules import stated_views
from benchgate.wire.files import read_bytes
from benchgate.wire.parsing import MAX_JSON_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchgate.gates.comparison import Comparison


def evidence_faults(
    evidence: Path, record: RunRecord, comparison: Comparison | None = None
) -> Iterator[str]:
    """
    Yield which evidence files a record lacks, which are none of its run, and where the others differ from its views.

    :param comparison: of the facts of the record.
    """
    by_record = _held_by(record, evidence, comparison)
    for name in sorted(record.evidence_files.keys() - by_record.views.keys()):
        yield f"evidence/{name}: not an evidence file of this run"
    for name in sorted(by_record.views.keys() - record.evidence_files.keys()):
        yield f"evidence/{name}: missing"
    for name in sorted(by_record.views.keys() & record.evidence_files.keys()):
        where = f"evidence/{name}"
        try:
            data = read_bytes(evidence / name, limit=MAX_JSON_BYTES)
        except Unreadable as error:
            yield f"{where}: {error.why}"
        else:
            yield from by_record.content_faults(where, name, data, evidence)


def held(path: Path, kind: str) -> Held:
    """Return what a file of a kind is held against: the record that it belongs to, else the files beside it."""
    folder = path.parent
    for named in _paths_of_record(folder):
        record = RunRecord.read_or_none(folder / named)
        if record is not None:
            return _held_by(record, folder, path=named)
    return held_alone(path, kind)


def _paths_of_record(folder: Path) -> Iterator[str]:
    """Yield where the record of a folder of evidence may be; it is not hidden by a file that is gone."""
    if folder.resolve().name == "evidence":
        yield OWN_RECORD
    promotion = PromotionReport.read_or_none(folder / "promotion.json")
    if promotion is not None and promotion.record_ref is not None:
        yield promotion.record_ref.path


def _held_by(
    record: RunRecord,
    evidence: Path,
    comparison: Comparison | None = None,
    *,
    path: str = OWN_RECORD,
) -> Held:
    """
    Return what a record gives for its evidence.

    The decision is taken as it stands there: whether it follows is asked of the record.

    :param comparison: of the facts of the record, if it was made before.
    """
    if record.rules == RULES:
        made = views(record, comparison)
    else:
        made = stated_views(record, evidence)
    return Held(
        rules=record.rules,
        views=made,
        digests=record.evidence_files,
        kept_in="its record.json",
        by=record.harness.benchgate,
        path=path,
    )
