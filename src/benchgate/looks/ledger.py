"""A ledger of looks outside a bench: in memory, or in a file whose lines name each the one before."""

from __future__ import annotations

import fcntl
import os
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field, ValidationError

from benchgate.errors import ArtifactError
from benchgate.looks.tally import Looked, Tally
from benchgate.wire.canonical import sha256_hex
from benchgate.wire.model import Count, Sha256, WireModel, first_fault

if TYPE_CHECKING:
    from io import BufferedRandom
    from pathlib import Path


GENESIS: Final = "0" * 64
_START: Final = b'{"seq":'


class LedgerLine(WireModel):
    """
    One look.

    :param prev_hash: SHA-256 of the line before, without its end; zeros for the first.
    :param at: digest of what was looked at: cases and baseline.
    :param results: digests of the results of both sides.
    """

    seq: Annotated[Count, Field(ge=1)]
    prev_hash: Sha256
    at: Sha256
    results: tuple[Sha256, Sha256]


class LookLedger:
    """
    Counts the looks of :func:`benchgate.accept` and of the commands on vectors; processes may share a file.

    Each line has the SHA-256 of the one before it, so that a line which was edited or taken out is found. That the last
    line was edited, or lines were cut off at the end, only a head shows that was kept elsewhere.

    :param path: of the file, which need not exist; ``None`` counts in memory, as long as this object lives.
    :param head: ``SEQ:SHA256`` as :attr:`head` gave it: that line must be there, unchanged.
    :raises ArtifactError: the file cannot be used, its lines are no chain, or the head is not in it.
    """

    def __init__(self, path: Path | str | None = None, *, head: str | None = None) -> None:
        self._path = None if path is None else os.fspath(path)
        self._tally = Tally()
        self._heads = [f"0:{GENESIS}"]
        self._end = 0
        if self._path is not None and os.path.exists(self._path):
            try:
                with open(self._path, "rb+") as file:
                    self._read(self._path, file)
            except OSError as error:
                raise ArtifactError(self._path, f"cannot be used: {error.strerror}") from error
        if head is not None and head not in self._heads:
            raise ArtifactError(str(path), f"does not have the line {head}, the head that was kept")

    @property
    def head(self) -> str:
        """The newest line, ``SEQ:SHA256``: keep it elsewhere."""
        return self._heads[-1]

    def add(self, looked: Looked) -> int:
        """
        Count a look before it is judged, and return its number.

        :raises ArtifactError: it cannot be written; then nothing may be judged.
        """
        if self._path is None:
            return self._tally.add(looked)
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            with open(descriptor, "rb+") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                self._read(self._path, file)
                if not self._tally.has(looked):
                    self._append(file, looked)
        except OSError as error:
            raise ArtifactError(self._path, f"cannot be used: {error.strerror}") from error
        return self._tally.number(looked)

    def _append(self, file: BufferedRandom, looked: Looked) -> None:
        seq, _, sha256 = self.head.partition(":")
        line = LedgerLine(
            seq=int(seq) + 1, prev_hash=sha256, at=looked.at, results=looked.results
        ).model_dump_json()
        file.seek(self._end)
        file.truncate()  # half a line, of a process that was killed before it judged
        file.write(f"{line}\n".encode())
        file.flush()
        os.fsync(file.fileno())
        self._enter(line.encode(), looked)

    def _read(self, path: str, file: BufferedRandom) -> None:
        """Read the lines that other processes wrote since."""
        if os.fstat(file.fileno()).st_size < self._end:
            raise ArtifactError(path, f"line {len(self._heads) - 1} was there, and was cut off")
        file.seek(self._end)
        for line in file.read().splitlines(keepends=True):
            if not line.endswith(b"\n"):
                if not (line.startswith(_START) or _START.startswith(line)):
                    raise ArtifactError(
                        path, f"line {len(self._heads)}: no look, nor the start of one"
                    )
                return
            try:
                stated = LedgerLine.model_validate_json(line)
            except ValidationError as error:
                why = f"line {len(self._heads)}: no look: {first_fault(error)}"
                raise ArtifactError(path, why) from error
            if f"{stated.seq - 1}:{stated.prev_hash}" != self.head:
                why = f"line {len(self._heads)} does not follow the line before it: edited, or one was taken out"
                raise ArtifactError(path, why)
            self._enter(line[:-1], Looked(stated.at, stated.results))

    def _enter(self, line: bytes, looked: Looked) -> None:
        self._tally.add(looked)
        self._heads.append(f"{len(self._heads)}:{sha256_hex(line)}")
        self._end += len(line) + 1
