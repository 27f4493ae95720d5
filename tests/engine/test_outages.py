"""What scores may be unavailable too, as a judge is: the output of the system is kept, and scored later."""

from __future__ import annotations

import json

import pytest

from benchgate.trials import pacing

AWAY = """
from pathlib import Path
from benchgate import SystemUnavailable
if case.case_id == "02" and Path("away").exists():
    raise SystemUnavailable("the judge is overloaded")
"""


@pytest.fixture
def judged(echo, monkeypatch):
    monkeypatch.setattr(pacing, "FIRST_DELAY", 0.01)
    monkeypatch.chdir(echo.root)
    echo.rubric(AWAY)
    (echo.root / "away").touch()
    return echo


def result_of(run, case_id):
    return next(one for one in run.judgement.report.per_case if one.case_id == case_id)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_judge_that_is_away_costs_no_second_answer(judged, jobs):
    run = judged.run(retries=3, jobs=jobs, baseline=None)
    trial = json.loads((judged.folder() / "cases/02.json").read_bytes())
    assert trial["result"]["outcome"] == "unavailable"
    assert trial["result"]["detail"] == "SystemUnavailable: the judge is overloaded"
    assert trial["output"] == {"answer": "Q02"}
    assert sorted(judged.calls) == ["01", "02", "03"], "an answer was asked for again"
    assert run.judgement.report.scope == "full"
    assert not run.judgement.report.complete

    still = judged.run(resume="auto", jobs=jobs, baseline=None)
    assert not still.judgement.report.complete
    (judged.root / "away").unlink()
    whole = judged.run(resume="auto", jobs=jobs, baseline=None)
    assert sorted(judged.calls) == ["01", "02", "03"], "the system was called again"
    assert whole.judgement.report.complete
    assert result_of(whole, "02").outcome == "scored"
    assert whole.judgement.report.run_id == judged.run(baseline=None).judgement.report.run_id


def test_an_error_of_the_rubric_is_not_an_outage(echo):
    echo.rubric("raise ConnectionError('its own fault')")
    echo.agent.__func__.unavailable = ConnectionError
    try:
        echo.run(baseline=None)
    finally:
        del echo.agent.__func__.unavailable
    trial = json.loads((echo.folder() / "cases/02.json").read_bytes())
    assert trial["result"]["outcome"] == "rubric_error"
