"""A case that cannot be read is still an item: it fails with its place, the others run, the run is incomplete."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ET

import pytest

from benchgate.cli import main

FILE = "bench/echo/cases/02/case.toml"


def assert_malformed(bench, result, problem: str) -> None:
    """The second of three cases was not run because of a problem, which is told in full."""
    result.assert_outcomes(passed=2, errors=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([problem.replace("[", "[[]")])
    report = bench.record()["report"]
    assert bench.outcomes() == {"01": "scored", "02": "not_run", "03": "scored"}
    assert report["complete"] is False
    assert report["case_count"] == 3
    assert bench.result("02")["detail"]
    assert bench.trial("02")["result"]["outcome"] == "not_run"
    assert (
        "checkpoint_promotion_blocked_incomplete_run" in bench.record()["decision"]["reason_codes"]
    )


def good_text(bench) -> str:
    return bench.case("02").read_text()


def test_every_problem_of_a_file_is_told_at_once(bench):
    """Whatever can be wrong with it is in ``tests/unit/test_case_faults.py``."""
    text = good_text(bench).replace('"easy"', '"trivial"').replace('"curated"', '"found"')
    bench.write("cases/02/case.toml", text)
    result = bench.run()
    assert_malformed(bench, result, f"{FILE}:5: case.difficulty: *")
    result.stdout.fnmatch_lines([f"{FILE}:6: case.source: *"])


def test_a_missing_file_is_an_item_all_the_same(bench):
    (bench.path / "cases/02/case.toml").unlink()
    result = bench.run()
    assert_malformed(bench, result, f"{FILE}:1: missing; a case is a folder with a case.toml")


def test_a_case_file_that_is_a_folder_is_told(bench):
    (bench.path / "cases/02/case.toml").unlink()
    (bench.path / "cases/02/case.toml").mkdir()
    assert_malformed(bench, bench.run(), f"{FILE}:1: *")


def test_a_case_of_a_name_that_pytest_skips_does_not_vanish(bench):
    name = "build"
    bench.case(name)
    result = bench.run()
    result.assert_outcomes(passed=3, errors=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    line = f"bench/echo/cases/{name}/case.toml:2: case.case_id: '{name}' is a folder name that pytest skips"
    result.stdout.fnmatch_lines([line])
    assert bench.outcomes()[name] == "not_run"


@pytest.mark.parametrize("name", [".hidden", "a[1]"])
def test_a_folder_of_no_case_id_is_an_item_that_fails(bench, name):
    bench.case(name)
    result = bench.run()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=3, errors=1)


UNHOLDABLE = {
    "a\nb": "a%0Ab",
    "a\x1b[2J": "a%1B[2J",
    "a\u202eb": "a%E2%80%AEb",
    "a\udcffb": "a%FFb",
    "a::b": "a%3A%3Ab",
}


def rename(bench, name: str):
    os.rename(bench.case("renamed").parent, bench.path / "cases" / name)
    return bench.path / "cases" / name


def assert_refused_alone(bench, result) -> None:
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=3, errors=len(UNHOLDABLE))
    outcomes = bench.outcomes()
    assert {case_id for case_id, found in outcomes.items() if found == "scored"} == {
        "01",
        "02",
        "03",
    }
    assert {case_id for case_id, found in outcomes.items() if found == "not_run"} == {
        *UNHOLDABLE.values()
    }
    for shown in UNHOLDABLE.values():
        line = f"bench/echo/cases/{shown}/case.toml:1: 'a* is no name of a case; *".replace(
            "[", "[[]"
        )
        result.stdout.fnmatch_lines([line])
    assert bench.record()["report"]["complete"] is False
    assert bench.record()["report"]["scope"] == "full"


@pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n2",), marks=pytest.mark.slow)], ids=["serial", "-n2"]
)
def test_a_folder_of_a_name_that_ids_cannot_hold_is_refused_alone(bench, workers):
    for name in UNHOLDABLE:
        rename(bench, name)
    result = bench.run("--junit-xml=junit.xml", *workers, apart=bool(workers))
    assert_refused_alone(bench, result)
    suite = ET.parse(bench.root / "junit.xml").getroot()[0]  # noqa: S314 - our own file
    assert (suite.get("tests"), suite.get("errors")) == ("8", "5")
    assert main(["verify", str(bench.out)]) == 0


def test_such_a_folder_is_refused_alone_where_cases_are_named_by_path(bench):
    for name in UNHOLDABLE:
        rename(bench, name)
    assert_refused_alone(bench, bench.pytest("bench/echo/cases"))


@pytest.mark.slow
def test_such_a_folder_named_by_its_path_is_wrong_use(bench):
    path = rename(bench, "a\udcffb")
    assert bench.pytest(path, apart=True).ret == pytest.ExitCode.USAGE_ERROR


def test_such_a_folder_is_refused_alone_at_the_other_door(bench, monkeypatch, capsys):
    for name in UNHOLDABLE:
        rename(bench, name)
    monkeypatch.chdir(bench.root)
    assert main(["run", "--task-class=echo", "--out=.benchgate"]) == 1
    outcomes = bench.outcomes()
    assert {case_id for case_id, found in outcomes.items() if found == "not_run"} == {
        *UNHOLDABLE.values()
    }
    assert "Traceback" not in capsys.readouterr().err


def test_a_folder_of_the_longest_name_does_not_cost_the_record(bench):
    bench.case("x" * 255)
    result = bench.run()
    result.assert_outcomes(passed=3, errors=1)
    assert bench.record()["report"]["case_count"] == 4


def test_an_id_that_ends_like_a_trial_is_told(bench):
    bench.case("04-t1")
    result = bench.run()
    result.assert_outcomes(passed=3, errors=1)
    line = "bench/echo/cases/04-t1/case.toml:2: case.case_id: '04-t1' ends like the id of a trial: -t<digits>"
    result.stdout.fnmatch_lines([line])
    assert bench.outcomes()["04-t1"] == "not_run"
    assert bench.record()["report"]["complete"] is False


FACTS_MODEL = """
from pydantic import BaseModel, ConfigDict
from benchgate import register_task_class
from .rubric import EchoRubric
from .system import system

