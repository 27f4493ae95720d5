"""Each file of evidence is a view of its record: one changed byte is found, wherever the file lies."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest

from benchgate.artifacts.run_evidence import views
from benchgate.artifacts.run_kinds import RunRecord
from benchgate.audit.evidence_copy import write_copy
from benchgate.errors import ArtifactError
from benchgate.verify.recheck_record import recheck_record
from benchgate.verify.validate import validate_file
from benchgate.verify.verification import verify_class
from tests.conftest import Echo

if TYPE_CHECKING:
    from pathlib import Path


OF_A_COMPARISON = (
    "baseline.json",
    "trained.json",
    "significance.json",
    "safety.json",
    "evaluation.json",
    "proof.json",
)
FILES = (*OF_A_COMPARISON, "promotion.json", "promotion.toml")


@pytest.fixture(scope="module")
def promoted(tmp_path_factory) -> Echo:
    """A run with every file of evidence that there is."""
    echo = Echo(tmp_path_factory.mktemp("promoted"))
    for number in range(4, 13):
        echo.case(f"{number:02}")
    (echo.root / "docs").mkdir()
    (echo.root / "docs/trust-tiers.toml").touch()
    echo.system("if int(case.case_id) > 2: return {'answer': ''}")
    echo.engine()
    echo.pin()
    echo.system("pass")
    echo.engine(baseline="auto")
    return echo


def record_of(echo: Echo) -> RunRecord:
    return RunRecord.read_file(echo.folder() / "record.json", "record")


def changed(path: Path, places: list[int]):
    """Change one byte of a file at each place in turn, and put it back."""
    data = path.read_bytes()
    assert places
    for place in places:
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        yield data[place - 20 : place + 20]
    path.write_bytes(data)


def invalid(folder: Path) -> set[str]:
    """Return which files of a folder `benchgate verify FILE...` does not take for valid."""
    names = set()
    for path in folder.glob("*.json"):
        try:
            validate_file(path)
        except ArtifactError:
            names.add(path.name)
    return names


def test_the_files_that_a_run_writes_are_the_views_of_its_record(promoted):
    made = views(record_of(promoted))
    assert set(made) == set(FILES)
    evidence = promoted.folder() / "evidence"
    assert made == {path.name: path.read_bytes() for path in evidence.iterdir()}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("place", ["record", "copy"])
def test_one_changed_byte_is_found_beside_the_record(promoted, place, name):
    copy = promoted.out / "evidence" / promoted.name
    folder = {"record": promoted.folder() / "evidence", "copy": copy}[place]
    path = folder / name
    size = path.stat().st_size
    for around in changed(path, [*range(0, size, max(1, size // 8)), size - 1]):
        assert verify_class(promoted.out, promoted.name).faults, around
        if path.suffix == ".json":
            assert name in invalid(folder), around
    assert verify_class(promoted.out, promoted.name).faults == ()


@pytest.mark.parametrize("name", FILES)
def test_the_path_of_the_record_is_found_where_it_does_not_belong(promoted, name):
    """The copy names its record by another path, which is put back before it is compared; nothing else goes with it."""
    path = promoted.out / "evidence" / promoted.name / name
    data = path.read_bytes()
    path.write_bytes(data + b'"path": "../record.json"')
    try:
        assert verify_class(promoted.out, promoted.name).faults
    finally:
        path.write_bytes(data)


def test_the_name_of_a_checkpoint_is_refused_where_systems_are_compared(promoted):
    record = record_of(promoted).model_copy(update={"baseline_checkpoint": "strong-v9"})
    faults = list(recheck_record(promoted.folder(), record))
    assert "baseline_checkpoint: the subject is no checkpoint" in faults


@pytest.mark.parametrize("name", OF_A_COMPARISON)
def test_one_changed_byte_is_found_without_the_record(promoted, tmp_path, name):
    """The first byte of each value: no digest covers the last digits of figures in proof and evaluation."""
    folder = tmp_path / "lone"
    shutil.copytree(promoted.folder() / "evidence", folder)
    assert invalid(folder) == {"promotion.json"}
    values = re.finditer(rb'": (?=[^\[{])', (folder / name).read_bytes())
    places = [found.end() for found in values]
    for around in changed(folder / name, places[:: max(1, len(places) // 20)]):
        assert invalid(folder) > {"promotion.json"}, around


def test_a_record_is_found_though_the_file_that_names_it_is_gone(promoted, tmp_path):
    """Else a forger would only have to delete it, and the samples would be taken for facts."""
    folder = tmp_path / promoted.folder().name
    shutil.copytree(promoted.folder(), folder)
    (folder / "evidence/promotion.json").unlink()
    path = folder / "evidence/trained.json"
    validate_file(path)
    path.write_bytes(path.read_bytes().replace(b'"score": 1.0', b'"score": 0.5', 1))
    with pytest.raises(ArtifactError, match=r"its SHA-256 is not the one in its record\.json"):
        validate_file(path)


def test_a_copy_is_made_of_whatever_the_record_s_folder_has(promoted, tmp_path):
    """Also of another version, whose files this one would write otherwise."""
    out = tmp_path / "out"
    shutil.copytree(promoted.out, out)
    folder = out / promoted.folder().relative_to(promoted.out)
    copy = out / "evidence" / promoted.name
    (copy / "stale.json").touch()
    stored = folder / "evidence" / "evaluation.json"
    stored.write_bytes(stored.read_bytes() + b" ")
    assert write_copy(copy, folder) is None
    assert {path.name for path in copy.iterdir()} == set(FILES)
    assert (copy / "evaluation.json").read_bytes() == stored.read_bytes()
