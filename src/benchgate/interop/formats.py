"""The formats of logs that can be read, and how each is known by its first bytes."""

from __future__ import annotations

import hashlib
import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from benchgate.errors import SampleError
from benchgate.interop.inspect_log import open_inspect
from benchgate.interop.junit import open_junit
from benchgate.interop.log import Format, Log, open_file
from benchgate.interop.swebench import open_swebench
from benchgate.interop.tables import open_csv, open_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def _is_object(head: bytes) -> bool:
    return head.lstrip().startswith(b"{")


def _is_inspect(head: bytes, name: str) -> bool:
    if head.startswith(b"PK"):
        return name.endswith(".eval") or b"_journal/" in head or b"header.json" in head
    return _is_object(head) and b'"eval"' in head and b'"task"' in head and b'"status"' in head


def _is_swebench(head: bytes, _: str) -> bool:
    return _is_object(head) and b'"total_instances"' in head and b'"submitted_instances"' in head


def _is_junit(head: bytes, _: str) -> bool:
    return re.search(rb"<testsuites?[\s/>]", head) is not None and head.lstrip().startswith(b"<")


def _is_json(head: bytes, _: str) -> bool:
    return head.lstrip()[:1] in (b"{", b"[")


def _is_csv(head: bytes, name: str) -> bool:
    return name.endswith(".csv") and b"," in head.partition(b"\n")[0]


FORMATS: Final = {
    found.name: found
    for found in (
        Format(
            name="inspect",
            what="a log of inspect_ai",
            looks_like=_is_inspect,
            open=open_inspect,
        ),
        Format(
            name="swebench",
            what="a report of SWE-bench",
            looks_like=_is_swebench,
            open=open_swebench,
        ),
        Format(name="junit", what="JUnit XML", looks_like=_is_junit, open=open_junit),
        Format(name="jsonl", what="JSON lines", looks_like=_is_json, open=open_json),
        Format(name="csv", what="CSV", looks_like=_is_csv, open=open_csv),
    )
}
"""By name; the first that a file looks like is taken."""


@dataclass(frozen=True, slots=True)
class OpenLog:
    """A log that is open, its format, and the SHA-256 of its file."""

    format: Format
    log: Log
    sha256: str


@contextmanager
def opened(path: Path, wanted: str = "auto", *, in_full: bool = False) -> Iterator[OpenLog]:
    """
    Open a log, to read its rows and do nothing else meanwhile.

    :param wanted: name of its format, or ``auto`` for what its first bytes say.
    :param in_full: see :class:`~benchgate.interop.log.LogFile`.
    :raises SampleError: it looks like another format than the wanted one, or like none.
    :raises Unreadable: it cannot be read, or it changed before its last row was read.
    """
    if wanted not in ("auto", *FORMATS):
        raise SampleError(path, f"format {wanted!r}; expected auto, {', '.join(FORMATS)}")
    with open_file(path, in_full=in_full) as file:
        chosen = _format_of(path, file.head, wanted)
        sha256 = hashlib.file_digest(file.file, "sha256").hexdigest()
        file.file.seek(0)
        yield OpenLog(chosen, chosen.open(file), sha256)


def _format_of(path: Path, head: bytes, wanted: str) -> Format:
    if not head.strip():
        raise SampleError(path, "is empty")
    name = path.name.lower()
    known = next((one for one in FORMATS.values() if one.looks_like(head, name)), None)
    if wanted == "auto":
        if known is None:
            names = ", ".join(one.what for one in FORMATS.values())
            hint = "; a CSV has commas in its first line" if name.endswith((".csv", ".tsv")) else ""
            raise SampleError(path, f"is none of these: {names}{hint}")
        return known
    found = FORMATS[wanted]
    if not found.looks_like(head, name) and (known or found.name != "csv"):
        guess = f"; it looks like {known.what}: --format {known.name}" if known else ""
        raise SampleError(path, f"is not {found.what}{guess}")
    return found
