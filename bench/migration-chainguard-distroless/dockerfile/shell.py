"""The shell text of a ``RUN``: its simple commands, and the packages that they name."""

from __future__ import annotations

import posixpath
import re
import shlex
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .instruction import Instruction

FOREIGN_TOOLS: Final = frozenset(
    {"add-apt-repository", "apt", "apt-get", "apt-key", "dnf", "dpkg", "microdnf", "rpm", "yum"}
)
"""Package tools that no Chainguard image has."""

SHADOW_TOOLS: Final = frozenset({"chpasswd", "groupadd", "useradd", "usermod"})
"""Tools of the package ``shadow``; busybox has ``adduser`` and ``addgroup`` instead."""

ROOT_TOOLS: Final = frozenset({"adduser", "addgroup", "apk"}) | SHADOW_TOOLS
"""Tools that need root."""

_SEPARATOR: Final = re.compile(r"&&|\|\||[;|&\n(){}]")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*=.*")
_PREFIXES: Final = frozenset(
    {"!", "do", "elif", "else", "env", "exec", "if", "sudo", "then", "time", "while"}
)
_SCRIPT_HOLDERS: Final = frozenset({"bash", "sh", "dash", "ash", "ksh", "zsh"})
_VALUED_FLAGS: Final = frozenset({"-t", "--virtual", "-X", "--repository"})


def script(one: Instruction) -> str:
    """Return the shell text of a ``RUN``: its line, or the here-document that it feeds to a shell."""
    if one.json:
        return shlex.join(one.value)
    line = one.value[0] if one.value else ""
    if not one.heredocs:
        return line
    head = re.sub(r"\d*<<-?\S+", "", line).strip()
    held = one.heredocs[-1].content  # of several, a shell reads the last
    return held if _reads_script(head) and not _other_interpreter(held) else head


def _reads_script(head: str) -> bool:
    """Return whether a line, without its here-documents, is a shell with options and nothing else."""
    program, *options = head.split() or [""]
    plain = all(one.startswith(("-", "+")) or one == "pipefail" for one in options)
    return not program or (posixpath.basename(program) in _SCRIPT_HOLDERS and plain)


def _other_interpreter(text: str) -> bool:
    first = text.partition("\n")[0]
    return first.startswith("#!") and not re.search(r"\b(?:ba|da|a)?sh\b", first)


@lru_cache(maxsize=1024)
def simple_commands(one: Instruction) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    """
    Return the simple commands of a ``RUN``: the assignments in front, and the words, the program first, as written.

    ``export NAME=value`` has words, assignments alone have none.
    """
    text = script(one).replace("\\\n", " ")
    return tuple(found for part in _parts(text) if any(found := _simple(part)))


def commands(one: Instruction) -> tuple[tuple[str, ...], ...]:
    """Return the simple commands of a ``RUN``, each with its program first."""
    return tuple(
        (posixpath.basename(words[0]), *words[1:]) for _, words in simple_commands(one) if words
    )


def _parts(text: str) -> list[str]:
    # Quoted text is masked while splitting, so that separators inside it do not count.
    quoted: list[str] = []

    def keep(found: re.Match[str]) -> str:
        quoted.append(found[0])
        return f"\0{len(quoted) - 1}\0"

    masked = re.sub(r"'[^']*'|\"(?:\\.|[^\"\\])*\"|\$\{[^}]*\}", keep, text)
    parts = _SEPARATOR.split(masked)
    return [re.sub(r"\0(\d+)\0", lambda found: quoted[int(found[1])], part) for part in parts]


def _simple(part: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    try:
        words = shlex.split(part, comments=True)
    except ValueError:
        words = part.split()
    given = []
    while words and (words[0] in _PREFIXES or _ASSIGNMENT.fullmatch(words[0])):
        given += [words[0]] if words[0] not in _PREFIXES else []
        words = words[1:]
    return tuple(given), tuple(words)


def packages_added(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the packages that an ``apk add`` names, without versions."""
    return _operands(words[2:]) if words[:2] == ("apk", "add") else _late(words, "add")


def packages_deleted(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the packages that an ``apk del`` names."""
    return _operands(words[2:]) if words[:2] == ("apk", "del") else _late(words, "del")


def _late(words: tuple[str, ...], verb: str) -> tuple[str, ...]:
    # apk takes flags before the verb as well.
    if words[0] != "apk" or verb not in words or not words[1].startswith("-"):
        return ()
    return _operands(words[words.index(verb) + 1 :])


def _operands(words: tuple[str, ...]) -> tuple[str, ...]:
    found, skip = [], False
    for word in words:
        if skip or word.startswith(("-", ".")):
            skip = word in _VALUED_FLAGS
        else:
            found.append(re.split(r"[=<>~@]", word, maxsplit=1)[0])
    return tuple(found)
