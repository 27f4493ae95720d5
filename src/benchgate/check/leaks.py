"""Finds cases that give their answer away: what a system could read off its input instead of working it out."""

from __future__ import annotations

import json
import os
import re
from collections import Counter, defaultdict
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from benchgate.check.problem import Problem
from benchgate.errors import counted, excerpt
from benchgate.wire.files import read_bytes, tree_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from benchgate.models import BenchCase

LINE: Final = 40
"""Fewest characters, without space around them, of a line that is no coincidence in input and expected files."""

WHOLE: Final = 64
"""Expected files of no more bytes, such as ``true``, may be a part of any input."""

VALUE: Final = 4
"""Fewest characters of an answer that is looked for."""

SHORT: Final = 5
"""Most lines of a text of which a line is looked for in longer lines: those of a program are often parts of others."""

MOST_BYTES: Final = 2**24
"""Larger files are not searched."""

USUAL: Final = 4
"""If more than one in four cases has its answer in its input, the task is to find it there; if more than one in four of
the cases with one label has its word there, such inputs use that word."""

MOST_SUSPECTS: Final = 200
"""Cases of one kind of answer that are compared with all others."""

LINES: Final = ("line", "part")


class Answer(NamedTuple):
    """
    A part of an answer that should not be in the input.

    :param of: the expected file, and the field of it.
    :param kind: a ``line`` that is one there too, a line that is ``part`` of a longer one, a ``value`` of a field or a
        text of one line, or a ``whole`` object.
    """

    of: str
    kind: str
    text: str


class Suspect(NamedTuple):
    """A part of an answer that is in the input of its case."""

    case_id: str
    answer: Answer
    path: Path
    line: int


class Content:
    """The text of a file, in the forms that answers are looked for in."""

    def __init__(self, data: bytes) -> None:
        self.text = data.decode(errors="replace")
        self.folded = self.text.casefold()
        # Also where it is quoted in a text that is in JSON itself.
        self.dense = re.sub(r"\s+", "", self.text.replace('\\"', '"'))
        # The first of several.
        numbered = [*enumerate(map(str.strip, self.text.split("\n")), 1)]
        self.lines = {line: number for number, line in reversed(numbered) if len(line) >= LINE}

    def line_of(self, answer: Answer) -> int:
        """Return the line in which an answer begins, 0 if it is not there."""
        if answer.kind == "whole":
            return int(answer.text in self.dense)
        if answer.kind == "line":
            return self.lines.get(answer.text, 0)
        if answer.kind == "part":
            return self._line(self.text.find(answer.text))
        needle = answer.text.casefold()
        if needle not in self.folded:
            return 0
        # As words: "port" is not in "report".
        match = re.search(rf"(?<!\w){re.escape(needle)}(?!\w)", self.folded)
        if match is None:
            return 0
        return self._line(match.start())

    def _line(self, at: int) -> int:
        if at < 0:
            return 0
        return self.text.count("\n", 0, at) + 1


def leak_warnings(cases: Sequence[BenchCase]) -> Iterator[Problem]:
    """
    Yield where the input of a case may have its answer, but for cases whose ``leak_ok`` says why it may.

    :param cases: all of a class, for what other cases have in their input too is no answer.
    :raises Unreadable: a file cannot be read.
    """
    answers = {case.case_id: frozenset(_answers(case)) for case in cases}
    suspects: list[Suspect] = []
    for case in cases:
        whole = [(path, data.strip()) for path, data in _files(case.expected_path)]
        if case.leak_ok is None:
            for path, data in _files(case.input_path):
                yield from _of_file(case.input_path, path, data, whole)
                suspects += _suspects(case.case_id, answers[case.case_id], path, data)
    suspects = _unusual(suspects, answers)
    own = sorted(_own(suspects, cases, answers), key=attrgetter("path", "line"))
    for path, group in groupby(own, key=attrgetter("path")):
        rows = [*group]
        lines = sorted({one.line for one in rows if one.answer.kind in LINES})
        if lines:
            yield _warning(path, lines[0], _said_of_lines(len(lines)))
        for one in rows:
            if one.answer.kind not in LINES:
                shown = excerpt(one.answer.text, LINE)
                message = f"has the answer {shown!r} of {one.answer.of}, and no input with another answer has it"
                yield _warning(path, one.line, message)


