"""Cases behave as any test does under pytest's own options and under common plugins."""

from __future__ import annotations

import json

import pytest

NODE = "bench/echo/cases/{0}/case.toml::{0}"


def fail(bench, case_id: str) -> None:
    bench.case(case_id, answer="something else")


def test_last_failed_runs_the_failed_trial_alone(bench):
    bench.rubric("return BenchScore(passed=(case.case_id, case.trial) != ('02', 1), score=1.0)")
    bench.run("--bench-trials=2").assert_outcomes(passed=5, failed=1)
    bench.run("--bench-trials=2", "--lf")
    assert bench.outcomes(bench.selected()) == {"02-t1": "scored"}


def test_last_failed_by_path(bench):
    fail(bench, "02")
    bench.pytest("bench/echo").assert_outcomes(passed=2, failed=1)
    result = bench.pytest("bench/echo", "--lf")
    result.assert_outcomes(failed=1, deselected=result.parseoutcomes().get("deselected", 0))
    assert bench.outcomes(bench.selected()) == {"02": "scored"}
    assert bench.head()["seq"] == 1


def test_failed_first_runs_all_and_the_failed_ones_first(bench):
    fail(bench, "03")
    bench.run()
    result = bench.run("--ff", "-v")
    lines = [line for line in result.outlines if "case.toml::" in line and "%" in line]
    assert lines[0].startswith(NODE.format("03"))
    assert bench.record()["report"]["scope"] == "full"
    assert bench.head()["seq"] == 2


def test_stopping_at_the_first_failure_leaves_the_rest_not_run(bench):
    fail(bench, "01")
    result = bench.run("-x")
    assert result.ret != pytest.ExitCode.OK
    assert bench.outcomes() == {"01": "scored", "02": "not_run", "03": "not_run"}
    assert bench.record()["report"]["complete"] is False


def test_stopping_at_the_last_case_loses_nothing(bench):
    fail(bench, "03")
    result = bench.run("-x")
    assert result.ret != pytest.ExitCode.OK
    assert bench.outcomes() == {"01": "scored", "02": "scored", "03": "scored"}


@pytest.mark.slow
def test_stopping_under_xdist_is_recorded(bench):
    fail(bench, "01")
    for number in range(4, 10):
        bench.case(f"{number:02}")
    result = bench.run("-x", "-n2", apart=True)
    assert result.ret != pytest.ExitCode.OK
    report = bench.record()["report"]
    assert report["case_count"] == 9
    assert report["complete"] is False


def test_a_deselected_case_makes_the_run_a_selection(bench):
    result = bench.run(f"--deselect={NODE.format('02')}")
    result.assert_outcomes(passed=2, deselected=1)
    assert bench.selected()["scope"] == "selected"
    assert not (bench.out / "runs").exists()


def test_collect_only_runs_and_writes_nothing(bench):
    bench.system('raise AssertionError("was run")')
    result = bench.run("--co")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["*<CaseItem 01>", "*<CaseItem 02>", "*<CaseItem 03>"])
    result.stdout.no_fnmatch_line("*gate *")
    assert not (bench.out / "runs").exists()


def test_a_run_without_terminal_reporter_and_cache_is_recorded(bench):
    result = bench.run("-p", "no:terminal", "-p", "no:cacheprovider")
    assert result.ret == pytest.ExitCode.OK
    assert not (bench.root / ".pytest_cache").exists()
    assert bench.record()["report"]["complete"] is True


def test_the_order_that_cases_run_in_does_not_matter(bench):
    fail(bench, "02")
    bench.engine()
    before = bench.record()["report"]
    options = ("-p", "no:hypothesispytest", "--randomly-seed=3", "--bench=echo", "-v")
    result = bench.pytester.runpytest(*options)
    result.assert_outcomes(passed=2, failed=1)
    lines = [line for line in result.outlines if "case.toml::" in line and "%" in line]
    assert lines != sorted(lines)
    after = bench.record()["report"]
    assert after["run_id"] == before["run_id"]
    assert [trial["case_id"] for trial in after["per_case"]] == ["01", "02", "03"]


# Reruns, skips and expected failures are never a clean run


def test_a_rerun_is_recorded_and_makes_the_run_incomplete(bench):
    bench.rubric("""
        marker = case.input_path.parents[4] / f"tried-{case.case_id}"
        if case.case_id == "02" and not marker.exists():
            marker.touch()
            return BenchScore(passed=False, score=0.0)
    """)
    result = bench.run("--reruns=2", "-v")
    assert result.parseoutcomes()["rerun"] == 1
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert bench.outcomes() == {"01": "scored", "02": "scored", "03": "scored"}
    assert bench.result("02")["reruns"] == 1
    assert bench.result("02")["score"]["passed"] is True
    assert bench.record()["report"]["complete"] is False
    assert bench.trial("02")["result"] == bench.result("02")
    assert (
        "checkpoint_promotion_blocked_incomplete_run" in bench.record()["decision"]["reason_codes"]
    )
    result.stdout.fnmatch_lines(["02*passed (run 2 times)", "*1 run again (02)*"])


