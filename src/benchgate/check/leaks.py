"""Finds cases that give their answer away: what a system could read off its input instead of working it out."""

from __future__ import annotations

import os
from collections import defaultdict
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchgate.check.problem import Problem
from benchgate.errors import counted
from benchgate.wire.files import read_bytes, tree_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchgate.models import BenchCase

LINE: Final = 40
"""Fewest characters, without space around them, of a line that is no coincidence in input and expected files."""

WHOLE: Final = 64
"""Expected files of no more bytes, such as ``true``, may be a part of any input."""

MOST_BYTES: Final = 2**24
"""Larger files are not searched."""


def leak_warnings(cases: Sequence[BenchCase]) -> Iterator[Problem]:
    """
    Yield where the input of a case may have its answer, but for cases whose ``leak_ok`` says why it may.

    :param cases: all of a class, for a line that other cases have in their input too is no answer.
    :raises Unreadable: a file cannot be read.
    """
    told = {
        case.case_id: {text for _, data in _files(case.expected_path) for _, text in _long(data)}
        for case in cases
    }
    wanted = set().union(*told.values())
    places: dict[bytes, dict[str, tuple[Path, int]]] = defaultdict(dict)
    for case in cases:
        whole = [(path, data.strip()) for path, data in _files(case.expected_path)]
        for path, data in _files(case.input_path):
            for number, text in _long(data):
                if text in wanted:
                    places[text].setdefault(case.case_id, (path, number))
            if case.leak_ok is None:
                yield from _of_file(case.input_path, path, data, whole)
            else:
                told[case.case_id].clear()
    own = [(text, *found.popitem()) for text, found in places.items() if len(found) == 1]
    lines = sorted(place for text, case_id, place in own if text in told[case_id])
    for path, rows in groupby(lines, key=itemgetter(0)):
        numbers = [number for _, number in rows]
        more = f" and {counted(len(numbers) - 1, 'more line')}" if numbers[1:] else ""
        message = f"this line{more} of {LINE} characters or more: in expected/ too, and in no other case's input"
        yield _warning(path, numbers[0], message)


def _of_file(
    folder: Path, path: Path, data: bytes, whole: list[tuple[Path, bytes]]
) -> Iterator[Problem]:
    """Yield what is wrong with one file of an input; ``whole`` is what each expected file has."""
    for answer, text in whole:
        if len(text) > WHOLE and text in data:
            yield _warning(path, 1, f"has all of {answer.relative_to(folder.parent)}")
    places = [one for one in (path, *path.parents) if folder in one.parents]
    history = [one for one in places if one.name in {".git", ".svn"}]
    if history or path.suffix == ".pack":
        yield _warning((history or [path])[-1], 1, "is a history, and the answer may be in it")
    if path.is_symlink():
        yield _warning(path, 1, "is a symlink; a system may be shown another file than the curator")


def _warning(path: Path, line: int, message: str) -> Problem:
    return Problem(path, line, f'{message}; take it out, or say leak_ok = "why" in case.toml')


def _files(folder: Path | None) -> Iterator[tuple[Path, bytes]]:
    for _, path in tree_files(folder) if folder else ():
        is_small = os.path.getsize(path) <= MOST_BYTES
        yield Path(path), read_bytes(path, limit=MOST_BYTES) if is_small else b""


def _long(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are long enough, with their 1-based numbers."""
    for number, line in enumerate(data.splitlines(), 1):
        text = line.strip()
        if len(text) >= LINE <= len(text.decode(errors="replace")):
            yield number, text