class Facts(BaseModel):
    model_config = ConfigDict(extra="forbid")
    package: str

register_task_class("echo", systems={"shout": system}, facts_model=Facts)(EchoRubric)
"""


def test_a_facts_model_that_raises_fails_the_case_alone(bench):
    hook = """
    def model_post_init(self, _):
        if self.package == "bad":
            raise RuntimeError("model broke")
"""
    field = "    package: str\n"
    bench.write("registration.py", FACTS_MODEL.replace(field, field + hook))
    for case_id in ("01", "03"):
        bench.case(case_id, extra='[facts]\npackage = "x"')
    bench.case("02", extra='[facts]\npackage = "bad"')
    assert_malformed(bench, bench.run(), f"{FILE}:*model broke*")


# A malformed case is never filtered away


@pytest.mark.parametrize(
    "arguments",
    [("-m", "bench_case"), ("-k", "02")],
    ids=["-m bench_case", "-k id"],
)
def test_a_malformed_case_is_selected_like_any_other(bench, arguments):
    bench.write("cases/02/case.toml", "[case\n")
    result = bench.run(*arguments)
    assert result.parseoutcomes()["errors"] == 1
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([f"{FILE}:1: *"])


def test_selecting_by_what_a_malformed_case_cannot_say_is_a_selection(bench):
    bench.write("cases/02/case.toml", "[case\n")
    result = bench.run("-m", "bench_case(difficulty='easy')")
    result.assert_outcomes(passed=2, deselected=1)
    assert bench.selected()["scope"] == "selected"
    assert "02" not in bench.outcomes(bench.selected())


def test_collect_only_lists_a_malformed_case_and_runs_nothing(bench):
    bench.write("cases/02/case.toml", "[case\n")
    result = bench.run("--co", "-q")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines([f"bench/echo/cases/0{n}/case.toml::0{n}" for n in (1, 2, 3)])
    assert not (bench.out / "runs").exists()


@pytest.mark.slow
def test_a_malformed_case_under_xdist_is_told_and_recorded(bench):
    bench.write("cases/02/case.toml", "[case\n")
    result = bench.run("-n2", apart=True)
    assert_malformed(bench, result, f"{FILE}:1: *")


def test_a_class_whose_cases_are_all_malformed_is_incomplete(bench):
    for case_id in ("01", "02", "03"):
        bench.write(f"cases/{case_id}/case.toml", "[case\n")
    result = bench.run()
    result.assert_outcomes(errors=3)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert set(bench.outcomes().values()) == {"not_run"}
    assert bench.record()["report"]["complete"] is False
