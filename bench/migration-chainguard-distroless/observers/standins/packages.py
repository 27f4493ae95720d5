"""
Names of packages of ``apk``: the frozen list, and those that were taken out of it.

The list names what the recipes of one day make. Wolfi's repository keeps what earlier recipes made, so a name that is
not in the list is wrong only if it is no older version of one that is.
"""

from __future__ import annotations

import gzip
import re
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Version = tuple[int, ...]

LISTED: Final = gzip.decompress(Path(__file__).with_name("packages.txt.gz").read_bytes()).decode()
"""The names that ``apk`` knows, one a line."""

_NUMBER: Final = re.compile(r"(?:(?<=-)|(?<=^php)|(?<=^py)|(?<=^ruby))\d+(?:\.\d+)*(?=-|$)")
"""A version as Wolfi writes it: a word of its own, or behind a language, as in ``py3.13-pip``."""

_PLACE: Final = re.compile(r"\$\{\d\}")


class Streams:
    """
    Names by what they are without their version.

    :param names: those that there are.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names = frozenset(names)
        # Where a recipe takes a number from what it builds, the list has a place for it, as in libfmt${1}.
        parts = [_PLACE.split(name) for name in self.names if "${" in name]
        patterns = [r"\d+".join(map(re.escape, one)) for one in parts]
        self.open = re.compile("|".join(patterns) or "(?!)")
        self.versions = defaultdict[str, set["Version"]](set)
        self.whole = defaultdict[tuple[str, str], set["Version"]](set)
        for name in self.names:
            for before, version, after in _split(name):
                self.versions[before].add(version)
                self.whole[before, after].add(version)

    def had(self, name: str) -> bool:
        """
        Return whether a name is an older version of one that there is, or has a number that nobody knows.

        No recipe of that version is left: if one is, it makes no such package, as ``openjdk-17-jre-headless``, and the
        name is a mistake. So is a version that is newer than all.
        """
        if name in self.names:
            return False
        older = any(self._had(*parts) for parts in _split(name))
        return older or self.open.fullmatch(name) is not None

    def _had(self, before: str, version: Version, after: str) -> bool:
        alike = {one for one in self.whole.get((before, after), ()) if len(one) == len(version)}
        there = self.versions.get(before, set())
        newest = max((one for one in there if len(one) == len(version)), default=version)
        return bool(alike) and version not in there and version < newest


def _split(name: str) -> Iterator[tuple[str, Version, str]]:
    """Yield each version in a name, between what is before and after it."""
    for found in _NUMBER.finditer(name):
        version = tuple(int(part) for part in found[0].split("."))
        yield name[: found.start()], version, name[found.end() :]


@cache
def streams() -> Streams:
    """Return the names of the frozen list."""
    return Streams(LISTED.split())
