"""The comparisons behind all rechecking: what a file says with what the files beside it give."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import Unreadable
from benchgate.wire.canonical import digest
from benchgate.wire.files import file_sha256
from benchgate.wire.parsing import MAX_JSON_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchgate.gates.policy import GatePolicy
    from benchgate.wire.model import WireModel


LATER: Final = frozenset(
    {
        "about_cases",
        "baseline_errors",
        "checkpoint",
        "claim",
        "cluster",
        "clusters",
        "cost",
        "critical",
        "duration",
        "effective_cases",
        "errors",
        "facts",
        "http_cassettes",
        "http_sha256",
        "imputed",
        "look",
        "looks",
        "margin",
        "max_cost_increase",
        "max_duration_increase",
        "max_newly_failing",
        "max_unscored",
        "meanings",
        "missing",
        "next_step",
        "pass_chances",
        "pass_fail",
        "plan",
        "plan_sha256",
        "replays",
        "resumes",
        "retries",
        "rollback_gate",
        "scorer",
        "sealed_plan",
        "smallest_margin",
        "timeouts",
        "tolerance",
        "usage",
    }
)
"""Fields that were added within a major version and have a default: older files lack them, which is no fault."""


OLDER: Final = "promoted by the rules of an older version; those of this version do not promote it"


def plain(model: WireModel) -> dict[str, Any]:
    """Return a model as the JSON values of its file."""
    return model.model_dump(mode="json")


def missing_fields(full: Any, raw: Any, where: str = "") -> Iterator[str]:
    """Yield the fields that an artifact leaves out: reading fills in defaults, but a file must have every field."""
    if full == raw:  # most of a large file
        return
    if isinstance(full, dict) and isinstance(raw, dict):
        for key, value in full.items():
            if key not in raw and key not in LATER:
                yield f"{where}{key}: Field required"
            elif key in raw:
                yield from missing_fields(value, raw[key], f"{where}{key}.")
    elif isinstance(full, list) and isinstance(raw, list):
        for index, (value, found) in enumerate(zip(full, raw, strict=False)):
            yield from missing_fields(value, found, f"{where}{index}.")


def of_older_rules(policy: GatePolicy) -> bool:
    """Whether a decision was made before policies had a claim: its figures are not those of this version."""
    return "claim" not in policy.model_fields_set


def policy_digest(policy: GatePolicy) -> str:
    """Return the digest of a policy as its file has it, without the thresholds that came later."""
    return digest(policy.model_dump(mode="json", include=policy.model_fields_set))


def digest_holds(path: Path, expected: str, where: str) -> Iterator[str]:
    """Yield a message if a file cannot be read or does not have the recorded SHA-256."""
    try:
        actual = file_sha256(path, limit=MAX_JSON_BYTES)
    except Unreadable as error:
        yield f"{where}: {path.name}: {error.why}"
        return
    if actual != expected:
        yield f"{where}: the SHA-256 of {path.name} is not the recorded one"


def same(where: str, expected: Any, found: Any, later: frozenset[str] = LATER) -> Iterator[str]:
    """
    Yield a message for each place where two JSON values differ; floats are compared to nine digits.

    :param later: fields that the second may lack.
    """
    if expected == found:  # most of a large file
        return
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in [key for key in expected if key in found or key not in later]:
            yield from same(f"{where}.{key}", expected[key], found.get(key), later)
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for index, (wanted, there) in enumerate(zip(expected, found, strict=True)):
            yield from same(f"{where}.{index}", wanted, there, later)
    elif isinstance(expected, float) and isinstance(found, (int, float)):
        if not math.isclose(expected, found, rel_tol=1e-9, abs_tol=1e-12):
            yield f"{where} is {found!r}; recomputed: {expected!r}"
    else:
        yield f"{where} is {found!r}; recomputed: {expected!r}"
