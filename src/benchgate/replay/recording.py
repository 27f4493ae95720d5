"""What is replayed: a cassette of the class, or a recorded run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.artifacts.run_kinds import Replayed
from benchgate.audit.chain import RECORD_FILE
from benchgate.audit.runs import run_of_class
from benchgate.cassettes.manifest import FOLDER, MANIFEST, CassetteManifest, file_faults
from benchgate.errors import ArtifactError, EvalError, PlanChanged, Unreadable, few
from benchgate.ids import trial_file_name
from benchgate.loader.observer import never
from benchgate.loader.systems import NamedSystem
from benchgate.results.folder import CASES, Results
from benchgate.wire.canonical import sha256_hex
from benchgate.wire.files import file_sha256, read_bytes
from benchgate.wire.parsing import MAX_JSON_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from benchgate.audit.runs import KnownRun
    from benchgate.ids import RunPlan
    from benchgate.registry import System
    from benchgate.results.rules import Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """
    The trials of one system, recorded.

    :param rule: by which they are taken over.
    :param folder: with the files of the trials.
    :param manifest: of the cassette; of a run, what it would be.
    """

    source: Replayed
    rule: Rule
    folder: Path
    manifest: CassetteManifest

    def check(self, plan: RunPlan, keys: Iterable[tuple[str, int]]) -> None:
        """
        Check that it has all that a run needs.

        :param keys: case id and trial of each trial that is to run.
        :raises PlanChanged: with a line for each thing that it lacks or that has changed since.
        """
        then, now = self.manifest, CassetteManifest.of_run(plan, {})
        differences = list(self.rule.differences(then, now))
        unreadable = then.cases.keys() & set(plan.case_ids) - now.cases.keys()
        if unreadable:
            differences.append(f"cases that cannot be read any more: {few(unreadable)}")
        there = then.cases.keys() & now.cases.keys()  # a case that cannot be read is not run
        names = [trial_file_name(c, t) for c, t in keys if c in there and t < then.trial_count]
        differences += file_faults(self.folder, then.files, names)
        if differences:
            raise PlanChanged(self.folder, differences, self.rule.done)

    @property
    def is_observed_again(self) -> bool:
        """Whether the outputs are observed anew."""
        return self.rule.scores == "observed"

    @property
    def results(self) -> Results:
        """Those of its trials, as they were recorded."""
        return Results(self.folder, self.manifest.files)

    def named_system(self, wanted: object) -> NamedSystem:
        """
        Return the system that was recorded, as far as it is needed to report its results.

        :param wanted: the system that was asked for, if one was.
        :raises EvalError: it is another one.
        """
        if wanted not in (None, self.manifest.system):
            msg = f"system {wanted!r} was asked for, but {self.source} is of system {self.manifest.system!r}"
            raise EvalError(msg)
        return RecordedSystem(
            name=self.manifest.system,
            digest=self.manifest.system_digest,
            recorded=self.manifest.checkpoint,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedSystem(NamedSystem):
    """
    A system that is not called: it may have neither its packages nor its keys here.

    :param recorded: SHA-256 of the checkpoint that it was handed.
    """

    call: System = never
    checkpoint: None = None
    recorded: str | None

    def checkpoint_sha256(self) -> str | None:
        """Return that of then."""
        return self.recorded


def find_recording(
    class_path: Path, out: Path | None, wanted: str | Path | None, rule: Rule
) -> Recording | None:
    """
    Return what is to be replayed, if anything is.

    :param out: the output folder, in which runs are found.
    :param wanted: the name of a cassette of the class; else number or folder of a run.
    :raises ArtifactError: there is no such cassette or run, or it cannot be read.
    """
    if wanted is None:
        return None
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
    source = Replayed(
        kind="cassette",
        name=folder.name,
        sha256=sha256_hex(data),
        seq=None,
        observed=rule.scores == "observed",
    )
    manifest = CassetteManifest.parse(path, data, "manifest of a cassette")
    return Recording(source=source, rule=rule, folder=folder, manifest=manifest)


def _of_run(run: KnownRun, rule: Rule) -> Recording:
    record = run.record
    if record is None:
        raise ArtifactError(run.folder, f"cannot be {rule.done}: it is {run.state}")
    sha256 = file_sha256(run.folder / RECORD_FILE, limit=MAX_JSON_BYTES)
    source = Replayed(
        kind="run",
        name=run.folder.name,
        sha256=sha256,
        seq=record.seq,
        observed=rule.scores == "observed",
    )
    manifest = CassetteManifest.of_run(record.report, record.case_files)
    return Recording(source=source, rule=rule, folder=run.folder / CASES, manifest=manifest)
