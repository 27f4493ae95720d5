"""
Writes the output folder: each trial as it ends, and at the end the record with its evidence.

What only a run needs that is recorded is imported where it is used: an editor runs one case, and waits for it.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.artifacts.trial_kinds import SelectedRecord, case_file_name
from benchgate.audit.chain import (
    EXTENDING,
    RECORD_FILE,
    STAMP,
    UNFINISHED,
    read_end,
    record_folder,
    write_head,
)
from benchgate.errors import ArtifactError, counted
from benchgate.ids import TrialKey
from benchgate.results.folder import Results
from benchgate.results.whole_files import WHOLE_FILES
from benchgate.trials.executor import TrialRecord
from benchgate.wire.canonical import sha256_hex
from benchgate.wire.files import file_sha256, read_bytes
from benchgate.wire.model import MAX_DIGESTS, SCHEMA_VERSION
from benchgate.wire.parsing import MAX_JSON_BYTES
from benchgate.wire.writing import (
    artifact_errors,
    check_folders,
    check_writable,
    locked,
    make_folder,
    model_bytes,
    rename,
    write_draft,
    write_file,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from benchgate.artifacts.record import ChainSlot, Entry
    from benchgate.artifacts.run_kinds import Verdict
    from benchgate.artifacts.trial_kinds import PlanFile
    from benchgate.audit.chain import Link
    from benchgate.audit.runs import KnownRun
    from benchgate.audit.sources import Source, Sources
    from benchgate.audit.unfinished import Begun
    from benchgate.models import BenchRunReport, Scope, Side, TrialResult
    from benchgate.wire.holding import Hold
    from benchgate.wire.shard import Shard

    Reports = Mapping[Side, BenchRunReport]


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """
    Where a run was written.

    :param evidence: the copy that the next full run replaces.
    :param shard: of a shard, ``I=SHA256``: what ``benchgate merge --expect`` takes.
    :param problem: why that copy, or ``HEAD.json``, is not as it should be; the run is recorded all the same.
    """

    folder: Path
    evidence: Path | None = None
    seq: int | None = None
    sha256: str | None = None
    shard: str | None = None
    verdict: Verdict = "not_evaluated"
    problem: str | None = None

    @property
    def head(self) -> str | None:
        """The new head of the chain, ``SEQ:SHA256``: what ``benchgate verify --head`` takes."""
        if self.sha256 is None:
            return None
        return f"{self.seq}:{self.sha256}"


def unfinished_name(
    started: datetime, extends: KnownRun | None = None, command: str | None = None
) -> str:
    """
    Return the name of the folder that a full run of this process, or an extension, has until it is recorded.

    :param command: ``gate`` or ``merge``, which call no system; see :data:`~benchgate.audit.chain.LEFT_BY`.
    """
    # A process may run twice in a second, and the first run may have left its folder.
    stamp = f"{started:{STAMP}}-{os.getpid()}-{secrets.randbelow(10**6):06}"
    if extends:
        return EXTENDING.format(seq=extends.seq, stamp=stamp)
    if command:
        stamp = f"{command}-{stamp}"
    return UNFINISHED + stamp


def shard_folder(out: Path, task_class: str, shard: Shard) -> Path:
    """Return where a part of a run is written, for ``benchgate merge``."""
    return out / "shards" / task_class / f"{shard.number}-of-{shard.total}"


class RunStore:
    """
    Writes one class's run below the output folder.

    Trials are written as they end, into a folder that gets its name in the chain only at the end: a killed
    process leaves what it recorded in ``runs/<class>/incomplete-...``.

    :param name: of that folder, see :func:`unfinished_name`.

    ``folder`` is where the run is written until it is recorded. ``plan`` is as it is written, of a full run or a shard.
    ``sources`` are what of the run was there already.
    """

    def __init__(
        self, out: Path, task_class: str, scope: Scope, name: str, shard: Shard | None = None
    ) -> None:
        self._out = out
        self._task_class = task_class
        self._scope = scope
        self._runs = out / "runs" / task_class
        self._copy = out / "evidence" / task_class
        self._shard = shard
        self.folder = out / "last-selected" / task_class
        if scope == "full":
            self.folder = self._runs / name
        elif shard is not None:
            self.folder = shard_folder(out, task_class, shard)
        self._written: dict[str, tuple[TrialResult, str]] = {}
        self.plan: PlanFile | None = None
        self.sources: Sequence[Source[PlanFile]] = ()
        self._held: Hold | None = None
        self.is_closed = False

    def open_selected(self) -> list[str]:
        """
        Make the folder of a part of the cases, in the place of the last one.

        :returns: warnings.
        :raises ArtifactError: not writable, open to every user, or redirected by a link.
        """
        check_writable(self._out)
        warnings = self._check_folders()
        shutil.rmtree(self.folder, ignore_errors=True)
        make_folder(self.folder / "cases")
        return warnings

    def open(self, plan: PlanFile, find: Sources | None = None) -> list[str]:
        """
        Make the folder of a full run or of a shard, and fail now if it could not be recorded at its end.

        :param find: returns the results that are there already; ``None``: nobody looks for any.
        :returns: warnings.
        :raises ArtifactError: not writable, open to every user, redirected by a link, the chain is damaged, the run
            cannot be resumed, or it has more trials than a record.
        """
        from benchgate.audit.sources import nothing
        from benchgate.audit.unfinished import begin, begin_shard, remove_left

        self._check_size(plan)
        check_writable(self._out)
        warnings = self._check_folders()
        if self._shard is not None:
            self._took(begin_shard(self.folder, plan, find or nothing))
            return warnings
        make_folder(self._runs)
        with locked(self._runs):
            self._end()
            remove_left(self.folder)
            self._took(begin(self.folder, plan, find or nothing))
        return warnings

    def _took(self, begun: Begun) -> None:
        self._held = begun.held
        self.plan = begun.plan
        self.sources = begun.sources

    def _check_size(self, plan: PlanFile) -> None:
        """Refuse a run whose record could not be written at its end, or that of the shards that this is one of."""
        cases = len(plan.case_ids)
        if self._shard is not None:
            # At least: the cases are dealt out in turn, and this shard has so many of them.
            cases = (cases - 1) * self._shard.total + self._shard.number
        sides = len(plan.sides)
        trials = cases * plan.trial_count * sides
        if trials <= MAX_DIGESTS:
            return
        parts = [counted(cases, "case"), f"{counted(plan.trial_count, 'trial')} of each"]
        if sides > 1:
            parts.append("both sides")
        why = f"a record has at most {MAX_DIGESTS} trials, and this would have {trials}"
        step = "use fewer trials, or judge a part of the cases at a time"
        raise ArtifactError(self._runs, f"{why} ({', '.join(parts)}): {step}")

    def _check_folders(self) -> list[str]:
        return list(check_folders(self._out, self.folder / "cases", self._copy))

    def detach(self) -> Path:
        """
        Rename the folder of a full run that ends, and return its new name.

        A trial that still runs, in a thread or in a worker, then writes its file to a name that is gone. Not synced:
        whichever name a power cut leaves, the run is unfinished; and a failed sync would leave the name unknown.

        :raises ArtifactError: it cannot be renamed; the folder has its old name, or is gone itself.
        """
        ending = self.folder.with_name(f"{self.folder.name}-0")
        with artifact_errors(self.folder, "renamed"):
            os.rename(self.folder, ending)
        self.folder = ending
        return ending

    def keep(self, record: TrialRecord, side: Side) -> None:
        """
        Write the file of a trial, unless whoever finished the trial has written it.

        Of a trial that is set aside such a file stays as it is: it has what the trial came to, for whoever resumes.

        :raises ArtifactError: it cannot be written.
        """
        result = record.result
        key = TrialKey(self._task_class, result.case_id, result.trial, result.seed, side)
        sha256 = record.file_sha256
        if sha256 is None:
            sha256 = Results.of_run(self.folder).put(key, record)
        self._written[key.file_name] = result, sha256

    def _settle_trials(self, reports: Reports) -> None:
        """Write the results that are known only at the end: trials that never ran, inputs that changed."""
        if self.is_closed:
            raise ArtifactError(self._out, "writing failed before")
        for side, result in ((s, result) for s in reports for result in reports[s].per_case):
            name = case_file_name(result, side)
            written = self._written.get(name)
            if written is None:
                self.keep(TrialRecord(result=result, output_json=None), side)
            elif written[0] is not result and written[0] != result:
                then = json.loads(read_bytes(self.folder / "cases" / name, limit=MAX_JSON_BYTES))
                rewritten = TrialRecord(
                    result=result,
                    output_json=json.dumps(then["output"]),
                    scorer=then["scorer"],
                    worker=then.get("worker"),
                    observations=tuple(map(json.dumps, then.get("observations", ()))),
                )
                self.keep(rewritten, side)
        for stray in (self.folder / "cases").glob(".*.tmp"):
            stray.unlink()  # half a file, of when the folder was renamed

    def publish_selected(self, reports: Reports, finished: datetime) -> Published:
        """
        Finish a run of a part of the cases: no evidence, no record.

        :raises ArtifactError: a file cannot be written.
        """
        self._settle_trials(reports)
        record = SelectedRecord(
            schema_version=SCHEMA_VERSION,
            report_kind="selected",
            finished_at=finished,
            report=reports["candidate"],
        )
        write_file(self.folder / "report.json", model_bytes(record))
        if self._shard is None:
            return Published(folder=self.folder)
        digest = file_sha256(self.folder / WHOLE_FILES, limit=MAX_JSON_BYTES)
        return Published(folder=self.folder, shard=f"{self._shard.number}={digest}")

    def publish(self, reports: Reports, build: Callable[[ChainSlot], Entry]) -> Published:
        """
        Finish a full run: evidence, record, chain, and the copy of the evidence.

        :param build: makes the record once its place in the chain is known; called under the chain's lock.
        :raises ArtifactError: a file cannot be written, or the chain is damaged; old files are intact.
        """
        from benchgate.audit.evidence_copy import write_copy

        self._check_folders()  # again: the run may have taken hours
        self._settle_trials(reports)
        with locked(self._runs):
            end = self._end()
            record, files = build(self._slot(end))
            record_bytes = model_bytes(record)
            evidence = self.folder / "evidence"
            make_folder(evidence)
            for name, data in files.items():
                write_draft(evidence / name, data)
            write_file(self.folder / RECORD_FILE, record_bytes)
            seq = end.seq + 1
            (self.folder / WHOLE_FILES).unlink(missing_ok=True)  # the record has the digests
            final = self._runs / record_folder(seq, record.finished_at, record.report.run_id)
            sha256 = sha256_hex(record_bytes)
            rename(self.folder, final)
            problems = [write_copy(self._copy, final)]
            # HEAD.json comes last: a killed process leaves a record that follows the head, or none; see unentered().
            try:
                write_head(self._runs, seq, sha256)
            except ArtifactError as error:
                problems.append(f"{error}; run {seq} is recorded, and the next run enters it")
        return Published(
            folder=final,
            evidence=self._copy,
            seq=seq,
            sha256=sha256,
            verdict=record.verdict,
            problem="; ".join(filter(None, problems)) or None,
        )

    def close(self) -> None:
        """Let others have the folder of the run: it is recorded, or it can be resumed. Nothing is written any more."""
        self.is_closed = True
        if self._held is not None:
            self._held.close()

    def _end(self) -> Link:
        from benchgate.audit.evidence_copy import write_copy

        return read_end(self._runs, lambda folder: write_copy(self._copy, folder))

    def _slot(self, end: Link) -> ChainSlot:
        from benchgate.artifacts.record import ChainSlot
        from benchgate.audit.walk import chain_faults

        if self.plan is None:
            raise ArtifactError(self.folder, "only a full run has a record")
        previous_finished = None
        if end.stated is not None:
            previous_finished = end.stated.finished_at
        return ChainSlot(
            seq=end.seq + 1,
            prev_hash=str(end.sha256),
            folder=self.folder,
            plan=self.plan,
            previous_finished=previous_finished,
            chain_intact=lambda: not chain_faults(self._runs),
            case_files={name: sha256 for name, (_, sha256) in self._written.items()},
        )
