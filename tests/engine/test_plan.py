"""``benchgate plan``: what it says of a run, and which look it reckons with."""

from __future__ import annotations

import pytest

from benchgate.cli import main
from benchgate.gates import forecast as forecasts
from benchgate.gates.forecast import Chance, Forecast

GRADED = """
score = float(output["answer"])
return BenchScore(passed=score > 0.05, score=score, cost_usd=0.5, safety_penalty=0.0)
"""
FORESEEN = Forecast(
    units=12,
    obstacle=None,
    looks=7,
    chance=Chance(0.1, 0.95, 60),
    uneven=Chance(0.1, 0.9, 60),
    losing=Chance(0.1, 0.4, 60),
    detectable=0.0125,
)


@pytest.fixture
def foreseen(monkeypatch):
    """Foresee the same of every plan, without a simulated run; return what was asked for."""
    asked = []

    def foresee(baseline, policy, trials, *, look):
        asked.append((len(baseline.scores), policy.looks, trials, look))
        return FORESEEN

    monkeypatch.setattr(forecasts, "forecast", foresee)
    return asked


@pytest.fixture
def planned(echo, foreseen):
    """Twelve cases, a pinned baseline, and a candidate that does better."""
    for number in range(4, 13):
        echo.case(f"{number:02}")
    echo.rubric(GRADED)
    echo.system('return {"answer": 0.1}')
    echo.engine()
    echo.pin()
    echo.system('return {"answer": 0.6}')
    return echo


def plan(echo, *options):
    return main(
        ["plan", "echo", f"--bench-root={echo.root / 'bench'}", f"--runs={echo.out}", *options]
    )


def test_a_plan_reckons_with_the_looks_that_were_spent(planned, foreseen, capsys):
    asked = ("--trials=2", "--policy=looks=spend")
    plan(planned, *asked)
    planned.engine(baseline="auto", trials=2, policy={"looks": "spend"})
    capsys.readouterr()
    plan(planned, *asked)
    assert foreseen == [(12, "spend", 2, 1), (12, "spend", 2, 2)]
    assert "; this would be candidate no. 2" in capsys.readouterr().out


def test_the_command_says_what_was_foreseen(planned, capsys):
    assert plan(planned, "--trials=2", "--policy=looks=spend") == 0
    said = capsys.readouterr().out
    assert (
        "plan      echo: 12 cases, 2 trials each, claim better, alpha 0.05, against shout, run "
        in said
    )
    verdicts = (
        "verdicts  can promote, hold or reject; this would be candidate no. 1; none after no. 7"
    )
    assert verdicts in said
    low, high = FORESEEN.chance.interval
    assert "power     a gain of 0.1 is promoted in 95% of runs " in said
    assert f" (60 simulated runs, 95% interval {low:.0%} to {high:.0%})\n" in said
    assert "          or in 90% if half of the cases gain nothing\n" in said
    assert "          or in 40% if half of the cases lose 0.1 and the others gain 0.3\n" in said
    assert "cost      $12, " in said
    assert "finds     a gain of 0.013 in 80% of runs\n" in said
    assert said.splitlines()[-1].startswith(
        "next      run the candidate: benchgate run --task-class echo "
    )
    assert said.splitlines()[-1].endswith(" --trials=2")


def test_a_plan_takes_a_class_and_its_baseline(planned, capsys):
    before = sorted(planned.root.rglob("*"))
    assert plan(planned, "--policy=claim=no_regression") == 0
    assert sorted(planned.root.rglob("*")) == before
    assert plan(planned, "--policy=alpha=2") == 2
    assert plan(planned, "--baseline=none.json") == 2
    assert "nothing to plan with: there is no such record" in capsys.readouterr().err
    assert main(["plan", "none", f"--bench-root={planned.root / 'bench'}"]) == 1


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            (),
            "finds     a gain of 0.58 in 80% of runs, if 10 cases pass or fail and a fifth of them",
        ),
        (("--policy=min_cases=200",), "if 200 cases pass or fail and a fifth of them changes\n"),
        (("--policy=alpha=1e-7",), "finds     no gain in 80% of runs"),
        (
            ("--policy=claim=not_worse", "--policy=margin=0.1"),
            "exclude only a loss above 0.32; 0.1",
        ),
    ],
)
def test_before_any_run_a_plan_is_rough_and_says_how_to_begin(echo, capsys, options, expected):
    assert plan(echo, *options) == 0
    said = capsys.readouterr().out
    assert "3 cases, 1 trial each" in said
    assert "; no baseline is pinned, so this is a rough plan\n" in said
    assert "verdicts  nothing would be promoted: 3 cases are too few: at least" in said
    assert expected in said
    first, second = said.splitlines()[-2:]
    assert "--system=SYSTEM --baseline=none" in first
    assert second.strip().startswith("benchgate pin 1 --task-class echo --bench-root ")


def test_a_run_that_may_be_pinned_is_named(echo, capsys):
    echo.engine()
    capsys.readouterr()
    assert plan(echo) == 0
    first, second = capsys.readouterr().out.splitlines()[-2:]
    assert first.startswith("next      is `shout`, run 1, what you use today? Then pin it")
    assert second.strip().startswith("benchgate pin 1 ")
    echo.pin()
    assert plan(echo) == 0
    said = capsys.readouterr().out
    assert "even perfect scores would not be promoted: 3 cases are too few" in said
    assert said.splitlines()[-1] == "next      add 7 cases"


def test_a_plan_that_would_often_miss_the_gain_says_what_to_change(planned, capsys, monkeypatch):
    poor = FORESEEN._replace(chance=Chance(0.1, 0.5, 60))
    monkeypatch.setattr(forecasts, "forecast", lambda *_, **__: poor)
    assert plan(planned) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith(
        "next      a run like this would often miss what it looks for: plan again"
    )
