"""The formats of logs that can be read, and how each is known by its first bytes."""

from __future__ import annotations

import hashlib
import re
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from benchgate.errors import SampleError
from benchgate.interop.inspect_log import open_inspect
from benchgate.interop.junit import open_junit
from benchgate.interop.log import open_file
from benchgate.interop.presets import PRESETS, open_preset
from benchgate.interop.swebench import open_swebench
from benchgate.interop.tables import open_csv, open_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from benchgate.interop.log import Log, LogFile


def _looks_like(head: bytes, name: str) -> dict[str, bool]:
    """Return of each format whether a file looks like it, by its first bytes and its name; the first is taken."""
    text = head.lstrip()
    is_eval = name.endswith(".eval") or b"_journal/" in head or b"header.json" in head
    is_json = text[:1] in (b"{", b"[")
    keys = set(re.findall(rb'"(\w+)"\s*:', head)) if is_json else set()
    presets = {n: not keys.isdisjoint(one.known.encode().split(b"|")) for n, one in PRESETS.items()}
    return {
        "inspect": is_eval if head.startswith(b"PK") else {b"eval", b"task", b"status"} <= keys,
        "swebench": {b"total_instances", b"submitted_instances"} <= keys,
        "junit": text.startswith(b"<") and re.search(rb"<testsuites?[\s/>]", head) is not None,
        **presets,
        "jsonl": is_json,
        "csv": name.endswith(".csv") and b"," in head.partition(b"\n")[0],
    }


class Format(NamedTuple):
    """A format in words, and its reader."""

    what: str
    open: Callable[[LogFile], Log]


FORMATS: Final = {
    "inspect": Format("a log of inspect_ai", open_inspect),
    "swebench": Format("a report of SWE-bench", open_swebench),
    "junit": Format("JUnit XML", open_junit),
    **{name: Format(one.what, partial(open_preset, name)) for name, one in PRESETS.items()},
    "jsonl": Format("JSON lines", open_json),
    "csv": Format("CSV", open_csv),
}
"""By name."""


@contextmanager
def opened(path: Path, wanted: str = "auto") -> Iterator[tuple[str, Log, str]]:
    """
    Open a log, to read its rows and do nothing else meanwhile; yield the name of its format, it, and its SHA-256.

    :param wanted: name of its format, or ``auto`` for what its first bytes say.
    :raises SampleError: it looks like another format than the wanted one, or like none.
    :raises Unreadable: it cannot be read, or it changed before its last row was read.
    """
    if wanted not in ("auto", *FORMATS):
        raise SampleError(path, f"format {wanted!r}; expected auto, {', '.join(FORMATS)}")
    with open_file(path) as file:
        name = _format_of(path, file.head, wanted)
        sha256 = hashlib.file_digest(file.file, "sha256").hexdigest()
        file.file.seek(0)
        yield name, FORMATS[name].open(file), sha256


def _format_of(path: Path, head: bytes, wanted: str) -> str:
    if not head.strip():
        raise SampleError(path, "is empty")
    name = path.name.lower()
    looks_like = _looks_like(head, name)
    likely = next((key for key, is_like in looks_like.items() if is_like), None)
    if wanted == "auto":
        if likely is None:
            names = ", ".join(one.what for one in FORMATS.values())
            hint = "; a CSV has commas in its first line" if name.endswith((".csv", ".tsv")) else ""
            raise SampleError(path, f"is none of these: {names}{hint}")
        return likely
    # A key by which JSON is known may come late, after a long input.
    looks_like |= dict.fromkeys(PRESETS, looks_like["jsonl"])
    if not looks_like[wanted] and (likely or wanted != "csv"):
        guess = f"; it looks like {FORMATS[likely].what}: --format {likely}" if likely else ""
        raise SampleError(path, f"is not {FORMATS[wanted].what}{guess}")
    return wanted
