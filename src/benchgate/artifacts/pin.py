"""``baseline.pin.json``: who made a run the baseline of its class, when, and why."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AwareDatetime, Field

from benchgate.errors import ArtifactError, counted
from benchgate.gates.choice import PIN_FILE
from benchgate.gates.decision import Outcome
from benchgate.wire.files import read_bytes
from benchgate.wire.holding import hold
from benchgate.wire.model import (
    SCHEMA_VERSION,
    Artifact,
    Count,
    DisplayText,
    Sha256,
    Text,
    WireModel,
)
from benchgate.wire.parsing import MAX_JSON_BYTES
from benchgate.wire.writing import model_bytes, write_file

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchgate.artifacts.run_kinds import RunRecord


class Extended(WireModel):
    """
    The pin of a baseline that was extended; what is not known, for no pin was of that record, is ``None``.

    :param sha256: of its record; the other fields are those of its :class:`Pin`.
    :param added: how many cases the baseline after it has that it lacks.
    """

    sha256: Sha256
    outcome: Outcome
    by: DisplayText | None
    at: AwareDatetime | None
    reason: DisplayText | None
    added: Count
    new_series: Text | None = Field(default=None, exclude_if=lambda reason: reason is None)


class Pin(Artifact):
    """
    ``baseline.pin.json``: what ``benchgate pin`` writes beside ``baseline.json``.

    :param sha256: of the record that became the baseline; ``seq`` is its number, ``outcome`` what the gate said of it.
    :param by: who pinned it, as far as the environment or git says.
    :param change: a sentence for whoever reviews it: what changes against the baseline before, for how many cases.
    :param extends: the pins of what it was extended from, the oldest first; left out for a run of all cases.
    :param new_series: why a new series of looks begins with it; left out if none does.
    """

    report_kind: Literal["pin"]
    task_class: str
    sha256: Sha256
    seq: Annotated[Count, Field(ge=1)]
    outcome: Outcome
    by: DisplayText | None
    at: AwareDatetime
    reason: DisplayText | None
    change: DisplayText
    extends: tuple[Extended, ...] = Field(default=(), exclude_if=lambda pins: not pins)
    new_series: Text | None = Field(default=None, exclude_if=lambda reason: reason is None)

    def is_of(self, record: RunRecord) -> bool:
        """Return whether it has a pin for each record that a record was extended from."""
        parts = [part.sha256 for part in record.report.parts]
        return [one.sha256 for one in self.extends] == parts

    def write(self, record: Path, target: Path) -> None:
        """
        Write the record as the baseline, then this: whatever ends it in between leaves no pin of another record.

        :raises ArtifactError: another process is at it, or a file cannot be written.
        """
        held = hold(target.parent)
        if held is None:
            raise ArtifactError(target, "another process pins a baseline there; try again")
        with closing(held):
            write_file(target, read_bytes(record, limit=MAX_JSON_BYTES))
            write_file(target.with_name(PIN_FILE), model_bytes(self))


def gate_said(record: RunRecord, extends: Sequence[Extended]) -> str:
    """Return what the gate said of a baseline: of one that was extended, what it said of the run of all cases."""
    if not extends:
        return record.decision.outcome
    added = counted(sum(one.added for one in extends), "case")
    return f"{extends[0].outcome}, extended by {added}"


def stated(record: RunRecord, sha256: str) -> dict[str, Any]:
    """Return the fields of a pin that follow from the record that is pinned; ``sha256`` is that of its file."""
    return {
        "schema_version": SCHEMA_VERSION,
        "report_kind": "pin",
        "task_class": record.report.task_class,
        "sha256": sha256,
        "seq": record.seq,
        "outcome": record.decision.outcome,
    }
