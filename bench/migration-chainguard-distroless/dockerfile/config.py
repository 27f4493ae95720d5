"""What the text of a stage says of its image's configuration; the command, ports and check of an image are observed."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from .reference import Reference

if TYPE_CHECKING:
    from collections.abc import Mapping

_NUMBER: Final = re.compile(r"[+-]?[0-9]+")


@dataclass(frozen=True, slots=True)
class Config:
    """The configuration at the end of a stage; ``workdir`` is empty if no instruction sets it."""

    user: str = ""
    workdir: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    args: Mapping[str, str] = field(default_factory=dict)

    def changed(self, name: str, words: tuple[str, ...]) -> Config:
        """Return the configuration after an instruction."""
        if name == "ENV":
            return replace(
                self, env={**self.env, **dict(zip(words[::2], words[1::2], strict=True))}
            )
        if name == "USER":
            return replace(self, user=words[0])
        if name == "WORKDIR":
            path = posixpath.normpath(posixpath.join("/", self.workdir, words[0]))
            return replace(self, workdir="/" + path.lstrip("/"))
        return self


def initial(base: str) -> Config:
    """Return the configuration right after ``FROM`` an image: most of Chainguard's run as 65532, others as root."""
    reference = Reference.read(base)
    return Config(user="65532" if reference and reference.chainguard else "")


def is_number(name: str) -> bool:
    """Return whether a user is given by number."""
    return bool(_NUMBER.fullmatch(name))


def is_root(text: str) -> bool:
    """Return whether a ``USER`` value is root; without a name it is."""
    name = text.partition(":")[0]
    return name in ("", "root") or (is_number(name) and not name.lstrip("+-").strip("0"))
