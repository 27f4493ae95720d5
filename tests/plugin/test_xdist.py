"""Workers run, the controller judges; what a dead worker did not report is missed."""

from __future__ import annotations

import pytest

from benchgate import run_eval
from benchgate.verify.validate import validate_file

KILL = """
    import os, signal
    if case.case_id == "02":
        os.kill(os.getpid(), signal.SIGKILL)
"""


def run_id(bench) -> str:
    return bench.record()["report"]["run_id"]


def test_the_run_id_is_the_same_however_the_run_was_made(bench):
    bench.case("02", answer="something else")
    bench.run()
    first = bench.record()
    bench.run()
    second = bench.record()
    bench.run("-n2", apart=True).assert_outcomes(passed=2, failed=1)
    third = bench.record()
    report = run_eval("echo", bench_root=bench.root / "bench", out_dir=bench.out)
    fourth = bench.record()
    assert [record["seq"] for record in (first, second, third, fourth)] == [1, 2, 3, 4]
    ids = {record["report"]["run_id"] for record in (first, second, third, fourth)}
    assert ids == {report.run_id}
    plans = {record["report"]["plan_id"] for record in (first, second, third, fourth)}
    assert plans == {report.plan_id}


@pytest.mark.slow
def test_the_run_id_of_trials_is_the_same_with_workers(bench):
    bench.rubric("return BenchScore(passed=True, score=(case.seed % 100) / 100)")
    bench.run("--bench-trials=3", "--bench-seed=5")
    alone = run_id(bench)
    bench.run("--bench-trials=3", "--bench-seed=5", "-n2", apart=True).assert_outcomes(passed=9)
    report = run_eval("echo", bench_root=bench.root / "bench", trials=3, seed=5)
    assert {alone, run_id(bench)} == {report.run_id}


def test_one_flipped_score_is_another_run_id(bench):
    bench.engine()
    before = run_id(bench)
    plan = bench.record()["report"]["plan_id"]
    bench.write("cases/02/expected/answer.txt", "something else")
    bench.engine()
    assert run_id(bench) != before
    assert bench.record()["report"]["plan_id"] != plan


def test_a_run_id_does_not_depend_on_what_failures_say(bench):
    bench.system('import os\nif case.case_id == "02": raise ValueError(os.urandom(8).hex())')
    bench.engine()
    before = run_id(bench), bench.result("02")["failure_modes"][0]["detail"]
    bench.engine()
    after = run_id(bench), bench.result("02")["failure_modes"][0]["detail"]
    assert before[0] == after[0]
    assert before[1] != after[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "restart", [(), ("--max-worker-restart=0",)], ids=["restarted", "given up"]
)
def test_a_killed_worker_leaves_a_valid_record_that_names_what_is_missing(bench, restart):
    for number in (4, 5, 6):
        bench.case(f"{number:02}")
    bench.system(KILL)
    result = bench.run("-n2", *restart, apart=True)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    report = bench.record()["report"]
    assert report["case_count"] == 6
    assert report["complete"] is False
    assert bench.outcomes()["02"] == "not_run"
    assert set(bench.outcomes().values()) <= {"scored", "not_run"}
    assert "crashed" in bench.result("02")["detail"]
    assert (
        "checkpoint_promotion_blocked_incomplete_run" in bench.record()["decision"]["reason_codes"]
    )
    result.stdout.fnmatch_lines(["FAILED the run is incomplete: * not_run (*02*)"])
    files = [*bench.folder().rglob("*.json"), bench.folder().parent / "HEAD.json"]
    assert {path.name for path in files} >= {"record.json", "promotion.json", "02.json", "06.json"}
    assert "record" in {validate_file(path) for path in files}


@pytest.mark.slow
def test_a_worker_that_dies_in_its_rubric_is_missed(bench):
    bench.rubric(KILL)
    result = bench.run("-n2", apart=True)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert bench.outcomes()["02"] == "not_run"


@pytest.mark.slow
def test_explicit_paths_win_in_workers_too(bench):
    bench.case("02", answer="something else")
    result = bench.run("bench/echo/cases/02", "-n2", apart=True)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["  output: .benchgate/last-selected/echo/cases/02.json"])
    assert bench.outcomes(bench.selected()) == {"02": "scored"}
    assert bench.selected()["scope"] == "selected"


