"""What releases have written is read, and decided again, by every later version."""

from __future__ import annotations

import json
import shutil

import pytest

from benchgate.artifacts.kinds import KINDS
from benchgate.artifacts.run_kinds import RunRecord
from benchgate.audit.chain import RECORD_FILE, numbered
from benchgate.cli import main
from benchgate.looks.chain import ChainLooks
from benchgate.verify.validate import kind_of
from benchgate.wire.model import SCHEMA_VERSION
from tests.freeze_formats import FORMATS

VERSIONS = sorted(FORMATS.iterdir())


@pytest.fixture(params=VERSIONS, ids=lambda folder: folder.name)
def project(request, tmp_path, monkeypatch):
    """What a project keeps, as a release wrote it."""
    root = shutil.copytree(request.param, tmp_path / "project")
    monkeypatch.chdir(root)
    return root


def test_the_formats_of_this_version_are_frozen():
    assert str(SCHEMA_VERSION) in {folder.name for folder in VERSIONS}


def test_every_kind_of_file_is_there_and_is_read(project):
    found = set()
    for path in project.rglob("*.json"):
        kind = kind_of(json.loads(path.read_bytes()))
        if kind is not None:
            KINDS[kind].read_file(path, kind)
            found.add(kind)
    assert found == set(KINDS)


@pytest.mark.parametrize("task_class", ["echo", "logged"])
def test_a_look_is_the_same_by_the_head_of_a_record_and_by_all_of_it(project, task_class):
    heads = ChainLooks()
    wholes = ChainLooks()
    counted = []
    for _, folder in numbered(project / "out/runs" / task_class):
        record = RunRecord.read_file(folder / RECORD_FILE, "record")
        counted.append(heads.add(folder / RECORD_FILE))
        assert wholes.add_record(record, folder) == counted[-1]
    assert any(counted)


@pytest.mark.usefixtures("project")
def test_all_records_are_decided_again(capsys):
    assert main(["verify", "out"]) == 0
    assert "echo: 7 valid records; newest: hold, complete" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["bench/echo/baseline.pin.json", "proof/proof.json"])
@pytest.mark.usefixtures("project")
def test_a_file_is_valid_by_itself(name):
    assert main(["verify", name]) == 0


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ("runs --out=out", 0, "worse"),
        ("report 2 --out=out --task-class=echo", 0, "PROMOTE"),
        ("run --task-class=echo --system=new", 0, "promote"),
        ("run --task-class=echo --replay=answers", 10, "hold"),
        ("pin 2 --out=out --task-class=echo", 0, "baseline.json"),
        ("gate bench/echo/baseline.json out/runs/echo/00000002-*/record.json", 0, "PROMOTE"),
        ("gate proof/baseline.json proof/trained.json --policy=min_cases=8", 10, "HOLD"),
        ("gate before.jsonl after.jsonl --ledger=looks.json", 10, "HOLD"),
    ],
)
def test_a_command_takes_them(project, words, status, said, capsys):
    arguments = [str(next(project.glob(word))) if "*" in word else word for word in words.split()]
    assert main(arguments) == status
    assert said in capsys.readouterr().out
