"""The flags that instructions take; BuildKit refuses a file with any other, or with one twice."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .instruction import Instruction

FLAGS: Final = MappingProxyType(
    {
        "ADD": frozenset({"checksum", "chmod", "chown", "exclude", "keep-git-dir", "link", "unpack"}),
        "COPY": frozenset({"chmod", "chown", "exclude", "from", "link", "parents"}),
        "FROM": frozenset({"platform"}),
        "HEALTHCHECK": frozenset({"interval", "retries", "start-interval", "start-period", "timeout"}),
        "RUN": frozenset({"device", "mount", "network", "security"}),
    }
)  # fmt: skip
"""By instruction; the others take none."""

OFTEN: Final = frozenset({"device", "exclude", "mount"})
"""Flags that may be given more than once."""

WITHOUT_VALUE: Final = frozenset({"keep-git-dir", "link", "parents", "unpack"})
"""Flags that are on when they have no value."""


def flags_known(one: Instruction) -> bool:
    """Return whether a builder takes all flags of an instruction."""
    seen: set[str] = set()
    for flag in one.flags:
        name, given, value = flag.removeprefix("--").partition("=")
        if name not in FLAGS.get(one.name, ()) or (name in seen and name not in OFTEN):
            return False
        if name not in WITHOUT_VALUE and not (given and value):
            return False
        seen.add(name)
    return True
