"""Splits the text of an instruction into words, and fills in variables, as BuildKit does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from .instruction import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""White space as Go defines it; Python's has four control characters more."""

# No two pieces of a word begin alike, so that a text which does not match is given up at once.
_PIECE: Final = (
    r"(?P<quote>['\"])(?P<held>(?:\\.|(?!(?P=quote))[^\\])*)(?:(?P=quote)|\\?\Z)|\\(?P<next>.|\Z)"
)
_FLAG: Final = re.compile(rf"(?:{_PIECE}|[^{SPACE}\\'\"])+", re.DOTALL)
_FLAG_PIECE: Final = re.compile(_PIECE, re.DOTALL)
_SHELL_PIECE: Final = (
    rf"\\(?:.|\Z)|'[^']*'|\"(?:\\.|[^\"\\])*\"|\$\{{[^}}]*\}}|(?!\$\{{)[^{SPACE}\\'\"]"
)
_SHELL_LINE: Final = re.compile(rf"(?:{_SHELL_PIECE}|[{SPACE}])*", re.DOTALL)
_SHELL_WORD: Final = re.compile(rf"(?:{_SHELL_PIECE})+", re.DOTALL)
_HEREDOC: Final = re.compile(r"\d*<<(-?)([^<]*)\Z")
_QUOTED: Final = re.compile(r"\\(.)|'([^']*)'|\"([^\"]*)\"")

MAX_VALUE: Final = 20_000
"""Longest value, in characters: variables that contain each other can double in length at each step."""

_VARIABLE: Final = re.compile(
    r"""
      \\(?P<escaped>.)
    | '(?P<single>[^']*)'
    | "(?P<double>(?:\\.|[^"\\])*)"
    | \$(?P<bare>[A-Za-z_]\w*)
    | \$\{(?P<name>[A-Za-z_]\w*)(?:(?P<mode>:?[-+])(?P<word>(?:[^{}]|\$\{[^{}]*\})*))?\}
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)


def split_words(text: str, escape: str) -> list[str]:
    """Return the words of ``ENV``, ``LABEL`` and ``ARG``; quotes and escapes stay in them."""
    # An escape means nothing in single quotes, and is dropped at the end of the text.
    mark, end = re.escape(escape), rf"(?={re.escape(escape)}?\Z)"
    word = (
        rf"(?:{mark}.|'[^']*(?:'|\Z)|\"(?:{mark}.|[^\"{mark}])*(?:\"|{end})|[^{SPACE}{mark}'\"])+"
    )
    return re.findall(word, text, re.DOTALL)


def split_flags(text: str) -> tuple[str, tuple[str, ...]]:
    """
    Return the text after the leading ``--flags``, and the flags without quotes and backslashes.

    BuildKit reads this part byte by byte, so each byte stands for a character here.
    """
    flags: list[str] = []
    rest = text.encode().decode("latin-1").lstrip(SPACE)
    while rest.startswith("--") and (found := _FLAG.match(rest)):
        flag, rest = _FLAG_PIECE.sub(_plain, found[0]), rest[found.end() :]
        if flag == "--":
            break
        flags.append(flag)
        rest = rest.lstrip(SPACE)
    return rest.encode("latin-1").decode(errors="replace"), tuple(flags)


def _plain(piece: re.Match[str]) -> str:
    """Return a piece of a flag without its quotes, and without the backslashes that are not in front of another."""
    return piece["next"] or re.sub(r"(?s)\\(.)", r"\1", piece["held"] or "")


def heredoc_names(line: str) -> Iterator[tuple[str, bool]]:
    """Yield the name of each here-document that a line begins, and whether tabs before its end are ignored."""
    # Where a quote is left open, nothing is read.
    for word in _SHELL_WORD.findall(line) if _SHELL_LINE.fullmatch(line) else ():
        found = _HEREDOC.match(word)
        # Without its quotes and backslashes.
        name = _QUOTED.sub(lambda held: held[held.lastindex or 0], found[2]) if found else ""
        if found and name:
            yield name, found[1] == "-"


def expand(text: str, variables: Mapping[str, str]) -> str:
    """
    Return a word with variables substituted and quotes removed; an unset variable is empty.

    :raises Refused: the result is longer than :data:`MAX_VALUE`.
    """

    def fill(found: re.Match[str]) -> str:
        if found["double"] is not None:
            # Single quotes mean nothing inside double ones.
            return expand(found["double"].replace("'", "\\'"), variables)
        if found["name"] is not None:
            return _braced(found, variables)
        if found["bare"] is not None:
            return variables.get(found["bare"], "")
        return found["escaped"] or found["single"] or ""

    filled = _VARIABLE.sub(fill, text)
    if len(filled) > MAX_VALUE:
        raise Refused("dockerfile_unparsable")
    return filled


def _braced(found: re.Match[str], variables: Mapping[str, str]) -> str:
    value, mode = variables.get(found["name"]), found["mode"] or ""
    # With the colon an empty value counts as unset.
    given = value is not None and (bool(value) or not mode.startswith(":"))
    if mode[-1:] == ("+" if given else "-"):
        return expand(found["word"], variables)
    return "" if mode.endswith("+") else value or ""
