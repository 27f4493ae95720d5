"""The hooks of benchgate are called where, when and with what their documentation says."""

from __future__ import annotations

import json

import pytest

SYSTEM = """
import pytest

class Whisper:
    name = "whisper"
    def __call__(self, case):
        return {"answer": (case.input_path / "question.txt").read_text()}

@pytest.hookimpl(optionalhook=True)
def pytest_bench_system(config, task_class):
    return Whisper() if task_class.name == "echo" else None
"""
LOG = """
import json, os
from pathlib import Path

def log(config, *what):
    with (config.rootpath / "log.jsonl").open("a") as file:
        worker = os.environ.get("PYTEST_XDIST_WORKER") if hasattr(config, "workerinput") else None
        file.write(json.dumps([worker, *what]) + "\\n")

def pytest_bench_case_finished(config, result):
    log(config, "case", result.case_id, result.trial, result.outcome)

def pytest_bench_run_finished(config, report, decision):
    written = sorted(path.name for path in config.rootpath.glob(".benchgate/runs/echo/*/record.json"))
    log(config, "run", report.task_class, report.scope, decision and decision.outcome, written)

def pytest_bench_gates(config, task_class):
    log(config, "gates", task_class.name)
"""


def logged(bench) -> list[list]:
    path = bench.root / "log.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


# pytest_bench_system


def test_a_hook_gives_the_system(bench):
    bench.pytester.makeconftest(SYSTEM)
    result = bench.run()
    result.assert_outcomes(failed=3)
    result.stdout.fnmatch_lines(["benchgate: echo, system whisper, 3 cases,*"])
    assert bench.record()["report"]["system"] == "whisper"
    assert bench.trial("01")["output"] == {"answer": "q01"}


def test_an_option_wins_over_the_hook(bench):
    bench.pytester.makeconftest(SYSTEM)
    bench.run("--bench-system=shout").assert_outcomes(passed=3)
    assert bench.record()["report"]["system"] == "shout"


def test_a_hook_that_gives_none_leaves_it_to_the_class(bench):
    bench.pytester.makeconftest("def pytest_bench_system(task_class): return None")
    bench.run().assert_outcomes(passed=3)


def test_a_system_from_a_hook_that_cannot_be_called_is_wrong_use(bench):
    bench.pytester.makeconftest("def pytest_bench_system(task_class): return 1")
    result = bench.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR


# pytest_bench_score


@pytest.mark.parametrize("how", [("--bench=echo",), ("bench/echo/cases",)], ids=" ".join)
def test_the_conftest_of_a_class_scores_its_own_cases(bench, how):
    other = type(bench)(bench.pytester, name="mirror")
    bench.write(
        "conftest.py",
        """
        from benchgate import BenchScore

        def pytest_bench_score(case, harness_output):
            if case.case_id != "03":
                return BenchScore(passed=True, score=0.5, breakdown={"by.hook": 1.0})
        """,
    )
    more = ("--bench=mirror",) if how[0].startswith("--") else ("bench/mirror",)
    bench.pytest(*how, *more).assert_outcomes(passed=6)
    scores = [bench.result(case_id)["score"]["score"] for case_id in ("01", "02", "03")]
    assert scores == [0.5, 0.5, 1.0]
    assert other.record()["report"]["mean_score"] == 1.0
    digests = bench.record()["report"]["digests"]
    assert digests["scorer"] != digests["rubric"]
    digests = other.record()["report"]["digests"]
    assert digests["scorer"] == digests["rubric"]


def test_the_root_conftest_scores_all_cases(bench):
    bench.pytester.makeconftest(
        "def pytest_bench_score(case):\n"
        "    from benchgate import BenchScore\n"
        "    return BenchScore(passed=True, score=0.25)\n"
    )
    bench.run().assert_outcomes(passed=3)
    assert bench.record()["report"]["mean_score"] == 0.25


def test_a_change_of_the_scoring_hook_changes_the_scorer(bench):
    hook = "def pytest_bench_score(case): return None\n"
    bench.write("conftest.py", hook)
    bench.run()
    first = bench.record()["report"]["digests"]
    bench.write("conftest.py", f"# changed\n{hook}")
    bench.run()
    second = bench.record()["report"]["digests"]
    assert first["rubric"] == second["rubric"]
    assert first["scorer"] != second["scorer"]


def test_a_scoring_hook_that_returns_rubbish_is_a_violation(bench):
    bench.pytester.makeconftest("def pytest_bench_score(case): return 1.0")
    bench.run().assert_outcomes(failed=1, errors=2)
    assert bench.outcomes() == {"01": "rubric_error", "02": "not_run", "03": "not_run"}


