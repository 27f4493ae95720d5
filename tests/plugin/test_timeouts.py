"""A trial that takes too long is recorded as ``timeout``, whatever it does about it."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

# Each leaves a file behind if it was let sleep to the end; no test measures how long anything took.
SLEEP = "import time; time.sleep(60); woken()"
SWALLOWED = """
    import time
    try:
        time.sleep(60)
        woken()
    except BaseException:
        pass
"""
SWALLOWED_BY_SKIP = """
    import pytest, time
    try:
        time.sleep(60)
        woken()
    except BaseException:
        pytest.skip("too slow")
"""
CHILD = "import subprocess; subprocess.run(['sleep', '60'], check=True); woken()"


def hang(bench, body: str) -> str:
    woken = f"def woken(): open({str(bench.root / 'woken')!r}, 'w').close()"
    lines = indent(f"{woken}\n{dedent(body)}", "    ")
    return f'if case.case_id == "02":\n{lines}'


def assert_timed_out(bench, result, limit: str = "0.5") -> None:
    result.assert_outcomes(passed=2, failed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert not (bench.root / "woken").exists()
    report = bench.record()["report"]
    assert bench.outcomes() == {"01": "scored", "02": "timeout", "03": "scored"}
    assert report["complete"] is True
    mode = {"code": "timeout", "detail": f"timed out after {limit} s"}
    assert bench.result("02")["failure_modes"] == [mode]
    assert bench.result("02")["score"] is None
    assert report["mean_score"] == pytest.approx(2 / 3)
    result.stdout.fnmatch_lines([f"*timeout (timed out after {limit} s)*"])


@pytest.mark.parametrize(
    "body",
    [SLEEP, SWALLOWED, SWALLOWED_BY_SKIP, CHILD],
    ids=["sleeps", "swallows", "skips", "child"],
)
def test_a_system_that_hangs_times_out(bench, body):
    bench.case("02", timeout_seconds="0.5")
    bench.system(hang(bench, body))
    assert_timed_out(bench, bench.run())


def test_a_rubric_that_hangs_times_out(bench):
    bench.case("02", timeout_seconds="0.5")
    bench.rubric(hang(bench, SLEEP))
    assert_timed_out(bench, bench.run())


@pytest.mark.slow
def test_a_hanging_system_times_out_in_a_worker(bench):
    bench.case("02", timeout_seconds="0.5")
    bench.system(hang(bench, SLEEP))
    assert_timed_out(bench, bench.run("-n2", apart=True))


def test_the_ini_setting_limits_cases_that_name_no_limit(bench):
    bench.pytester.makeini("[pytest]\nbench_timeout = 0.5\n")
    for number in ("01", "03"):
        bench.case(number, timeout_seconds="600")
    bench.system(hang(bench, SLEEP))
    assert_timed_out(bench, bench.run())


def test_a_limit_of_a_case_wins_over_the_ini_setting(bench):
    bench.pytester.makeini("[pytest]\nbench_timeout = 0.01\n")
    for number in ("01", "02", "03"):
        bench.case(number, timeout_seconds="600")
    bench.system("import time; time.sleep(0.05)")
    bench.run().assert_outcomes(passed=3)


def test_the_limit_of_pytest_timeout_does_not_replace_that_of_a_case(bench):
    bench.case("02", timeout_seconds="0.5")
    bench.system(hang(bench, SLEEP))
    assert_timed_out(bench, bench.run("--timeout=600"))


def test_a_whole_second_is_told_without_a_fraction(bench):
    bench.case("02", timeout_seconds="1")
    bench.system(hang(bench, SLEEP))
    assert_timed_out(bench, bench.run(), limit="1")


def test_run_eval_times_out_the_same_way(bench):
    from benchgate import run_eval

    bench.case("02", timeout_seconds="0.5")
    bench.system(hang(bench, SWALLOWED))
    report = run_eval("echo", bench_root=bench.root / "bench")
    assert not (bench.root / "woken").exists()
    assert [trial.outcome for trial in report.per_case] == ["scored", "timeout", "scored"]
    bench.run()
    assert bench.record()["report"]["run_id"] == report.run_id


@pytest.mark.parametrize("severity", ["block", "warn"])
def test_the_class_says_whether_a_timeout_blocks(bench, severity):
    bench.case("02", timeout_seconds="0.5")
    bench.system(hang(bench, SLEEP))
    with (bench.path / "failure_modes.toml").open("a") as file:
        file.write(f'[failure_modes.timeout]\nseverity = "{severity}"\ndescription = "x"\n')
    bench.run("--bench-exit=gate")
    blocked = bench.record()["report"]["block_severity_failure_modes"]
    assert blocked == (["timeout"] if severity == "block" else [])


@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "soon", ""])
def test_a_limit_that_is_no_number_of_seconds_is_wrong_use(bench, value):
    bench.pytester.makeini(f"[pytest]\nbench_timeout = {value}\n")
    result = bench.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*bench_timeout: *expected seconds, more than 0 and at most 10000000"]
    )


def test_without_pytest_timeout_nothing_is_run(bench):
    result = bench.run("-p", "no:timeout")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*time limits*pytest-timeout*drop -p no:timeout"])
    assert not bench.out.exists()


def test_without_pytest_timeout_ordinary_tests_run(bench):
    bench.pytester.makepyfile(test_plain="def test_plain(): pass")
    bench.pytest("-p", "no:timeout", "test_plain.py").assert_outcomes(passed=1)
