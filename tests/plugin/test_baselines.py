"""What a run is compared with, what a mismatch says, and what both do to the exit status."""

from __future__ import annotations

import pytest

from benchgate.cli import main
from benchgate.errors import EvalError
from benchgate.gates.exit_status import HELD
from benchgate.verify.validate import validate_file

PREFIX = "checkpoint_promotion_blocked_"
GRADED = """
    score = float(output["answer"])
    return BenchScore(passed=True, score=score, safety_penalty=output.get("harm", 0.0))
"""
WEAK = 'return {"answer": 0.1 + int(case.case_id) / 1000}'
STRONG = 'return {"answer": 0.9 - int(case.case_id) / 1000}'
EVIDENCE = {"baseline", "trained", "significance", "safety", "evaluation", "proof", "promotion"}


@pytest.fixture
def graded(bench, kept):
    """Twelve cases whose score is what the system answers; the pinned baseline is a weak system."""
    for number in range(4, 13):
        bench.case(f"{number:02}")
    bench.rubric(GRADED)
    bench.system(WEAK)
    bench.pin_once(kept)
    return bench


def reasons(bench) -> list[str]:
    return [code.removeprefix(PREFIX) for code in bench.record()["decision"]["reason_codes"]]


def remark(bench, code: str) -> str:
    remarks = bench.record()["decision"]["remarks"]
    return next(r["message"] for r in remarks if r["code"] == PREFIX + code)


# Where it is


def test_pinned_without_a_file_is_wrong_use(bench):
    result = bench.run("--bench-baseline=pinned")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*bench/echo/baseline.json: no such baseline; benchgate pin makes one of a full run"]
    )
    assert not (bench.out / "runs").exists()


# Decisions


@pytest.mark.parametrize(
    ("before", "now", "said"), [("welch", "", 1), ("welch", "auto", 0), ("auto", "", 0)]
)
def test_who_leaves_the_test_to_the_new_default_is_told_how_to_keep_the_old(
    bench, before, now, said
):
    bench.write("gate.toml", f'test = "{before}"\n')
    bench.pin_once({})
    bench.write("gate.toml", f'test = "{now}"\n' if now else "")
    text = bench.run().stdout.str()
    assert text.count('gate.toml names no test, so pairs decide; test = "welch" keeps') == said


def test_a_better_system_is_promoted(graded):
    graded.system(STRONG)
    result = graded.run()
    result.assert_outcomes(passed=12)
    assert result.ret == pytest.ExitCode.OK
    record = graded.record()
    assert record["decision"]["outcome"] == "promote"
    assert record["decision"]["promotion_allowed"] is True
    assert record["decision"]["reason_codes"] == []
    assert record["baseline"]["run_id"] != record["report"]["run_id"]
    result.stdout.fnmatch_lines(
        ["PROMOTE   *: it is better and *", "score     * +0.787, between *"]
    )
    assert {path.stem for path in (graded.folder() / "evidence").iterdir()} == EVIDENCE
    proof = graded.read("evidence/echo/proof.json")
    assert proof["significance"]["pass"] is True
    assert proof["failure_analysis"] is None
    significance = graded.read("evidence/echo/significance.json")["significance"]
    assert significance["pass"] is True
    assert significance["mean_delta"] == pytest.approx(0.787)
    assert significance["test"] == "paired"


def test_the_same_system_is_not_promoted(graded):
    result = graded.run()
    assert result.ret == HELD
    decision = graded.record()["decision"]
    assert decision["promotion_allowed"] is False
    assert "delta_below_minimum" in reasons(graded)
    result.stdout.fnmatch_lines(["HELD the gate decided hold"])


def test_a_baseline_of_a_name_that_is_too_long_is_wrong_use_at_both_doors(
    graded, monkeypatch, capsys
):
    result = graded.run(f"--bench-baseline={'x' * 300}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*xxx: no such baseline*"])
    monkeypatch.chdir(graded.root)
    capsys.readouterr()
    assert main(["run", "--task-class=echo", f"--baseline={'x' * 300}"]) == 2
    assert "xxx: no such baseline" in capsys.readouterr().err


def test_a_baseline_by_path_is_relative_to_where_pytest_was_called(graded):
    (graded.path / "baseline.json").rename(graded.root / "before.json")
    graded.system(STRONG)
    result = graded.run("--bench-baseline=before.json")
    assert result.ret == pytest.ExitCode.OK
    assert graded.record()["decision"]["outcome"] == "promote"