def _said_of_lines(count: int) -> str:
    which = "this line has"
    if count > 1:
        which = f"this line and {counted(count - 1, 'more line')} have"
    return f"{which} a line of expected/ of {LINE} characters or more, and no other case's input has it"


def _answers(case: BenchCase) -> Iterator[Answer]:
    """Yield what of the expected files of a case is looked for in inputs."""
    for path, data in _files(case.expected_path):
        assert case.expected_path is not None  # noqa: S101 - it has files
        of = path.relative_to(case.expected_path.parent).as_posix()
        text = data.decode(errors="replace").strip()
        lines = [line.strip() for line in text.splitlines()]
        if path.suffix == ".json":
            yield from _values(of, text)
        elif len(lines) == 1 and len(text) >= VALUE:
            yield Answer(of, "value", text)
            continue
        is_short = path.suffix != ".json" and len(lines) <= SHORT
        kind = "line"
        if is_short:
            kind = "part"
        yield from (Answer(of, kind, line) for line in lines if len(line) >= LINE)


def _values(of: str, text: str) -> Iterator[Answer]:
    """Yield the values that a JSON document has at its top, and all of it if that is one object."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return
    if not isinstance(found, dict):
        yield from _value(of, found)
        return
    for name, value in found.items():
        place = of
        if name:
            place = f"{of} ({name})"
        yield from _value(place, value)
    dense = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    if len(found) > 1:
        yield Answer(of, "whole", re.sub(r"\s+", "", dense))


def _value(of: str, value: object) -> Iterator[Answer]:
    """Yield a text or a number that is long enough to be looked for."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return
    shown = str(value).strip()
    if len(shown) >= VALUE:
        yield Answer(of, "value", shown)


def _suspects(
    case_id: str, answers: Iterable[Answer], path: Path, data: bytes
) -> Iterator[Suspect]:
    """Yield the parts of its answer that a file of an input has."""
    content = Content(data)
    for answer in answers:
        line = content.line_of(answer)
        if line:
            yield Suspect(case_id, answer, path, line)


def _unusual(
    suspects: Sequence[Suspect], answers: Mapping[str, frozenset[Answer]]
) -> list[Suspect]:
    """Return suspects without values that the inputs of a class usually have."""
    with_value = Counter(one for of_case in answers.values() for one in of_case)
    found = {(one.case_id, one.answer) for one in suspects if one.answer.kind == "value"}
    in_field = Counter(answer.of for _, answer in found)
    in_value = Counter(answer for _, answer in found)

    def is_usual(answer: Answer) -> bool:
        count = in_field[answer.of]
        of_label = in_value[answer]
        return (
            count * USUAL > len(answers)
            or count > MOST_SUSPECTS
            or (of_label > 1 and of_label * USUAL > with_value[answer])
        )

    return [one for one in suspects if one.answer.kind != "value" or not is_usual(one.answer)]


def _own(
    suspects: Iterable[Suspect],
    cases: Sequence[BenchCase],
    answers: Mapping[str, frozenset[Answer]],
) -> Iterator[Suspect]:
    """Yield the suspects whose text no input of a case with another answer has."""
    by_answer: dict[Answer, list[Suspect]] = defaultdict(list)
    for one in suspects:
        by_answer[one.answer].append(one)
    for case in cases:
        own = answers[case.case_id]
        others = [
            answer
            for answer, rows in by_answer.items()
            if answer not in own or _is_line_elsewhere(rows, case.case_id)
        ]
        if others:
            contents = [Content(data) for _, data in _files(case.input_path)]
            for answer in others:
                if any(content.line_of(answer) for content in contents):
                    del by_answer[answer]
    for rows in by_answer.values():
        yield from rows


def _is_line_elsewhere(suspects: Iterable[Suspect], case_id: str) -> bool:
    """Return whether the input of another case has a line of the answer of this one."""
    return any(one.answer.kind in LINES and one.case_id != case_id for one in suspects)


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
    if folder is None:
        return
    for _, path in tree_files(folder):
        is_small = os.path.getsize(path) <= MOST_BYTES
        yield Path(path), read_bytes(path, limit=MOST_BYTES) if is_small else b""
