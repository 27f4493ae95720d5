"""What a record says of an earlier run of its class: the one that it completes, and the one that it replays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.artifacts.run_kinds import RunRecord
from benchgate.audit.chain import RECORD_FILE
from benchgate.verify.agreement import digest_holds, same

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from benchgate.artifacts.run_kinds import ClosedRecord

Earlier = tuple["Path", "RunRecord | ClosedRecord | None"]


def earlier_faults(record: RunRecord, before: Mapping[int, Earlier]) -> Iterator[str]:
    """
    Yield where a record does not agree with the earlier records that it names.

    :param before: folder and content of each record before it, by number.
    """
    resumed = record.resumes
    if resumed is not None and resumed.seq is not None:
        found = _named(before, resumed.seq, resumed.folder)
        if found is None or found[1].report.complete:
            yield f"resumes: {resumed.folder} is no incomplete run before it"
    replayed = record.replays
    if replayed is None or (replayed.kind, replayed.seq) == ("cassette", None):
        return  # a cassette may have been recorded anew since
    found = None if replayed.seq is None else _named(before, replayed.seq, replayed.name)
    if found is None or replayed.kind != "run":
        yield f"replays: {replayed.name} is no run before it"
        return
    folder, source = found
    yield from digest_holds(folder / RECORD_FILE, replayed.sha256, "replays")
    yield from same("replayed", _facts(source, record), _facts(record, record))


def _facts(record: RunRecord, of: RunRecord) -> dict[str, object]:
    """Return what a run and the one that it replays have in common, as far as the cases of one of them go."""
    report = record.report
    cases = {name: report.digests.cases.get(name) for name in of.report.digests.cases}
    digests = report.digests
    return {
        "system": report.system,
        "seed": report.seed,
        "digests": {
            "system": digests.system,
            "checkpoint": digests.checkpoint,
            "cases": cases,
        },
    }


def _named(before: Mapping[int, Earlier], seq: int, name: str) -> tuple[Path, RunRecord] | None:
    folder, record = before.get(seq, (None, None))
    if folder is None or folder.name != name or not isinstance(record, RunRecord):
        return None
    return folder, record
