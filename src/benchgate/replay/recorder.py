"""Makes a cassette of a run."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.cassettes.manifest import FOLDER, MANIFEST, CassetteManifest, file_faults
from benchgate.cassettes.shelf import HTTP, OBSERVED
from benchgate.errors import ArtifactError, PlanChanged, brief
from benchgate.ids import trial_file_name
from benchgate.results.rules import RENEW
from benchgate.wire.canonical import sha256_hex
from benchgate.wire.files import MAX_TREE_BYTES, file_sha256, read_bytes
from benchgate.wire.secrets import secret_in_text
from benchgate.wire.writing import check_writable, make_folder, model_bytes, rename, write_draft

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from benchgate.ids import RunPlan
    from benchgate.models import BenchRunReport


@dataclass(frozen=True, slots=True)
class CassetteRecorder:
    """Records the cassette of a name, of the class in a folder."""

    class_path: Path
    name: str

    @property
    def folder(self) -> Path:
        """Where the cassette is, or will be."""
        return self.class_path / FOLDER / self.name

    def check(self, plan: RunPlan, out: Path | None, *, resume: bool) -> None:
        """
        Fail before anything is run if it could not be recorded.

        :param out: the output folder, from which the trials are taken in the end.
        :param resume: trials that an earlier session recorded are part of it.
        :raises ArtifactError: the folder cannot be written, or see :meth:`write`.
        """
        if out is None:
            raise ArtifactError(self.folder, "is recorded from an output folder only: give one")
        check_writable(self.folder.parent)
        self._to_renew(plan)
        if not resume:
            shutil.rmtree(self.drafts(out), ignore_errors=True)

    def drafts(self, out: Path) -> Path:
        """Return where the HTTP of each trial is kept, by whoever runs it, until the cassette is written."""
        return out / "recording" / self.class_path.name / self.name

    def write(self, report: BenchRunReport, run: Path, out: Path | None) -> Path:
        """
        Write the cassette, all of it or nothing: a run of all cases replaces it, one of a part renews that part.

        :param run: the folder of the run, with the files of its trials.
        :param out: the output folder, where what was recorded of their HTTP is kept until then; ``None``: keep none.
        :returns: its folder.
        :raises ArtifactError: the run is incomplete or has no output, or the part is of another system than the rest.
        """
        if not report.complete:
            why = "not recorded: the run is incomplete; complete it with the option resume, and record again"
            raise ArtifactError(self.folder, why)
        if not any(result.outcome in {"scored", "rubric_error"} for result in report.per_case):
            raise ArtifactError(self.folder, "not recorded: no trial returned an output")
        names = [trial_file_name(result.case_id, result.trial) for result in report.per_case]
        sources = {name: run / "cases" / name for name in names}
        drafts = self.drafts(out or run)
        if out is not None:
            for name, sha256 in _recorded(report):
                sources[name] = self._draft(drafts / name, sha256)
        cases = report.digests.cases
        old = self._to_renew(report)
        if old is not None:
            sources |= self._kept(old, cases, set(map(_stem, names)))
            cases = {**old.cases, **cases}
        draft = self.folder.with_name(f".{self.name}.{os.getpid()}")
        try:
            manifest = CassetteManifest.of_run(report, _copies(sources, draft))
            manifest = manifest.model_copy(update={"cases": cases})
            write_draft(draft / MANIFEST, model_bytes(manifest))
            # Aside first: a folder cannot take the name of one that is not empty.
            if self.folder.exists():
                os.rename(self.folder, f"{draft}.old")
            rename(draft, self.folder)
            shutil.rmtree(f"{draft}.old", ignore_errors=True)
            shutil.rmtree(drafts, ignore_errors=True)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        return self.folder

    def _draft(self, path: Path, sha256: str) -> Path:
        """Return what was recorded of a trial's HTTP, if it is that: drafts of a name outlive a session."""
        if path.exists() and file_sha256(path, limit=MAX_TREE_BYTES) == sha256:
            return path
        why = f"not recorded: {path.name} is gone or of another run; record all cases in one run"
        raise ArtifactError(self.folder, why)

    def _to_renew(self, run: RunPlan | BenchRunReport) -> CassetteManifest | None:
        """Return the manifest of the cassette that a run of a part of the cases renews a part of."""
        if run.scope == "full" or not self.folder.exists():
            return None
        old = CassetteManifest.of(self.folder)
        differences = list(RENEW.differences(old, CassetteManifest.of_run(run, {})))
        if differences:
            how = f"{RENEW.done}: run all of them, or give another name"
            raise PlanChanged(self.folder, differences, how)
        return old

    def _kept(
        self, old: CassetteManifest, cases: Mapping[str, str], renewed: set[str]
    ) -> dict[str, Path]:
        """Return the files that stay: those of other trials, unless their case has changed."""
        changed = {
            _stem(trial_file_name(case_id, trial))
            for case_id, digest in old.cases.items()
            if cases.get(case_id, digest) != digest
            for trial in range(old.trial_count)
        }
        kept = [name for name in old.files if _stem(name) not in renewed | changed]
        faults = list(file_faults(self.folder, old.files, kept))
        if faults:
            raise ArtifactError(self.folder, brief(faults, "; "))
        return {name: self.folder / name for name in kept}


def _recorded(report: BenchRunReport) -> Iterator[tuple[str, str]]:
    """Yield name and SHA-256 of what was recorded of the HTTP of each trial, its system's and each observation's."""
    for result in report.per_case:
        if result.http_cassettes:
            continue  # its HTTP was not recorded but played
        own = [result.http_sha256]
        if result.observed is not None:
            own += result.observed.http
        for number, sha256 in enumerate(own):
            if sha256 is not None:
                suffix = HTTP
                if number > 0:
                    suffix = OBSERVED.format(number)
                yield trial_file_name(result.case_id, result.trial, suffix=suffix), sha256


def _stem(name: str) -> str:
    """Return what the names of all files of a trial begin with; ids of cases have no dot."""
    return name.partition(".")[0]


def _copies(sources: dict[str, Path], folder: Path) -> dict[str, str]:
    """Copy files into a new folder, and return their SHA-256."""
    shutil.rmtree(folder, ignore_errors=True)
    make_folder(folder)
    digests = {}
    for name, path in sorted(sources.items()):
        data = read_bytes(path, limit=MAX_TREE_BYTES)
        secret = secret_in_text(data.decode(errors="replace"), os.environ)
        if secret is not None:
            raise ArtifactError(folder, f"not recorded: {name} has {secret}")
        write_draft(folder / name, data)
        digests[name] = sha256_hex(data)
    return digests
