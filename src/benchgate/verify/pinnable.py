"""Says whether a recorded run may become the baseline of its class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from benchgate.artifacts.pin import Extended
from benchgate.artifacts.run_kinds import RunRecord
from benchgate.audit.chain import RECORD_FILE, numbered
from benchgate.check.cases import read_cases
from benchgate.check.pinned import differences
from benchgate.gates.baseline import read_baseline
from benchgate.gates.choice import FILE_NAME, PIN_FILE
from benchgate.gates.decision import PREFIX
from benchgate.gates.rules import not_computed
from benchgate.verify.verification import verify_class
from benchgate.wire.files import file_sha256
from benchgate.wire.parsing import MAX_JSON_BYTES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from benchgate.artifacts.pin import Pin
    from benchgate.audit.runs import KnownRun

FOREIGN: Final = {
    "checkpoint_mismatch": "checkpoint",
    "observer_mismatch": "observer",
}
"""Reasons of a hold by which a run may be no evidence of what it is said to be, and of what."""


def objections(
    out: Path, run: KnownRun, class_path: Path, new: Collection[str] = ()
) -> Iterator[str]:
    """
    Yield why a run must not become ``baseline.json``, a line for each reason; nothing if it may.

    A run may that is complete, is verified with all records before it, and has the cases and the rubric that the class
    has now: compared with any other, each run would be held.

    :param out: the output folder that the run is in.
    :param new: cases that it may lack, for it is to be extended.
    """
    for target in (class_path / FILE_NAME, class_path / PIN_FILE):
        if target.is_symlink() or (target.exists() and not target.is_file()):
            yield f"{target}: is a link or no file, so it is not replaced; remove it"
    refused = f"{run.folder}: cannot be pinned"
    if run.seq is None or run.state != "complete":
        yield f"{refused}: {_state(run)}"
        return
    faults = [f for f in verify_class(out, run.folder.parent.name).faults if f.seq <= run.seq]
    if faults:
        yield f"{refused}, it is not verified: {faults[0].path}: {faults[0].message}"
        return
    baseline = read_baseline(run.folder / RECORD_FILE)
    yield from (f"{refused}: {problem.text}" for problem in baseline.problems)
    if baseline.report is not None:
        if all(result.outcome == "harness_error" for result in baseline.report.per_case):
            yield f"{refused}: every trial ended in an error; mend the system, and pin its next run"
        cases = {c: sha for c, sha in read_cases(class_path)[0].items() if c not in new}
        for difference in differences(baseline.report, class_path, cases, "the run"):
            yield f"{refused}: {difference}; run the class again, or replay this run: --bench-replay"


def _state(run: KnownRun) -> str:
    if run.resumed_by is None:
        return f"it is {run.state}"
    return f"it is {run.state} by {run.resumed_by}"


def doubts(record: RunRecord, extended: Iterable[RunRecord] = ()) -> Iterator[str]:
    """
    Yield why a person who pins a run has to say why, though it is whole.

    :param extended: the records that it was extended from: what spoke against one of them speaks against it too.
    """
    own = list(_own_doubts(record))
    yield from own
    for part in extended:
        others = (doubt for doubt in _own_doubts(part) if doubt not in own)
        yield from (f"it extends run {part.seq}: {doubt}" for doubt in others)


def unchecked(record: RunRecord) -> Iterator[str]:
    """Yield that nobody computed again whether the gate rejected a run, a doubt until it is pinned."""
    why = not_computed(record.rules)
    if why is not None:
        yield f"its decision ({record.decision.outcome}) was {why}"


def _own_doubts(record: RunRecord) -> Iterator[str]:
    decision = record.decision
    failures = record.report.block_severity_failure_modes
    if decision.outcome == "reject":
        yield "the gate rejected it"
    for remark in decision.remarks:
        code = remark.code.removeprefix(PREFIX)
        if code in FOREIGN:
            yield f"it was held, for its results may belong to another {FOREIGN[code]}: {remark.text}"
    if failures:
        yield f"it has failures of severity block: {', '.join(failures)}"
    if record.replays is not None and not record.replays.observed:
        yield f"it replays {record.replays}, and asked no system"
    elif "note_http_replayed" in decision.notes:
        yield "what its systems asked for was replayed"


def extended_records(run: KnownRun) -> list[RunRecord]:
    """Return the records that a run was extended from, the oldest first; they are in its folder, as it is verified."""
    found: dict[str, RunRecord] = {}
    if run.record is None or not run.record.report.parts:
        return []
    wanted = [part.sha256 for part in run.record.report.parts]
    for _, folder in numbered(run.folder.parent):
        path = folder / RECORD_FILE
        if file_sha256(path, limit=MAX_JSON_BYTES) in wanted:
            record, sha256 = RunRecord.read_digested(path, "record")
            found[sha256] = record
    return [found[sha256] for sha256 in wanted if sha256 in found]


def extended_pins(
    run: KnownRun, extended: Sequence[RunRecord], pinned: Pin | None
) -> tuple[Extended, ...]:
    """
    Return what is known of the pins of the records that a run was extended from.

    :param pinned: the pin of the baseline that there is now, most often that of the last of them.
    """
    if run.record is None:
        return ()
    known: dict[str, Pin | Extended] = {}
    if pinned is not None:
        known.update((one.sha256, one) for one in pinned.extends)
        known[pinned.sha256] = pinned
    found = []
    later = [*extended, run.record][1:]
    for part, before, after in zip(run.record.report.parts, extended, later, strict=True):
        said: dict[str, Any] = {"by": None, "at": None, "reason": None}
        pin = known.get(part.sha256)
        if pin is not None:
            said = {
                "by": pin.by,
                "at": pin.at,
                "reason": pin.reason,
                "new_series": pin.new_series,
            }
        added = after.report.digests.cases.keys() - before.report.digests.cases.keys()
        found.append(
            Extended(
                sha256=part.sha256,
                outcome=before.decision.outcome,
                added=len(added),
                **said,
            )
        )
    return tuple(found)
