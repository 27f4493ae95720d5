"""Writing files that are either old or new, never torn, and readable by their owner only."""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from benchgate.errors import ArtifactError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchgate.wire.model import WireModel


def json_line(value: Any) -> str:
    """Return JSON on one line; NaN and infinity are refused."""
    return json.dumps(value, sort_keys=True, allow_nan=False)


def model_bytes(model: WireModel) -> bytes:
    """Return an artifact as the bytes to write, the same for the same artifact."""
    # pydantic's own encoder: json.dumps is written in Python as soon as it indents. NaN cannot be in a model.
    return f"{model.model_dump_json(indent=2)}\n".encode()


def make_folder(path: Path) -> None:
    """
    Create a folder of mode 0700 and what is missing above it.

    :raises ArtifactError: it cannot be made, or something else stands there.
    """
    try:
        if not path.is_dir():
            make_folder(path.parent)
            path.mkdir(mode=0o700, exist_ok=True)
            path.chmod(0o700)  # whatever the umask says
    except OSError as error:
        raise ArtifactError(path, f"cannot be created: {error.strerror}") from error


def write_file(path: Path, data: bytes) -> None:
    """
    Write a file in one step, on the disk when this returns: a reader sees the old bytes or the new ones.

    A symlink is replaced, not followed.

    :raises ArtifactError: naming the file; the old one is intact.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.unlink(missing_ok=True)
        _write(temporary, data, os.O_EXCL, sync=True)
        os.replace(temporary, path)
        sync_folder(path.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise ArtifactError(path, f"cannot be written: {error.strerror}") from error


def write_draft(path: Path, data: bytes) -> None:
    """
    Write a file in a folder that nobody reads yet, so neither in one step nor synced.

    :raises ArtifactError: naming the file.
    """
    try:
        _write(path, data, os.O_TRUNC, sync=False)
    except OSError as error:
        raise ArtifactError(path, f"cannot be written: {error.strerror}") from error


def _write(path: Path, data: bytes, flag: int, *, sync: bool) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | flag
    with open(os.open(path, flags, 0o600), "wb") as file:
        os.fchmod(file.fileno(), 0o600)  # whatever the umask says
        file.write(data)
        if sync:
            file.flush()
            os.fsync(file.fileno())


def sync_folder(path: Path) -> None:
    """Wait until a folder's entries are on the disk: a rename is not durable before."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def rename(source: Path, target: Path) -> None:
    """
    Give a folder its name, on the disk when this returns.

    :raises ArtifactError: naming the new name; the old one is intact.
    """
    try:
        os.rename(source, target)
        sync_folder(target.parent)
    except OSError as error:
        raise ArtifactError(target, f"cannot be written: {error.strerror}") from error


def check_writable(path: Path) -> None:
    """
    Make a folder and write a probe into it, so that a run does not fail at its end.

    :raises ArtifactError: it is not writable.
    """
    make_folder(path)
    probe = path / f".probe.{os.getpid()}"
    write_draft(probe, b"")
    probe.unlink(missing_ok=True)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """
    Hold the folder's lock within the block; a second process waits. The kernel drops it with its holder.

    :raises ArtifactError: the lock file cannot be opened.
    """
    path = folder / ".lock"
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        os.fchmod(descriptor, 0o600)  # whatever the umask says
    except OSError as error:
        raise ArtifactError(path, f"cannot be locked: {error.strerror}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
