"""``baseline.pin.json``: who made a run the baseline of its class, when, and why."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import AwareDatetime, Field

from benchgate.artifacts.run_kinds import RunRecord
from benchgate.errors import ArtifactError, Unreadable
from benchgate.gates.baseline import FILE_NAME
from benchgate.gates.decision import Outcome
from benchgate.wire import clock
from benchgate.wire.canonical import sha256_hex
from benchgate.wire.files import read_bytes
from benchgate.wire.holding import hold
from benchgate.wire.model import SCHEMA_VERSION, Artifact, Count, DisplayText, Sha256
from benchgate.wire.parsing import MAX_JSON_BYTES
from benchgate.wire.writing import model_bytes, write_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PIN_FILE: Final = "baseline.pin.json"


class Pin(Artifact):
    """
    ``baseline.pin.json``: what ``benchgate pin`` writes beside ``baseline.json``.

    :param sha256: of the record that became the baseline; ``seq`` is its number, ``outcome`` what the gate said of it.
    :param by: who pinned it, as far as the environment or git says.
    :param change: a sentence for whoever reviews it: what changes against the baseline before, for how many cases.
    """

    report_kind: Literal["pin"]
    task_class: str
    sha256: Sha256
    seq: Annotated[Count, Field(ge=1)]
    outcome: Outcome | None
    by: DisplayText | None
    at: AwareDatetime
    reason: DisplayText | None
    change: DisplayText

    def faults(self, class_path: Path) -> Iterator[str]:
        """Yield why this is not the pin of the ``baseline.json`` in a folder."""
        try:
            data = read_bytes(class_path / FILE_NAME, limit=MAX_JSON_BYTES)
            record = RunRecord.parse(class_path / FILE_NAME, data, "record")
        except Unreadable as error:
            yield f"{FILE_NAME}: {error.why}"
            return
        for name, fact in _facts(record, data).items():
            if getattr(self, name) != fact:
                yield f"{name} is {getattr(self, name)!r}; that of {FILE_NAME} is {fact!r}"


def _facts(record: RunRecord, data: bytes) -> dict[str, Any]:
    return {
        "task_class": record.report.task_class,
        "sha256": sha256_hex(data),
        "seq": record.seq,
        "outcome": record.decision.outcome if record.decision else None,
    }


def write_pinned(
    target: Path,
    record: RunRecord,
    data: bytes,
    *,
    by: str | None,
    reason: str | None,
    change: str,
) -> None:
    """
    Write a record as ``baseline.json``, then its pin beside it: whatever ends this between them leaves no wrong pin.

    :param data: the bytes of the record. The other parameters are the fields of :class:`Pin`.
    :raises ArtifactError: another process is at it, or a file cannot be written.
    """
    pin = Pin(
        schema_version=SCHEMA_VERSION,
        report_kind="pin",
        **_facts(record, data),
        by=by,
        at=clock.now(),
        reason=reason,
        change=change,
    )
    held = hold(target.parent)
    if held is None:
        raise ArtifactError(target, "another process pins a baseline there; try again")
    with closing(held):
        write_file(target, data)
        write_file(target.with_name(PIN_FILE), model_bytes(pin))
