"""npm versions and ranges, read strictly; one that cannot be read matches nothing."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import nodesemver  # type: ignore[import-untyped]  # the package ships no types

if TYPE_CHECKING:
    from collections.abc import Iterable


UNREADABLE: Final[tuple[int, int, int, tuple[tuple[int, int, str], ...]]] = (-1, 0, 0, ())
"""The key of what is no version; it sorts first."""

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
def _bounds(spec: str) -> tuple[tuple[Any, ...], ...]:
    """Return the comparators of each alternative of a range; empty if it cannot be read."""
    if len(spec) > MAX_LENGTH:
        return ()
    try:
        parsed = nodesemver.make_range(spec, loose=False)
    except Exception:
        return ()
    return tuple(tuple(alternative) for alternative in parsed.set)


def is_range(spec: str) -> bool:
    """Return whether a text is a range of versions, not a tag, an alias or an address."""
    return bool(_bounds(spec))


def intersects(one: str, other: str) -> bool:
    """Return whether two ranges have versions in common; False if either cannot be read."""
    return any(_overlap(a + b) for a in _bounds(one) for b in _bounds(other))


def _overlap(comparators: tuple[Any, ...]) -> bool:
    low: tuple[Any, ...] = ((-1,), True)
    high: tuple[Any, ...] | None = None
    for comparator in comparators:
        if not hasattr(comparator.semver, "major"):
            continue  # any version
        key = sort_key(str(comparator.semver))
        sign = comparator.operator or "="
        if sign in (">", ">=", "="):
            low = max(low, (key, sign == ">"))
        if sign in ("<", "<=", "="):
            bound = (key, sign != "<")
            high = bound if high is None else min(high, bound)
    if high is None:
        return True
    return bool(low[0] < high[0] or (low[0] == high[0] and not low[1] and high[1]))


@lru_cache(maxsize=50_000)
def sort_key(version: str) -> tuple[int, int, int, tuple[tuple[int, int, str], ...]]:
    """Return a key that sorts versions by precedence; an unreadable version sorts first."""
    if len(version) > MAX_LENGTH:
        return UNREADABLE
    try:
        parsed = nodesemver.make_semver(version, loose=False)
    except Exception:
        return UNREADABLE
    # A release sorts after its prereleases, a number before a word.
    tail = tuple(
        (0, part, "") if isinstance(part, int) else (1, 0, str(part)) for part in parsed.prerelease
    )
    return (parsed.major, parsed.minor, parsed.patch, tail or ((2, 0, ""),))


@lru_cache(maxsize=200_000)
def affects(version: str, affected: str) -> bool:
    """
    Return whether an advisory's range has a version, as ``npm audit`` reads it; False if either cannot be read.

    Unlike in a dependency's range, prereleases count by their place in the order: ``4.17.21-rc.1`` is in ``<4.17.21``.
    """
    key = sort_key(version)
    return key != UNREADABLE and any(
        all(_holds(key, comparator) for comparator in alternative)
        for alternative in _bounds(affected)
    )


def _holds(key: tuple[Any, ...], comparator: Any) -> bool:
    if not hasattr(comparator.semver, "major"):
        return True  # any version
    bound, sign = sort_key(str(comparator.semver)), comparator.operator or "="
    if key == bound:
        return "=" in sign
    return (">" if key > bound else "<") in sign


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
