"""Which recorded runs became the baseline of later ones."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchgate.cli import main
from benchgate.errors import ArtifactError
from benchgate.options.kinds import BASELINE
from benchgate.report.history import past_runs


def baselines(echo):
    return [run.record.seq for run in past_runs(echo.out / "runs" / echo.name) if run.pinned]


def test_a_run_with_the_results_of_the_baseline_is_not_the_baseline(echo):
    echo.run(baseline="auto")
    echo.pin()
    echo.run(baseline="auto")
    first, _ = past_runs(echo.out / "runs" / echo.name)
    echo.run(system=None, replay=first.folder, baseline="auto")
    assert len({run.record.report.run_id for run in past_runs(first.folder.parent)}) == 1
    assert baselines(echo) == [1]
    echo.pin()
    echo.run(baseline="auto")
    assert baselines(echo) == [1, 3]


def test_a_system_that_runs_beside_is_no_record(echo):
    echo.run(baseline="auto")
    echo.run(baseline="run:shout")
    assert baselines(echo) == []
    _, beside = past_runs(echo.out / "runs" / echo.name)
    assert beside.record.baseline.sha256 is None


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")


def say(echo, capsys):
    """Return what ``runs --deployed`` says, by its labels."""
    where = [f"--out={echo.out}", f"--bench-root={echo.root / 'bench'}"]
    assert main(["runs", "--deployed", *where]) == 0
    name, *lines = capsys.readouterr().out.splitlines()
    assert name == "echo"
    label, said = "", {}
    for line in lines:
        label = line[:10].strip() or label
        said[label] = f"{said.get(label, '')} {line[10:].strip()}".strip()
    return said


def pin(echo, number, *options):
    where = [f"--out={echo.out}", f"--bench-root={echo.root / 'bench'}"]
    assert main(["pin", str(number), "--yes", *where, *options]) == 0


def test_what_is_deployed_is_answered_whatever_came_after(echo, capsys, monkeypatch):
    monkeypatch.setenv("BENCHGATE_ACTOR", "ada")
    echo.run()
    pin(echo, 1, "--reason=the first")
    capsys.readouterr()
    first = say(echo, capsys)
    _, _, sha256 = past_runs(echo.out / "runs/echo")[0].head.partition(":")
    assert first["baseline"] == f"run 1, SHA-256 {sha256[:16]}, in {echo.out}/runs/echo"
    assert first["since"].endswith(" UTC, by ada")
    assert (first["reason"], first["later"]) == ("the first", "no run was compared with it")
    assert first["evidence"].startswith(
        "Echo.agent: passed 3 of 3, mean score 1.000 (95% lower bound"
    )
    echo.run(baseline="auto")
    echo.instead["02"] = {"answer": "no"}
    for _ in range(6):
        echo.run(baseline="auto", policy={"claim": "no_regression"})
    later = say(echo, capsys)
    assert later.pop("later") == "hold 1 (run 2), reject 6 (run 4, 5, 6, 7, 8)"
    assert later == {key: text for key, text in first.items() if key != "later"}


def test_a_baseline_by_hand_and_one_from_elsewhere_are_said_so(echo, capsys):
    echo.run()
    echo.pin()
    said = say(echo, capsys)
    assert said["since"] == "unknown: pinned by hand, no baseline.pin.json is of this record"
    (echo.out / "runs").rename(echo.out / "moved")
    assert "no record of" in say(echo, capsys)["baseline"]
    (echo.path / "baseline.json").write_text("{}")
    assert "no valid record" in say(echo, capsys)["baseline"]


def test_of_no_baseline_nothing_is_deployed(echo, capsys):
    where = ["--deployed", f"--bench-root={echo.root / 'bench'}"]
    assert main(["runs", *where]) == 1
    assert "no baseline is pinned" in capsys.readouterr().err
    echo.run()
    echo.pin()
    assert main(["runs", *where, "--task-class=other"]) == 1
    assert "no baseline is pinned of other" in capsys.readouterr().err
    assert main(["runs", *where, "--json"]) == 2


def test_a_number_is_a_run_wherever_one_is_asked_for(echo, capsys):
    echo.run(trials=2)
    first = echo.folder() / "record.json"
    echo.run(trials=2, baseline=BASELINE.read("1"))
    assert baselines(echo) == [1]
    assert (echo.folder() / echo.record()["baseline"]["path"]).resolve() == first
    out = f"--out={echo.out}"
    capsys.readouterr()
    assert main(["report", "1", out]) == 0
    by_number = capsys.readouterr().out
    assert main(["report", str(first)]) == 0
    assert by_number == capsys.readouterr().out


def test_a_number_of_no_run_is_told(echo, capsys):
    with pytest.raises(ArtifactError, match=r"runs/echo: there is no run '1'"):
        echo.run(baseline="1")
    with pytest.raises(ArtifactError, match=r"run 1: is found in an output folder only"):
        echo.run(baseline="1", out=None)
    echo.run()
    shutil.copytree(echo.out / "runs/echo", echo.out / "runs/other")
    assert main(["report", "1", f"--out={echo.out}"]) == 2
    assert "several classes have a run 1: echo, other; name the class" in capsys.readouterr().err
    assert main(["report", "1", f"--out={echo.out}", "--task-class=echo"]) == 0


def test_a_file_may_have_a_number_as_its_name():
    assert (BASELINE.read("1"), BASELINE.read("./1")) == ("1", Path("1"))
