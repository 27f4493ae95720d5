"""
Advisory records as OSV, the GitHub Advisory Database and GitHub's REST interface publish them; kept in the form of OSV.

Of OSV these fields are read: ``id``, ``aliases`` (the CVE), ``published``, ``modified``, ``affected`` (``package`` with
``ranges`` or ``versions``), and in ``database_specific`` the ``severity`` and ``cwe_ids``; three more are this bench's
own and need not be there: ``cvss`` (the base score), ``note`` and ``source`` (repository, path, commit and licence of
the copy). Of GitHub's form: ``ghsa_id``, ``cve_id``, ``published_at``, ``updated_at``, ``severity``, ``cwes``,
``cvss``, ``vulnerabilities``. Descriptions are not kept.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

_SEVERITIES: Final = {"medium": "MODERATE"}
_NEEDED: Final = {"id": str, "modified": str, "affected": list}


class RecordError(ValueError):
    """A record lacks a fact that a case needs."""


def read_record(path: Path) -> dict[str, Any]:
    """Return a record in the form of OSV."""
    held = json.loads(path.read_text(encoding="utf-8"))
    if "ghsa_id" in held:
        return _from_github(held)
    if not all(isinstance(held.get(key), kind) for key, kind in _NEEDED.items()):
        msg = f"{path.name} is no record of OSV or GitHub: it has no {', '.join(_NEEDED)} of these kinds"
        raise RecordError(msg)
    keys = ("id", "aliases", "published", "modified", "severity")
    parts = ("package", "ranges", "versions")
    return {
        **{key: held[key] for key in keys if held.get(key)},
        "affected": [{key: one[key] for key in parts if key in one} for one in held["affected"]],
        "database_specific": dict(held.get("database_specific") or {}),
    }


def facts_of(record: Mapping[str, Any], packages: Iterable[str] | None = None) -> dict[str, Any]:
    """
    Return the facts of a record about one npm package, as in the ``[facts]`` of a case.

    :param packages: of these the one that is meant, if the record names several.
    :raises RecordError: no range, no npm package, or several and none chosen.
    """
    affected = [one for one in record["affected"] if one["package"]["ecosystem"] == "npm"]
    names = sorted({one["package"]["name"] for one in affected})
    meant = [name for name in names if len(names) == 1 or name in (packages or ())]
    if len(meant) != 1:
        msg = f"{record['id']} names {', '.join(names) or 'no npm package'}: choose one with --package"
        raise RecordError(msg)
    chosen = meant[0]
    ranges = [
        bounds
        for one in affected
        if one["package"]["name"] == chosen
        for held in one.get("ranges") or _exact(one.get("versions", []))
        for bounds in _bounds(held["events"])
        if held.get("type") != "GIT"
    ]
    if not ranges:
        msg = f"{record['id']}: no range of {chosen}"
        raise RecordError(msg)
    own = record["database_specific"]
    severity = str(own.get("severity") or "MODERATE")
    return {
        "cve": next((one for one in record.get("aliases", []) if one.startswith("CVE-")), ""),
        "ghsa": record["id"],
        "package": chosen,
        "vulnerable_range": " || ".join(_text(bounds) for bounds in ranges),
        "ranges": ranges,
        "severity": _SEVERITIES.get(severity.lower(), severity.upper()),
        "cwe": own.get("cwe_ids") or [],
        "first_patched": [bounds["fixed"] for bounds in ranges if "fixed" in bounds],
        "note": own.get("note") or "",
        "source": {**_source(record), **own.get("source", {}), "modified": record["modified"][:10]},
    }


def _source(record: Mapping[str, Any]) -> dict[str, str]:
    """Return where the GitHub Advisory Database keeps a record: by the month in which it was published."""
    year, month = str(record.get("published") or record["modified"])[:7].split("-")
    path = f"advisories/github-reviewed/{year}/{month}/{record['id']}/{record['id']}.json"
    return {"repo": "github/advisory-database", "path": path, "licence": "CC-BY-4.0"}


def _exact(versions: Iterable[str]) -> list[dict[str, Any]]:
    events = [event for one in versions for event in ({"introduced": one}, {"last_affected": one})]
    return [{"events": events}] if events else []


def bulk_entry(record: Mapping[str, Any], facts: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Return an advisory as npm's bulk endpoint answers; npm shows severity and score, and decides by the range."""
    vector = next((one["score"] for one in record.get("severity", [])), None)
    return {
        "id": number,
        "url": f"https://github.com/advisories/{facts['ghsa']}",
        "title": f"{facts['cve'] or facts['ghsa']} in {facts['package']}",
        "severity": facts["severity"].lower(),
        "vulnerable_versions": facts["vulnerable_range"],
        "cwe": facts["cwe"],
        "cvss": {"score": record["database_specific"].get("cvss") or 0, "vectorString": vector},
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
            "package": {"ecosystem": one["package"]["ecosystem"], "name": one["package"]["name"]},
            "ranges": [
                {"type": "SEMVER", "events": _events(part)}
                for part in str(one.get("vulnerable_version_range") or ">= 0").split("||")
            ],
        }
        for one in held.get("vulnerabilities") or []
    ]
    score = held.get("cvss") or {}
    vector = score.get("vector_string")
    return {
        "id": held["ghsa_id"],
        "aliases": [held["cve_id"]] if held.get("cve_id") else [],
        "published": held.get("published_at") or held["updated_at"],
        "modified": held["updated_at"],
        "affected": affected,
        "severity": [{"type": "CVSS_V3", "score": vector}] if vector else [],
        "database_specific": {
            "severity": held.get("severity"),
            "cwe_ids": [one["cwe_id"] for one in held.get("cwes") or []],
            "cvss": score.get("score"),
            **({"source": held["source"]} if held.get("source") else {}),
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
