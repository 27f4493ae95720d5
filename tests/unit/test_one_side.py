"""A side that is compared with itself shows nothing: one file is wrong use, equal files are judged and say so."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from benchgate.cli import main
from benchgate.runner.run import RunSettings, run_class
from benchgate.training.checkpoints import CheckpointFiles, read_checkpoints

SAID = "both files have the same bytes: is the baseline the old one?"
FORMS = {
    "log": ("jsonl", "".join(f'{{"id": "c{n:02}", "score": {n % 2}}}\n' for n in range(20))),
    "samples": ("json", json.dumps({f"c{n:02}": n % 2 for n in range(20)})),
    "junit": ("xml", "<testsuite>" + '<testcase classname="a" name="b"/>' + "</testsuite>"),
}
EASY = ("--policy=claim=no_regression",)


@pytest.fixture(params=list(FORMS))
def old(request, tmp_path, monkeypatch):
    """A file of the baseline, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    ending, text = FORMS[request.param]
    path = Path(f"old.{ending}")
    path.write_text(text)
    return path


def by_path(old):
    return old


def by_another_path(old):
    return Path("..", old.absolute().parent.name, old.name)


def by_a_link(old):
    Path("new").symlink_to(old)
    return Path("new")


def by_a_second_name(old):
    os.link(old, "new")
    return Path("new")


@pytest.mark.parametrize("way", [by_path, by_another_path, by_a_link, by_a_second_name])
def test_one_file_is_wrong_use_however_it_is_named(old, way, capsys):
    assert main(["gate", str(old), str(way(old)), *EASY]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "nothing is compared, and no loss could show; give the file of each version" in shown.err
    assert not Path("proof").exists()


def test_one_folder_is_called_a_folder(old, capsys):
    Path("logs").mkdir()
    old.rename("logs/old.jsonl")
    assert main(["gate", "logs", "logs"]) == 2
    assert "give the folder of each version" in capsys.readouterr().err


def test_a_copy_is_judged_and_said_to_be_one(old, capsys):
    shutil.copy(old, "new")
    assert main(["gate", str(old), "new", *EASY]) == 0
    assert f"careful   {SAID}\n" in capsys.readouterr().out
    old.write_text(old.read_text() + "\n")
    assert main(["gate", str(old), "new", *EASY]) == 0
    assert "bytes" not in capsys.readouterr().out


def test_whoever_reads_the_record_of_a_copy_is_told(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "comment.md"))
    for name in ("old.jsonl", "new.jsonl"):
        Path(name).write_text(FORMS["log"][1])
    assert main(["gate", "old.jsonl", "new.jsonl", *EASY, "--out=chain"]) == 0
    page = Path("chain/gate.html").read_text().lower()
    assert SAID in page
    assert SAID in Path("comment.md").read_text()
    case = ET.parse("chain/gate.xml").find("testcase")  # noqa: S314 - our own file
    assert SAID in case.find("system-out").text
    assert case.find("failure") is None
    assert main(["verify", "chain", "--require-promote", "--policy=claim=no_regression"]) == 0


NUMBERS = ("--run-id=x", "--policy=claim=no_regression", "--policy=test=auto")


@pytest.mark.parametrize(
    ("command", "sides"),
    [
        ("proof", ("--baseline-samples", "--trained-samples")),
        ("evaluate", ("--baseline-samples", "--trained-samples")),
        ("safety", ("--baseline-safety-samples", "--trained-safety-samples")),
    ],
)
def test_so_it_is_for_plain_vectors(tmp_path, monkeypatch, capsys, command, sides):
    monkeypatch.chdir(tmp_path)
    for name in ("old.json", "copy.json"):
        Path(name).write_text(FORMS["samples"][1])
    baseline, candidate = sides
    given = [command, f"{baseline}=old.json", "--out=made", *NUMBERS[:1]]
    assert main([*given, f"{candidate}=old.json"]) == 2
    assert "old.json is the baseline and the candidate" in capsys.readouterr().err
    assert not Path("made").exists()
    assert main([*given, f"{candidate}=copy.json"]) in {0, 10}
    if command != "safety":
        assert SAID in capsys.readouterr().err


def test_harm_that_is_compared_with_itself_cannot_rise(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("old.json").write_text(FORMS["samples"][1])
    Path("new.json").write_text(FORMS["samples"][1].replace("0,", "1,"))
    Path("harm.json").write_text(FORMS["samples"][1])
    sides = ["--baseline-samples=old.json", "--trained-samples=new.json"]
    harm = ["--baseline-safety-samples=harm.json", "--trained-safety-samples=harm.json"]
    assert main(["proof", *sides, *harm, "--run-id=x"]) == 2
    assert "harm.json is the baseline and the candidate" in capsys.readouterr().err


def test_one_record_is_one_run_wherever_it_is_copied_to(echo, capsys, monkeypatch):
    monkeypatch.chdir(echo.root)
    for _ in range(2):
        run_class(RunSettings(task_class="echo", out=echo.out, bench_root=echo.path.parent))
    echo.pin()
    capsys.readouterr()
    pinned = str(echo.path / "baseline.json")
    for sides in (("1", "1"), ("2", str(echo.folder())), (pinned, "2"), ("2", pinned)):
        assert main(["gate", *sides, *EASY]) == 2
        assert "no loss could show; give the " in capsys.readouterr().err
    assert main(["gate", "1", "2", *EASY]) == 0  # two runs of one system are compared
    assert main(["gate", "1", pinned, *EASY]) == 0


def test_one_checkpoint_is_not_both_sides(tmp_path):
    path = tmp_path / "late.json"
    path.write_text("{}")
    with pytest.raises(Exception, match="is the checkpoint of both sides"):
        read_checkpoints(CheckpointFiles(checkpoint=path, baseline=path))
