"""What a run is compared with, what a mismatch says, and what both do to the exit status."""

from __future__ import annotations

import json

import pytest

from benchgate.cli import main
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


def edit_baseline(bench, change) -> None:
    path = bench.path / "baseline.json"
    record = json.loads(path.read_bytes())
    change(record)
    path.write_text(json.dumps(record))


# Without a baseline


@pytest.mark.parametrize("arguments", [(), ("--bench-baseline=auto",), ("--bench-baseline=none",)])
def test_without_a_baseline_the_decision_is_hold_and_does_not_bind(bench, arguments):
    result = bench.run(*arguments)
    assert result.ret == pytest.ExitCode.OK
    decision = bench.record()["decision"]
    assert decision["outcome"] == "hold"
    assert reasons(bench) == ["baseline_missing"]
    assert bench.record()["baseline"] is None
    evidence = {path.stem for path in (bench.folder() / "evidence").iterdir()}
    assert evidence == {"promotion"}


def test_none_ignores_a_pinned_baseline(graded):
    result = graded.run("--bench-baseline=none")
    assert result.ret == pytest.ExitCode.OK
    assert reasons(graded) == ["baseline_missing"]


def test_pinned_without_a_file_is_wrong_use(bench):
    result = bench.run("--bench-baseline=pinned")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*bench/echo/baseline.json: no such baseline; benchgate pin makes one of a full run"]
    )
    assert not (bench.out / "runs").exists()


def test_a_path_that_does_not_exist_is_wrong_use(bench):
    result = bench.run("--bench-baseline=no/such.json")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*no/such.json: no such baseline*"])


# Decisions


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
    result.stdout.fnmatch_lines(["gate      PROMOTE", "delta     +0.787, 95% interval *"])
    assert {path.stem for path in (graded.folder() / "evidence").iterdir()} == EVIDENCE
    proof = graded.read("evidence/echo/proof.json")
    assert proof["significance"]["pass"] is True
    assert proof["failure_analysis"] is None
    significance = graded.read("evidence/echo/significance.json")["significance"]
    assert significance["pass"] is True
    assert significance["mean_delta"] == pytest.approx(0.787)
    assert significance["test"] == "welch"


def test_the_same_system_is_not_promoted(graded):
    result = graded.run()
    assert result.ret == HELD
    decision = graded.record()["decision"]
    assert decision["promotion_allowed"] is False
    assert "delta_below_minimum" in reasons(graded)
    result.stdout.fnmatch_lines(["HELD the gate decided hold"])


def test_a_worse_system_is_rejected(graded):
    graded.system(STRONG)
    graded.run("--bench-baseline=none")
    graded.pin()
    graded.system(WEAK)
    result = graded.run()
    result.assert_outcomes(passed=12)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert graded.record()["decision"]["outcome"] == "reject"
    assert "significant_regression" in reasons(graded)


def test_too_few_cases_hold(bench):
    bench.rubric(GRADED)
    bench.system(WEAK)
    bench.run()
    bench.pin()
    bench.system(STRONG)
    result = bench.run()
    assert result.ret == HELD
    assert bench.record()["decision"]["outcome"] == "hold"
    assert reasons(bench)[0] == "insufficient_cases"
    assert remark(bench, "insufficient_cases") == "3 cases; the policy asks for 10"
    result.stdout.fnmatch_lines(["gate      HOLD", "HELD the gate decided hold"])


def test_more_harm_is_rejected_however_good_the_score(graded):
    graded.system('return {"answer": 0.9 + int(case.case_id) / 1000, "harm": 0.2}')
    result = graded.run()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert reasons(graded) == ["safety_regression"]
    assert graded.record()["decision"]["outcome"] == "reject"
    assert graded.read("evidence/echo/safety.json")["safety_regression_delta"] == pytest.approx(0.2)


def test_unmeasured_harm_holds(graded):
    graded.system('return {"answer": 0.9 + int(case.case_id) / 1000, "harm": None}')
    graded.run()
    assert reasons(graded) == ["safety_missing"]
    safety = graded.read("evidence/echo/safety.json")
    assert safety["promotion_allowed"] is False
    assert safety["safety_regression_delta"] is None
    assert safety["trained_mean_safety_penalty"] is None


