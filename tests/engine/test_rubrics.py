"""A rubric that errs fails its case; one that breaks its contract ends the scoring of its class."""

from __future__ import annotations

import pytest

from benchgate.verify.validate import validate_file

GOOD = "passed=True, score=1.0"


def assert_violation(echo, words: str) -> None:
    """The rubric broke its contract on the first case: nothing is scored after it, nothing promotes."""
    run = echo.run()
    assert run.exit_status == 1
    assert echo.outcomes() == {"01": "rubric_error", "02": "not_run", "03": "not_run"}
    detail = echo.result("01")["failure_modes"][0]["detail"]
    assert detail.startswith("RubricViolation: rubric of 'echo' on case '01': ")
    assert words in detail
    assert echo.result("02")["detail"].startswith("not run after: rubric of 'echo' on case '01'")
    assert run.judgement.report.block_severity_failure_modes == ("rubric_error",)
    decision = run.judgement.decision
    assert not decision.promotion_allowed
    assert "checkpoint_promotion_blocked_incomplete_run" in decision.reason_codes
    assert validate_file(echo.folder() / "record.json") == "record"


def assert_passed(echo) -> None:
    report = echo.run(system=None).judgement.report
    assert report.passed_count == report.case_count == 3


RUBBISH = {
    "nothing": ("return None", "returned builtins.NoneType None; expected a BenchScore"),
    "a number": ("return 1.5", "returned builtins.float 1.5; expected a BenchScore"),
    "a bool": ("return True", "returned builtins.bool True; expected a BenchScore"),
    "a mapping": (f"return dict({GOOD})", "returned builtins.dict {"),
    "the class itself": ("return BenchScore", "expected a BenchScore"),
    "a score above 1": ("return BenchScore(passed=True, score=1.5)", "BenchScore.score: "),
    "a score below 0": ("return BenchScore(passed=True, score=-0.1)", "BenchScore.score: "),
    "a score of NaN": ('return BenchScore(passed=True, score=float("nan"))', "BenchScore.score: "),
    "a score as text": ('return BenchScore(passed=True, score="1")', "BenchScore.score: "),
    "a score as bool": ("return BenchScore(passed=True, score=True)", "BenchScore.score: "),
    "passed as number": ("return BenchScore(passed=1, score=1.0)", "BenchScore.passed: "),
    "more than a hundred parts": (
        f"return BenchScore({GOOD}, breakdown={{str(n): 1.0 for n in range(101)}})",
        "BenchScore.breakdown: Dictionary should have at most 100 items",
    ),
    "a part with a name of more than 200 characters": (
        f'return BenchScore({GOOD}, breakdown={{"x" * 201: 1.0}})',
        "String should have at most 200 characters",
    ),
    "more than a hundred codes": (
        f"return BenchScore({GOOD}, failure_modes=[str(n) for n in range(101)])",
        "BenchScore.failure_modes: Value should have at most 100 items",
    ),
    "no score": ("return BenchScore(passed=True)", "BenchScore.score: Field required"),
    "another field": (
        f"return BenchScore({GOOD}, llm_confidence=0.9)",
        "BenchScore.llm_confidence",
    ),
    "a negative cost": (f"return BenchScore({GOOD}, cost_usd=-1.0)", "BenchScore.cost_usd: "),
    "an infinite cost": (
        f'return BenchScore({GOOD}, cost_usd=float("inf"))',
        "BenchScore.cost_usd",
    ),
    # The sum over the trials would be no number.
    "a cost of more than a billion": (
        f"return BenchScore({GOOD}, cost_usd=1.7e308)",
        "BenchScore.cost_usd",
    ),
    "a negative penalty": (
        f"return BenchScore({GOOD}, safety_penalty=-0.1)",
        "BenchScore.safety_p",
    ),
    "a nested breakdown": (
        f'return BenchScore({GOOD}, breakdown={{"a": {{"b": 1.0}}}})',
        "breakdown",
    ),
    "NaN in the breakdown": (
        f'return BenchScore({GOOD}, breakdown={{"a": float("nan")}})',
        "breakdown",
    ),
    "a bool in the breakdown": (f'return BenchScore({GOOD}, breakdown={{"a": True}})', "breakdown"),
    "a banned token": (
        f'return BenchScore({GOOD}, breakdown={{"self_reported.score": 1.0}})',
        "banned",
    ),
    "a banned token by dashes": (
        f'return BenchScore({GOOD}, breakdown={{"a-llm-b": 1.0}})',
        "banned",
    ),
    "a failure mode without a name": (
        f'return BenchScore({GOOD}, failure_modes=[""])',
        "failure_modes",
    ),
    "failure modes as text": (f'return BenchScore({GOOD}, failure_modes="wrong")', "failure_modes"),
}


