"""The formats of logs that can be read, and how each is known by its first bytes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from benchgate.errors import SampleError, Unreadable
from benchgate.interop.inspect_log import open_inspect
from benchgate.interop.junit import open_junit
from benchgate.interop.log import Format
from benchgate.interop.swebench import open_swebench
from benchgate.interop.tables import open_csv, open_json
from benchgate.wire.files import open_regular

if TYPE_CHECKING:
    from pathlib import Path

BEGINNING: Final = 64 * 1024
"""Bytes of a file by which its format is known."""


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


def format_of(path: Path, wanted: str) -> Format:
    """
    Return the format of a file.

    :param wanted: its name, or ``auto`` for what its first bytes say.
    :raises SampleError: it looks like another format than the wanted one, or like none.
    """
    try:
        with open_regular(path) as file:
            head = file.read(BEGINNING).removeprefix(b"\xef\xbb\xbf")
    except FileNotFoundError as error:
        raise Unreadable(path, "there is no such file", missing=True) from error
    except (OSError, ValueError) as error:
        raise Unreadable(path, f"cannot be read: {error}") from error
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
