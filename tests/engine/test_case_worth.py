"""``benchgate runs --cases``: what each case is worth, by the runs in the chain."""

from __future__ import annotations

import json

import pytest

from benchgate.cli import main


@pytest.fixture(autouse=True)
def _graded(echo):
    echo.rubric(
        'passed = output["answer"] > 0\nreturn BenchScore(passed=passed, score=float(passed))'
    )


@pytest.fixture
def table(echo, capsys):
    """Return the rows of a case, by system."""

    def rows(case_id):
        capsys.readouterr()
        assert main(["runs", "--cases", "--json", f"--out={echo.out}"]) == 0
        found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert {row.pop("task_class") for row in found} == {echo.name}
        return [row for row in found if row.pop("case") == case_id]

    return rows


def named(name, wanted):
    """Return a system that passes where this holds of the case and its trial."""

    def system(case):
        return {"answer": int(wanted(case))}

    system.name = name
    return system


def test_trials_of_each_system_and_which_disagree(echo, table):
    echo.run(system=named("sure", lambda _: True), trials=2)
    echo.run(system=named("sure", lambda _: True), trials=2)
    echo.run(system=named("guess", lambda case: case.trial in {1, 3, 4}), trials=5)
    assert table("01") == [
        {"worth": None, "system": "sure", "passed": 4, "trials": 4, "flaky": None},
        {"worth": None, "system": "guess", "passed": 3, "trials": 5, "flaky": "3 of 5"},
    ]


def test_a_case_that_all_or_none_of_the_newest_runs_pass(echo, table):
    echo.run(system=named("worse", lambda case: case.case_id == "02"))
    for _ in range(2):
        echo.run(system=named("good", lambda case: case.case_id != "02"))
    assert [table(case)[0]["worth"] for case in ("01", "02")] == [None, None]
    echo.run(system=named("other", lambda case: case.case_id != "02"))
    assert [table(case)[0]["worth"] for case in ("01", "02")] == ["saturated", "dead"]


def test_what_is_left_out_and_a_table(echo, capsys):
    assert main(["runs", "--cases", f"--out={echo.out}"]) == 1
    first = echo.run(system=named("sure", lambda _: True))
    echo.run(system=None, replay=first.published.folder)  # nothing was called again
    capsys.readouterr()
    assert main(["runs", "--cases", "--task-class", echo.name, f"--out={echo.out}"]) == 0
    name, head, row, *_ = capsys.readouterr().out.splitlines()
    assert name == echo.name
    assert head.split() == ["case", "worth", "system", "passed", "trials", "flaky"]
    assert row.split() == ["01", "-", "sure", "1", "1", "-"]
