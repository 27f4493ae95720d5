"""What a written range lets in later: judged by every frozen version, and beyond these by its bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .metadata import NODE_VERSION
from .semver import affects, breaking_line, intersects, is_range, satisfies, sort_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

NODE_LINES: Final = (
    "10.24.1", "12.22.12", "14.21.3", "16.20.2", "18.20.8", NODE_VERSION, "22.21.1", "24.11.1",
)  # fmt: skip
"""A late release of each long-term line of Node.js that a project may name."""


def next_line(version: str) -> str:
    """Return the first version beyond the breaking line of one."""
    line = breaking_line(version)
    grown = (*line[:-1], line[-1] + 1, 0, 0)
    return ".".join(map(str, grown[:3]))


def lets_in(
    spec: str,
    now: str,
    known: Iterable[str],
    affected: Iterable[str],
    *,
    given: str | None = None,
    left: str | None = None,
) -> bool:
    """
    Return whether a range lets in what had to go, or another breaking line than the one that is locked.

    :param spec: the range, its alias resolved; a tag or an address is no range, and may become anything.
    :param now: the version that is locked.
    :param known: the versions of the package that exist.
    :param affected: the ranges of the package's advisories; one that has ``now`` as well does not count.
    :param given: the range before, if there was one: what it let in is not the edit's doing.
    :param left: the version that was locked before, if the edit is there to leave it.
    """
    beyond = f">={next_line(now)}"
    if not is_range(spec) or (
        intersects(spec, beyond) and not (given is not None and intersects(given, beyond))
    ):
        return True
    if left is not None and sort_key(left) < sort_key(now) and intersects(spec, f"<={left}"):
        return True
    gone = [one for one in affected if not affects(now, one)]
    return any(
        any(affects(version, one) for one in gone)
        or not (
            breaking_line(version) == breaking_line(now)
            or (given is not None and satisfies(version, given))
        )
        for version in known
        if satisfies(version, spec)
    )


def node_versions(manifest: Mapping[str, Any]) -> list[str]:
    """Return the releases of Node.js that a project runs on: of its ``engines``, else the case's."""
    return named_nodes(manifest) or [NODE_VERSION]


def named_nodes(manifest: Mapping[str, Any]) -> list[str]:
    """Return the releases of Node.js that the ``engines`` of a manifest name, lowest first."""
    engines = manifest.get("engines")
    asked = engines.get("node") if isinstance(engines, dict) else None
    return [one for one in NODE_LINES if isinstance(asked, str) and satisfies(one, asked)]


def runs_on(entry: Mapping[str, Any], nodes: Iterable[str]) -> bool:
    """Return whether a package may run on all of some releases of Node.js."""
    engines = entry.get("engines")
    asked = engines.get("node") if isinstance(engines, dict) else None
    return not isinstance(asked, str) or all(satisfies(one, asked) for one in nodes)
