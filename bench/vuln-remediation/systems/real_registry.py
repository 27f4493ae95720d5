"""
For agents that work with the npm registry of today: an answer with a version that its case has not frozen is an error.

The rubric cannot judge such an answer, because it does not know what the version depends on. An error counts as a
failure with score 0, so nobody gains by it. A version that the registry does not have, or has with another content, is
left to the rubric: for it that version does not exist.
"""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import urlopen

from _benchgate_bench.vuln_remediation.lockfile import FOLDER, package_name
from _benchgate_bench.vuln_remediation.metadata import Registry
from _benchgate_bench.vuln_remediation.project import LOCK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from benchgate import BenchCase

REGISTRY: Final = "https://registry.npmjs.org/"
PATIENCE: Final = 60.0
"""Seconds that the registry has to answer."""


class CannotBeJudged(RuntimeError):
    """An answer has versions that were published, but not frozen."""


def published(name: str, version: str) -> str | None:
    """Return the integrity hash that the registry has of a version; ``None`` if there is no such version."""
    address = f"{REGISTRY}{quote(name, safe='@')}/{quote(version)}"
    try:
        with urlopen(address, timeout=PATIENCE) as answer:  # noqa: S310 - the scheme is fixed
            found = json.load(answer)
    except HTTPError as error:
        if error.code in (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED):
            return None
        raise
    integrity: str | None = found.get("dist", {}).get("integrity")
    return integrity


class OnRealRegistry:
    """
    An agent that gets the real registry as ``case.served``, whatever its case serves.

    :param agent: the system itself.
    :param integrity: returns what the registry has of a version; tests give another one.
    """

    def __init__(
        self,
        agent: Callable[[BenchCase], Mapping[str, Any]],
        integrity: Callable[[str, str], str | None] = published,
    ) -> None:
        self._agent = agent
        self._integrity = integrity

    def __getattr__(self, name: str) -> Any:
        return getattr(self._agent, name)  # its digest, and what else it says of itself

    def __call__(self, case: BenchCase) -> Mapping[str, Any]:
        """
        Return what the agent answers.

        :raises CannotBeJudged: it has a version of the registry that its case has not frozen.
        """
        output = self._agent(case.model_copy(update={"served": REGISTRY}))
        frozen = Registry.load(case.input_path / "registry.json")
        unknown = sorted(
            f"{name}@{version}"
            for name, version, integrity in _locked(output)
            if frozen.manifest(name, version) is None
            and self._integrity(name, version) == integrity
        )
        if unknown:
            cure = "an agent that works with case.served finds only what can be judged"
            msg = f"cannot be judged: {', '.join(unknown[:5])} not frozen with this case; {cure}"
            raise CannotBeJudged(msg)
        return output


def _locked(output: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield name, version and integrity of each package in the lock of an answer, which may be anything."""
    try:
        entries = json.loads(output["files"][LOCK])["packages"]
        for path, entry in entries.items():
            if FOLDER in path and entry.get("integrity"):
                yield package_name(path, entry), str(entry["version"]), str(entry["integrity"])
    except (KeyError, TypeError, ValueError, AttributeError):
        return  # the rubric says what is wrong with it
