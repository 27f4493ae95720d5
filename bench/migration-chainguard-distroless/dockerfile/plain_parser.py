"""
Splits a Dockerfile into instructions.

It follows the documentation and the observed behaviour of BuildKit's parser; tests compare the two.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, NoReturn

from .instruction import KNOWN, Heredoc, Instruction, Refused, spelt
from .words import SPACE, heredoc_names, split_flags, split_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_BLANKS: Final = re.compile(r"[\t\v\f\r ]+")
_DIRECTIVE: Final = re.compile(r"#\s*([a-zA-Z][a-zA-Z0-9]*)\s*=\s*(.+?)\s*\Z")
_DIRECTIVES: Final = ("escape", "syntax")
_HEREDOC_INSTRUCTIONS: Final = ("ADD", "COPY", "RUN")


def parse(text: str) -> tuple[Instruction, ...]:
    """
    Return the instructions of a Dockerfile.

    :raises Refused: it is empty or malformed.
    """
    found = tuple(_Lines(text).instructions())
    if not found:
        _refuse()
    return found


def _refuse() -> NoReturn:
    raise Refused("dockerfile_unparsable")


class _Lines:
    """The lines of a file, and which is read next."""

    def __init__(self, text: str) -> None:
        self.lines = _cut(text)
        self.at = 0
        self.escape = _escape(self.lines)

    def instructions(self) -> Iterator[Instruction]:
        while self.at < len(self.lines):
            start = self.at + 1
            line = self._logical()
            if line is not None:
                yield self._instruction(line, start)

    def _logical(self) -> str | None:
        """Return the next line with those that continue it, None for a blank or a comment."""
        line, goes_on = self._continued(self._next().lstrip(SPACE))
        if not goes_on and not line:
            return None
        while goes_on and self.at < len(self.lines):
            follows = self._next()
            if not follows.strip(SPACE) or follows.lstrip(SPACE).startswith("#"):
                continue
            more, goes_on = self._continued(follows)
            line += more
        return line

    def _next(self) -> str:
        self.at += 1
        return self.lines[self.at - 1].rstrip("\r\n")

    def _continued(self, line: str) -> tuple[str, bool]:
        if line.startswith("#"):
            return "", False
        bare = line.rstrip(" \t")
        # Two escapes in a row are an escaped one.
        if bare.endswith(self.escape) and not bare.endswith(self.escape * 2):
            return bare[:-1], True
        return line, False

    def _instruction(self, line: str, start: int) -> Instruction:
        name, rest = _halves(line)
        name = spelt(name)
        inner, inner_rest = _halves(split_flags(rest)[0]) if name == "ONBUILD" else (name, rest)
        heredocs = self._heredocs(line) if spelt(inner) in _HEREDOC_INSTRUCTIONS else ()
        if name == "ONBUILD":
            # The instruction inside must parse; its text is kept as one word.
            _content(spelt(inner), inner_rest, self.escape)
            words = line.strip(SPACE).split(maxsplit=1)
            return Instruction(name, tuple(words[1:]), line=start)
        value, is_json, flags = _content(name, rest, self.escape)
        return Instruction(name, value, flags, is_json, heredocs, start)

    def _heredocs(self, line: str) -> tuple[Heredoc, ...]:
        return tuple(self._heredoc(name, chomp=chomp) for name, chomp in heredoc_names(line))

    def _heredoc(self, name: str, *, chomp: bool) -> Heredoc:
        content = ""
        while self.at < len(self.lines):
            raw = self.lines[self.at]
            self.at += 1
            end = raw.rstrip("\r\n")
            if (end.lstrip("\t") if chomp else end) == name:
                return Heredoc(name, content)
            content += raw
        _refuse()


def _cut(text: str) -> list[str]:
    lines = text.removeprefix("\ufeff").split("\n")
    whole = [f"{line}\n" for line in lines[:-1]]
    return [*whole, lines[-1]] if lines[-1] else whole


def _escape(lines: list[str]) -> str:
    """Return the escape character; parser directives count only above everything else, other comments included."""
    escape = None
    for line in lines:
        found = _DIRECTIVE.match(line.strip(SPACE))
        if not found or found[1].lower() not in _DIRECTIVES:
            break
        if found[1].lower() == "escape":
            if escape is not None or found[2] not in ("\\", "`"):
                _refuse()
            escape = found[2]
    return escape or "\\"


def _halves(line: str) -> tuple[str, str]:
    parts = _BLANKS.split(line.strip(SPACE), maxsplit=1)
    return parts[0], parts[1] if len(parts) > 1 else ""


def _content(name: str, rest: str, escape: str) -> tuple[tuple[str, ...], bool, tuple[str, ...]]:
    text, flags = split_flags(rest)
    reader = _READERS.get(name)
    if reader is None or name not in KNOWN:
        return (), False, ()
    value, is_json = reader(text.strip(SPACE), escape)
    return value, is_json, flags


def _text(rest: str, _escape: str) -> tuple[tuple[str, ...], bool]:
    return ((rest,) if rest else ()), False


def _listed(rest: str, _escape: str) -> tuple[tuple[str, ...], bool]:
    return (tuple(_BLANKS.split(rest)) if rest else ()), False


def _json_or_text(rest: str, escape: str) -> tuple[tuple[str, ...], bool]:
    found = _json(rest)
    return (found, True) if found is not None else _text(rest, escape)


def _json_or_listed(rest: str, escape: str) -> tuple[tuple[str, ...], bool]:
    found = _json(rest)
    return (found, True) if found is not None else _listed(rest, escape)


def _json(rest: str) -> tuple[str, ...] | None:
    if not rest.startswith("["):
        return None
    try:
        # Text after the list is ignored, as in BuildKit.
        found: list[Any] = json.JSONDecoder(parse_constant=_not_json).raw_decode(rest)[0]
    except (ValueError, RecursionError):
        return None
    if not all(isinstance(word, str) for word in found):
        _refuse()
    return tuple(re.sub(r"[\ud800-\udfff]", "\ufffd", word) for word in found)


def _not_json(name: str) -> NoReturn:
    raise ValueError(name)


def _assignments(rest: str, escape: str) -> tuple[tuple[str, ...], bool]:
    words = split_words(rest, escape)
    if not words:
        return (), False
    if "=" not in words[0]:
        pair = _BLANKS.split(rest, maxsplit=1)
        if len(pair) == 1:
            _refuse()
        return tuple(pair), False
    if not all("=" in word for word in words):
        _refuse()
    return tuple(part for word in words for part in word.split("=", 1)), False


def _arguments(rest: str, escape: str) -> tuple[tuple[str, ...], bool]:
    return tuple(split_words(rest, escape)), False


def _health(rest: str, escape: str) -> tuple[tuple[str, ...], bool]:
    kind, command = _halves(rest)
    value, is_json = _json_or_text(command, escape)
    return ((kind, *value) if kind else ()), is_json


_READERS: Final[dict[str, Callable[[str, str], tuple[tuple[str, ...], bool]]]] = {
    **dict.fromkeys(("ADD", "COPY", "VOLUME"), _json_or_listed),
    **dict.fromkeys(("CMD", "ENTRYPOINT", "RUN", "SHELL"), _json_or_text),
    **dict.fromkeys(("ENV", "LABEL"), _assignments),
    **dict.fromkeys(("EXPOSE", "FROM"), _listed),
    **dict.fromkeys(("MAINTAINER", "STOPSIGNAL", "USER", "WORKDIR"), _text),
    "ARG": _arguments,
    "HEALTHCHECK": _health,
}
