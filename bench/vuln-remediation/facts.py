"""The ``[facts]`` table of a case: what is publicly known about the vulnerability."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

# TOML has arrays, the model has tuples.
_Strings = Annotated[tuple[str, ...], Field(strict=False)]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class AffectedRange(_Strict):
    """
    One range of affected versions, as the advisory gives it.

    :param introduced: first affected version, ``"0"`` for all before the end.
    :param fixed: first version that is not affected any more.
    :param last_affected: last affected version, where no fix is known.
    """

    introduced: str
    fixed: str | None = None
    last_affected: str | None = None


class FactsSource(_Strict):
    """
    Where the facts come from.

    :param commit: of the stored copy; empty if it came without one, as from the interfaces of OSV and GitHub.
    :param modified: date of the stored copy; a newer copy may differ.
    """

    repo: str
    path: str
    commit: Annotated[str, Field(pattern=r"^([0-9a-f]{40})?$")] = ""
    modified: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")]
    licence: Literal["CC-BY-4.0"]


class VulnFacts(_Strict):
    """
    Facts of one vulnerability in one project.

    :param cve: empty if there is none.
    :param vulnerable_range: the affected versions as one npm range.
    :param first_patched: first unaffected version after each range; empty if there is none.
    :param fix_class: kind of the smallest fix, measured on this project; on a negative ``no-fix`` or ``not-affected``.
    :param parent_chain: from the direct dependency down to the package.
    :param observed: smallest fix that was seen to work, in words.
    :param note: errors and differences found between copies of the advisory; may be empty.
    """

    cve: Annotated[str, Field(pattern=r"^(CVE-\d{4}-\d{4,})?$")]
    ghsa: Annotated[str, Field(pattern=r"^GHSA(-[0-9a-z]{4}){3}$")]
    package: str
    ecosystem: Literal["npm"]
    vulnerable_range: str
    ranges: Annotated[tuple[AffectedRange, ...], Field(strict=False)]
    first_patched: _Strings
    severity: Literal["LOW", "MODERATE", "HIGH", "CRITICAL"]
    cwe: _Strings
    fix_class: str
    parent_chain: _Strings
    observed: str
    note: str = ""
    source: FactsSource
