"""A rubric that breaks its contract stops its class: nothing is sent after it, and the summary says why."""

from __future__ import annotations

import time

import pytest

from benchgate.wording import stopped

BROKEN = """
if case.case_id == "02":
    return BenchScore(passed=True, score=1.0, breakdown={"llm_judge": 0.8})
"""


def until_violated(echo):
    """Return what holds a case up until the violation of another one is on disk."""
    ends = time.monotonic() + 20

    def waits(_):
        while not list(echo.out.glob("runs/*/*/cases/02.json")):
            assert time.monotonic() < ends
            time.sleep(0.002)

    return waits


@pytest.mark.parametrize("settings", [{}, {"jobs": 2}, {"jobs": 2, "max_rpm": 600}])
def test_nothing_is_sent_after_a_violation(echo, settings):
    for number in range(4, 9):
        echo.case(f"{number:02}")
    echo.rubric(BROKEN)
    if settings:
        echo.instead["01"] = until_violated(echo)
    run = echo.run(**settings)
    assert set(echo.calls) <= {"01", "02", "03"}
    report = run.judgement.report
    assert [r.outcome for r in report.per_case if r.case_id not in {"01", "03"}] == [
        "rubric_error",
        *["not_run"] * 5,
    ]
    left = [r for r in report.per_case if r.outcome == "not_run"]
    assert all("llm_judge" in r.detail for r in left)
    assert {r.why for r in left} == {"after_violation"}
    assert [r.case_id for r in report.per_case if r.violation] == ["02"]
    (line,) = stopped(run.judgement.run.reports.values())
    assert (line.label, line.tone) == ("stopped", "bad")
    assert line.text.startswith("RubricViolation: rubric of 'echo' on case '02': ")
    assert "breakdown key 'llm_judge' contains the banned token 'llm'" in line.text


def test_a_trial_that_waits_to_be_tried_again_is_not(echo):
    from benchgate.errors import SystemUnavailable

    echo.rubric(BROKEN)
    echo.instead["01"] = SystemUnavailable("away")
    run = echo.run(jobs=3)
    assert echo.calls.count("01") == 1
    assert not run.judgement.report.complete
