"""A trial that takes too long is recorded as ``timeout``, whatever it does about it."""

from __future__ import annotations

import sys
import threading
from textwrap import dedent, indent

import pytest

from benchgate.cli import main
from tests.conftest import PLAIN

# Each leaves a file behind if it was let sleep to the end; no test measures how long anything took. A limit below one
# second decides nothing here: only what hangs has it.
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


def assert_timed_out(bench, result, limit: str = "0.2") -> None:
    result.assert_outcomes(passed=2, failed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert_is_a_timeout(bench, limit)
    result.stdout.fnmatch_lines([f"*timeout (timed out after {limit} s)*"])


def assert_is_a_timeout(bench, limit: str = "0.2") -> None:
    assert not (bench.root / "woken").exists()
    report = bench.record()["report"]
    assert bench.outcomes() == {"01": "scored", "02": "timeout", "03": "scored"}
    assert report["complete"] is True
    mode = {"code": "timeout", "detail": f"timed out after {limit} s"}
    assert bench.result("02")["failure_modes"] == [mode]
    assert bench.result("02")["score"] is None
    assert report["mean_score"] == pytest.approx(2 / 3)


@pytest.mark.parametrize("body", [SWALLOWED, SWALLOWED_BY_SKIP], ids=["swallows", "skips"])
def test_a_system_that_hangs_times_out(bench, body):
    bench.case("02", timeout_seconds="0.2")
    bench.system(hang(bench, body))
    assert_timed_out(bench, bench.run())


@pytest.mark.parametrize("body", [SLEEP, SWALLOWED, CHILD], ids=["sleeps", "swallows", "child"])
def test_a_system_that_hangs_times_out_without_pytest_too(bench, body):
    bench.case("02", timeout_seconds="0.2")
    bench.system(hang(bench, body))
    bench.engine()
    assert_is_a_timeout(bench)


def test_a_rubric_that_hangs_times_out(bench):
    bench.case("02", timeout_seconds="0.2")
    bench.rubric(hang(bench, SLEEP))
    bench.engine()
    assert_is_a_timeout(bench)


def test_the_ini_setting_limits_cases_that_name_no_limit(bench):
    bench.pytester.makeini("[pytest]\nbench_timeout = 0.2\n")
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
    bench.case("02", timeout_seconds="0.2")
    bench.system(hang(bench, SLEEP))
    assert_timed_out(bench, bench.run("--timeout=600"))


@pytest.mark.slow
def test_a_whole_second_is_told_without_a_fraction(bench):
    bench.case("02", timeout_seconds="1")
    bench.system(hang(bench, SLEEP))
    bench.engine()
    assert_is_a_timeout(bench, limit="1")


def test_run_eval_times_out_the_same_way(bench):
    from benchgate import run_eval

    bench.case("02", timeout_seconds="0.2")
    bench.system(hang(bench, SWALLOWED))
    report = run_eval("echo", bench_root=bench.root / "bench")
    assert not (bench.root / "woken").exists()
    assert [trial.outcome for trial in report.per_case] == ["scored", "timeout", "scored"]
    bench.run()
    assert bench.record()["report"]["run_id"] == report.run_id


def test_the_class_says_whether_a_timeout_blocks(bench):
    bench.case("02", timeout_seconds="0.2")
    bench.system(hang(bench, SLEEP))
    with (bench.path / "failure_modes.toml").open("a") as file:
        file.write('[failure_modes.timeout]\nseverity = "block"\ndescription = "x"\n')
    bench.engine()
    assert bench.record()["report"]["block_severity_failure_modes"] == ["timeout"]


@pytest.mark.parametrize("value", ["0", "nan", "soon"])
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


BLOCKS = "import signal, time; signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})"


def block_in_the_first(bench) -> None:
    """Have case 01 block the signal of the alarm and run over its limit, and case 02 hang."""
    bench.case("01", timeout_seconds="0.1")
    bench.case("02", timeout_seconds="0.2")
    block = f'if case.case_id == "01":\n    {BLOCKS}; time.sleep(0.2)\n'
    bench.system(block + hang(bench, SLEEP.replace("60", "10")))


def by_pytest(bench):
    bench.run()
    return bench.record()["report"]


def by_workers(bench):
    bench.run("-n1", "-p", "no:cacheprovider", apart=True)
    return bench.record()["report"]


def by_library(bench):
    from benchgate import run_eval

    return run_eval("echo", bench_root=bench.root / "bench").model_dump(mode="json")


@pytest.mark.parametrize(
    "door", [by_pytest, by_library, pytest.param(by_workers, marks=pytest.mark.slow)]
)
def test_a_blocked_alarm_does_not_reach_the_next_trial(bench, door):
    block_in_the_first(bench)
    report = door(bench)
    assert [t["outcome"] for t in report["per_case"]] == ["timeout", "timeout", "scored"]
    # Python notices a signal that another thread took only when the sleep is over.
    assert report["per_case"][1]["duration_seconds"] < 5


HANGS = f"{BLOCKS}; time.sleep(60); woken()"


@pytest.mark.slow
def test_a_worker_that_no_alarm_reaches_is_replaced_and_its_case_is_a_timeout(bench):
    bench.case("02", timeout_seconds="0.5")
    bench.system(hang(bench, HANGS))
    bench.run("-k", "not 02", "--bench-baseline=none")
    result = bench.run("-n2", "--bench-exit=gate", apart=True)
    assert not (bench.root / "woken").exists()
    assert bench.outcomes() == {"01": "scored", "02": "timeout", "03": "scored"}
    assert bench.record()["report"]["complete"]
    (mode,) = bench.result("02")["failure_modes"]
    assert mode == {
        "code": "timeout",
        "detail": "timed out after 0.5 s; its process had to be ended",
    }
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["*Timeout (0:00:05*", "*system.py*"])
    assert main(["verify", str(bench.out), "--require-complete"]) == 0


