"""A run that ended early is completed, and no trial that it finished is run again."""

from __future__ import annotations

import json
import shutil
import time

import pytest

from benchgate.cli import main
from benchgate.errors import ArtifactError, EvalError, SystemUnavailable

ALL = [name + trial for name in ("01", "02", "03", "04") for trial in ("", "-t1")]
OUTAGE = SystemUnavailable("429")


@pytest.fixture
def four(echo):
    echo.case("04")
    return echo


def completes(echo, **settings):
    """Return a run with two trials of each case; the record of the whole output folder holds."""
    run = echo.run(trials=2, **settings)
    assert main(["verify", str(echo.out), "--require-complete"]) == 0
    return run


def whole(echo):
    """Return the report of a run that nothing ended, without times."""
    run = echo.run(trials=2, out=echo.root / "whole")
    echo.calls.clear()
    return timeless(run)


def timeless(run):
    report = json.loads(run.judgement.report.model_dump_json())
    for trial in report["per_case"]:
        trial["duration_seconds"] = 0
    return report


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_killed_run_is_completed(four, jobs):
    expected = whole(four)
    folder = four.left(at="03", trials=2)
    assert four.files(folder) == ["01-t1.json", "01.json", "02-t1.json", "02.json"]
    run = completes(four, resume="auto", jobs=jobs)
    assert timeless(run) == expected
    assert sorted(four.calls) == ALL[4:]
    assert run.taken_over == 4
    assert four.record()["resumes"] == {"folder": folder.name, "seq": None}


def test_a_recorded_run_is_completed_by_a_new_record(four):
    expected = whole(four)
    four.instead["03"] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        four.run(trials=2)
    before = four.folder()
    files = {path.name: path.read_bytes() for path in (before / "cases").iterdir()}
    del four.instead["03"]
    four.calls.clear()
    assert timeless(completes(four, resume="1")) == expected
    assert four.calls == ALL[4:]
    assert four.record()["resumes"] == {"folder": before.name, "seq": 1}
    assert {path.name: path.read_bytes() for path in (before / "cases").iterdir()} == files
    with pytest.raises(ArtifactError, match=f"it is resumed by {four.folder().name}"):
        four.run(trials=2, resume="1")


def test_a_run_that_is_resumed_and_stopped_again_loses_nothing(four):
    expected = whole(four)
    folder = four.left(at="03", trials=2)
    (folder / "cases/01.json").unlink()
    four.instead["01"] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        four.run(trials=2, resume="auto")
    assert list(four.outcomes().values()).count("scored") == 3
    del four.instead["01"]
    four.calls.clear()
    assert timeless(completes(four, resume="auto")) == expected
    assert four.calls == ["01", *ALL[4:]]


def test_what_finished_behind_a_slow_trial_is_on_disk(four):
    """The first case is stopped when others are on disk, while its record would come before theirs."""
    wanted, ends = {"02.json", "02-t1.json", "03.json", "03-t1.json"}, time.monotonic() + 20

    def is_stopped(_):
        while not wanted <= {path.name for path in four.out.glob("runs/*/*/cases/*.json")}:
            assert time.monotonic() < ends
            time.sleep(0.002)
        raise KeyboardInterrupt

    four.instead["01"] = is_stopped
    with pytest.raises(KeyboardInterrupt):
        four.run(trials=2, jobs=4)
    scored = {name for name, outcome in four.outcomes().items() if outcome == "scored"}
    assert scored >= {"02", "02-t1", "03", "03-t1"}
    four.instead.clear()
    four.calls.clear()
    completes(four, resume="auto", jobs=3)
    assert set(four.calls) == {*ALL} - scored


def louder(case):
    raise AssertionError(case)


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"system": louder}, "system was 'Echo.agent', is 'louder'"),
        ({"seed": 7}, "seed was 0, is 7"),
        ({"trials": 3}, "trial_count was 2, is 3"),
    ],
)
def test_another_plan_is_refused_and_says_what_changed(four, other, says):
    folder = four.left(trials=2)
    before = four.files(folder)
    with pytest.raises(ArtifactError) as error:
        four.run(**{"trials": 2, "resume": "auto", **other})
    assert f"  {says}" in str(error.value).splitlines()
    assert four.calls == []
    assert four.files(folder) == before


