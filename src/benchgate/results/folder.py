"""The results of trials in a folder: on disk as soon as a trial ends, and found there by whoever asks for it again."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from benchgate.aggregate import INCOMPLETE, cost_of
from benchgate.artifacts.trial_kinds import TrialFile
from benchgate.errors import Unreadable
from benchgate.results.whole_files import add_whole, read_whole
from benchgate.trials.executor import TrialRecord
from benchgate.wire.canonical import sha256_hex
from benchgate.wire.files import MAX_TREE_BYTES, read_bytes
from benchgate.wire.model import SCHEMA_VERSION
from benchgate.wire.parsing import MAX_JSON_BYTES
from benchgate.wire.writing import write_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from benchgate.ids import TrialKey

CASES: Final = "cases"
"""The folder of a run that has the files of its trials."""


@dataclass(frozen=True, slots=True)
class Results:
    """
    The results of trials, each in a file of its own; any process may read and write them at any moment.

    :param folder: with the files: ``cases/`` of a run, or a cassette.
    :param digests: SHA-256 of each file that is to be believed, by its name; ``None``: of a run that goes on, whose
        files are whole because each gets its name only when it is.
    """

    folder: Path | str
    digests: Mapping[str, str] | None = None

    @classmethod
    def of_run(cls, run: Path) -> Results:
        """Return those of a run that goes on."""
        return cls(f"{run}/{CASES}")

    @classmethod
    def left_in(cls, run: Path) -> Results:
        """
        Return those that a run left which is not recorded, as far as they are whole.

        :raises Unreadable: the list of whole files cannot be read.
        """
        start = f"{CASES}/"
        whole = read_whole(run).items()
        own = {name.removeprefix(start): sha for name, sha in whole if name.startswith(start)}
        return cls(run / CASES, own)

    def get(self, key: TrialKey) -> TrialRecord | None:
        """Return the result of a trial; ``None`` if it is to be asked of the system, see :meth:`data`."""
        if self.digests is None and not os.path.exists(f"{self.folder}/{key.file_name}"):
            return None
        found = self._finished(key)
        if found is None:
            return None
        file, data = found
        return record_of(file, sha256_hex(data))

    def data(self, key: TrialKey) -> bytes | None:
        """
        Return the file of a finished trial.

        :returns: ``None`` if it is missing, torn or that of another trial, or if it says nothing about the system. An
            output that could not be scored yet does.
        """
        found = self._finished(key)
        if found is None:
            return None
        return found[1]

    def all_of(self, keys: Iterable[TrialKey]) -> Iterator[tuple[str, bytes]]:
        """Yield name and bytes of the file of each of these trials that is finished."""
        for key in keys:
            data = self.data(key)
            if data is not None:
                yield key.file_name, data

    def put(self, key: TrialKey, record: TrialRecord) -> str:
        """
        Write the result of a trial of a run that goes on, and return the SHA-256 of its file.

        Whole or not at all, whenever the process is killed. Not synced: the record of the run has the digest, so that a
        file which a power cut took is noticed.

        :raises ArtifactError: it cannot be written.
        """
        # Concatenated as text: the output may be large, and it is JSON already.
        ran_by = ""
        if record.worker:
            ran_by = f', "worker": {json.dumps(record.worker)}'
        seen = ""
        if record.observations:
            seen = f', "observations": [{", ".join(record.observations)}]'
        result = record.result.model_dump_json(ensure_ascii=True)
        data = (
            f'{{"schema_version": {SCHEMA_VERSION}, "report_kind": "case", '
            f'"task_class": {json.dumps(key.task_class)}, "case_id": {json.dumps(key.case_id)}, '
            f'"result": {result}, "output": {record.output_json or "null"}, '
            f'"scorer": {json.dumps(record.scorer)}{ran_by}{seen}}}\n'
        ).encode()
        sha256 = sha256_hex(data)
        name = key.file_name
        write_file(f"{self.folder}/{name}", data, durable=False)
        add_whole(os.path.dirname(self.folder), f"{CASES}/{name}", sha256)
        return sha256

    def read(self, key: TrialKey, limit: int = MAX_TREE_BYTES) -> tuple[TrialFile, bytes]:
        """
        Return the file of a trial and its bytes, whatever became of the trial.

        :raises Unreadable: it cannot be read, is of another trial, or is not the file that is to be believed.
        """
        name = key.file_name
        path = f"{self.folder}/{name}"
        data = read_bytes(path, limit=limit)
        if self.digests is not None and sha256_hex(data) != self.digests.get(name):
            raise Unreadable(path, "was changed after it was recorded")
        file = TrialFile.parse(path, data, "file of a trial")
        found = file.result
        own = (file.task_class, found.case_id, found.trial, found.seed)
        if own != (key.task_class, key.case_id, key.trial, key.seed):
            raise Unreadable(path, "is the file of another trial")
        return file, data

    def _finished(self, key: TrialKey) -> tuple[TrialFile, bytes] | None:
        path = f"{self.folder}/{key.file_name}"
        if self.digests is not None and key.file_name not in self.digests:
            return None
        try:
            file, data = self.read(key, MAX_JSON_BYTES)
        except Unreadable:
            return None
        result = file.result
        awaits_score = result.outcome == "unavailable" and file.output is not None
        # Whoever scores it later would not find the files that a rubric may read.
        is_kept = awaits_score and not result.left_files
        if result.outcome in INCOMPLETE and not is_kept:
            return None
        if os.path.islink(path):
            return None
        return file, data


def record_of(file: TrialFile, sha256: str | None = None) -> TrialRecord:
    """Return what the file of a trial says, as whoever ran it told it."""
    output = None
    if file.output is not None:
        output = json.dumps(file.output)
    return TrialRecord(
        result=file.result,
        output_json=output,
        scorer=file.scorer,
        file_sha256=sha256,
        worker=file.worker,
        observations=tuple(map(json.dumps, file.observations)),
    )


def costs_before(plan: Path, *, own: bool = False) -> Iterator[float]:
    """
    Yield what the trials have cost that a run took over from another: their files are older than its plan.

    :param plan: the file of the run's plan.
    :param own: the trials of the run itself too.
    """
    begun = 0
    if plan.exists():
        begun = plan.stat().st_mtime_ns
    for path in (plan.parent / CASES).glob("*.json"):
        with suppress(Unreadable):
            is_older = own or path.stat().st_mtime_ns <= begun
            if not is_older:
                continue
            cost = cost_of(TrialFile.read_file(path, "trial").result)
            if cost is not None:
                yield cost
