"""What once ended green, or lost a run, where it must not: kept here so that it never does again."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from benchgate.cli import main
from tests.conftest import PLAIN

ONE_LOST = {"01": "scored", "02": "not_run", "03": "scored"}
BLOCKED = 'return BenchScore(passed=True, score=1.0, failure_modes=["never_heard_of"])'


@pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n1",), marks=pytest.mark.slow)], ids=["in process", "xdist"]
)
def test_a_bench_outside_rootdir_is_judged(bench, workers):
    bench.rubric(BLOCKED)
    elsewhere = bench.root / "elsewhere"
    elsewhere.mkdir()
    result = bench.pytest(
        f"--rootdir={elsewhere}", bench.path / "cases", *workers, apart=bool(workers)
    )
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert list(elsewhere.glob(".benchgate/runs/echo/*/record.json"))


@pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n1",), marks=pytest.mark.slow)], ids=["in process", "xdist"]
)
def test_a_bench_below_a_folder_with_an_at_sign_is_judged(bench, workers):
    bench.rubric(BLOCKED)
    (bench.root / "pkg@1").mkdir()
    os.rename(bench.root / "bench", bench.root / "pkg@1" / "bench")
    result = bench.pytest("pkg@1/bench/echo/cases", *workers, apart=bool(workers))
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert bench.record()["report"]["block_severity_failure_modes"] == ["unknown_failure_mode"]


def test_a_case_that_cannot_be_digested_is_not_run_whatever_came_back(bench):
    deep = "[" * 400 + "]" * 400
    bench.case("02", extra=f"[facts]\nx = {deep}\n")
    assert bench.engine().failures
    assert bench.outcomes()["02"] == "not_run"
    assert bench.record()["report"]["complete"] is False


def test_a_result_that_nothing_judges_is_named(bench):
    bench.pytester.makeconftest("""
        def pytest_runtest_setup(item):
            item.config.pluginmanager.get_plugin("benchgate-controller").runs.clear()
    """)
    result = bench.run("-k", "01")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["FAILED *cases/01/case.toml::01: nothing judges its class"])


def test_a_hook_that_returns_one_gate_and_no_list_holds_and_loses_nothing(bench):
    bench.pytester.makeconftest(
        "def pytest_bench_gates(task_class):\n    return lambda report, baseline: None\n"
    )
    assert bench.run().ret == 10
    assert bench.record()["decision"]["outcome"] == "hold"


@pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n1",), marks=pytest.mark.slow)], ids=["in process", "xdist"]
)
def test_gates_in_the_conftest_of_a_bench_never_count(bench, workers):
    bench.write(
        "conftest.py",
        "def pytest_bench_gates(task_class):\n    return [lambda report, baseline: 'no']\n",
    )
    assert bench.run(*workers, apart=bool(workers)).ret == pytest.ExitCode.OK


def test_tests_in_a_folder_that_happens_to_be_called_cases_are_left_alone(pytester):
    path = pytester.mkdir("bench") / "db" / "cases" / "deep"
    path.mkdir(parents=True)
    (path / "test_a.py").write_text("def test_a(): assert 0\n")
    (path / "conftest.py").write_text("")
    pytester.runpytest(*PLAIN, "bench").assert_outcomes(failed=1)
    pytester.runpytest(*PLAIN, "bench/db/cases/deep").assert_outcomes(failed=1)


def test_a_file_of_no_name_in_the_data_of_a_case_costs_the_case_alone(bench):
    os.mkfifo(os.fsencode(bench.path / "cases/02/input") + b"/\xff")
    bench.engine()
    assert bench.outcomes() == ONE_LOST


def test_a_link_that_leads_nowhere_stays_in_the_count(bench):
    (bench.path / "cases" / "04").symlink_to(bench.root / "gone")
    bench.engine()
    assert bench.outcomes() == {**dict.fromkeys(("01", "02", "03"), "scored"), "04": "not_run"}


def test_a_reason_that_is_no_text_is_told_as_far_as_it_goes(bench):
    bench.pytester.makeconftest(
        "import pytest\ndef pytest_runtest_setup(item): pytest.skip('x' + chr(0xdc80))\n"
    )
    assert bench.run().ret == pytest.ExitCode.TESTS_FAILED
    assert bench.result("01")["detail"] == "Skipped: x\\udc80"


def test_huge_penalties_cost_no_run(bench):
    bench.rubric("return BenchScore(passed=True, score=1.0, safety_penalty=1e308)")
    assert bench.engine().judgement.report.passed_count == 3
    assert bench.record()["report"]["mean_safety_penalty"] == pytest.approx(1e308)


def test_a_folder_among_the_evidence_is_named_and_the_run_is_recorded(bench):
    (bench.out / "evidence" / "echo" / "mine").mkdir(parents=True)
    result = bench.run()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        ["FAILED the copy of the evidence is incomplete: *Is a directory*mine*"]
    )
    assert bench.record()["seq"] == bench.head()["seq"] == 1


def test_a_system_that_removes_the_output_folder_loses_no_report(bench):
    bench.system(f"import shutil; shutil.rmtree({str(bench.out)!r}, ignore_errors=True)")
    result = bench.run()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["FAILED *: cannot be written: No such file or directory*"])
    assert '"run_id"' in result.stderr.str()


def test_a_nul_in_a_cassette_path_costs_the_case_alone(bench):
    extra = f'[cassettes.x]\npath = "a\\u0000b"\nsha256 = "{"0" * 64}"\n'
    bench.case("02", extra=extra.replace("\\u0000", "\\\\u0000").replace("\\\\", "\\"))
    bench.engine()
    assert bench.outcomes() == ONE_LOST


def test_cases_beside_a_broken_module_are_judged_where_they_run(bench):
    bench.write("tests/test_broken.py", "import nothing_of_that_name\n")
    result = bench.pytest("bench/echo", "--continue-on-collection-errors")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert set(bench.outcomes().values()) == {"scored"}


def test_an_endless_limit_costs_the_case_alone(bench):
    bench.case("02", timeout_seconds="1e300")
    bench.engine()
    assert bench.outcomes() == ONE_LOST


def test_a_selection_ends_by_its_cases_whatever_decides_a_full_run(bench):
    bench.case("02", answer="something else")
    assert bench.run("--bench-exit=gate").ret == pytest.ExitCode.OK
    assert bench.run("--bench-exit=gate", "-k", "02").ret == pytest.ExitCode.TESTS_FAILED
    given = ["run", "--task-class=echo", f"--bench-root={bench.root / 'bench'}"]
    assert main([*given, "--cases=02"]) == 1


def test_bench_beside_a_folder_above_it_is_wrong_use(bench):
    assert bench.pytest(".", "--bench=echo").ret == pytest.ExitCode.USAGE_ERROR


def test_a_malformed_case_called_like_a_trial_does_not_take_its_file(bench):
    bench.case("01-t1")
    bench.engine(trials=2)
    assert bench.trial("01-t1")["result"]["trial"] == 1
    assert bench.trial("01-t1-t0")["result"]["outcome"] == "not_run"


@pytest.mark.slow
def test_what_a_child_process_prints_does_not_get_between_the_json_lines(bench):
    bench.system('import os; os.system("echo from-a-child"); print("from the system")')
    given = ["run", "--task-class=echo", f"--bench-root={bench.root / 'bench'}"]
    command = [sys.executable, "-m", "benchgate", *given]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert [bool(json.loads(line)) for line in done.stdout.splitlines()] == [True] * 4
    assert done.stderr.count("from-a-child") == 3


def test_an_interrupted_command_writes_what_there_is(bench, capsys):
    bench.system('if case.case_id == "02":\n    raise KeyboardInterrupt')
    root = f"--bench-root={bench.root / 'bench'}"
    assert main(["run", "--task-class=echo", root, f"--out={bench.out}"]) == 130
    assert "Traceback" not in capsys.readouterr().err
    assert bench.outcomes() == {"01": "scored", "02": "not_run", "03": "not_run"}
    assert bench.record()["report"]["complete"] is False
