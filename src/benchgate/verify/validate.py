"""Finds the kind of an artifact and checks whether it is valid."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from benchgate.artifacts.kinds import KINDS
from benchgate.errors import ArtifactError, Unreadable, brief
from benchgate.gates.rules import RULES, not_computed
from benchgate.training.reading import JSON_LINES
from benchgate.verify.recheck import Rechecked, recheck
from benchgate.wire.files import read_bytes
from benchgate.wire.parsing import MAX_JSON_BYTES, read_json

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path


TELLING_FIELDS: Final = {
    "artifact_sha256": "proof",
    "change": "pin",
    "policy_improvement": "evaluation",
    "record_ref": "promotion",
    "sample_count": "safety",
}
"""Fields that identify the kinds without a ``report_kind``."""


def validate_file(path: Path, *, allow_rules: Collection[int] = ()) -> str:
    """
    Check every field of a file, the digests of what it refers to, and its arithmetic; return its kind.

    :param allow_rules: rules whose decisions are believed, though they are not computed again; the kind says so.
    :raises Unreadable: it cannot be read.
    :raises ArtifactError: it is of an unknown kind or invalid; lists every reason. Or other rules decided it.
    """
    data = read_bytes(path, limit=MAX_JSON_BYTES)
    try:
        raw = read_json(data)
    except ValueError as error:
        raise ArtifactError(path, f"no JSON: {error}") from error
    kind = kind_of(raw)
    if kind is None:
        raise ArtifactError(path, f"of no known kind; known: {', '.join(KINDS)}")
    found = _rechecked(path, data, kind)
    if found.faults:
        raise ArtifactError(path, f"no valid {kind}: {brief(found.faults, '; ')}")
    if found.lacking:
        names = ", ".join(found.lacking)
        raise ArtifactError(path, f"{kind} cannot be checked here: it needs {names}")
    why = not_computed(found.rules)
    if why is None:
        return kind
    if found.rules not in allow_rules:
        # A file has no chain: whoever wrote another decision into it could have named other rules too.
        raise ArtifactError(path, f"{kind} {why}; --allow-rules={found.rules} believes it")
    return f"{kind}, {why}"


def is_payload_file(path: Path) -> bool:
    """Whether a file holds RL payload bundles: one JSON document with a trajectory, or JSON lines."""
    if path.suffix.lower() in JSON_LINES:
        return os.path.isfile(path)
    try:
        raw = read_json(read_bytes(path, limit=MAX_JSON_BYTES))
    except (Unreadable, ValueError):
        return False
    return isinstance(raw, dict) and "trajectory" in raw


def kind_of(raw: Any) -> str | None:
    """Return the kind that a JSON value claims to be."""
    if not isinstance(raw, dict):
        return None
    if "report_kind" in raw:
        kind = raw["report_kind"]
        if isinstance(kind, str) and kind in KINDS:
            return kind
        return None
    for field, kind in TELLING_FIELDS.items():
        if field in raw:
            return kind
    if "seq" in raw or "sha256" in raw:
        return "head"
    return None


def _rechecked(path: Path, data: bytes, kind: str) -> Rechecked:
    try:
        read = KINDS[kind].read_json(data)
    except ValidationError as error:
        faults = [
            f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}"
            for fault in error.errors(include_url=False)
        ]
        return Rechecked(RULES, tuple(faults))
    return recheck(path, kind, data, read)
