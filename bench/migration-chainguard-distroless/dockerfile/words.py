"""Splits the text of an instruction into words, as BuildKit does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

SPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""White space as Go defines it; Python's has four control characters more."""

_HEREDOC: Final = re.compile(r"\d*<<(-?)([^<]*)\Z")
_QUOTED: Final = re.compile(r"\\(.)|'([^']*)'|\"([^\"]*)\"")
_BRACED: Final = re.compile(r"\$\{[^}]*\}")


def split_words(text: str, escape: str) -> list[str]:
    """Return the words of ``ENV``, ``LABEL`` and ``ARG``; quotes and escapes stay in them."""
    words, word, quote, at = [], "", "", 0
    while at < len(text):
        char = text[at]
        if not quote and char in SPACE:
            words.append(word)
            word = ""
        else:
            # An escape means nothing in single quotes, and is dropped at the end of the text.
            if char == escape and quote != "'":
                at += 1
                char = escape + text[at] if at < len(text) else ""
            elif char == quote:
                quote = ""
            elif not quote and char in "'\"":
                quote = char
            word += char
        at += 1
    return [found for found in [*words, word] if found]


def split_flags(text: str) -> tuple[str, tuple[str, ...]]:
    """
    Return the text after the leading ``--flags``, and the flags without quotes and backslashes.

    BuildKit reads this part byte by byte, so each byte stands for a character here.
    """
    flags = []
    rest = text.encode().decode("latin-1").lstrip(SPACE)
    while rest.startswith("--"):
        flag, rest = _flag(rest)
        if flag == "--":
            break
        flags.append(flag)
        rest = rest.lstrip(SPACE)
    return rest.encode("latin-1").decode(errors="replace"), tuple(flags)


def _flag(text: str) -> tuple[str, str]:
    flag, quote, at = "", "", 0
    while at < len(text):
        char = text[at]
        if not quote and char in SPACE:
            break
        if char == "\\":
            at += 1
            flag += text[at : at + 1]
        elif char == quote:
            quote = ""
        elif not quote and char in "'\"":
            quote = char
        else:
            flag += char
        at += 1
    return flag, text[at:]


def heredoc_names(line: str) -> Iterator[tuple[str, bool]]:
    """Yield the name of each here-document that a line begins, and whether tabs before its end are ignored."""
    for word in _shell_words(line):
        found = _HEREDOC.match(word)
        if found and (name := _unquoted(found[2])):
            yield name, found[1] == "-"


def _shell_words(text: str) -> list[str]:
    """Return the words of a shell line with their quotes; none at all where a quote is left open."""
    words, word, at = [], "", 0
    while at < len(text):
        char = text[at]
        if char in SPACE:
            words.append(word)
            word, end = "", at + 1
        elif char in "'\"":
            end = _closing(text, at)
        elif char == "\\":
            end = at + 2
        elif text.startswith("${", at):
            braced = _BRACED.match(text, at)
            end = braced.end() if braced else 0
        else:
            end = at + 1
        if not end:
            return []
        word += "" if char in SPACE else text[at:end]
        at = end
    return [*words, word]


def _closing(text: str, at: int) -> int:
    """Return the position after the closing quote, 0 if there is none."""
    quote, at = text[at], at + 1
    while at < len(text):
        if text[at] == quote:
            return at + 1
        at += 2 if text[at] == "\\" and quote == '"' else 1
    return 0


def _unquoted(word: str) -> str:
    """Return a word without its quotes and backslashes."""
    return _QUOTED.sub(lambda found: found[found.lastindex or 0], word)
