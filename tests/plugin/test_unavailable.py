"""A provider that fails: tried again, never score 0, and a run that is incomplete until it is made good."""

from __future__ import annotations

import json
import time

import pytest

from benchgate.cli import main
from benchgate.trials import pacing

FLAKY = """
import time
from benchgate import SystemUnavailable

class RateLimitError(Exception):
    pass

class Response:
    headers = {{"retry-after": "0.01"}}

calls = {{}}

{async_}def system(case):
    calls[case.case_id] = calls.get(case.case_id, 0) + 1
    with open(LOG, "a") as log:
        log.write(f"{{case.case_id}}\\n")
    if case.case_id == "02" and calls["02"] <= {fails}:
        {error}
    return {{"answer": (case.input_path / "question.txt").read_text().upper()}}
{after}
"""
DECLARED = "error = RateLimitError('429'); error.response = Response(); raise error"


@pytest.fixture
def flaky(bench, monkeypatch):
    """Write a system that is unavailable for case 02 a few times; waits are short."""
    monkeypatch.setattr(pacing, "FIRST_DELAY", 0.01)
    log = bench.root / "calls.log"
    log.touch()

    def write(fails, *, error="raise SystemUnavailable('down')", after="", async_=""):
        text = FLAKY.format(fails=fails, error=error, after=after, async_=async_)
        bench.write("system.py", f"LOG = {str(log)!r}\n{text}")
        return bench

    write.calls = lambda: log.read_text().split().count("02")
    return write


@pytest.mark.parametrize(("jobs", "async_"), [(1, ""), (3, "async ")], ids=["sync", "async"])
def test_it_is_tried_again_and_the_result_says_how_often(flaky, jobs, async_):
    bench = flaky(2, async_=async_)
    assert bench.run(f"--bench-jobs={jobs}").ret == pytest.ExitCode.OK
    assert flaky.calls() == 3
    assert bench.result("02")["retries"] == 2
    assert bench.result("01")["retries"] == 0
    assert bench.record()["report"]["complete"]


def test_the_run_id_does_not_depend_on_the_luck_of_a_provider(flaky):
    flaky(1).run()
    lucky = flaky(0)
    first = lucky.record()["report"]["run_id"]
    lucky.run()
    assert lucky.record()["report"]["run_id"] == first


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
    result.stdout.fnmatch_lines(["*unavailable (SystemUnavailable: down)*", "*1 unavailable (02)*"])
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


@pytest.mark.parametrize(
    "after",
    [
        "system.unavailable = RateLimitError",
        "system.unavailable = (ConnectionError, RateLimitError)",
        "system.unavailable = lambda error: '429' in str(error)",
    ],
    ids=["type", "types", "predicate"],
)
def test_a_system_declares_which_exceptions_are_not_its_own(flaky, after):
    bench = flaky(1, error=DECLARED, after=after)
    assert bench.run().ret == pytest.ExitCode.OK
    assert bench.result("02")["retries"] == 1


@pytest.mark.parametrize(
    ("declared", "told"),
    [
        ("system.unavailable = '429'", "unavailable = '429'; expected exception types"),
        ("system.unavailable = (OSError, 429)", "expected exception types, or a function"),
        ("system.concurrency = 'None'", "concurrency = 'None'; the one word"),
    ],
    ids=["text", "tuple", "concurrency"],
)
def test_a_declaration_that_nothing_could_act_upon_is_refused(flaky, declared, told, capfd):
    bench = flaky(1, after=declared)
    assert bench.run().ret == pytest.ExitCode.USAGE_ERROR
    assert told in capfd.readouterr().err
    assert flaky.calls() == 0


def test_what_is_not_declared_is_the_systems_own_error_and_not_tried_again(flaky):
    bench = flaky(1, error=DECLARED)
    bench.run()
    assert bench.outcomes()["02"] == "harness_error"
    assert flaky.calls() == 1


def test_a_predicate_that_fails_is_the_systems_own_error(flaky):
    bench = flaky(1, error=DECLARED, after="system.unavailable = lambda error: 1 / 0")
    bench.run()
    assert bench.outcomes()["02"] == "harness_error"


@pytest.mark.parametrize("jobs", [1, 2])
def test_waiting_does_not_use_up_the_time_limit(flaky, monkeypatch, jobs):
    monkeypatch.setattr(pacing, "FIRST_DELAY", 0.35)
    bench = flaky(2)
    assert bench.run("--bench-timeout=0.3", f"--bench-jobs={jobs}").ret == pytest.ExitCode.OK
    assert bench.result("02")["duration_seconds"] < 0.3


@pytest.mark.parametrize("jobs", [1, 3])
def test_no_more_attempts_a_minute_than_allowed(flaky, jobs):
    bench = flaky(1)
    started = time.monotonic()
    bench.run("--bench-max-rpm=300", f"--bench-jobs={jobs}")
    assert time.monotonic() - started >= 3 * 0.2  # four attempts, the first at once
    assert bench.record()["report"]["complete"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_each_attempt_has_the_whole_limit(bench, jobs):
    calls = bench.root / "calls.log"
    bench.system(f"""
        import time
        from benchgate import SystemUnavailable
        with open({str(calls)!r}, "a") as log:
            log.write("x")
        if case.case_id == "02":
            time.sleep(0.4)
            if len(__import__("pathlib").Path({str(calls)!r}).read_text()) < 4:
                raise SystemUnavailable("busy", retry_after=0)
        answer = (case.input_path / "question.txt").read_text().upper()
        return {{"answer": answer}}
    """)
    bench.run("--bench-timeout=0.7", f"--bench-jobs={jobs}")
    assert bench.outcomes()["02"] == "scored"
    assert bench.result("02")["retries"] >= 1
