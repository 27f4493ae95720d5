"""A provider that fails: tried again, never score 0, and a run that is incomplete until it is made good."""

from __future__ import annotations

import json

import pytest

from benchgate.cli import main
from benchgate.trials import pacing

FLAKY = """
from benchgate import SystemUnavailable

calls = {{}}

{async_}def system(case):
    calls[case.case_id] = calls.get(case.case_id, 0) + 1
    with open(LOG, "a") as log:
        log.write(f"{{case.case_id}}\\n")
    if case.case_id == "02" and calls["02"] <= {fails}:
        raise SystemUnavailable("down")
    return {{"answer": (case.input_path / "question.txt").read_text().upper()}}
{after}
"""


@pytest.fixture
def flaky(bench, monkeypatch):
    """Write a system that is unavailable for case 02 a few times; waits are short."""
    monkeypatch.setattr(pacing, "FIRST_DELAY", 0.01)
    log = bench.root / "calls.log"
    log.touch()

    def write(fails, *, after="", async_=""):
        text = FLAKY.format(fails=fails, after=after, async_=async_)
        bench.write("system.py", f"LOG = {str(log)!r}\n{text}")
        return bench

    write.calls = lambda: log.read_text().split().count("02")
    return write


def test_it_is_tried_again_and_the_result_says_how_often(flaky):
    bench = flaky(2, async_="async ")
    assert bench.run("--bench-jobs=3").ret == pytest.ExitCode.OK
    assert flaky.calls() == 3
    assert bench.result("02")["retries"] == 2
    assert bench.result("01")["retries"] == 0
    assert bench.record()["report"]["complete"]


@pytest.mark.parametrize(
    "arguments", [(), ("--bench-jobs=2",), pytest.param(("-n1",), marks=pytest.mark.slow)], ids=str
)
def test_one_that_stays_away_makes_the_run_incomplete_and_is_no_score_of_0(flaky, arguments):
    bench = flaky(99)
    result = bench.run("-v", "--bench-retries=1", *arguments, apart="-n1" in arguments)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert flaky.calls() == 2
    trial = bench.result("02")
    assert (trial["outcome"], trial["score"], trial["retries"]) == ("unavailable", None, 1)
    assert trial["detail"] == "SystemUnavailable: down"
    assert trial["failure_modes"] == []
    report = bench.record()["report"]
    assert not report["complete"]
    codes = bench.record()["decision"]["reason_codes"]
    assert codes[0] == "checkpoint_promotion_blocked_incomplete_run"
    result.stdout.fnmatch_lines(
        ["*unavailable (SystemUnavailable: down)*", "*1 unavailable (02): SystemUnavailable: down*"]
    )
    result.stdout.fnmatch_lines(
        [
            "missing   1 of 3 trials have no result; --bench-resume runs only them",
            "02  * unavailable (tried 2 times)",
        ]
    )
    assert main(["verify", str(bench.out)]) == 0


def test_the_other_door_does_the_same(flaky, capsys):
    bench = flaky(99)
    arguments = [f"--bench-root={bench.root / 'bench'}", "--retries=2", "--jobs=2"]
    assert main(["run", "--task-class=echo", *arguments]) == 1
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["outcome"] for line in lines[:-1]] == ["scored", "unavailable", "scored"]
    assert flaky.calls() == 3


def test_a_declaration_that_nothing_could_act_upon_is_refused(flaky, capfd):
    bench = flaky(1, after="system.unavailable = '429'")
    assert bench.run().ret == pytest.ExitCode.USAGE_ERROR
    assert "unavailable = '429'; expected exception types" in capfd.readouterr().err
    assert flaky.calls() == 0