@pytest.mark.slow
@pytest.mark.parametrize("command", ["pytest", "benchgate"])
def test_a_process_that_no_alarm_reaches_ends_and_leaves_an_incomplete_run(bench, command):
    bench.case("02", timeout_seconds="0.5")
    bench.system(hang(bench, HANGS))
    if command == "pytest":
        result = bench.run(apart=True)
    else:
        code = "import sys; from benchgate.cli import main; sys.exit(main())"
        given = ["run", "--task-class=echo", f"--out={bench.out}"]
        result = bench.pytester.run(sys.executable, "-c", code, *given, timeout=60)
    assert result.ret == 1
    assert not (bench.root / "woken").exists()
    result.stderr.fnmatch_lines(["*Timeout (0:00:05*", "*system.py*"])
    (folder,) = (bench.out / "runs" / "echo").glob("incomplete-*")
    assert [path.stem for path in (folder / "cases").iterdir()] == ["01"]
    assert main(["verify", str(bench.out), "--require-complete"]) == 1


@pytest.mark.slow
@pytest.mark.parametrize("workers", [(), ("-n1",)], ids=["here", "in a worker"])
def test_a_trial_that_holds_the_interpreter_ends_the_process_and_is_named(bench, workers):
    holds = "import re, time; time.sleep(1); re.match('(a+)+$', 'a' * 40 + 'b'); woken()"
    bench.system(f"{hang(bench, holds)}\nif case.case_id == '01':\n    raise KeyError('x')")
    limits = ("--bench-jobs=3", "--bench-timeout=2")
    result = bench.run(*limits, *workers, apart=True)
    printed = "\n".join([*result.outlines, *result.errlines])
    assert "in case 02 trial 0" in printed
    assert "Timeout (0:00:0" in printed
    assert not (bench.root / "woken").exists()
    if workers:  # whoever takes its place begins ahead too
        assert bench.outcomes()["02"] == "not_run"
        assert "timeout" not in bench.outcomes().values()
    bench.system("pass")
    bench.run("--bench-resume", *limits)
    outcomes = bench.outcomes()
    assert (outcomes["02"], outcomes["03"]) == ("scored", "scored")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="isolation needs Linux")
def test_in_a_process_of_its_own_a_system_cannot_break_the_connection_of_its_worker(bench):
    bench.system("""
        import os
        for descriptor in range(3, 30):
            try:
                os.write(descriptor, bytes([127]) * 40)
            except OSError:
                pass
    """)
    command = ["-n2", "--bench-isolation=process", "--bench-retries=0", "bench/echo/cases"]
    bench.pytest(*command, apart=True).assert_outcomes(failed=3)
    assert bench.outcomes() == dict.fromkeys(("01", "02", "03"), "harness_error")


