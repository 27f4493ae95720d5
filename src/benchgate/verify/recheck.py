"""
Recomputes what an artifact says.

A digest does not show a change if the digest was updated too. So the facts are looked for beside the file, the files
that follow from them are built again, and compared: means from samples, tests from means, reasons from tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from benchgate.artifacts.pin import Pin, stated
from benchgate.artifacts.run_kinds import RunRecord
from benchgate.cassettes.manifest import CassetteManifest, file_faults
from benchgate.gates.choice import FILE_NAME
from benchgate.gates.rules import RULES
from benchgate.verify.agreement import plain, same
from benchgate.verify.evidence import held
from benchgate.verify.other_rules import OF_A_COMPARISON
from benchgate.verify.recheck_record import recheck_record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchgate.wire.model import WireModel

EVIDENCE: Final = {name.removesuffix(".json") for name in (*OF_A_COMPARISON, "promotion.json")}


class Rechecked(NamedTuple):
    """
    What was found of an artifact.

    :param rules: by which was decided what it says; those of this benchgate if it follows from no rules.
    :param faults: where it differs from its recomputation.
    :param lacking: what would have to be beside it, so that it can be recomputed; empty if it was.
    """

    rules: int
    faults: tuple[str, ...]
    lacking: tuple[str, ...] = ()


def recheck(path: Path, kind: str, data: bytes, artifact: WireModel) -> Rechecked:
    """Recompute what a well-formed artifact says, as far as it was decided by the rules of this benchgate."""
    if kind in EVIDENCE:
        return _evidence(path, kind, data)
    if isinstance(artifact, RunRecord):
        return Rechecked(artifact.rules, tuple(recheck_record(path.parent, artifact)))
    if isinstance(artifact, CassetteManifest):
        return Rechecked(RULES, tuple(file_faults(path.parent, artifact.files)))
    if isinstance(artifact, Pin):
        return Rechecked(RULES, tuple(_pin(path, artifact)))
    return Rechecked(RULES, ())


def _pin(path: Path, artifact: Pin) -> Iterator[str]:
    # What a person said, such as the reason, follows from nothing: only the fields of the record are compared.
    pin = plain(artifact)
    record, sha256 = RunRecord.read_digested(path.with_name(FILE_NAME), "record")
    yield from same("pin", pin | stated(record, sha256), pin)
    if not artifact.is_of(record):
        yield "pin.extends: not a pin for each record that the baseline was extended from"


def _evidence(path: Path, kind: str, data: bytes) -> Rechecked:
    """Hold a file of evidence against its record or, without that, against the files beside it."""
    # Forged facts may make any of the computations raise: that is a finding too.
    try:
        against = held(path, kind)
        faults = tuple(against.faults(kind, data, path.parent))
    except Exception as error:
        why = f"its facts cannot be rechecked: {type(error).__name__}: {error}"
        return Rechecked(RULES, (why,))
    return Rechecked(against.rules, faults, against.lacking.get(f"{kind}.json", ()))
