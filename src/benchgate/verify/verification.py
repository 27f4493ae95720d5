"""
Verifies an output folder: the chain of each class, every digest, and every decision, recomputed.

Run it in another process than the bench, best in another CI job: a system can tamper with the session that scores it,
but not with this one.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from benchgate.artifacts.run_kinds import RunRecord
from benchgate.audit.chain import (
    FOLDER_NAME,
    HEAD_FILE,
    LEFT_BY,
    PLAN_FILE,
    RECORD_FILE,
    UNFINISHED,
    numbered,
    record_folder,
    unentered,
)
from benchgate.audit.walk import ChainFault, chain_faults
from benchgate.errors import ArtifactError, Unreadable, brief
from benchgate.gates.baseline import arm
from benchgate.gates.rules import not_computed
from benchgate.looks.chain import ChainLooks
from benchgate.looks.seen_cases import with_seen
from benchgate.registry import TASK_CLASS_PATTERN
from benchgate.verify.agreement import plain, same
from benchgate.verify.earlier import ChainRecord, earlier_faults
from benchgate.verify.recheck_copy import AFTER, copy_faults, digest_of
from benchgate.verify.recheck_record import recheck_record

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from pathlib import Path

    from benchgate.artifacts.trial_kinds import Head
    from benchgate.gates.looks import RecordedLook
    from benchgate.looks.tally import Counted


PARTS: Final = frozenset({RECORD_FILE, PLAN_FILE, "cases", "evidence"})
"""What the folder of a record has."""
RETRIES: Final = 10
"""How often a class is verified again at most, where runs keep ending meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassVerification:
    """
    What was found for one class.

    :param records: how many records there are.
    :param newest: the newest record, if it can be read.
    :param head: ``SEQ:SHA256`` of the newest record.
    :param anchored_at: number of the record that a head kept elsewhere names; ``None`` if none was given.
    :param faults: empty if everything is valid; the first record first.
    :param stated: the rules of each record whose decision was not computed again, for it was decided by others, by
        number.
    :param incomplete: what keeps a valid chain from being complete, where that was asked for.
    """

    task_class: str
    faults: tuple[ChainFault, ...]
    records: int = 0
    newest: RunRecord | None = None
    head: str | None = None
    anchored_at: int | None = None
    incomplete: tuple[ChainFault, ...] = ()
    stated: Mapping[int, int] = field(default_factory=dict)

    def not_promoted(
        self, *, allow_replay: bool = False, allow_rules: Collection[int] = ()
    ) -> str | None:
        """
        Return why the newest record is not the promotion of a run after the head that was kept; ``None`` if it is.

        :param allow_replay: of outputs or answers that were recorded, too.
        :param allow_rules: decided by these rules, too, which cannot be computed again.
        """
        if self.newest is None:
            return "there is no record that can be read"
        if self.anchored_at is not None and self.newest.seq <= self.anchored_at:
            return f"there is no record after number {self.anchored_at}, the head that was kept"
        decision = self.newest.decision
        if decision.promotion_allowed:
            replayed = {"note_replayed", "note_http_replayed"} & set(decision.notes)
            if replayed and not allow_replay:
                return f"record {self.newest.seq} is a replay, which asked no system or no service (--allow-replay)"
            rules = self.newest.rules
            why = not_computed(rules)
            if why is not None and rules not in allow_rules:
                return f"record {self.newest.seq} was {why} (--allow-rules={rules})"
            return None
        codes = ", ".join(decision.reason_codes)
        return f"record {self.newest.seq} says {decision.outcome} ({codes})"


def verify(
    out: Path,
    retained: Mapping[str, Head],
    *,
    expected: Iterable[str] = (),
    require_complete: bool = False,
) -> tuple[ClassVerification, ...]:
    """
    Verify every class in an output folder, and every class that must be there.

    :param retained: heads that were kept elsewhere, by class; such a class must not have vanished.
    :param expected: further classes that must have a record.
    :param require_complete: also object to a class without a record, to a newest run that is incomplete, and to a
        session that began and left no record, or one that is not entered.
    :raises ArtifactError: the folder cannot be read.
    """
    try:
        os.listdir(out)
        parts = [path for path in (out / "runs", out / "evidence") if os.path.lexists(path)]
        names = {name for path in parts for name in os.listdir(path)}
    except OSError as error:
        raise ArtifactError(out, f"cannot be read: {error.strerror}") from error
    return tuple(
        verify_class(out, name, retained.get(name), require_complete=require_complete)
        for name in sorted({*names, *retained, *expected})
    )


def verify_class(
    out: Path, name: str, kept: Head | None = None, *, require_complete: bool = False
) -> ClassVerification:
    """Verify one class in an output folder; the parameters are those of :func:`verify`."""
    runs = out / "runs" / name
    reason = None
    copy = out / "evidence" / name
    linked = [path for path in (runs.parent, runs, copy.parent, copy) if path.is_symlink()]
    if not TASK_CLASS_PATTERN.fullmatch(name):
        reason = "no name of a task class"
    elif linked:
        reason = f"{linked[0]} is a link; a run writes into folders only"
    elif not runs.is_dir():
        reason = "missing: there is no record of this class"
    try:
        if reason is None:
            return _verify_retrying(out, name, kept, require_complete=require_complete)
    except Unreadable as error:
        reason = error.why
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
    return ClassVerification(task_class=name, faults=(ChainFault(0, runs, str(reason)),))


