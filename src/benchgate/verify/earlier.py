"""What a record says of earlier runs of its class: which it completes or replays."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from benchgate.artifacts.run_kinds import RunRecord
from benchgate.audit.chain import RECORD_FILE
from benchgate.verify.agreement import digest_holds, same

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

Earlier = tuple["Path", "RunRecord | None"]


def earlier_faults(record: RunRecord, before: Mapping[int, Earlier]) -> Iterator[str]:
    """
    Yield where a record does not agree with the earlier records that it names.

    :param before: folder and content of each record before it, by number.
    """
    resumed = record.resumes
    if resumed is not None and resumed.seq is not None:
        found = _named(before, resumed.seq, resumed.folder)
        if found is None or found[1].complete:
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
    for name in ("system", "seed", "digests.system", "digests.checkpoint"):
        value = attrgetter(f"report.{name}")
        yield from same(f"report.{name}", value(source), value(record))
    if not record.report.digests.cases.items() <= source.report.digests.cases.items():
        yield f"replays: {replayed.name} is of other cases"


def _named(before: Mapping[int, Earlier], seq: int, name: str) -> tuple[Path, RunRecord] | None:
    folder, record = before.get(seq, (None, None))
    if folder is None or folder.name != name or not isinstance(record, RunRecord):
        return None
    return folder, record
