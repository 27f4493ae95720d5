"""A floor under pytest: its cases fail and the session does not, unless a positive one passes."""

from __future__ import annotations

import pytest

from benchgate.cli import main

RUBRIC = """
answer = output.get("answer", "")
return BenchScore(passed=answer == "q01", score=0.4, safety_penalty=0.0)
"""
SAID = "floor:{} scores 0.400 over 3 positive cases and passes "


@pytest.fixture
def lenient(bench):
    """Three positive cases that score 0.4 whatever is returned; the first is passed by its own input."""
    bench.rubric(RUBRIC)
    return bench


@pytest.mark.parametrize("options", [[], ["-n2"], ["--bench-isolation=process"]], ids=str)
def test_failing_cases_fail_nothing_and_one_that_passes_does(lenient, options):
    lenient.engine(exit_rule="gate")
    lenient.pin()
    result = lenient.run("--bench-system=floor:empty", *options)
    result.assert_outcomes(failed=3)
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        [f"floor * {SAID.format('empty')}none of*", "gate * not evaluated: a floor is compared*"]
    )
    result = lenient.run("--bench-system=floor:input", "--bench-exit=gate", *options)
    result.assert_outcomes(failed=2, passed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    said = f"{SAID.format('input')}1, which it must not: 01"
    result.stdout.fnmatch_lines([f"FAILED {said}"])
    assert lenient.head()["seq"] == 1
    assert main(["verify", str(lenient.out)]) == 0


def test_the_next_run_says_it_and_a_part_replaces_nothing(lenient):
    lenient.run("--bench-system=floor:empty")
    lenient.pytest(str(lenient.path / "cases/01"), "--bench-system=floor:empty")
    assert lenient.selected()["system"] == "floor:empty"
    result = lenient.run("-q")
    result.stdout.fnmatch_lines(
        [f"warning * a system that does nothing scores 0.40 here: {SAID.format('empty')}none of*"]
    )
    record = lenient.record()
    assert (record["seq"], record["report"]["system"]) == (1, "shout")


def test_what_it_does_not_take_and_a_name_that_is_none(lenient):
    result = lenient.run("--bench-system=floor:empty", "--bench-baseline=run:shout")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*floor:empty: takes no baseline, plan, record, reobserve,*"])
    result = lenient.run("--bench-system=floor:nothing")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*'floor:nothing'; known systems: floor:empty, floor:input"])
    assert not (lenient.out / "runs").exists()