@pytest.mark.slow
def test_a_part_of_the_cases_is_a_selection_under_xdist(bench):
    result = bench.run("-n2", "-k", "02 or 03", apart=True)
    result.assert_outcomes(passed=2)
    assert result.ret == pytest.ExitCode.OK
    assert bench.outcomes(bench.selected()) == {"02": "scored", "03": "scored"}
    assert not (bench.out / "runs").exists()


@pytest.mark.slow
def test_an_unknown_class_under_xdist_is_wrong_use(bench):
    result = bench.pytest("--bench=ecco", "-n2", apart=True)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*--bench=ecco: unknown task class; expected *; did you mean 'echo'[?] known: echo"]
    )


def test_zero_workers_run_in_one_process(bench):
    result = bench.run("-n0")
    result.assert_outcomes(passed=3)
    assert bench.record()["report"]["scope"] == "full"


@pytest.mark.slow
def test_groups_of_xdist_do_not_change_the_ids(bench):
    bench.pytester.makeconftest(
        "import pytest\n"
        "def pytest_collection_modifyitems(items):\n"
        "    for item in items: item.add_marker(pytest.mark.xdist_group('one'))\n"
    )
    result = bench.run("-n2", "--dist=loadgroup", apart=True)
    result.assert_outcomes(passed=3)
    assert bench.outcomes() == {"01": "scored", "02": "scored", "03": "scored"}


def test_a_case_is_not_run_by_every_worker(bench):
    result = bench.run("--dist=each", "--tx=2*popen")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--dist=each would run each case once in every worker: type *"])
    assert not bench.out.exists()


@pytest.mark.slow
@pytest.mark.parametrize("dist", ["loadfile", "loadgroup", "loadscope"])
def test_a_killed_worker_ends_the_session_where_xdist_would_hand_out_groups(bench, dist):
    """With its own schedulers of groups pytest-xdist would wait for ever (xdist 784 and 1327)."""
    for number in range(4, 9):
        bench.case(f"{number:02}")
    bench.system(KILL)
    result = bench.run("-n2", f"--dist={dist}", apart=True)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [f"benchgate: --dist={dist}: cases are handed out one by one, as with load"]
    )
    assert bench.outcomes()["02"] == "not_run"
    assert list(bench.outcomes().values()).count("scored") == 7


@pytest.mark.slow
def test_groups_of_other_tests_are_not_taken_apart(bench):
    bench.write("tests/test_own.py", "def test_own(): pass\n")
    mixed = ("bench/echo", "-n2")
    result = bench.pytest(*mixed, "--dist=loadfile", apart=True)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            "*--dist=loadfile: cases and other tests in one session, such as *::test_own: *--dist=load*"
        ]
    )
    assert not (bench.out / "runs").exists()
    bench.pytest(*mixed, "--dist=load", apart=True).assert_outcomes(passed=4)


OUTAGE = """
    import os, signal, time
    from benchgate import SystemUnavailable
    if case.case_id == "02":
        # Nobody runs now: the limit of the trial does not count, and what ends the worker is no timeout.
        import threading
        threading.Timer(7.0, os.kill, (os.getpid(), signal.SIGKILL)).start()
        raise SystemUnavailable("down", retry_after=60)
    answer = (case.input_path / "question.txt").read_text().upper()
    return {"answer": answer}
"""


@pytest.mark.slow
def test_a_worker_killed_while_a_trial_waits_for_its_next_attempt_is_no_timeout(bench):
    bench.system(OUTAGE)
    result = bench.run("-n1", "--bench-timeout=1", "--bench-jobs=2", apart=True)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert bench.outcomes()["02"] == "not_run"
    assert not bench.record()["report"]["complete"]


@pytest.mark.slow
def test_a_scored_trial_stays_scored_if_its_worker_dies_afterwards(bench):
    bench.pytester.makeconftest("""
        import os, time
        def pytest_runtest_teardown(item):
            if item.name == "02" and hasattr(item.config, "workerinput"):
                time.sleep(6)
                os._exit(1)
    """)
    bench.run("-n1", "--bench-timeout=1", apart=True)
    assert bench.outcomes() == dict.fromkeys(("01", "02", "03"), "scored")
    assert bench.result("02")["reruns"] == 0
    assert bench.trial("02")["result"]["outcome"] == "scored"
