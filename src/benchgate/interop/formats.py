"""The formats of logs that can be read, and how each is known by its first bytes."""

from __future__ import annotations

import hashlib
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

from benchgate.errors import SampleError
from benchgate.interop.inspect_log import open_inspect
from benchgate.interop.junit import open_junit
from benchgate.interop.log import open_file
from benchgate.interop.swebench import open_swebench
from benchgate.interop.tables import open_csv, open_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from benchgate.interop.log import Log, LogFile


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


class Format(NamedTuple):
    """A format in words, whether the first bytes of a file and its name in lower case look like it, and its reader."""

    what: str
    looks_like: Callable[[bytes, str], bool]
    open: Callable[[LogFile], Log]


FORMATS: Final = {
    "inspect": Format("a log of inspect_ai", _is_inspect, open_inspect),
    "swebench": Format("a report of SWE-bench", _is_swebench, open_swebench),
    "junit": Format("JUnit XML", _is_junit, open_junit),
    "jsonl": Format("JSON lines", _is_json, open_json),
    "csv": Format("CSV", _is_csv, open_csv),
}
"""By name; the first that a file looks like is taken."""


@contextmanager
def opened(
    path: Path, wanted: str = "auto", *, in_full: bool = False
) -> Iterator[tuple[str, Log, str]]:
    """
    Open a log, to read its rows and do nothing else meanwhile; yield the name of its format, it, and its SHA-256.

    :param wanted: name of its format, or ``auto`` for what its first bytes say.
    :param in_full: see :class:`~benchgate.interop.log.LogFile`.
    :raises SampleError: it looks like another format than the wanted one, or like none.
    :raises Unreadable: it cannot be read, or it changed before its last row was read.
    """
    if wanted not in ("auto", *FORMATS):
        raise SampleError(path, f"format {wanted!r}; expected auto, {', '.join(FORMATS)}")
    with open_file(path, in_full=in_full) as file:
        name = _format_of(path, file.head, wanted)
        sha256 = hashlib.file_digest(file.file, "sha256").hexdigest()
        file.file.seek(0)
        yield name, FORMATS[name].open(file), sha256


def _format_of(path: Path, head: bytes, wanted: str) -> str:
    if not head.strip():
        raise SampleError(path, "is empty")
    name = path.name.lower()
    likely = next((key for key, one in FORMATS.items() if one.looks_like(head, name)), None)
    if wanted == "auto":
        if likely is None:
            names = ", ".join(one.what for one in FORMATS.values())
            hint = "; a CSV has commas in its first line" if name.endswith((".csv", ".tsv")) else ""
            raise SampleError(path, f"is none of these: {names}{hint}")
        return likely
    if not FORMATS[wanted].looks_like(head, name) and (likely or wanted != "csv"):
        guess = f"; it looks like {FORMATS[likely].what}: --format {likely}" if likely else ""
        raise SampleError(path, f"is not {FORMATS[wanted].what}{guess}")
    return wanted
