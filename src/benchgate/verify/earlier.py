"""What a record says of earlier runs of its class: which it completes or replays, and their labelled outputs."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from benchgate.artifacts.run_kinds import RunRecord
from benchgate.artifacts.trial_kinds import PlanFile, case_file_name
from benchgate.audit.chain import PLAN_FILE, RECORD_FILE, link_at
from benchgate.audit.runs import parts_of, read_record
from benchgate.errors import few
from benchgate.results.rules import EXTEND
from benchgate.verify.agreement import digest_holds, same
from benchgate.verify.recheck_labels import earlier_result_faults

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from benchgate.artifacts.trial_kinds import Replayed
    from benchgate.audit.chain import Link


class ChainRecord(NamedTuple):
    """
    A record of a chain, read once.

    :param record: ``None`` if it cannot be read.
    :param link: the same as the chain has it.
    """

    seq: int
    folder: Path
    record: RunRecord | None
    link: Link

    @classmethod
    def read(cls, seq: int, folder: Path) -> ChainRecord:
        """Return the record of a number in a folder."""
        link = link_at(seq, folder / RECORD_FILE, whole=True)
        record = link.stated
        if not isinstance(record, RunRecord):
            record = read_record(folder)  # which follows a link that the chain does not
        return cls(seq, folder, record, link)


def earlier_faults(record: RunRecord, chain: Iterable[ChainRecord]) -> Iterator[str]:
    """
    Yield where a record does not agree with the earlier records that it names.

    :param chain: all records of its class.
    """
    before = [one for one in chain if one.seq < record.seq]
    if record.report.parts:
        yield from _part_faults(record, [one for one in chain if one.seq <= record.seq])
    yield from earlier_result_faults(record, [one.record for one in before if one.record])
    resumed = record.resumes
    if resumed is not None and resumed.seq is not None:
        _, source = _named(before, resumed.seq, resumed.folder)
        if source is None or source.complete:
            yield f"resumes: {resumed.folder} is no incomplete run before it"
    if record.replays is not None:
        yield from _replay_faults(record, record.replays, before)


def _replay_faults(
    record: RunRecord, replayed: Replayed, before: list[ChainRecord]
) -> Iterator[str]:
    """Yield where a replay does not agree with the run that it says was replayed."""
    if replayed.kind == "cassette" and replayed.seq is None:
        return  # a cassette may have been recorded anew since
    folder, source = _named(before, replayed.seq, replayed.name)
    if folder is None or source is None or replayed.kind != "run":
        yield f"replays: {replayed.name} is no run before it"
        return
    yield from digest_holds(folder / RECORD_FILE, replayed.sha256, "replays")
    for name in ("system", "seed", "digests.system", "digests.checkpoint"):
        field = attrgetter(name)
        yield from same(f"report.{name}", field(source.report), field(record.report))
    if not record.report.digests.cases.items() <= source.report.digests.cases.items():
        yield f"replays: {replayed.name} is of other cases"


def _part_faults(record: RunRecord, chain: list[ChainRecord]) -> Iterator[str]:
    """Yield what a record, the last of a chain, lacks of the earlier one that it extends."""
    report = record.report
    own = chain[-1].folder
    source = record
    folder = own
    for one in chain:
        if one.record is not None and parts_of(one.folder) == report.parts:
            source = one.record
            folder = one.folder
            break
    if source is record:
        yield "report.parts: they are not those of a record before it"
    then = PlanFile.read_file(folder / PLAN_FILE, "plan")
    now = PlanFile.read_file(own / PLAN_FILE, "plan")
    yield from (f"report.parts: {change}" for change in EXTEND.differences(then, now))
    names = [case_file_name(r) for r in source.report.per_case if r.case_id not in report.retired]
    changed = [n for n in names if source.case_files.get(n) != record.case_files.get(n)]
    if changed:
        yield f"report.parts: not as in {folder.name}: {few(changed)}"


def _named(
    records: list[ChainRecord], seq: int | None, name: str
) -> tuple[Path | None, RunRecord | None]:
    """Return folder and content of the record with a number and a folder of that name, if it is there."""
    for one in records:
        if one.seq == seq and one.folder.name == name:
            return one.folder, one.record
    return None, None
