"""Writing files atomically, so that a crash never leaves half a file, and readable by their owner only."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from benchgate.errors import ArtifactError
from benchgate.wire.parsing import check_size

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchgate.wire.model import WireModel


def json_line(value: Any) -> str:
    """Return a value as JSON on one line, keys sorted; NaN and infinity raise ValueError."""
    return json.dumps(value, sort_keys=True, allow_nan=False)


def model_bytes(model: WireModel) -> bytes:
    """Return an artifact as bytes to write; equal artifacts give equal bytes. ASCII: ``cat`` is safe."""
    # Not json.dumps, which falls back to slow Python code when it indents; nor model_dump_json: a record is large, and
    # its text would be there beside its bytes.
    return model.__pydantic_serializer__.to_json(model, indent=2, ensure_ascii=True) + b"\n"


@contextmanager
def artifact_errors(path: Path | str, done: str) -> Iterator[None]:
    """Turn what the operating system refuses into an :class:`ArtifactError`, that the path ``cannot be`` so."""
    try:
        yield
    except OSError as error:
        raise ArtifactError(path, f"cannot be {done}: {error.strerror}") from error


def make_folder(path: Path) -> None:
    """
    Create a folder, and those missing above it, with mode 0700.

    :raises ArtifactError: it cannot be created, or a file is in its place.
    """
    with artifact_errors(path, "created"):
        if not path.is_dir():
            make_folder(path.parent)
            path.mkdir(mode=0o700, exist_ok=True)
            path.chmod(0o700)  # mkdir's mode is reduced by the umask


def write_file(path: Path | str, data: bytes, *, durable: bool = True) -> None:
    """
    Write a file atomically and durably: readers see the old bytes or the new ones, also after a power cut.

    A symlink is replaced, not followed. For many files in a new folder :func:`write_draft` is faster.

    :param durable: without it a file may be lost in a power cut, but not when the process is killed.

    :raises ArtifactError: it cannot be written; the old file is unchanged.
    """
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name}.{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        try:
            _write(temporary, data, os.O_EXCL, sync=durable)
        except FileExistsError:  # left by a process that was killed
            os.unlink(temporary)
            _write(temporary, data, os.O_EXCL, sync=durable)
        os.replace(temporary, path)
        if durable:
            sync_folder(folder or ".")
    except OSError as error:
        with suppress(OSError):
            os.unlink(temporary)
        raise ArtifactError(path, f"cannot be written: {error.strerror}") from error


def write_draft(path: Path, data: bytes) -> None:
    """
    Write a file neither atomically nor durably; for a folder that nobody reads before :func:`rename`.

    :raises ArtifactError: it cannot be written.
    """
    with artifact_errors(path, "written"):
        _write(path, data, os.O_TRUNC, sync=False)


def _write(path: Path | str, data: bytes, flag: int, *, sync: bool) -> None:
    try:
        check_size(data)
    except ValueError as error:
        raise OSError(errno.EFBIG, str(error)) from None
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | flag
    descriptor = os.open(path, flags, 0o600)
    try:
        make_private(descriptor)
        left = memoryview(data)
        while left:
            left = left[os.write(descriptor, left) :]
        if sync:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_private(descriptor: int) -> None:
    """Let only its owner read a file: one that was there keeps its mode when opened, and a umask may take more."""
    # Asked first, for setting it costs as much as all the rest.
    if stat.S_IMODE(os.fstat(descriptor).st_mode) != 0o600:
        os.fchmod(descriptor, 0o600)


def sync_folder(path: Path | str) -> None:
    """Wait until a folder's entries are on the disk; a rename is lost in a power cut before that."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def rename(source: Path, target: Path) -> None:
    """
    Rename a folder durably; publishes drafts all at once.

    :raises ArtifactError: it cannot be renamed, or not durably; the folder itself is whole under one of both names.
    """
    with artifact_errors(target, "written"):
        os.rename(source, target)
        sync_folder(target.parent)


def check_writable(path: Path) -> None:
    """
    Create a folder and write a probe file into it; call it before a run, which would else fail at its end.

    :raises ArtifactError: the folder is not writable.
    """
    make_folder(path)
    probe = path / f".probe.{os.getpid()}"
    write_draft(probe, b"")
    probe.unlink(missing_ok=True)


def check_folders(out: Path, *folders: Path) -> Iterator[str]:
    """
    Refuse folders through which another user could redirect or replace what is written.

    :param folders: below ``out``, there or not.
    :returns: a warning for each folder that belongs to somebody else, as in containers of CI.
    :raises ArtifactError: a folder below ``out`` is a link, or every user can replace its files.
    """
    below = (path for folder in folders for path in folder.parents if out in path.parents)
    for path in sorted({out, *folders, *below}):
        if path != out and path.is_symlink():
            raise ArtifactError(path, "is a link, so files would be written elsewhere; remove it")
        if not path.is_dir():
            continue
        status = path.stat()
        if status.st_mode & stat.S_IWOTH and not status.st_mode & stat.S_ISVTX:
            raise ArtifactError(path, "every user can write to it; chmod o-w it, or name another")
        if status.st_uid != os.geteuid():
            yield f"{path} belongs to user {status.st_uid}, not to {os.geteuid()}"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """
    Lock a folder within the block; other processes that lock it wait.

    The kernel releases the lock when the process ends, so a killed process blocks nobody.

    :raises ArtifactError: the lock file cannot be opened.
    """
    path = folder / ".lock"
    with artifact_errors(path, "locked"):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        make_private(descriptor)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