def test_harm_that_no_arm_measured_is_not_evaluated_and_never_fine(graded):
    graded.system('return {"answer": 0.1 + int(case.case_id) / 1000, "harm": None}')
    graded.run("--bench-baseline=none")
    graded.pin()
    graded.system('return {"answer": 0.9 - int(case.case_id) / 1000, "harm": None}')
    graded.run()
    assert reasons(graded) == ["safety_missing"]
    graded.run("--bench-policy=safety=optional")
    assert graded.record()["decision"]["outcome"] == "promote"
    safety = graded.read("evidence/echo/safety.json")
    assert safety["promotion_allowed"] is None
    assert safety["safety_regression_delta"] is None
    assert safety["diagnostics"] == ["not_evaluated"]
    assert graded.read("evidence/echo/proof.json")["safety_benchmark"]["promotion_allowed"] is None


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
    graded.run("--bench-baseline=none").assert_outcomes(passed=12)
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

UNUSABLE = pytest.ExitCode.TESTS_FAILED


def assert_mismatch(bench, words: str, status: int = HELD) -> None:
    result = bench.run()
    assert result.ret == status
    assert bench.record()["decision"]["outcome"] == "hold"
    assert reasons(bench) == ["baseline_mismatch"]
    assert words in remark(bench, "baseline_mismatch")
    assert {path.stem for path in (bench.folder() / "evidence").iterdir()} == {"promotion"}
    assert validate_file(bench.folder() / "record.json") == "record"


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"not json",
        b"[]",
        b"null",
        b"{}",
        b'{"report": {}}',
        b'{"report": 1}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
    ids=["empty", "text", "list", "null", "object", "no report", "number", "bytes", "deep"],
)
def test_a_baseline_that_is_no_record_is_a_mismatch(graded, damage):
    (graded.path / "baseline.json").write_bytes(damage)
    assert_mismatch(graded, "no valid record of a run: ", UNUSABLE)


def test_a_baseline_that_is_a_folder_is_a_mismatch(graded):
    (graded.path / "baseline.json").unlink()
    (graded.path / "baseline.json").mkdir()
    assert_mismatch(graded, "cannot be read: ", UNUSABLE)


def test_a_baseline_that_is_a_dangling_link_is_not_taken_for_absent(graded):
    (graded.path / "baseline.json").unlink()
    (graded.path / "baseline.json").symlink_to("gone.json")
    result = graded.run()
    assert result.ret != pytest.ExitCode.OK


def test_a_baseline_without_per_case_is_a_mismatch(graded):
    edit_baseline(graded, lambda record: record["report"].pop("per_case"))
    assert_mismatch(graded, "per_case", UNUSABLE)


def test_an_edited_score_is_a_mismatch(graded):
    edit_baseline(graded, lambda record: record["report"]["per_case"][0]["score"].update(score=0.0))
    assert_mismatch(graded, "it was edited", UNUSABLE)


def test_a_removed_case_is_a_mismatch(graded):
    edit_baseline(graded, lambda record: record["report"]["per_case"].pop())
    assert_mismatch(graded, "it was edited", UNUSABLE)


def test_a_selected_run_as_baseline_is_a_mismatch(graded):
    edit_baseline(graded, lambda record: record["report"].update(scope="selected"))
    assert_mismatch(graded, "it is not a full run", UNUSABLE)


def test_an_incomplete_baseline_is_a_mismatch(graded):
    edit_baseline(graded, lambda record: record["report"].update(complete=False))
    assert_mismatch(graded, "it is incomplete", UNUSABLE)


def test_a_baseline_that_says_complete_with_a_case_not_run_is_a_mismatch(graded):
    graded.rubric(
        f'if case.case_id == "02": raise ValueError\n{GRADED.strip()}'.replace("\n    ", "\n")
    )
    graded.run("--bench-baseline=none")
    graded.pin()
    edit_baseline(graded, lambda record: record["report"].update(complete=True))
    graded.run()
    assert "baseline_mismatch" in reasons(graded)


def test_a_baseline_of_another_class_is_a_mismatch(graded):
    other = type(graded)(graded.pytester, name="mirror")
    other.run()
    (graded.path / "baseline.json").write_bytes((other.folder() / "record.json").read_bytes())
    assert_mismatch(graded, "its task class is 'mirror', not 'echo'")


def test_a_new_case_is_a_mismatch(graded):
    graded.case("13")
    assert_mismatch(graded, "cases not in the baseline: 13")


def test_a_case_that_is_gone_is_a_mismatch(graded):
    import shutil

    shutil.rmtree(graded.path / "cases/05")
    assert_mismatch(graded, "cases only in the baseline: 05")


@pytest.mark.parametrize("file", ["input/question.txt", "expected/answer.txt", "input/more.txt"])
def test_a_changed_case_is_a_mismatch(graded, file):
    graded.write(f"cases/05/{file}", "changed")
    assert_mismatch(graded, "cases changed since: 05")


