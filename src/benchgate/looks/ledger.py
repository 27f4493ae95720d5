"""A ledger of looks outside a bench: a file with a line for each look."""

from __future__ import annotations

import fcntl
import os
import threading
from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from benchgate.errors import ArtifactError
from benchgate.looks.tally import Counted, Looked, Tally
from benchgate.wire.parsing import first_fault

if TYPE_CHECKING:
    from io import BufferedRandom
    from pathlib import Path

    from benchgate.gates.decision import CheckpointPromotionDecision

_START: Final = b'{"at":'
"""Begins each line, and half a line that a killed process left begins likewise."""


class LookLedger(Tally):
    """
    Counts the looks of :func:`benchgate.accept`, an Acceptor and ``benchgate gate``; processes may share a file.

    The file is trusted: whoever can write it can take looks out of it.

    :param path: of the file, which need not exist.
    :raises ArtifactError: the file cannot be used, or has a line that is no look.
    """

    def __init__(self, path: Path | str) -> None:
        super().__init__()
        self._path = os.fspath(path)
        self._lock = threading.Lock()
        self._lines = 0
        self._end = 0
        if os.path.exists(self._path):
            self._share(None)

    def add(self, looked: Looked) -> Counted:
        """
        Count a look before it is judged.

        :raises ArtifactError: it cannot be written; then nothing may be judged.
        :raises EvalError: it is one of a search that is over.
        """
        with self._lock:
            self._share(looked)
            return self.number(looked)

    def note(self, looked: Looked, decision: CheckpointPromotionDecision) -> None:
        """
        Note that the candidate of a look was promoted, which ends its series once it is the baseline.

        A name stays what it is: whoever accepts a candidate gives it another one, or goes on with the count.
        """
        if decision.promotion_allowed and looked.becomes is not None:
            self.add(looked.model_copy(update={"promoted": True}))

    def _share(self, looked: Looked | None) -> None:
        """Read what other processes wrote, and write a look."""
        path = self._path
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            with open(descriptor, "rb+") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                self._read(file)
                if looked is not None and not self.has(looked):
                    line = f"{looked.model_dump_json(exclude_defaults=True)}\n".encode()
                    file.seek(self._end)
                    file.truncate()  # half a line, of a process that was killed before it judged
                    file.write(line)
                    file.flush()
                    os.fsync(file.fileno())
                    self._enter(line, looked)
        except OSError as error:
            raise ArtifactError(path, f"cannot be used: {error.strerror}") from error

    def _read(self, file: BufferedRandom) -> None:
        """Read the lines that other processes wrote since."""
        if os.fstat(file.fileno()).st_size < self._end:
            raise ArtifactError(self._path, f"line {self._lines} was there, and was cut off")
        file.seek(self._end)
        for line in file.read().splitlines(keepends=True):
            is_half = not line.endswith(b"\n")
            if is_half and (line.startswith(_START) or _START.startswith(line)):
                return  # its process was killed before it judged, so that it is no look
            try:
                looked = Looked.model_validate_json(line, extra="ignore")
            except ValidationError as error:
                why = f"line {self._lines + 1}: no look: {first_fault(error)}"
                raise ArtifactError(self._path, why) from error
            self._enter(line, looked)

    def _enter(self, line: bytes, looked: Looked) -> None:
        super().add(looked)  # as its own add() would write the line once more
        self._lines += 1
        self._end += len(line)