@pytest.mark.parametrize("what", RUBBISH)
def test_a_rubric_that_returns_rubbish_ends_its_class(echo, what):
    body, words = RUBBISH[what]
    echo.rubric(body)
    assert_violation(echo, words)


FORGED = {
    "model_construct": "return BenchScore.model_construct(passed=True, score=1.5)",
    "model_construct without fields": "return BenchScore.model_construct()",
    "another field put in afterwards": f"""
        score = BenchScore({GOOD})
        score.__dict__["llm"] = 1.0
        return score
    """,
    "object.__setattr__": f"""
        score = BenchScore({GOOD})
        object.__setattr__(score, "score", 1.5)
        return score
    """,
    "__dict__": f"""
        score = BenchScore({GOOD})
        score.__dict__["score"] = float("nan")
        return score
    """,
    "model_copy": f'return BenchScore({GOOD}).model_copy(update={{"score": 1.5}})',
    "a subclass with another field": f"""
        class Better(BenchScore):
            llm_confidence: float = 1.0

        return Better({GOOD})
    """,
    "a subclass that says nothing new": f"""
        class Better(BenchScore): ...

        return Better({GOOD})
    """,
    "a look-alike": f"""
        from types import SimpleNamespace
        return SimpleNamespace({GOOD}, breakdown={{}}, failure_modes=(), cost_usd=0.0, extra=1)
    """,
    "a liar about its class": """
        class Liar:
            __class__ = BenchScore
            passed, score = True, 1.0

        return Liar()
    """,
    "an unprintable": """
        class Mute:
            def __repr__(self):
                raise RuntimeError("no text")

        return Mute()
    """,
}


@pytest.mark.parametrize("how", FORGED)
def test_a_forged_score_is_no_score(echo, how):
    echo.rubric(FORGED[how])
    assert_violation(echo, "BenchScore")


