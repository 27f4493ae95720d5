"""A run that plays what another one recorded."""

from __future__ import annotations

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
