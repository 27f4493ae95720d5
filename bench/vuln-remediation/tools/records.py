"""
Advisory records: read in the form of OSV or of GitHub's REST interface, kept in ``tools/records`` in that of OSV.

Of OSV these fields are read: ``id``, ``aliases`` (the CVE), ``modified``, ``affected`` (``package`` and ``ranges``
with ``events``), and in ``database_specific`` the ``severity`` and ``cwe_ids``, with three fields of this bench:
``cvss`` (the base score), ``note`` and ``source`` (repository, path, commit and licence of the copy). Of GitHub's
form: ``ghsa_id``, ``cve_id``, ``updated_at``, ``severity``, ``cwes``, ``cvss``, ``vulnerabilities``.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

_SEVERITIES: Final = {"medium": "MODERATE"}


class RecordError(ValueError):
    """A record lacks a fact that a case needs."""


def read_record(path: Path) -> dict[str, Any]:
    """Return a record in the form of OSV."""
    held = json.loads(path.read_text(encoding="utf-8"))
    return _from_github(held) if "ghsa_id" in held else held


def facts_of(record: Mapping[str, Any], package: str | None = None) -> dict[str, Any]:
    """
    Return the facts of a record about one npm package, as in the ``[facts]`` of a case.

    :param package: which, if the record names several.
    :raises RecordError: no CVE, no npm package, or several and none chosen.
    """
    affected = [one for one in record["affected"] if one["package"]["ecosystem"] == "npm"]
    names = sorted({one["package"]["name"] for one in affected})
    if package is None and len(names) != 1:
        msg = f"{record['id']} names {', '.join(names) or 'no npm package'}: choose one with --package"
        raise RecordError(msg)
    chosen = package or names[0]
    ranges = [
        bounds
        for one in affected
        if one["package"]["name"] == chosen
        for held in one["ranges"]
        for bounds in _bounds(held["events"])
    ]
    cve = next((alias for alias in record.get("aliases", []) if alias.startswith("CVE-")), None)
    if not ranges or cve is None:
        msg = f"{record['id']}: no {'CVE' if ranges else f'range of {chosen}'}"
        raise RecordError(msg)
    own = record["database_specific"]
    return {
        "cve": cve,
        "ghsa": record["id"],
        "package": chosen,
        "vulnerable_range": " || ".join(_text(bounds) for bounds in ranges),
        "ranges": ranges,
        "severity": _SEVERITIES.get(own["severity"].lower(), own["severity"].upper()),
        "cwe": own["cwe_ids"],
        "first_patched": [bounds["fixed"] for bounds in ranges if "fixed" in bounds],
        "note": own.get("note") or "",
        "source": {**own["source"], "modified": record["modified"][:10]},
    }


def bulk_entry(record: Mapping[str, Any], facts: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Return an advisory as npm's bulk endpoint answers; npm shows severity and score, and decides by the range."""
    vector = next((one["score"] for one in record.get("severity", [])), None)
    return {
        "id": number,
        "url": f"https://github.com/advisories/{facts['ghsa']}",
        "title": f"{facts['cve']} in {facts['package']}",
        "severity": facts["severity"].lower(),
        "vulnerable_versions": facts["vulnerable_range"],
        "cwe": facts["cwe"],
        "cvss": {
            "score": record["database_specific"].get("cvss") or 0,
            "vectorString": vector,
        },
    }


def _bounds(events: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
    """Return the pairs of an OSV range: every ``introduced`` with the end that follows it."""
    found: list[dict[str, str]] = []
    for event in events:
        if "introduced" in event:
            found.append({"introduced": event["introduced"]})
        elif found:
            found[-1].update(event)
    return found


def _text(bounds: Mapping[str, str]) -> str:
    first = bounds["introduced"]
    parts = [] if first in ("0", "0.0.0") else [f">={first}"]
    if "fixed" in bounds:
        parts.append(f"<{bounds['fixed']}")
    elif "last_affected" in bounds:
        parts.append(f"<={bounds['last_affected']}")
    return " ".join(parts) or "*"


def _from_github(held: Mapping[str, Any]) -> dict[str, Any]:
    affected = [
        {
            "package": {
                "ecosystem": one["package"]["ecosystem"],
                "name": one["package"]["name"],
            },
            "ranges": [{"type": "SEMVER", "events": _events(one["vulnerable_version_range"])}],
        }
        for one in held["vulnerabilities"]
    ]
    return {
        "id": held["ghsa_id"],
        "aliases": [held["cve_id"]] if held.get("cve_id") else [],
        "modified": held["updated_at"],
        "affected": affected,
        "severity": [
            {"type": "CVSS_V3", "score": held["cvss"]["vector_string"]}
            for _ in [1]
            if (held.get("cvss") or {}).get("vector_string")
        ],
        "database_specific": {
            "severity": held["severity"],
            "cwe_ids": [one["cwe_id"] for one in held.get("cwes", [])],
            "cvss": (held.get("cvss") or {}).get("score"),
            "source": held.get("source", {}),
        },
    }


def _events(written: str) -> list[dict[str, str]]:
    """Return the events of a range as GitHub writes it: ``>= 1.0.0, < 1.2.6``, ``<= 2.0.1`` or ``= 1.0.0``."""
    found: dict[str, str] = {"introduced": "0"}
    for sign, version in re.findall(r"(>=|<=|=|<)\s*([^\s,]+)", written):
        if sign == "=":
            return [{"introduced": version}, {"last_affected": version}]
        found[{">=": "introduced", "<": "fixed", "<=": "last_affected"}[sign]] = version
    return [{key: value} for key, value in found.items()]
