"""
Splits a Dockerfile into instructions, and checks its form.

It follows the documentation and the observed behaviour of BuildKit's parser; tests compare the two. The package
``dockerfile``, which wraps that parser, is not used here: the runtime of Go does not survive the ``fork`` that gives
each trial its process, and there are no wheels for Linux on ARM.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, NoReturn

from .instruction import KNOWN, Heredoc, Instruction, Refused, spelt
from .words import SPACE, heredoc_names, split_flags, split_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_TEXT: Final = 200_000
MAX_LINE: Final = 60_000
MAX_INSTRUCTIONS: Final = 1000
MAX_STAGES: Final = 50
"""Characters, bytes of a line (BuildKit stops at 65535), instructions and stages beyond which a file is not read."""

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_BLANKS: Final = re.compile(r"[\t\v\f\r ]+")
_DIRECTIVE: Final = re.compile(r"#\s*([a-zA-Z][a-zA-Z0-9]*)\s*=\s*(.+?)\s*")
_FRONTEND: Final = re.compile(
    r"(?:docker\.io/)?docker/dockerfile(?:-upstream)?(?::[\w.-]+)?(?:@sha256:[0-9a-f]{64})?"
)
_HEREDOC_INSTRUCTIONS: Final = ("ADD", "COPY", "RUN")
_LISTED: Final = ("ADD", "COPY", "EXPOSE", "FROM", "VOLUME")
_EXEC_FORM: Final = ("ADD", "CMD", "COPY", "ENTRYPOINT", "HEALTHCHECK", "RUN", "SHELL", "VOLUME")
_FROM_FORMS: Final = (1, 3)
_AT_LEAST: Final = {
    "ADD": 2, "COPY": 2, "ENV": 2, "EXPOSE": 1, "HEALTHCHECK": 1, "LABEL": 2, "RUN": 1, "SHELL": 1, "STOPSIGNAL": 1,
    "USER": 1, "VOLUME": 1, "WORKDIR": 1,
}  # fmt: skip


def parse(text: str) -> tuple[Instruction, ...]:
    """
    Return the instructions of a Dockerfile whose form is right.

    :raises Refused: its form is broken; or it is larger than any real one, or has what no editor writes: control
        characters, halves of surrogate pairs.
    """
    if len(text) > MAX_TEXT or _CONTROL.search(text):
        _refuse()
    if max(len(line.encode()) for line in text.split("\n")) > MAX_LINE:
        _refuse()
    instructions = split(text)
    if any(one.name not in KNOWN for one in instructions):
        raise Refused("instruction_unknown")
    if next((one.name for one in instructions if one.name != "ARG"), None) != "FROM":
        raise Refused("from_missing")
    stages = sum(one.name == "FROM" for one in instructions)
    is_large = len(instructions) > MAX_INSTRUCTIONS or stages > MAX_STAGES
    if is_large or not all(map(_formed, instructions)):
        _refuse()
    return instructions


def _formed(one: Instruction) -> bool:
    words = one.value
    if one.name == "FROM":
        return len(words) in _FROM_FORMS and (len(words) == 1 or words[1].upper() == "AS")
    if one.name == "HEALTHCHECK" and words and words[0].upper() not in ("CMD", "NONE"):
        return False
    return len(words) >= _AT_LEAST.get(one.name, 0) and (one.name != "SHELL" or one.json)


def split(text: str) -> tuple[Instruction, ...]:
    """
    Return the instructions of a Dockerfile, those that do not exist without words.

    :raises Refused: it is empty or malformed.
    """
    lines = _lines(text)
    marks = [value for name, value in _directives(lines) if name == "escape"] or ["\\"]
    if len(marks) > 1 or marks[0] not in ("\\", "`"):
        _refuse()
    found, rest = [], enumerate(lines, 1)
    for number, raw in rest:
        line, goes_on = _continued(raw.lstrip(SPACE), marks[0])
        if not line and not goes_on:
            continue
        while goes_on and (after := next(rest, None)):
            if after[1].strip(SPACE) and not after[1].lstrip(SPACE).startswith("#"):
                more, goes_on = _continued(after[1], marks[0])
                line += more
        found.append(_instruction(line, number, marks[0], rest))
    return tuple(found) or _refuse()


def foreign_frontend(text: str) -> bool:
    """Return whether another program than Docker's own would read the file, and make of it what it likes."""
    named = [value for name, value in _directives(_lines(text)) if name == "syntax"]
    return bool(named) and not _FRONTEND.fullmatch(named[0])


