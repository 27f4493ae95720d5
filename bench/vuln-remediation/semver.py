"""npm versions and ranges, read strictly; one that cannot be read matches nothing."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

import nodesemver  # type: ignore[import-untyped]  # the package ships no types

if TYPE_CHECKING:
    from collections.abc import Iterable


MAX_LENGTH: Final = 2000
"""Characters beyond which a version or range is not read; the longest known is below 500."""


@lru_cache(maxsize=200_000)
def satisfies(version: str, spec: str) -> bool:
    """Return whether ``version`` is in the npm range ``spec``; False if either cannot be read."""
    if len(version) > MAX_LENGTH or len(spec) > MAX_LENGTH:
        return False
    try:
        return bool(nodesemver.satisfies(version, spec, loose=False))
    except Exception:
        # Where node's own semver answers false, the port raises one of several kinds (``1.0.0beta2``).
        return False


@lru_cache(maxsize=50_000)
def sort_key(version: str) -> tuple[int, int, int, tuple[tuple[int, int, str], ...]]:
    """Return a key that sorts versions by precedence; an unreadable version sorts first."""
    if len(version) > MAX_LENGTH:
        return (-1, 0, 0, ())
    try:
        parsed = nodesemver.make_semver(version, loose=False)
    except Exception:
        return (-1, 0, 0, ())
    # A release sorts after its prereleases, a number before a word.
    tail = tuple(
        (0, part, "") if isinstance(part, int) else (1, 0, str(part)) for part in parsed.prerelease
    )
    return (parsed.major, parsed.minor, parsed.patch, tail or ((2, 0, ""),))


def is_prerelease(version: str) -> bool:
    """Return whether the version has a prerelease part."""
    return sort_key(version)[3] != ((2, 0, ""),)


def breaking_line(version: str) -> tuple[int, ...]:
    """Return what a caret range keeps fixed: the major, below 1.0.0 the minor, below 0.1.0 all."""
    major, minor, patch, _ = sort_key(version)
    if major:
        return (major,)
    return (0, minor) if minor else (0, 0, patch)


def ascending(versions: Iterable[str]) -> list[str]:
    """Return versions in order of precedence."""
    return sorted(versions, key=sort_key)