# pytest_bench_case_finished, pytest_bench_run_finished, pytest_bench_gates


def test_observers_are_called_once_in_the_process_that_writes(bench):
    bench.pytester.makeconftest(LOG)
    bench.write("cases/02/case.toml", "[case\n")
    bench.run()
    calls = logged(bench)
    assert {call[0] for call in calls} == {None}
    cases = sorted(call[1:] for call in calls if call[1] == "case")
    assert cases == [
        ["case", "01", 0, "scored"],
        ["case", "02", 0, "not_run"],
        ["case", "03", 0, "scored"],
    ]
    assert [call[1:] for call in calls if call[1] == "gates"] == [["gates", "echo"]]
    assert calls[-1][1:] == ["run", "echo", "full", "hold", ["record.json"]]


def test_observers_of_a_selection_get_no_decision_and_gates_are_not_asked_for(bench):
    bench.pytester.makeconftest(LOG)
    bench.run("-k", "02")
    assert [call[1:] for call in logged(bench)] == [
        ["case", "02", 0, "scored"],
        ["run", "echo", "selected", None, []],
    ]


def test_collect_only_calls_no_observer(bench):
    bench.pytester.makeconftest(LOG)
    bench.run("--co")
    assert logged(bench) == []


def test_gates_in_the_conftest_of_a_class_do_not_judge_another_class(bench):
    other = type(bench)(bench.pytester, name="mirror")
    bench.write(
        "conftest.py",
        "def pytest_bench_gates(task_class): return [lambda report, baseline: 'never']",
    )
    other.run().assert_outcomes(passed=3)
    assert other.record()["decision"]["reason_codes"] == [
        "checkpoint_promotion_blocked_baseline_missing"
    ]


GATES = {
    "objects": (
        "def budget(report, baseline): return f'cost {report.total_cost_usd:.2f}'",
        "cost 0.75",
    ),
    "fails": (
        "def budget(report, baseline):\n    import pytest; pytest.fail('no')",
        "the gate failed: Failed: no",
    ),
}


@pytest.mark.parametrize(
    ("how", "rule"),
    [("objects", "strict"), ("objects", "gate"), ("fails", "gate")],
)
def test_a_further_gate_that_objects_or_breaks_holds_and_fails(bench, how, rule):
    """Whatever else a gate may do is in ``tests/engine/test_baselines.py``."""
    source, objection = GATES[how]
    bench.pytester.makeconftest(
        f"{source}\n\ndef pytest_bench_gates(task_class): return [budget]\n"
    )
    result = bench.run(f"--bench-exit={rule}")
    result.assert_outcomes(passed=3)
    breaks = objection.startswith("the gate failed")
    assert result.ret == (1 if breaks else 10)
    word = "FAILED" if breaks else "HELD"
    result.stdout.fnmatch_lines([f"{word} gate budget: {objection}"])
    assert "checkpoint_promotion_blocked_gate:budget" in bench.record()["decision"]["reason_codes"]
    assert bench.record()["decision"]["outcome"] == "hold"


def test_a_satisfied_gate_changes_nothing_and_sees_both_reports(bench):
    bench.engine()
    bench.pin()
    bench.pytester.makeconftest(
        "def same(report, baseline):\n"
        "    return None if baseline.run_id == report.run_id else 'differs'\n"
        "def pytest_bench_gates(task_class): return [same]\n"
    )
    bench.run()
    codes = bench.record()["decision"]["reason_codes"]
    assert not [code for code in codes if "gate:" in code]


def test_a_hook_for_gates_that_raises_never_passes_and_loses_no_record(bench):
    bench.pytester.makeconftest("def pytest_bench_gates(task_class): raise ValueError('boom')")
    result = bench.run()
    assert result.ret not in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}
    assert bench.outcomes() == {"01": "scored", "02": "scored", "03": "scored"}
    assert bench.record()["decision"]["promotion_allowed"] is False


@pytest.mark.parametrize(
    "hook", ["pytest_bench_case_finished(result)", "pytest_bench_run_finished(report)"]
)
def test_an_observer_that_raises_never_passes_and_loses_no_record(bench, hook):
    bench.pytester.makeconftest(f"def {hook}: raise ValueError('boom')")
    result = bench.run()
    assert result.ret not in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}
    assert set(bench.outcomes()) == {"01", "02", "03"}


def test_a_misspelt_argument_of_a_hook_is_an_error(bench):
    bench.pytester.makeconftest("def pytest_bench_gates(taskclass): return []")
    result = bench.run()
    assert result.ret not in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}
    assert not list(bench.out.glob("runs/echo/0*"))