@pytest.fixture
def armed(monkeypatch):
    """Return what the timer that ends a process is set to; every trial counts as quick."""
    seconds = []
    monkeypatch.setattr("benchgate.trials.time_limit.QUICK", 60.0)
    monkeypatch.setattr(
        "faulthandler.dump_traceback_later",
        lambda after, **how: seconds.append((after, how.get("exit", False))),
    )
    return seconds


@pytest.mark.parametrize(("limit", "after"), [("1", 6.0), ("20", 40.0), ("900", 960.0)])
def test_a_process_may_run_on_for_a_while_after_the_limit(bench, armed, limit, after):
    bench.case("02", timeout_seconds=limit)
    bench.run("-k", "02")
    by_library(bench)
    assert armed.count((after, True)) == 2  # quick trials of one limit share it


def test_the_timer_is_left_to_who_set_it(bench, armed):
    bench.pytester.makeini("[pytest]\nfaulthandler_timeout = 77\n")
    bench.run()
    assert set(armed) == {(77.0, False)}


def test_without_the_plugin_of_pytest_the_timer_is_free(bench, armed):
    bench.run("-p", "no:faulthandler")
    assert armed == [(660.0, True)]


@pytest.mark.parametrize("where", ["debugger", "thread"])
def test_no_process_ends_under_a_debugger_or_where_there_is_no_alarm(bench, armed, where):
    if where == "thread":
        run = threading.Thread(target=by_library, args=[bench])
        run.start()
        run.join()
    else:
        before = sys.gettrace()
        sys.settrace(lambda *_: None)
        try:
            by_library(bench)
        finally:
            sys.settrace(before)
    assert armed == []


def test_the_command_keeps_the_limit_too(bench):
    bench.system(f"if case.case_id == '02':\n    {'import time; time.sleep(60)'}")
    for number in ("01", "03"):
        bench.case(number, timeout_seconds="600")
    arguments = [f"--bench-root={bench.root / 'bench'}", f"--out={bench.out}", "--timeout=0.2"]
    assert main(["run", "--task-class=echo", *arguments]) == 0
    assert bench.outcomes() == {"01": "scored", "02": "timeout", "03": "scored"}


def test_an_alarm_that_was_set_a_while_before_the_trial_counts_all_the_same(bench):
    bench.case("02", timeout_seconds="0.4")
    bench.system(hang(bench, SWALLOWED))
    bench.pytester.makeconftest("""
        import time, pytest

        @pytest.hookimpl(wrapper=True, trylast=True)
        def pytest_runtest_call(item):
            time.sleep(0.2 if item.name == "02" else 0)
            return (yield)
    """)
    assert_timed_out(bench, bench.run(), limit="0.4")


@pytest.mark.slow
def test_a_worker_that_is_killed_is_no_timeout_however_long_its_setup_took(bench):
    bench.case("02", timeout_seconds="1")
    bench.system("import os, signal\nif case.case_id == '02': os.kill(os.getpid(), signal.SIGKILL)")
    bench.pytester.makeconftest("import time\ndef pytest_runtest_setup(item): time.sleep(1.3)\n")
    bench.run("-n1", apart=True)
    assert bench.outcomes()["02"] == "not_run"
    assert not bench.record()["report"]["complete"]


def test_the_timer_of_the_last_trial_does_not_meet_the_tests_after_it(bench, monkeypatch):
    told = []
    monkeypatch.setattr("benchgate.trials.time_limit.QUICK", 60.0)
    monkeypatch.setattr("faulthandler.dump_traceback_later", lambda *_, **__: told.append("set"))
    monkeypatch.setattr("faulthandler.cancel_dump_traceback_later", lambda: told.append("ended"))

    class Watch:
        def pytest_runtest_logstart(self, nodeid):
            told.append(nodeid.rpartition("::")[2])

    bench.pytester.makepyfile(test_after="def test_after(): pass")
    files = ["bench/echo/cases", "test_after.py"]
    bench.pytester.inline_run(
        *PLAIN,
        "-p",
        "no:faulthandler",
        "-p",
        "no:cacheprovider",
        *files,
        plugins=[Watch()],
    )
    assert told == ["01", "set", "02", "03", "ended", "test_after"]
