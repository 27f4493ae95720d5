"""The formats of logs that can be read: a table of what each is called, how it is known, and what reads it."""

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
from benchgate.interop.presets import PRESETS, Preset, open_preset
from benchgate.interop.swebench import open_swebench
from benchgate.interop.tables import open_csv, open_json, separators_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from benchgate.interop.log import Log, LogFile


class Beginning(NamedTuple):
    """
    What a format is known by.

    :param name: of the file, in lower case, and ``head`` its first bytes.
    :param is_json: it begins as JSON does; ``keys`` are the keys in its first bytes then.
    """

    name: str
    head: bytes
    is_json: bool
    keys: frozenset[str]

    @classmethod
    def of(cls, name: str, head: bytes) -> Beginning:
        """Return what the first bytes of a file say."""
        is_json = head.lstrip()[:1] in (b"{", b"[")
        keys: list[bytes] = []
        if is_json:
            keys = re.findall(rb'"(\w+)"\s*:', head)
        return cls(name.lower(), head, is_json, frozenset(key.decode() for key in keys))


class Format(NamedTuple):
    """
    A format of logs.

    :param what: what it is called in a message.
    :param is_likely: whether a file looks like it. Of several formats that it looks like, the first is taken.
    :param open: its reader.
    :param may_be: whether a file may be one that somebody says is of the format, though it does not look like it.
    :param has_failures: its rows have the message of a failed test in the field ``failure``.
    :param has_lists: it may be a JSON document that has its rows in a field.
    """

    what: str
    is_likely: Callable[[Beginning], bool]
    open: Callable[[LogFile], Log]
    may_be: Callable[[Beginning], bool] = lambda _: False
    has_failures: bool = False
    has_lists: bool = False


def _is_inspect(file: Beginning) -> bool:
    if file.head.startswith(b"PK"):
        return (
            file.name.endswith(".eval") or b"_journal/" in file.head or b"header.json" in file.head
        )
    return file.keys >= {"eval", "task", "status"}


def _is_swebench(file: Beginning) -> bool:
    return file.keys >= {"total_instances", "submitted_instances"}


def _is_junit(file: Beginning) -> bool:
    is_xml = file.head.lstrip().startswith(b"<")
    return is_xml and re.search(rb"<testsuites?[\s/>]", file.head) is not None


def _is_json(file: Beginning) -> bool:
    return file.is_json


def _is_csv(file: Beginning) -> bool:
    return file.name.endswith((".csv", ".tsv")) and bool(separators_in(file.head))


def _is_no_other(file: Beginning) -> bool:
    """Say whether a file looks like no format; a CSV may have any name."""
    return not any(one.is_likely(file) for one in FORMATS.values())


def _format_of_preset(name: str, preset: Preset) -> Format:
    return Format(
        what=preset.what,
        is_likely=lambda file: any(keys <= file.keys for keys in preset.known),
        open=partial(open_preset, name),
        # A key by which JSON is known may come late, after a long input.
        may_be=_is_json,
        has_failures=preset.has_failures,
        has_lists=True,
    )


FORMATS: Final = {
    "inspect": Format("a log of inspect_ai", _is_inspect, open_inspect),
    "swebench": Format("a report of SWE-bench", _is_swebench, open_swebench),
    "junit": Format("JUnit XML", _is_junit, open_junit, has_failures=True),
    **{name: _format_of_preset(name, preset) for name, preset in PRESETS.items()},
    "jsonl": Format("JSON lines", _is_json, open_json, has_lists=True),
    "csv": Format("CSV", _is_csv, open_csv, may_be=_is_no_other),
}
"""By name."""


@contextmanager
def opened(
    path: Path, wanted: str = "auto", rows: str | None = None, *, in_full: bool = False
) -> Iterator[tuple[str, Log, str]]:
    """
    Open a log, to read its rows and do nothing else meanwhile; yield the name of its format, it, and its SHA-256.

    :param wanted: name of its format, or ``auto`` for what its first bytes say.
    :param rows: the field that has its rows, if somebody named it. :param in_full: as :class:`LogFile` has it.
    :raises SampleError: it looks like another format than the wanted one, or like none.
    :raises Unreadable: it cannot be read, or it changed before its last row was read.
    """
    if wanted not in ("auto", *FORMATS):
        raise SampleError(path, f"format {wanted!r}; expected auto, {', '.join(FORMATS)}")
    with open_file(path, rows=rows, in_full=in_full) as file:
        name = _format_of(path, file.head, wanted)
        if rows is not None and not FORMATS[name].has_lists:
            raise SampleError(path, f"is {FORMATS[name].what}; --rows is for JSON")
        sha256 = hashlib.file_digest(file.file, "sha256").hexdigest()
        file.file.seek(0)
        yield name, FORMATS[name].open(file), sha256


def _format_of(path: Path, head: bytes, wanted: str) -> str:
    if not head.strip():
        raise SampleError(path, "is empty")
    file = Beginning.of(path.name, head)
    likely = next((name for name, one in FORMATS.items() if one.is_likely(file)), None)
    if wanted != "auto":
        if not FORMATS[wanted].is_likely(file) and not FORMATS[wanted].may_be(file):
            guess = ""
            if likely is not None:
                guess = f"; it looks like {FORMATS[likely].what}: --format {likely}"
            raise SampleError(path, f"is not {FORMATS[wanted].what}{guess}")
        return wanted
    if likely is None and file.name.endswith((".csv", ".tsv")):
        raise SampleError(path, "is no CSV: its first line has no commas, semicolons or tabs")
    if likely is None:
        names = ", ".join(one.what for one in FORMATS.values())
        raise SampleError(path, f"is none of these: {names}")
    return likely