def test_failed_cases_fail_a_promoted_run_but_with_exit_gate_they_do_not(graded):
    graded.rubric(
        'score = output["answer"]\n'
        'passed = case.case_id != "02" or score < 0.5\n'
        "return BenchScore(passed=passed, score=score, safety_penalty=0.0)"
    )
    graded.engine()
    graded.pin()
    graded.system(STRONG)
    strict = graded.run()
    strict.assert_outcomes(passed=11, failed=1)
    assert strict.ret == pytest.ExitCode.TESTS_FAILED
    assert graded.record()["decision"]["outcome"] == "promote"
    lenient = graded.run("--bench-exit=gate")
    lenient.assert_outcomes(passed=11, failed=1)
    assert lenient.ret == pytest.ExitCode.OK
    assert graded.record()["decision"]["outcome"] == "promote"


# Mismatches


def assert_mismatch(bench, words: str, status: int = HELD) -> None:
    result = bench.run()
    assert result.ret == status
    assert bench.record()["decision"]["outcome"] == "hold"
    assert reasons(bench) == ["baseline_mismatch"]
    assert words in remark(bench, "baseline_mismatch")
    assert {path.stem for path in (bench.folder() / "evidence").iterdir()} == {"promotion"}
    assert validate_file(bench.folder() / "record.json") == "record"


def test_another_scoring_hook_is_a_mismatch(graded):
    graded.write("conftest.py", "def pytest_bench_score(case): return None")
    assert_mismatch(graded, "its rubric differs: ")


# Selected runs


@pytest.mark.parametrize("asked", ["pinned", "bench/echo/baseline.json"])
def test_a_selection_that_was_asked_to_be_gated_fails(graded, asked):
    result = graded.run("-k", "02", f"--bench-baseline={asked}")
    result.assert_outcomes(passed=1, deselected=11)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "gate      not evaluated: *",
            "FAILED a gate was asked for, but only a part of the cases was selected: *",
        ]
    )
    assert not (graded.out / "runs").exists()


def test_a_selection_beside_a_pinned_baseline_ends_by_its_cases(graded):
    result = graded.run("-k", "02")
    assert result.ret == pytest.ExitCode.OK
    assert graded.selected()["scope"] == "selected"
    assert not (graded.out / "runs").exists()


# Policy


def test_a_policy_option_overrides_the_policy_of_the_class(graded):
    graded.write("gate.toml", "min_delta = 0.95\n")
    graded.system(STRONG)
    graded.engine(baseline="auto")
    assert reasons(graded) == ["delta_below_minimum"]
    assert graded.record()["policy"]["min_delta"] == 0.95
    graded.run("--bench-policy=min_delta=0.5", "--bench-policy=test=auto")
    assert graded.record()["decision"]["outcome"] == "promote"
    assert graded.record()["policy"]["min_delta"] == 0.5
    assert graded.read("evidence/echo/significance.json")["significance"]["test"] == "paired"


@pytest.mark.parametrize(
    ("option", "reason"),
    [
        ("min_dleta=0.1", "*min_dleta: unknown key; did you mean 'min_delta'?"),
    ],
)
def test_a_policy_option_that_does_not_hold_is_wrong_use(bench, option, reason):
    result = bench.run(f"--bench-policy={option}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([reason])
    assert not (bench.out / "runs").exists()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("alpha = ", "*bench/echo/gate.toml:1: *"),
        ("alhpa = 0.1", "*bench/echo/gate.toml:1: alhpa: unknown key; did you mean 'alpha'?"),
    ],
)
def test_a_gate_file_that_does_not_hold_is_wrong_use(bench, text, reason):
    bench.write("gate.toml", text)
    result = bench.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([reason])


# Severities


@pytest.mark.parametrize(
    "table",
    [
        'rubric_error]\nseverity = "warn"',
        'input_modified]\nseverity = "info"',
        'timeout]\nseverity = "info"',
    ],
)
def test_a_class_may_not_lower_a_code_of_the_harness(bench, table):
    bench.write("failure_modes.toml", f'[failure_modes.{table}\ndescription = "x"\n')
    with pytest.raises(EvalError, match=r"failure_modes\.toml:1: .*reserved for the harness"):
        bench.engine()


@pytest.mark.parametrize("door", ["pytest", "run"])
def test_all_that_is_wrong_with_the_files_of_a_class_is_told_at_once(bench, capsys, door):
    bench.write("registration.py", "1 / 0\n")
    bench.write("failure_modes.toml", '[failure_modes.wrong]\nseverty = "warn"\n')
    bench.write("gate.toml", "alpha = 2\n\nmin_dleta = 0.1\n")
    if door == "pytest":
        result = bench.run()
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        told = str(result.stderr)
    else:
        assert main(["run", "--task-class=echo"]) == 2
        told = capsys.readouterr().err
    for line in (
        "registration.py: ZeroDivisionError",
        "failure_modes.toml:1: failure_modes.wrong.description: missing",
        "failure_modes.toml:2: failure_modes.wrong.severty: unknown key; did you mean 'severity'?",
        "gate.toml:1: alpha: Input should be less than 1; found 2",
        "gate.toml:3: min_dleta: unknown key; did you mean 'min_delta'?",
    ):
        assert line in told
