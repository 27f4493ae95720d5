"""A run that plays what another one recorded."""

from __future__ import annotations

import pytest

from benchgate.cli import main
from benchgate.errors import SystemUnavailable


def replayed(echo, **settings):
    """Return the report of the replay of a run, and that of the run; the replay calls no system."""
    live = echo.run(**settings).judgement.report
    echo.calls.clear()
    echo.instead = dict.fromkeys(("01", "02", "03"), AssertionError("called"))
    report = echo.run(system=None, replay="1", **settings).judgement.report
    assert echo.calls == []
    assert main(["verify", str(echo.out)]) == 0
    return report, live


def test_a_replay_pays_nothing_and_waits_for_nobody(echo):
    echo.instead = dict.fromkeys(("01", "02", "03"), lambda case: case.usage.add(cost_usd=1.0))
    folder = echo.run(baseline="none").published.folder
    run = echo.run(baseline="none", system=None, replay=folder, max_cost_usd=0.5, max_rpm=1)
    report = run.judgement.report
    assert report.complete
    assert report.usage.cost_usd == 3.0


def test_what_is_missing_from_a_run_is_missing_from_its_replay(echo):
    echo.instead["02"] = SystemUnavailable("away")
    report, live = replayed(echo, retries=0)
    assert report.run_id == live.run_id
    assert report.per_case[1] == live.per_case[1]
    assert report.per_case[1].outcome == "unavailable"


def test_inputs_that_the_system_changed_stay_told(echo):
    more = echo.path / "cases/02/input/more.txt"
    echo.instead["02"] = lambda _: more.touch()
    live = echo.run().judgement.report
    more.unlink()
    report = echo.run(system=None, replay="1").judgement.report
    assert report.run_id == live.run_id
    assert [mode.code for mode in report.per_case[1].failure_modes] == ["input_modified"]
    assert main(["verify", str(echo.out)]) == 0


def test_a_replay_is_no_promotion_unless_it_is_allowed(echo, capsys):
    for number in range(4, 15):
        echo.case(f"{number:02}")
    wrong = {f"{number:02}": {"answer": "wrong"} for number in range(1, 15)}
    echo.instead = wrong
    echo.run()
    echo.pin()
    echo.instead = {}
    echo.run(baseline="auto", record="good")
    promoted = ["verify", str(echo.out), "--require-promote"]
    assert main(promoted) == 0
    echo.run(baseline="auto", system=None, replay="good")
    capsys.readouterr()
    assert main(promoted) == 1
    assert "is a replay" in capsys.readouterr().err
    assert main([*promoted, "--allow-replay"]) == 0


@pytest.mark.parametrize("changed", [False, True])
def test_a_rubric_that_gives_one_output_two_scores_is_named(echo, monkeypatch, changed):
    mood = """
    import os
    if os.environ.get("MOOD") == case.case_id:
        return BenchScore(passed=False, score=0.5, safety_penalty=0.0)
    """
    echo.rubric(mood)
    echo.run()
    assert [one.differs for one in echo.engine(replay="1").judgement.report.per_case] == [False] * 3
    monkeypatch.setenv("MOOD", "02")
    if changed:
        echo.rubric(f"{mood}# another rubric, which may give another score\n")
    run = echo.engine(replay="1")
    said = {one.code: one.message for one in run.judgement.decision.remarks}
    text = "not deterministic: 1 of 3 scores differ from what the same rubric gave the same outputs"
    assert said.get("note_not_deterministic") == (None if changed else text)
    assert [r.get("differs") for r in echo.record()["report"]["per_case"]].count(True) == (
        not changed
    )
    assert main(["verify", str(echo.out)]) == 0
