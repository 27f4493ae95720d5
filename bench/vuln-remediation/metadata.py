"""The frozen package metadata of a case: the versions that exist, and the lock entry of each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from .semver import affects, ascending, is_prerelease, satisfies

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

NODE_VERSION: Final = "20.20.2"
"""The Node.js that the cases' locks were made with; npm prefers versions that run on it."""


@dataclass(frozen=True)
class Registry:
    """
    Packages by name, as they were when the case was made.

    :param packages: name to ``{"latest": version or absent, "versions": {version: lock entry}}``; an entry is
        what npm writes into a lock for that version, without ``version`` and placement flags.
    """

    packages: Mapping[str, Mapping[str, Any]]

    @classmethod
    def load(cls, path: Path) -> Registry:
        """Read ``registry.json``."""
        return cls(json.loads(path.read_text(encoding="utf-8"))["packages"])

    @cached_property
    def _sorted(self) -> dict[str, list[str]]:
        return {}

    def versions(self, name: str) -> list[str]:
        """Return the known versions of a package, lowest first."""
        if name not in self._sorted:
            known = self.packages.get(name, {}).get("versions", {})
            self._sorted[name] = ascending(known)
        return self._sorted[name]

    def manifest(self, name: str, version: str) -> Mapping[str, Any] | None:
        """Return the metadata of one version, or ``None`` if it does not exist."""
        found: Mapping[str, Any] | None = (
            self.packages.get(name, {}).get("versions", {}).get(version)
        )
        return found

    def pick(self, name: str, spec: str, avoid: str | None = None) -> str | None:
        """
        Return the version npm takes for a range: ``latest`` if it fits, else the highest that does.

        Versions that run on :data:`NODE_VERSION` go before those that do not.

        :param avoid: a range to avoid; npm ignores it if nothing else fits, and so does this.
        :returns: ``None`` if no known version is in the range.
        """
        fitting = [version for version in self.versions(name) if fits(version, spec)]
        wanted = [v for v in fitting if avoid is None or not affects(v, avoid)] or fitting
        wanted = [version for version in wanted if self._runs(name, version)] or wanted
        latest = self.packages.get(name, {}).get("latest")
        if latest in wanted:
            return str(latest)
        return wanted[-1] if wanted else None

    def _runs(self, name: str, version: str) -> bool:
        engines = (self.manifest(name, version) or {}).get("engines")
        asked = engines.get("node") if isinstance(engines, dict) else None
        return not isinstance(asked, str) or satisfies(NODE_VERSION, asked)


def fits(version: str, spec: str) -> bool:
    """Return whether npm would choose a version for a range: for ``*`` no prerelease."""
    if spec in ("", "*", "latest"):
        return not is_prerelease(version)
    return satisfies(version, spec)
