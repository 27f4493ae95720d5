"""What people and other programs are told of a run: terminal, JUnit XML, pytest-json-report."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

import pytest


@pytest.fixture
def mixed(bench):
    """One case passes, one fails, one errs, one cannot be read."""
    bench.case("02", answer="something else")
    bench.case("04")
    bench.write("cases/04/case.toml", "[case\n")
    bench.system('if case.case_id == "03": raise ValueError("boom")')
    return bench


def properties(bench) -> dict[str, list[tuple[str, str]]]:
    tree = ET.parse(bench.root / "out.xml")  # noqa: S314 - our own file
    return {
        case.get("name"): [(p.get("name"), p.get("value")) for p in case.iter("property")]
        for case in tree.iter("testcase")
    }


def test_junit_has_each_property_once_counts_and_texts(mixed):
    mixed.run("--junitxml=out.xml")
    found = properties(mixed)
    assert sorted(found["01"]) == [
        ("bench.cost_usd", "0.25"),
        ("bench.failure_modes", ""),
        ("bench.outcome", "scored"),
        ("bench.passed", "True"),
        ("bench.safety_penalty", "0.0"),
        ("bench.score", "1.0"),
    ]
    assert dict(found["02"])["bench.failure_modes"] == "wrong"
    assert dict(found["02"])["bench.score"] == "0.0"
    assert sorted(found["03"]) == [
        ("bench.failure_modes", "harness_error"),
        ("bench.outcome", "harness_error"),
        ("bench.passed", "False"),
    ]
    assert found["04"] == [("bench.outcome", "not_run")]
    suite = ET.parse(mixed.root / "out.xml").find("testsuite")  # noqa: S314
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "4",
        "failures": "2",
        "errors": "1",
        "skipped": "0",
    }
    failure = suite.find("testcase[@name='02']/failure")
    assert failure.get("message").startswith("not passed, score 0.000: wrong")
    assert suite.find("testcase[@name='02']").get("classname") == "bench.echo.cases.02.case.toml"


def test_junit_properties_do_not_double_with_reruns(mixed):
    mixed.run("--junitxml=out.xml", "--reruns=2")
    names = [name for name, _ in properties(mixed)["02"]]
    assert len(names) == len(set(names)) == 6


def test_json_report_has_a_section_and_metadata(mixed):
    mixed.run("--json-report", "--json-report-file=out.json")
    report = json.loads((mixed.root / "out.json").read_bytes())
    assert report["exitcode"] == 1
    (section,) = report["benchgate"]
    record = mixed.record()
    for key in (
        "run_id",
        "plan_id",
        "task_class",
        "scope",
        "complete",
        "mean_score",
        "passed_count",
    ):
        assert section[key] == record["report"][key]
    assert section["decision"] == record["decision"]
    assert section["significance"] is None
    assert "the run is incomplete: 1 not_run (04)" in section["failures"]
    assert section["folder"] == str(mixed.folder())
    metadata = {test["nodeid"].partition("::")[2]: test.get("metadata") for test in report["tests"]}
    for case_id in ("01", "02", "03"):
        assert metadata[case_id]["benchgate"] == {**mixed.result(case_id), "reruns": 0}
    assert metadata["04"] is None


def test_json_report_of_a_selection_says_that_nothing_was_decided(bench):
    bench.run("--json-report", "--json-report-file=out.json", "-k", "02")
    (section,) = json.loads((bench.root / "out.json").read_bytes())["benchgate"]
    assert section["scope"] == "selected"
    assert section["decision"] is None


def test_json_report_of_two_classes_has_two_sections(bench):
    type(bench)(bench.pytester, name="mirror")
    bench.pytest("--bench=all", "--json-report", "--json-report-file=out.json")
    sections = json.loads((bench.root / "out.json").read_bytes())["benchgate"]
    assert [section["task_class"] for section in sections] == ["echo", "mirror"]


def test_json_report_without_a_bench_has_no_section(bench):
    bench.pytester.makepyfile(test_plain="def test_plain(): pass")
    bench.pytest("test_plain.py", "--json-report", "--json-report-file=out.json")
    assert "benchgate" not in json.loads((bench.root / "out.json").read_bytes())


def test_the_exit_status_is_the_same_for_shell_and_reports(bench):
    bench.engine()
    bench.pin()
    result = bench.run("--json-report", "--json-report-file=out.json")
    result.assert_outcomes(passed=3)
    assert result.ret == json.loads((bench.root / "out.json").read_bytes())["exitcode"] == 10


def test_the_header_says_what_is_run_with_what(bench):
    result = bench.run("--bench-trials=2")
    result.stdout.fnmatch_lines(
        ["benchgate: echo, system shout, 3 cases, 2 trials each, baseline none"]
    )
    bench.pin()
    result = bench.run()
    result.stdout.fnmatch_lines(
        ["benchgate: echo, system shout, 3 cases, 1 trial each, baseline bench/echo/baseline.json"]
    )


def test_the_summary_is_a_table_the_figures_the_gate_and_the_files(mixed):
    result = mixed.run()
    result.stdout.fnmatch_lines(
        [
            "*- bench echo -*",
            "HOLD      *some cases have no usable result, so that nothing can be compared",
            "why       1 not_run (04)",
            "cases     1 of 4 pass",
            "  fails   02  wrong",
            "  error   03  harness_error",
            "  error   04  not_run",
            "cost      $0.5000, without 2 trials that reported none",
            "missing   1 of 4 trials have no result; --bench-resume runs only them",
            "unscored  1 of 4 (*): counted as score 0",
            "files     .benchgate/runs/echo/00000001-*",
            "next      fix what kept trials from a result, then run only them: --bench-resume",
            "FAILED the run is incomplete: 1 not_run (04)",
            "FAILED 2 of 4 cases failed",
        ]
    )


def test_the_summary_of_a_selection_says_that_nothing_was_evaluated(bench):
    result = bench.run("-k", "02")
    result.stdout.fnmatch_lines(
        [
            "gate      not evaluated: only a part of the cases was selected",
            "files     .benchgate/last-selected/echo",
        ]
    )
    result.stdout.no_fnmatch_line("evidence *")


def test_trials_are_shown_one_by_one_and_counted_by_case(bench):
    bench.rubric("return BenchScore(passed=True, score=(case.trial + 1) / 2)")
    result = bench.run("--bench-trials=2", "-v")
    result.stdout.fnmatch_lines(
        [
            "score     0.750",
            "cases     3 of 3 pass",
            "*[[]epochs_collapsed]",
            "01-t1  1.000*passed",
        ]
    )
    report = bench.record()["report"]
    assert report["case_count"] == 3
    assert len(report["per_case"]) == 6
    assert report["trial_count"] == 2
    assert {path.name for path in (bench.folder() / "cases").iterdir()} >= {"01.json", "01-t1.json"}


def test_held_out_cases_are_reported_apart(bench):
    bench.case("02", held_out="true", answer="something else")
    bench.case("03", held_out="true")
    result = bench.run("-v")
    result.stdout.fnmatch_lines(["held out  1 of 2, mean score 0.500"])
    report = bench.record()["report"]
    assert report["held_out"]["case_count"] == 2
    assert report["held_out"]["mean_score"] == 0.5
    assert report["case_count"] == 3
    assert [trial["held_out"] for trial in report["per_case"]] == [False, True, True]


def test_without_held_out_cases_there_is_no_such_figure(bench):
    bench.engine()
    assert bench.record()["report"]["held_out"] is None


def test_a_case_that_was_not_validated_for_long_warns(bench):
    bench.case("02", last_validated_at="2020-01-01T00:00:00Z")
    result = bench.run()
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["*90 days: 02"])
    result.stdout.no_fnmatch_line("*90 days*01*")


def test_what_a_system_prints_is_shown_with_its_failure_alone(bench):
    bench.case("02", answer="something else")
    bench.system('print(f"thinking about {case.case_id}")')
    result = bench.run()
    result.stdout.fnmatch_lines(["*Captured stdout call*", "thinking about 02"])
    result.stdout.no_fnmatch_line("thinking about 01")
