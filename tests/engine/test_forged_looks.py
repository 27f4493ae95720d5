"""A look that was forged, with the decision that follows from it: the records before it say otherwise."""

from __future__ import annotations

import hashlib
import json
import shutil

import pytest

from benchgate.artifacts.run_kinds import RunRecord
from benchgate.cli import main
from benchgate.gates.decide import decide
from benchgate.gates.looks import RecordedLook
from benchgate.verify.facts import files_of
from benchgate.verify.verification import verify_class
from benchgate.wire.writing import model_bytes
from tests.engine.test_looks import SPEND, Looks


@pytest.fixture
def looks(echo, kept):
    """Looks of which the last has something in each field."""
    looks = Looks(echo, kept)
    looks.run(0.2)
    where = [f"--bench-root={echo.path.parent}", f"--out={echo.out}"]
    assert main(["pin", "1", "--yes", *where, "--new-series=ten cases were wrong"]) == 0
    looks.run(0.3, **SPEND)
    echo.case("05", retired='"its answer was wrong"')
    looks.run(0.3, **SPEND)
    echo.case("02", critical="true")
    looks.run(0.3, **SPEND)
    return looks


def newest(looks):
    """The folder of the newest record, and the record."""
    folder = looks.echo.folder()
    return folder, RunRecord.read_file(folder / "record.json", "record")


def forge(looks, look):
    """Write another look into the newest record and what follows from it, and mend all digests."""
    folder, record = newest(looks)
    record = record.model_copy(update={"look": look})
    decided = decide(record.facts)
    files = files_of(folder / "evidence", record, decided)
    for name, data in files.items():
        (folder / "evidence" / name).write_bytes(data)
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    record = record.model_copy(update={"decision": decided.decision, "evidence_files": digests})
    (folder / "record.json").write_bytes(model_bytes(record))
    head = folder.parent / "HEAD.json"
    sha256 = hashlib.sha256(model_bytes(record)).hexdigest()
    head.write_text(json.dumps(json.loads(head.read_bytes()) | {"sha256": sha256}))


def faults(looks):
    """What is wrong with the newest record."""
    _, record = newest(looks)
    found = verify_class(looks.echo.out, "echo").faults
    return [fault.message for fault in found if fault.seq == record.seq]


FORGED = {
    "number": 1,
    "declared": "count",
    "relabelled": (),
    "new_series": "nothing was wrong",
    "uncounted": 0,
    "series": "0" * 64,
    "known_by": "name",
    "seen": (),
    "known": (),
}


def test_each_field_of_a_look_is_the_one_that_the_chain_gives(looks):
    assert looks.is_valid()
    _, record = newest(looks)
    look = record.look
    assert FORGED.keys() == RecordedLook.model_fields.keys()
    for field, value in FORGED.items():
        assert getattr(look, field) != value
        forge(looks, look.model_copy(update={field: value}))
        found = faults(looks)
        assert found, field
        assert all(message.startswith(f"look.{field}") for message in found), found
    forge(looks, look)
    assert faults(looks) == []
    forge(looks, None)
    assert [message.partition(" ")[0] for message in faults(looks)] == ["look"]


def test_a_decision_follows_from_its_record_without_those_before_it(looks):
    folder, record = newest(looks)
    assert [case.case_id for case in record.look.seen] == ["02", "05"]
    assert [case.case_id for case in record.look.known] == ["05"]
    for run in folder.parent.iterdir():
        if run.is_dir() and run != folder:
            shutil.rmtree(run)
    assert decide(record.facts).decision == record.decision
    assert record.decision.look.over_seen is not None
