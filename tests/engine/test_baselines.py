"""Which recorded runs became the baseline of later ones."""

from __future__ import annotations

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
