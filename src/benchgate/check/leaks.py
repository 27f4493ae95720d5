"""Finds cases that give their answer away: what a system could read off its input instead of working it out."""

from __future__ import annotations

import os
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from benchgate.check.problem import Problem
from benchgate.errors import counted
from benchgate.wire.files import read_bytes, tree_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from benchgate.models import BenchCase

LINE: Final = 40
"""Fewest characters, without space around them, of a line that is no coincidence in input and expected files."""

WHOLE: Final = 64
"""Expected files of no more bytes, such as ``true``, may be a part of any input."""

MOST_BYTES: Final = 2**24
"""Larger files are not searched."""

HISTORIES: Final = (".git", ".svn")


def leak_warnings(cases: Sequence[BenchCase]) -> Iterator[Problem]:
    """
    Yield where the input of a case may have its answer, but for cases whose ``leak_ok`` says why it may.

    :param cases: all of a class, for a line that other cases have in their input too is no answer.
    :raises Unreadable: a file cannot be read.
    """
    told = {
        case.case_id: {text for _, data in _expected(case) for _, text in _long(data)}
        for case in cases
    }
    wanted = set().union(*told.values())
    seen_in: dict[bytes, set[str]] = defaultdict(set)
    places: dict[tuple[str, Path], list[tuple[int, bytes]]] = {}
    for case in cases:
        whole = {name: text for name, data in _expected(case) if len(text := data.strip()) > WHOLE}
        for name, data in _files(case.input_path):
            path = case.input_path / name
            found = [(number, text) for number, text in _long(data) if text in wanted]
            for _, text in found:
                seen_in[text].add(case.case_id)
            if case.leak_ok is None:
                places[case.case_id, path] = [row for row in found if row[1] in told[case.case_id]]
                yield from _of_file(case.input_path, name, data, whole)
    for (_, path), rows in places.items():
        if numbers := [number for number, text in rows if len(seen_in[text]) == 1]:
            more = f" and {counted(len(numbers) - 1, 'more line')}" if numbers[1:] else ""
            message = f"this line{more} of {LINE} characters or more: in expected/ too, and in no other case's input"
            yield _warning(path, numbers[0], message)


def _of_file(root: Path, name: str, data: bytes, whole: dict[str, bytes]) -> Iterator[Problem]:
    """Yield what is wrong with one file of an input."""
    path, parts = root / name, name.split("/")
    if same := [other for other, text in whole.items() if text in data]:
        yield _warning(path, 1, f"has all of expected/{same[0]}")
    if folders := [n for n, part in enumerate(parts, 1) if part in HISTORIES]:
        path = root.joinpath(*parts[: folders[0]])
    if folders or path.suffix == ".pack":
        yield _warning(path, 1, "is a history, and the answer may be in it")
    if path.is_symlink():
        yield _warning(path, 1, "is a symlink; a system may be shown another file than the curator")


def _warning(path: Path, line: int, message: str) -> Problem:
    return Problem(path, line, f'{message}; take it out, or say leak_ok = "why" in case.toml')


def _expected(case: BenchCase) -> Iterator[tuple[str, bytes]]:
    return _files(case.expected_path) if case.expected_path else iter(())


def _files(folder: Path) -> Iterator[tuple[str, bytes]]:
    for name, path in tree_files(folder):
        size = os.path.getsize(path)
        yield name, read_bytes(path, limit=MOST_BYTES) if size <= MOST_BYTES else b""


def _long(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are long enough, with their 1-based numbers."""
    for number, line in enumerate(data.splitlines(), 1):
        text = line.strip()
        if len(text) >= LINE <= len(text.decode(errors="replace")):
            yield number, text