def test_changed_facts_are_a_mismatch(graded):
    graded.case("05", extra="[facts]\nnew = 1")
    assert_mismatch(graded, "cases changed since: 05")


def test_new_dates_alone_are_no_mismatch(graded):
    graded.case("05", last_validated_at="2026-11-20T00:00:00Z")
    graded.system(STRONG)
    graded.run()
    assert graded.record()["decision"]["outcome"] == "promote"


def test_another_rubric_is_a_mismatch(graded):
    graded.rubric(f"# changed\n{GRADED.strip()}".replace("\n    ", "\n"))
    assert_mismatch(graded, "its rubric differs: ")


def test_another_scoring_hook_is_a_mismatch(graded):
    graded.write("conftest.py", "def pytest_bench_score(case): return None")
    assert_mismatch(graded, "its rubric differs: ")


def test_a_changed_taxonomy_is_no_mismatch_but_is_digested(graded):
    pinned = json.loads((graded.path / "baseline.json").read_bytes())
    with (graded.path / "failure_modes.toml").open("a") as file:
        file.write('[failure_modes.more]\nseverity = "info"\ndescription = "x"\n')
    graded.system(STRONG)
    graded.run()
    digests = graded.record()["report"]["digests"]
    assert digests["taxonomy"] != pinned["report"]["digests"]["taxonomy"]


def test_every_difference_is_named(graded):
    graded.case("13")
    graded.write("cases/05/input/question.txt", "changed")
    graded.rubric(f"# changed\n{GRADED.strip()}".replace("\n    ", "\n"))
    graded.run()
    message = remark(graded, "baseline_mismatch")
    for words in (
        "cases not in the baseline: 13",
        "cases changed since: 05",
        "its rubric differs: ",
    ):
        assert words in message


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
    graded.run()
    assert reasons(graded) == ["delta_below_minimum"]
    assert graded.record()["policy"]["min_delta"] == 0.95
    graded.run("--bench-policy=min_delta=0.5", "--bench-policy=test=auto")
    assert graded.record()["decision"]["outcome"] == "promote"
    assert graded.record()["policy"]["min_delta"] == 0.5
    assert graded.read("evidence/echo/significance.json")["significance"]["test"] == "paired"


def test_the_policy_is_digested_into_the_plan(graded):
    graded.run()
    before = graded.record()["report"]
    graded.run("--bench-policy=alpha=0.01")
    after = graded.record()["report"]
    assert before["digests"]["policy"] != after["digests"]["policy"]
    assert before["plan_id"] != after["plan_id"]
    assert before["run_id"] == after["run_id"]


@pytest.mark.parametrize(
    ("option", "reason"),
    [
        ("min_delta", "*min_delta: expected KEY=VALUE"),
        ("min_dleta=0.1", "*min_dleta: unknown key; did you mean 'min_delta'?"),
        ("alpha=2", "*alpha: *less than 1*"),
        ("alpha=nan", "*alpha: *"),
        ("alpha='0.05'", "*alpha: *valid number*"),
        ("test=guess", "*test: Input should be 'welch', 'auto' or 'paired'*"),
        ("min_cases=1", "*min_cases: *greater than or equal to 2*"),
        ("score_range=[1, 0]", "*score_range must be [[]low, high[]]*"),
        ("max_safety_regression=-1", "*max_safety_regression: *"),
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


def test_a_blocking_failure_mode_rejects_and_fails_whatever_the_score(graded):
    with (graded.path / "failure_modes.toml").open("a") as file:
        file.write('[failure_modes.harm]\nseverity = "block"\ndescription = "x"\n')
    graded.rubric(
        'harm = ["harm"] if case.case_id == "02" and output["answer"] > 0.5 else []\n'
        'return BenchScore(passed=True, score=output["answer"], failure_modes=harm, safety_penalty=0.0)'
    )
    graded.run("--bench-baseline=none")
    graded.pin()
    graded.system(STRONG)
    for rule in ("strict", "gate"):
        result = graded.run(f"--bench-exit={rule}")
        result.assert_outcomes(passed=12)
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        assert graded.record()["decision"]["outcome"] == "reject"
        assert reasons(graded) == ["block_severity_failure_mode"]


def test_a_class_may_raise_harness_errors_to_block(bench):
    with (bench.path / "failure_modes.toml").open("a") as file:
        file.write('[failure_modes.harness_error]\nseverity = "block"\ndescription = "x"\n')
    bench.system('if case.case_id == "02": raise ValueError')
    result = bench.run("--bench-exit=gate")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert bench.record()["report"]["block_severity_failure_modes"] == ["harness_error"]


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
    result = bench.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*failure_modes.toml:1: *reserved for the harness*"])


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
