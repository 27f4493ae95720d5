"""``baseline.pin.json``: who made a run the baseline of its class, when, and why."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import AwareDatetime, Field

from benchgate.artifacts.run_kinds import RunRecord
from benchgate.errors import ArtifactError
from benchgate.gates.decision import Outcome
from benchgate.wire.files import read_bytes
from benchgate.wire.holding import hold
from benchgate.wire.model import SCHEMA_VERSION, Artifact, Count, DisplayText, Sha256
from benchgate.wire.parsing import MAX_JSON_BYTES
from benchgate.wire.writing import model_bytes, write_file

if TYPE_CHECKING:
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
    outcome: Outcome
    by: DisplayText | None
    at: AwareDatetime
    reason: DisplayText | None
    change: DisplayText

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


def stated(path: Path) -> dict[str, Any]:
    """
    Return the fields of a pin that follow from the record that is pinned.

    :raises Unreadable: there is no record in the file.
    """
    record, sha256 = RunRecord.read_digested(path, "record")
    return {
        "schema_version": SCHEMA_VERSION,
        "report_kind": "pin",
        "task_class": record.report.task_class,
        "sha256": sha256,
        "seq": record.seq,
        "outcome": record.decision.outcome,
    }
