"""Says whether a recorded run may become the baseline of its class."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.artifacts.pin import PIN_FILE
from benchgate.audit.chain import RECORD_FILE
from benchgate.check.cases import read_cases
from benchgate.check.pinned import differences
from benchgate.gates.baseline import FILE_NAME, read_baseline
from benchgate.verify.verification import verify_class

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from benchgate.artifacts.run_kinds import RunRecord
    from benchgate.audit.runs import KnownRun


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
        yield f"{refused}: it is {run.state}{f' by {run.resumed_by}' if run.resumed_by else ''}"
        return
    faults = [f for f in verify_class(out, run.folder.parent.name).faults if f.seq <= run.seq]
    if faults:
        yield f"{refused}, it is not verified: {faults[0].path}: {faults[0].message}"
        return
    baseline = read_baseline(run.folder / RECORD_FILE)
    yield from (f"{refused}: {problem}" for problem in baseline.problems)
    if baseline.report is not None:
        cases = {c: sha for c, sha in read_cases(class_path)[0].items() if c not in new}
        for difference in differences(baseline.report, class_path, cases, "the run"):
            yield f"{refused}: {difference}; run the class again, or replay this run: --bench-replay"


def doubts(record: RunRecord) -> Iterator[str]:
    """Yield why a person who pins a run has to say why, though it is whole."""
    decision, failures = record.decision, record.report.block_severity_failure_modes
    if decision.outcome == "reject":
        yield "the gate rejected it"
    if failures:
        yield f"it has failures of severity block: {', '.join(failures)}"
    if record.replays is not None and not record.replays.observed:
        yield f"it replays {record.replays}, and asked no system"
    elif "note_http_replayed" in decision.notes:
        yield "what its systems asked for was replayed"