def test_a_part_of_the_cases_is_not_resumed(four, capsys):
    folder = four.left(trials=2)
    with pytest.raises(EvalError, match="only a full run can be resumed; here a part of the cases"):
        four.run(trials=2, resume=folder, case_filter="03")
    assert four.calls == []
    # Without an output folder there is nothing to resume.
    assert main(["run", "--task-class=echo", "--resume", f"--bench-root={four.path.parent}"]) == 2
    assert "resume auto (the command line) needs --out: " in capsys.readouterr().err


def test_a_run_that_is_complete_or_not_there_is_not_resumed(four):
    run = four.run(trials=2, resume="auto")
    assert (run.taken_over, four.record()["resumes"]) == (0, None)
    with pytest.raises(ArtifactError, match="cannot be resumed: it is complete"):
        four.run(trials=2, resume="1")
    with pytest.raises(ArtifactError, match="there is no run '7'; benchgate runs lists them"):
        four.run(trials=2, resume="7")
    assert four.calls == ALL


def test_a_system_that_cannot_run_beside_itself_leaves_no_run(four):
    def agent(case):
        raise AssertionError(case)

    agent.concurrency = "none"
    with pytest.raises(EvalError, match="concurrency = 'none'"):
        four.run(system=agent, jobs=2)
    assert not (four.out / "runs/echo").exists()


def test_torn_and_foreign_files_count_as_missing(four):
    folder = four.left(at="04", trials=2)
    cases = folder / "cases"
    (cases / "01.json").write_bytes((cases / "01.json").read_bytes()[:-20])
    shutil.copy(cases / "02-t1.json", cases / "02.json")
    (cases / ".03.json.77.tmp").write_text("half a fi")
    (cases / "stray.json").write_text("{}")
    (folder / ".record.json.77.tmp").write_text("of a process that was killed at its end")
    (folder / "evidence").mkdir()
    four.relist(folder)  # each file is as long as it was meant to be
    completes(four, resume="auto")
    assert four.calls == ["01", "02", "04", "04-t1"]


def test_an_outage_is_made_good(four):
    expected = whole(four)
    four.instead["03"] = OUTAGE
    assert four.run(trials=2, retries=0).exit_status == 1
    assert four.outcomes()["03"] == "unavailable"
    four.instead.clear()
    four.calls.clear()
    assert timeless(completes(four, resume="auto", retries=5)) == expected
    assert four.calls == ["03", "03-t1"]


def test_a_run_stays_resumable_when_the_one_that_completed_it_is_removed(four, capsys):
    four.instead["03"] = OUTAGE
    four.run(trials=2, retries=0)
    del four.instead["03"]
    shutil.rmtree(four.left(at="03", trials=2, resume="auto"))
    completes(four, resume="auto")
    assert four.calls == ["03", "03-t1"]
    capsys.readouterr()
    assert main(["runs", f"--out={four.out}", "--json"]) == 0
    states = [json.loads(line)["state"] for line in capsys.readouterr().out.splitlines()]
    assert states == ["resumed", "complete"]


def test_what_is_resumed_by_itself_is_the_newest_run_or_none(four):
    four.left(trials=2)
    four.run(trials=2)
    four.calls.clear()
    run = four.run(trials=2, resume="auto")
    assert (run.taken_over, four.calls) == (0, ALL)
    assert four.record()["resumes"] is None


def test_the_newest_of_recorded_runs_is_resumed(four):
    four.run(trials=2)
    four.instead["03"] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        four.run(trials=2)
    del four.instead["03"]
    four.calls.clear()
    assert completes(four, resume="auto").taken_over == 4
    assert four.calls == ALL[4:]
    assert four.record()["resumes"]["seq"] == 2


def test_an_abandoned_run_is_removed(four):
    four.run(trials=2)
    folder = four.left(trials=2)
    assert main(["verify", str(four.out), "--require-complete"]) == 1
    shutil.rmtree(folder)
    completes(four)
    assert four.head()["seq"] == 2


def test_a_plan_is_not_edited_unseen(echo, capsys):
    echo.run()
    path = echo.folder() / "plan.json"
    assert main(["verify", str(path)]) == 0
    path.write_text(path.read_text().replace('"seed": 0', '"seed": 1'))
    capsys.readouterr()
    assert main(["verify", str(echo.out)]) == 1
    assert "the SHA-256 of plan.json is not the recorded one" in capsys.readouterr().err
    path.unlink()
    assert main(["verify", str(echo.out)]) == 1
