"""What is sent to a worker and what comes back; both are pickled, between equal versions only."""

from __future__ import annotations

import io
import os
import platform
import shutil
import sys
import zipfile
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Final, Literal

from benchgate.errors import Unreadable
from benchgate.wire.files import MAX_TREE_BYTES, read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from benchgate.models import Isolation, Side
    from benchgate.trials.executor import TrialRecord


BENCHGATE: Final = "pytest-benchgate"
LEFT_OUT: Final = "__pycache__"
THEN: Final = (1980, 1, 1, 0, 0, 0)
"""The time of every file, so that equal folders give equal bytes."""


def versions(packages: Iterable[str] = ()) -> dict[str, str]:
    """Return the versions of Python, of benchgate and of packages that are installed here, and the platform."""
    found = {}
    for name in (BENCHGATE, *packages):
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    system = f"{platform.system()} {platform.machine()}"
    # As Dask says it of its scheduler.
    return {**found, "Python": ".".join(map(str, sys.version_info)), "platform": system}


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart:
    """
    How the systems of a class run in processes of their own.

    :param level: above ``none``.
    :param limit: seconds that the import of a system may take.
    :param systems: the names of all that will run. Their processes are started together: what judges them is imported
        before any system exists.
    """

    level: Isolation
    limit: float
    systems: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SentClass:
    """
    A task class as it was sent.

    :param sha256: of its folder as it was packed.
    :param session: that sent it: a worker that another session has compared may differ from this one.
    :param apart: ``None`` at level ``none``: the worker imports the systems itself.
    """

    name: str
    sha256: str
    session: str
    apart: Apart | None = None

    @property
    def key(self) -> tuple[str, Apart | None]:
        """What a worker has the class by: equal for all sessions that send the same, to be run in the same way."""
        return self.sha256, self.apart


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """
    One attempt at a trial.

    :param id: no other attempt has it; also the name of the queue in which the worker that starts it says so.
    :param files: digests of the case's input and expected files, as :func:`~benchgate.loader.case_digest.files_digest`
        returns them.
    :param then: what is done of the trial; ``None`` until its system has answered.
    """

    id: str
    sent: SentClass
    system: str
    case_id: str
    trial: int
    seed: int
    limit: float
    side: Side
    files: tuple[str, str | None]
    then: TrialRecord | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """
    What a worker says to an attempt.

    :param kind: not started: ``refused``, ``changed``, the case was after the upload, and ``lacks``, the class was not
        uploaded to this worker. ``elsewhere``: some worker started it and never reported.
    :param worker: address of the worker.
    :param why: it was refused, or how it differs although that is allowed.
    :param raised_in: the file of :attr:`TrialRecord.raised_at`, relative to the folder of the class.
    """

    kind: Literal["ready", "ran", "refused", "changed", "lacks", "elsewhere", "interrupted"]
    worker: str
    why: str = ""
    record: TrialRecord | None = None
    raised_in: str | None = None


def pack(class_path: Path) -> bytes:
    """
    Return a ZIP archive of a class's folder, below the name of the class; equal files give equal bytes.

    :raises Unreadable: a link, which may lead anywhere; or a file that cannot be read; or all have more than 1 GiB.
    """
    packed = io.BytesIO()
    left = MAX_TREE_BYTES
    with zipfile.ZipFile(packed, "w") as archive:
        for path in _files(class_path):
            data = read_bytes(path, limit=left)
            left -= len(data)
            member = zipfile.ZipInfo(path.relative_to(class_path.parent).as_posix(), THEN)
            member.external_attr = (0o700 if os.access(path, os.X_OK) else 0o600) << 16
            archive.writestr(member, data)
    return packed.getvalue()


def unpack(data: bytes, folder: Path, below: str = "") -> None:
    """Write what :func:`pack` returned into a folder; with ``below``, only that path of it, in the place of what is."""
    if below:
        shutil.rmtree(folder / below, ignore_errors=True)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for member in archive.infolist():
            if member.filename.startswith(below):
                archive.extract(member, folder)
                os.chmod(folder / member.filename, member.external_attr >> 16)


def _files(class_path: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(class_path):
        folders[:] = sorted(set(folders) - {LEFT_OUT})
        here = class_path / os.path.relpath(parent, class_path)
        for name in (*folders, *files):
            if os.path.islink(here / name):
                raise Unreadable(here / name, "is a link; workers are sent files alone")
        yield from (here / name for name in sorted(files))