def _verify_retrying(
    out: Path, name: str, kept: Head | None, *, require_complete: bool
) -> ClassVerification:
    """Verify a class; again if a run ended meanwhile, since that changes the files that are compared."""
    runs = out / "runs" / name
    after = None
    for _ in range(RETRIES):
        before = after or (digest_of(runs / HEAD_FILE), numbered(runs))
        verification = _verify_runs(out, name, kept, require_complete=require_complete)
        after = digest_of(runs / HEAD_FILE), numbered(runs)
        if not (verification.faults or verification.incomplete) or before == after:
            break
    return verification


def _verify_runs(
    out: Path, name: str, kept: Head | None, *, require_complete: bool
) -> ClassVerification:
    runs = out / "runs" / name
    records = [ChainRecord.read(seq, folder) for seq, folder in numbered(runs)]
    readable = {one.folder: one.record for one in records if one.record is not None}
    faults = [
        *chain_faults(runs, kept, [one.link for one in records]),
        *_record_faults(records),
        *(ChainFault(AFTER, path, message) for path, message in _strays(runs)),
        *copy_faults(out / "evidence" / name, runs, readable),
    ]
    newest = None
    head = None
    if records:
        last = records[-1]
        newest = last.record
        if last.link.sha256 is not None:
            head = f"{last.seq}:{last.link.sha256}"
    lacking: Iterable[ChainFault] = ()
    if require_complete:
        lacking = _incompleteness(runs, newest, unentered(runs))
    anchored_at = None
    if kept is not None:
        anchored_at = kept.seq
    return ClassVerification(
        task_class=name,
        records=len(records),
        newest=newest,
        head=head,
        anchored_at=anchored_at,
        faults=tuple(sorted(faults, key=lambda fault: fault.seq)),
        incomplete=tuple(lacking),
        stated={
            one.seq: one.record.rules
            for one in records
            if one.record is not None and _is_stated(one.record)
        },
    )


def _record_faults(records: list[ChainRecord]) -> Iterator[ChainFault]:
    before: RunRecord | None = None
    looks = ChainLooks()
    for seq, folder, record, _ in records:
        if record is None:
            looks.add(folder / RECORD_FILE)
            yield ChainFault(seq, folder / RECORD_FILE, _unreadable(folder / RECORD_FILE))
        else:
            counted = looks.add_record(record, folder)
            faults = [
                *_folder_faults(folder, record),
                *_own_faults(folder, record, records, counted),
            ]
            for message in brief(faults).splitlines():
                yield ChainFault(seq, folder, message)
            if before is not None and record.clock_regressed != (
                record.finished_at < before.finished_at
            ):
                yield ChainFault(seq, folder, "clock_regressed does not agree with the times")
        before = record


def _own_faults(
    folder: Path, record: RunRecord, records: list[ChainRecord], counted: Counted | None
) -> Iterator[str]:
    yield from recheck_record(folder, record)
    if not _is_stated(record):
        yield from _look_faults(record, counted)
    yield from earlier_faults(record, records)


def _is_stated(record: RunRecord) -> bool:
    """Whether other rules decided a record, so that its decision and its look are taken as they stand."""
    return not_computed(record.rules) is not None


def _look_faults(record: RunRecord, counted: Counted | None) -> Iterator[str]:
    """Yield where the look of a record is not the one that the records before it give."""
    expected = None
    if counted is not None:
        expected = plain(_look_of(record, counted))
    stated = None
    if record.look is not None:
        stated = plain(record.look)
    yield from same("look", expected, stated)


def _look_of(record: RunRecord, counted: Counted) -> RecordedLook:
    """Return a look with the cases of earlier looks that it has to know."""
    before = record.compared_with
    if before is None or before.run is None or not counted.unlike:
        return counted.look
    side = arm(before.run, record.report)
    return with_seen(counted, side, record.report, is_beside=record.rerun is not None)


def _unreadable(path: Path) -> str:
    try:
        RunRecord.read_file(path, "record")
    except Unreadable as error:
        return error.why
    return "changed while it was read"


def _folder_faults(folder: Path, record: RunRecord) -> Iterator[str]:
    if folder.is_symlink():
        yield "is a symlink; a record is a folder of its own"
    expected = record_folder(record.seq, record.finished_at, record.report.run_id)
    if folder.name != expected:
        yield f"the folder of this record must be named {expected}"
    yield from same("report.task_class", folder.parent.name, record.report.task_class)
    for name in sorted(set(os.listdir(folder)) - PARTS):
        yield f"{name}: not part of a record: added later"


def _strays(runs: Path) -> Iterator[tuple[Path, str]]:
    for path in sorted(runs.iterdir()):
        is_own = path.name == HEAD_FILE or path.name.startswith((".", UNFINISHED))
        is_run = path.name == "floor" or FOLDER_NAME.fullmatch(path.name)
        if not is_own and not (path.is_dir() and is_run):
            yield path, "neither a record nor anything else that benchgate writes"


def _incompleteness(
    runs: Path, newest: RunRecord | None, waiting: int | None
) -> Iterator[ChainFault]:
    if newest is None:
        yield ChainFault(AFTER, runs, "there is no record")
    elif not newest.complete:
        yield ChainFault(newest.seq, runs, f"the newest run, record {newest.seq}, is incomplete")
    if waiting is not None:
        message = f"record {waiting} is not entered in {HEAD_FILE}: its process was killed"
        yield ChainFault(waiting, runs, message)
    for path in sorted(runs.glob(f"{UNFINISHED}*")):
        command = LEFT_BY.match(path.name)
        if command is None:
            message = "a session began and left no record: it was killed or exited"
        else:
            what = f"benchgate {command[1]}"
            message = f"{what} began and left no record: it was killed; type it again"
        yield ChainFault(AFTER, path, message)
