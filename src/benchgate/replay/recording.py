"""What was recorded, as a source of a run: a cassette of the class, or a recorded run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.artifacts.trial_kinds import Replayed
from benchgate.audit.chain import RECORD_FILE
from benchgate.audit.runs import run_of_class
from benchgate.audit.sources import Source
from benchgate.cassettes.manifest import FOLDER, MANIFEST, CassetteManifest
from benchgate.errors import ArtifactError, EvalError, Unreadable
from benchgate.loader.observer import never
from benchgate.loader.systems import NamedSystem
from benchgate.wire.canonical import sha256_hex
from benchgate.wire.files import file_sha256, read_bytes
from benchgate.wire.parsing import MAX_JSON_BYTES

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.audit.runs import KnownRun
    from benchgate.registry import System
    from benchgate.results.rules import Rule


Recording = Source[CassetteManifest]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedSystem(NamedSystem):
    """
    A system that is not called: it may have neither its packages nor its keys here.

    :param recorded: SHA-256 of the checkpoint that it was handed.
    """

    call: System = never
    checkpoint: None = None
    recorded: str | None

    @classmethod
    def of(cls, source: Recording, wanted: object) -> RecordedSystem:
        """
        Return the system that was recorded, as far as it is needed to report its results.

        :param wanted: the system that was asked for, if one was.
        :raises EvalError: it is another one.
        """
        then = source.plan
        if wanted not in (None, then.system):
            msg = f"system {wanted!r} was asked for, but {source.replays} is of system {then.system!r}"
            raise EvalError(msg)
        return cls(name=then.system, digest=then.system_digest, recorded=then.checkpoint)

    def checkpoint_sha256(self) -> str | None:
        """Return that of then."""
        return self.recorded


def find_recording(class_path: Path, out: Path | None, wanted: str | Path, rule: Rule) -> Recording:
    """
    Return what was recorded under a name.

    :param out: the output folder, in which runs are found.
    :param wanted: the name of a cassette of the class; else number or folder of a run.
    :raises ArtifactError: there is no such cassette or run, or it cannot be read.
    """
    if isinstance(wanted, str) and not wanted.isdecimal():
        return _of_cassette(class_path / FOLDER / wanted, rule)
    return _of_run(run_of_class(out, class_path.name, wanted), rule)


def _of_cassette(folder: Path, rule: Rule) -> Recording:
    path = folder / MANIFEST
    try:
        data = read_bytes(path, limit=MAX_JSON_BYTES)
    except Unreadable as error:
        there = sorted(found.parent.name for found in folder.parent.glob(f"[!.]*/{MANIFEST}"))
        raise Unreadable(path, f"{error.why}; known: {', '.join(there) or 'none'}") from error
    replays = Replayed(
        kind="cassette",
        name=folder.name,
        sha256=sha256_hex(data),
        seq=None,
        observed=not rule.asks_nobody,
    )
    plan = CassetteManifest.parse(path, data, "manifest of a cassette")
    return Source(rule=rule, folder=folder, plan=plan, digests=plan.files, replays=replays)


def _of_run(run: KnownRun, rule: Rule) -> Recording:
    record = run.record
    if record is None:
        raise ArtifactError(run.folder, f"cannot be {rule.done}: it is {run.state}")
    replays = Replayed(
        kind="run",
        name=run.folder.name,
        sha256=file_sha256(run.folder / RECORD_FILE, limit=MAX_JSON_BYTES),
        seq=record.seq,
        observed=not rule.asks_nobody,
    )
    # What a cassette of it would say.
    plan = CassetteManifest.of_run(record.report, record.case_files)
    return Source(rule=rule, folder=run.folder, plan=plan, digests=plan.files, replays=replays)
