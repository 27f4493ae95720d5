"""A rubric that errs fails its case; one that breaks its contract ends the scoring of its class."""

from __future__ import annotations

import pytest

GOOD = "passed=True, score=1.0"


def assert_violation(bench, result, words: str) -> None:
    """The rubric broke its contract on the first case: nothing is scored after it, nothing promotes."""
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    report = bench.record()["report"]
    assert bench.outcomes() == {"01": "rubric_error", "02": "not_run", "03": "not_run"}
    assert report["complete"] is False
    detail = bench.result("01")["failure_modes"][0]["detail"]
    assert detail.startswith("RubricViolation: rubric of 'echo' on case '01': ")
    assert words in detail
    assert bench.result("02")["detail"].startswith("not run after: rubric of 'echo' on case '01'")
    assert report["block_severity_failure_modes"] == ["rubric_error"]
    decision = bench.record()["decision"]
    assert decision["promotion_allowed"] is False
    assert "checkpoint_promotion_blocked_incomplete_run" in decision["reason_codes"]
    result.stdout.fnmatch_lines(["*02/case.toml::02 - *not run after: rubric of 'echo'*"])


RUBBISH = {
    "nothing": ("return None", "returned builtins.NoneType None; expected a BenchScore"),
    "a banned token": (
        f'return BenchScore({GOOD}, breakdown={{"self_reported.score": 1.0}})',
        "banned",
    ),
}


@pytest.mark.parametrize("what", RUBBISH)
def test_a_rubric_that_returns_rubbish_ends_its_class(bench, what):
    body, words = RUBBISH[what]
    bench.rubric(body)
    assert_violation(bench, bench.run(), words)


FORGED = {
    "object.__setattr__": f"""
        score = BenchScore({GOOD})
        object.__setattr__(score, "score", 1.5)
        return score
    """,
    "a liar about its class": """
        class Liar:
            __class__ = BenchScore
            passed, score = True, 1.0

        return Liar()
    """,
}


@pytest.mark.parametrize("how", FORGED)
def test_a_forged_score_is_no_score(bench, how):
    bench.rubric(FORGED[how])
    bench.engine()
    detail = bench.result("01")["failure_modes"][0]["detail"]
    assert bench.outcomes() == {"01": "rubric_error", "02": "not_run", "03": "not_run"}
    assert detail.startswith("RubricViolation: rubric of 'echo' on case '01': ")
    assert "BenchScore" in detail


def test_a_violation_leaves_other_classes_alone(bench):
    bench.rubric("return None")
    other = type(bench)(bench.pytester, name="mirror")
    result = bench.pytest("--bench=all")
    result.assert_outcomes(passed=3, failed=1, errors=2)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert bench.outcomes() == {"01": "rubric_error", "02": "not_run", "03": "not_run"}
    assert other.outcomes() == {"01": "scored", "02": "scored", "03": "scored"}
    assert other.record()["report"]["complete"] is True


@pytest.mark.parametrize("verbosity", [("-q", "--tb=no"), ("-v",)])
def test_a_violation_is_in_the_summary_once_at_every_verbosity(bench, verbosity):
    bench.rubric(f'return BenchScore({GOOD}, breakdown={{"llm_judge": 0.8}})')
    lines = [line for line in bench.run(*verbosity).outlines if line.startswith("stopped ")]
    assert len(lines) == 1
    assert all(
        "breakdown key 'llm_judge' contains the banned token 'llm'" in line for line in lines
    )


@pytest.mark.slow
def test_a_violation_in_a_worker_never_passes(bench):
    bench.rubric("return None")
    result = bench.run("-n2", apart=True)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    report = bench.record()["report"]
    assert report["complete"] is False
    assert set(bench.outcomes().values()) <= {"rubric_error", "not_run"}
    assert report["passed_count"] == 0


FAULTS = {
    "skips": ('import pytest; pytest.skip("no")', "Skipped: no"),
    "ends pytest": ('import pytest; pytest.exit("bye", returncode=0)', "Exit: bye"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_rubric_that_errs_on_one_case_makes_the_run_incomplete(bench, fault):
    body, detail = FAULTS[fault]
    bench.case("02", extra="[facts.inner]\nlist = [1]")
    bench.rubric(f'if case.case_id == "02":\n    {body}')
    result = bench.run()
    result.assert_outcomes(passed=2, failed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    report = bench.record()["report"]
    assert bench.outcomes() == {"01": "scored", "02": "rubric_error", "03": "scored"}
    assert report["complete"] is False
    assert report["block_severity_failure_modes"] == ["rubric_error"]
    assert detail in bench.result("02")["failure_modes"][0]["detail"]


@pytest.mark.parametrize("code", ["never_heard_of", "timeout"])
def test_an_unknown_or_reserved_failure_code_blocks_and_is_kept_as_detail(bench, code):
    bench.rubric(f'if case.case_id == "02": return BenchScore({GOOD}, failure_modes=["{code}"])')
    result = bench.run()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert bench.result("02")["failure_modes"] == [{"code": "unknown_failure_mode", "detail": code}]
    assert bench.record()["report"]["block_severity_failure_modes"] == ["unknown_failure_mode"]
    result.stdout.fnmatch_lines(["FAILED severity block: unknown_failure_mode*"])


def test_a_failure_text_starts_with_the_reason_and_ends_with_the_place(bench):
    bench.case("02", answer="something else")
    result = bench.run()
    result.stdout.fnmatch_lines(
        [
            "not passed, score 0.000: wrong",
            "  exact: 0",
            "bench/echo/cases/02/case.toml:1",
            "FAILED bench/echo/cases/02/case.toml::02 - not passed, score 0.000: wrong",
        ],
        consecutive=False,
    )
    result.stdout.no_fnmatch_line("*Traceback*")