def _refuse() -> NoReturn:
    raise Refused("dockerfile_unparsable")


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text.removeprefix("\ufeff"))


def _directives(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the parser directives, which count only above everything else, other comments included."""
    for line in lines:
        found = _DIRECTIVE.fullmatch(line.strip(SPACE))
        if not found or found[1].lower() not in ("check", "escape", "syntax"):
            break
        yield found[1].lower(), found[2]


def _continued(raw: str, escape: str) -> tuple[str, bool]:
    """Return a line, without its end, and whether the next continues it."""
    line = raw.rstrip("\r\n")
    if line.startswith("#"):
        return "", False
    bare = line.rstrip(" \t")
    # Two escapes in a row are an escaped one.
    if bare.endswith(escape) and not bare.endswith(escape * 2):
        return bare[:-1], True
    return line, False


def _instruction(
    line: str, number: int, escape: str, rest: Iterator[tuple[int, str]]
) -> Instruction:
    name, words = _halves(line)
    name = spelt(name)
    inner, words = _halves(split_flags(words)[0]) if name == "ONBUILD" else (name, words)
    inner = spelt(inner)
    ends = heredoc_names(line) if inner in _HEREDOC_INSTRUCTIONS else ()
    heredocs = tuple(_heredoc(end, rest, chomp=chomp) for end, chomp in ends)
    value, is_json, flags = _content(inner, words, escape)
    if name == "ONBUILD":
        # The instruction inside must parse; its text is kept as one word.
        return Instruction(name, tuple(line.strip(SPACE).split(maxsplit=1)[1:]), line=number)
    return Instruction(name, value, flags, is_json, heredocs, number)


def _heredoc(name: str, rest: Iterator[tuple[int, str]], *, chomp: bool) -> Heredoc:
    content = ""
    for _, raw in rest:
        end = raw.rstrip("\r\n")
        if (end.lstrip("\t") if chomp else end) == name:
            return Heredoc(name, content)
        content += raw
    _refuse()


def _halves(line: str) -> tuple[str, str]:
    first, *rest = _BLANKS.split(line.strip(SPACE), maxsplit=1)
    return first, "".join(rest)


def _content(name: str, rest: str, escape: str) -> tuple[tuple[str, ...], bool, tuple[str, ...]]:
    """Return the words of an instruction, whether they are a JSON list, and the flags."""
    if name not in KNOWN or name == "ONBUILD":
        return (), False, ()
    text, flags = split_flags(rest)
    text, kind = text.strip(SPACE), ""
    if name == "HEALTHCHECK":
        kind, text = _halves(text)
    found = _json(text) if name in _EXEC_FORM else None
    if found is not None:
        words = found
    elif name in ("ENV", "LABEL"):
        words = _assignments(text, escape)
    elif name == "ARG":
        words = split_words(text, escape)
    elif name in _LISTED:
        words = _BLANKS.split(text) if text else []
    else:
        words = [text] if text else []
    return (kind, *words) if kind else tuple(words), found is not None, flags


def _json(rest: str) -> list[str] | None:
    if not rest.startswith("["):
        return None
    try:
        # Text after the list is ignored, as in BuildKit; NaN and Infinity are no JSON, and no int.
        found: list[Any] = json.JSONDecoder(parse_constant=int).raw_decode(rest)[0]
    except (ValueError, RecursionError):
        return None
    if not all(isinstance(word, str) for word in found):
        _refuse()
    return [re.sub(r"[\ud800-\udfff]", "\ufffd", word) for word in found]


def _assignments(rest: str, escape: str) -> list[str]:
    words = split_words(rest, escape)
    if words and "=" not in words[0]:
        words = _BLANKS.split(rest, maxsplit=1)
        return words if len(words) > 1 else _refuse()
    if not all("=" in word for word in words):
        _refuse()
    return [part for word in words for part in word.split("=", 1)]
