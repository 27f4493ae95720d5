"""What counts as a good answer to a case: sets and bounds, never one golden file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from pathlib import Path

FILE: Final = "expected.json"

FixClass = Literal[
    "lock-refresh",
    "lock-refresh-of-parent",
    "direct-spec-bump",
    "direct-major",
    "parent-bump",
    "parent-major",
    "scoped-override",
    "own-override",
    "direct-replaced",
]


class Advisory(BaseModel):
    """A known advisory: the versions of a package that it affects."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    ghsa: str
    package: str
    vulnerable_range: str


class Expected(BaseModel):
    """
    What a case accepts.

    :param target: the advisory to fix.
    :param also: further advisories to fix with it.
    :param no_fix: advisories that the project is told of as well, and that no version helps against.
    :param fix_classes: accepted kinds of fix, each with its credit in (0, 1]; empty on a negative.
    :param may_change: packages whose versions may change, or that may be added or removed.
    :param spec_edits_allowed: direct dependencies whose range may be edited.
    :param majors_allowed: direct dependencies that may cross a breaking line.
    :param lines_allowed: direct dependencies whose version has to end in a range: the nearest line that helps.
    :param overrides_allowed: packages that may be overridden.
    :param range_breaks_allowed: ``[dependent, package]`` pairs that may end out of range.
    :param leaving_allowed: direct dependencies that no version helps, and that may go.
    :param joining_allowed: packages that may become direct dependencies in their place.
    :param code_allowed: files of the project that may be edited; if there are any, its tests are run.
    :param sentinels: direct dependencies with the version that they must keep.
    :param advisories: further known advisories that must not enter the tree.
    :param advisories_of: the day of the advisory data; what was published later does not count.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal[1]
    target: Advisory
    also: tuple[Advisory, ...] = ()
    no_fix: tuple[Advisory, ...] = ()
    fix_classes: dict[FixClass, Annotated[float, Field(gt=0, le=1)]]
    may_change: frozenset[str]
    spec_edits_allowed: frozenset[str]
    majors_allowed: frozenset[str]
    lines_allowed: dict[str, str] = {}
    overrides_allowed: frozenset[str]
    range_breaks_allowed: frozenset[tuple[str, str]]
    leaving_allowed: frozenset[str] = frozenset()
    joining_allowed: frozenset[str] = frozenset()
    code_allowed: frozenset[str] = frozenset()
    sentinels: dict[str, str]
    advisories: tuple[Advisory, ...]
    advisories_of: str = "2026-11-22"

    @property
    def targets(self) -> tuple[Advisory, ...]:
        """All advisories to fix."""
        return (self.target, *self.also)


def read_expected(folder: Path) -> Expected:
    """Read ``expected.json`` of a case."""
    return Expected.model_validate_json((folder / FILE).read_bytes())