def test_a_rerun_is_one_as_soon_as_it_has_an_answer(bench):
    """Else a session that is killed while a judge is asked is resumed as if there had been one attempt."""
    fail(bench, "02")
    bench.observer("""
        if asked == 2:
            then = next(LOG.parents[2].glob(".benchgate/runs/echo/incomplete-*/cases/02.json"))
            (LOG.parent / "then.json").write_bytes(then.read_bytes())
    """)
    assert bench.run("--reruns=1").parseoutcomes()["rerun"] == 1
    then = json.loads((bench.path / "then.json").read_bytes())["result"]
    assert (then["outcome"], then["reruns"]) == ("unavailable", 1)


@pytest.mark.slow
def test_a_rerun_under_xdist_is_recorded(bench):
    fail(bench, "02")
    result = bench.run("--reruns=1", "-n2", apart=True)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert bench.result("02")["reruns"] == 1
    assert bench.record()["report"]["complete"] is False


def test_a_rerun_of_a_malformed_case_is_recorded(bench):
    bench.write("cases/02/case.toml", "[case\n")
    result = bench.run("--reruns=1")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert bench.outcomes()["02"] == "not_run"
    assert bench.record()["report"]["complete"] is False


MARKS = {
    "skip": 'pytest.mark.skip(reason="flaky")',
    "xfail": 'pytest.mark.xfail(reason="flaky")',
    "xfail without running": 'pytest.mark.xfail(reason="flaky", run=False)',
    "strict xfail": 'pytest.mark.xfail(reason="flaky", strict=True)',
}


def mark(bench, marker: str) -> None:
    bench.pytester.makeconftest(
        "import pytest\n"
        "def pytest_collection_modifyitems(items):\n"
        "    for item in items:\n"
        f"        if item.name == '02': item.add_marker({marker})\n"
    )


@pytest.mark.parametrize(
    ("marker", "answer"),
    [
        ("skip", "Q02"),
        ("xfail", "something else"),
        ("xfail without running", "something else"),
        ("strict xfail", "Q02"),
    ],
)
def test_a_skipped_or_excused_case_makes_the_run_incomplete(bench, marker, answer):
    bench.case("02", answer=answer)
    mark(bench, MARKS[marker])
    result = bench.run()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    report = bench.record()["report"]
    assert bench.outcomes() == {"01": "scored", "02": "skipped", "03": "scored"}
    assert "flaky" in bench.result("02")["detail"]
    assert bench.result("02")["score"] is None
    assert report["complete"] is False
    assert report["case_count"] == 3
    assert report["mean_score"] == pytest.approx(2 / 3)
    result.stdout.fnmatch_lines(["FAILED the run is incomplete: 1 skipped (02)"])


@pytest.mark.slow
def test_a_skip_under_xdist_makes_the_run_incomplete(bench):
    mark(bench, MARKS["skip"])
    result = bench.run("-n2", apart=True)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert bench.outcomes()["02"] == "skipped"
    assert bench.record()["report"]["complete"] is False


def test_a_skip_is_not_made_good_by_exit_gate(bench):
    mark(bench, MARKS["skip"])
    assert bench.run("--bench-exit=gate").ret == pytest.ExitCode.TESTS_FAILED


def test_runxfail_runs_an_excused_case(bench):
    mark(bench, MARKS["xfail"])
    result = bench.run("--runxfail")
    result.assert_outcomes(passed=3)
    assert bench.outcomes()["02"] == "scored"


@pytest.mark.parametrize(
    "hook", ["pytest_runtest_setup", "pytest_runtest_call", "pytest_runtest_teardown"]
)
def test_a_conftest_hook_that_fails_around_a_case_never_passes(bench, hook):
    bench.pytester.makeconftest(
        "import pytest\n"
        f"def {hook}(item):\n"
        "    if item.name == '02': raise RuntimeError('around')\n"
    )
    result = bench.run("--bench-exit=gate")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*RuntimeError: around*"])
    assert bench.outcomes()["02"] in {"not_run", "scored"}
    assert bench.record()["report"]["complete"] is False


def test_a_conftest_that_raises_is_an_error_and_nothing_is_run(bench):
    bench.pytester.makeconftest("raise RuntimeError('broken')")
    result = bench.run()
    assert result.ret not in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}
    assert not (bench.out / "runs").exists()


def test_a_class_conftest_that_raises_is_an_error_and_nothing_passes(bench):
    bench.write("conftest.py", "raise RuntimeError('broken')")
    result = bench.run()
    assert result.ret not in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}
    assert not list(bench.out.glob("runs/echo/0*"))


def test_a_dropped_case_makes_the_run_a_selection(bench):
    bench.pytester.makeconftest("def pytest_collection_modifyitems(items): del items[1]\n")
    bench.run().assert_outcomes(passed=2)
    assert bench.outcomes(bench.selected()) == {"01": "scored", "03": "scored"}


def test_stepwise_goes_on_where_it_stopped(bench):
    fail(bench, "02")
    assert bench.run("--sw").ret != pytest.ExitCode.OK
    bench.case("02", answer="Q02")
    bench.run("--sw").assert_outcomes(passed=2, deselected=1)
    assert set(bench.outcomes(bench.selected())) == {"02", "03"}