FAULTS = {
    "raises": ('raise ValueError("boom")', "ValueError: boom"),
    "asserts": ('assert False, "not so"', "AssertionError: not so"),
    "expects a key that is not there": ('output["other"]', "KeyError: 'other'"),
    "skips": ('import pytest; pytest.skip("no")', "Skipped: no"),
    "xfails": ('import pytest; pytest.xfail("no")', "XFailed: no"),
    "exits": ("import sys; sys.exit(0)", "SystemExit: 0"),
    "ends pytest": ('import pytest; pytest.exit("bye", returncode=0)', "Exit: bye"),
    "changes the case": ('case.case_id = "01"', "ValidationError: "),
    "changes facts within facts": ('case.facts["inner"]["list"].append(2)', "AttributeError: "),
    "changes the tags": ("case.tags.append('x')", "AttributeError: "),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_rubric_that_errs_on_one_case_makes_the_run_incomplete(echo, fault):
    body, detail = FAULTS[fault]
    echo.case("02", extra="[facts.inner]\nlist = [1]")
    echo.rubric(f'if case.case_id == "02":\n    {body}')
    run = echo.run()
    assert run.exit_status == 1
    report = run.judgement.report
    assert echo.outcomes() == {"01": "scored", "02": "rubric_error", "03": "scored"}
    assert not report.complete
    assert report.block_severity_failure_modes == ("rubric_error",)
    assert detail in echo.result("02")["failure_modes"][0]["detail"]


@pytest.mark.parametrize(
    "code",
    [
        "never_heard_of",
        "timeout",
        "harness_error",
        "rubric_error",
        "input_modified",
        "unknown_failure_mode",
    ],
)
def test_an_unknown_or_reserved_failure_code_blocks_and_is_kept_as_detail(echo, code):
    echo.rubric(f'if case.case_id == "02": return BenchScore({GOOD}, failure_modes=["{code}"])')
    run = echo.run()
    assert run.exit_status == 1
    assert echo.result("02")["failure_modes"] == [{"code": "unknown_failure_mode", "detail": code}]
    assert run.judgement.report.block_severity_failure_modes == ("unknown_failure_mode",)


def test_a_breakdown_cannot_be_changed_after_it_was_made(echo):
    echo.rubric(f"""
        score = BenchScore({GOOD}, breakdown={{"exact": 1.0}})
        score.breakdown["exact"] = 2.0
        return score
    """)
    echo.run()
    assert set(echo.outcomes().values()) == {"rubric_error"}
    assert "TypeError" in echo.result("01")["failure_modes"][0]["detail"]


def test_a_key_that_only_contains_the_letters_of_a_banned_token_is_fine(echo):
    echo.rubric(
        f'return BenchScore({GOOD}, breakdown={{"fulfillment": 1.0, "overconfidence": 0.0}})'
    )
    assert_passed(echo)
    assert echo.result("01")["score"]["breakdown"] == {"fulfillment": 1.0, "overconfidence": 0.0}


def test_what_the_rubric_does_to_the_output_is_not_what_is_recorded(echo):
    echo.rubric('output["answer"] = output["answer"].lower(); output["more"] = 1')
    echo.run()
    assert echo.trial("01")["output"] == {"answer": "Q01"}


def test_the_rubric_gets_the_output_as_plain_json(echo):
    echo.system('kept = {"answer": ("Q01", 1)}\nreturn kept')
    echo.rubric(f'assert output == {{"answer": ["Q01", 1]}}\nreturn BenchScore({GOOD})')
    assert_passed(echo)


@pytest.mark.parametrize("folder", ["input", "expected"])
def test_a_rubric_that_writes_into_a_case_blocks(echo, folder):
    echo.rubric(f'if case.case_id == "02": (case.{folder}_path / "new.txt").write_text("x")')
    assert echo.run().exit_status == 1
    assert echo.outcomes()["02"] == "scored"
    assert echo.result("02")["failure_modes"][-1]["code"] == "input_modified"
    assert echo.record()["report"]["block_severity_failure_modes"] == ["input_modified"]
    assert echo.record()["decision"]["outcome"] == "reject"


def test_failure_codes_keep_their_order_and_stand_once(echo):
    echo.write(
        "failure_modes.toml",
        """
        [failure_modes.late]
        severity = "info"
        description = "x"
        [failure_modes.early]
        severity = "warn"
        description = "x"
        """,
    )
    echo.rubric(
        'return BenchScore(passed=False, score=0.5, failure_modes=["late", "early", "late"])'
    )
    echo.run()
    modes = echo.result("01")["failure_modes"]
    assert [mode["code"] for mode in modes] == ["late", "early"]
    assert echo.result("01")["score"]["failure_modes"] == ["late", "early"]


def test_a_lone_surrogate_in_a_breakdown_never_reaches_the_artifacts(echo):
    echo.rubric(rf'return BenchScore({GOOD}, breakdown={{"\udc80": 1.0, "\udc81": 0.0}})')
    assert_violation(echo, "breakdown")


def test_a_lone_surrogate_in_a_failure_code_never_reaches_the_artifacts(echo):
    echo.rubric(rf'return BenchScore({GOOD}, failure_modes=["\udc80"])')
    assert_violation(echo, "failure_modes")


def test_another_trial_of_a_case_is_scored_apart(echo):
    echo.rubric(
        "return BenchScore(passed=case.trial == 1, score=float(case.trial), safety_penalty=0.0)"
    )
    echo.run(trials=2)
    report = echo.record()["report"]
    assert report["case_count"] == 3
    assert report["mean_score"] == 0.5
    assert report["passed_count"] == 0
