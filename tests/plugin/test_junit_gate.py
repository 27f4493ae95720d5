"""The gate in JUnit XML: a test case if that is asked for, and properties of the suite in any case."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest


@pytest.fixture
def held(bench):
    """A bench whose three cases pass, as in its baseline: too few to be better."""
    bench.engine()
    bench.pin()
    return bench


def suite(bench):
    return ET.parse(bench.root / "out.xml").find("testsuite")  # noqa: S314 - our own file


def gate(bench):
    (case,) = suite(bench).findall("testcase[@name='gate']")
    assert case.get("classname") == "bench.echo"
    return case


def test_a_held_run_is_a_file_with_a_failure(held):
    held.run("--junitxml=out.xml")
    assert suite(held).get("failures") == "0"
    result = held.run("--junitxml=out.xml", "--bench-junit-gate")
    result.assert_outcomes(passed=3)  # the terminal counts cases alone
    assert result.ret == 10
    assert (suite(held).get("tests"), suite(held).get("failures")) == ("4", "1")
    failure = gate(held).find("failure")
    assert failure.get("message").startswith(
        "HOLD: `shout` may not replace `shout` yet: 3 cases are too few: at least 10 are needed"
    )
    assert "\nHOLD      `shout` may not replace `shout` yet: " in failure.text
    assert "\nasked     is `shout` better than `shout`? " in failure.text
    assert "next      add 7 cases" in failure.text


def test_a_promoted_run_has_a_gate_that_passed(bench):
    for number in range(4, 13):
        bench.case(f"{number:02}")
    bench.system('if bench_is_old:\n    return {"answer": ""}'.replace("bench_is_old", "True"))
    bench.engine()
    bench.pin()
    bench.system()
    result = bench.run("--junitxml=out.xml", "--bench-junit-gate=yes")
    assert result.ret == pytest.ExitCode.OK
    assert not list(gate(bench))
    assert suite(bench).get("tests") == "13"


def test_a_decision_that_does_not_bind_is_skipped(bench):
    assert bench.run("--junitxml=out.xml", "--bench-junit-gate").ret == pytest.ExitCode.OK
    skipped = gate(bench).find("skipped")
    assert skipped.get("message").endswith(
        "there is no baseline to compare `shout` with; the exit status does not follow it"
    )


def test_a_further_gate_that_objects_fails_it_without_a_baseline(bench):
    bench.pytester.makeconftest(
        "def pytest_bench_gates(task_class):\n    return [lambda report, before: 'no']"
    )
    assert bench.run("--junitxml=out.xml", "--bench-junit-gate").ret == 10
    assert gate(bench).find("failure") is not None


@pytest.mark.parametrize(("baseline", "tag"), [("auto", "skipped"), ("pinned", "failure")])
def test_a_part_of_the_cases_has_no_decision(held, baseline, tag):
    """Who asked for a gate by name did not get one."""
    held.run("--junitxml=out.xml", "--bench-junit-gate", f"--bench-baseline={baseline}", "-k", "02")
    assert "only a part of the cases" in gate(held).find(tag).get("message")


def test_reruns_leave_one_gate(held):
    held.case("02", answer="something else")
    held.run("--junitxml=out.xml", "--bench-junit-gate", "--reruns=1")
    assert gate(held).find("failure") is not None


def test_two_classes_have_two_gates(bench):
    type(bench)(bench.pytester, name="mirror")
    bench.pytest("--bench=all", "--junitxml=out.xml", "--bench-junit-gate")
    gates = suite(bench).findall("testcase[@name='gate']")
    assert [case.get("classname") for case in gates] == ["bench.echo", "bench.mirror"]


def test_without_junit_the_option_does_nothing(held):
    held.run("--bench-junit-gate").assert_outcomes(passed=3)


def test_a_wrong_value_is_refused(bench):
    result = bench.run("--bench-junit-gate=perhaps")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*'perhaps': expected yes or no*"])


def test_the_properties_of_the_suite_say_what_was_decided_and_what_changed(held):
    held.case("02", answer="something else")
    held.pytester.path.joinpath(held.path, "baseline.json").unlink()
    held.engine()
    held.pin()
    held.system('if case.case_id == "02": return {"answer": "something else"}')
    held.run("--junitxml=out.xml", "--bench-exit=gate")
    record = held.record()
    found = {p.get("name"): p.get("value") for p in suite(held).find("properties")}
    prefix = "bench.echo."
    assert found[f"{prefix}decision"] == record["decision"]["outcome"] == "hold"
    assert found[f"{prefix}reason_codes"] == ", ".join(record["decision"]["reason_codes"])
    assert found[f"{prefix}baseline.system"] == "shout"
    assert found[f"{prefix}baseline.path"] == str(held.path / "baseline.json")
    assert float(found[f"{prefix}mean_delta"]) == pytest.approx(1 / 3)
    assert found[f"{prefix}newly_passing"] == "02"
    assert found[f"{prefix}newly_failing"] == ""
