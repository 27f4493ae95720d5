"""Tests of one name in several suites of JUnit: each is a case, and one that was run again is none."""

from __future__ import annotations

import pytest

from benchgate.interop import read


def suite(name, *tests):
    return f'<testsuite name="{name}">{"".join(tests)}</testsuite>'


def made(name, body=""):
    return f'<testcase classname="parser" name="{name}">{body}</testcase>'


def cases(tmp_path, text):
    path = tmp_path / "log.xml"
    path.write_text(f'<testsuites name="all">{text}</testsuites>')
    found = read(path)
    return {one.case_id: one.score for one in found.samples}, found


def test_suites_tell_tests_of_one_name_apart(tmp_path):
    parts = [
        suite(f"s{n}", made("works"), made("late", "<failure/>"), made(f"own {n}")) for n in "ab"
    ]
    scores, found = cases(tmp_path, "".join(parts))
    assert scores == {
        "sa::parser::works": 1,
        "sb::parser::works": 1,
        "sa::parser::late": 0,
        "sb::parser::late": 0,
        "parser::own a": 1,
        "parser::own b": 1,
    }
    assert not found.repeated


def test_suites_within_suites_do_too(tmp_path):
    inner = suite("x", made("works"))
    scores, _ = cases(tmp_path, suite("a", inner) + suite("b", inner))
    assert [*scores] == ["a::x::parser::works", "b::x::parser::works"]


def test_a_skipped_test_has_its_suite_too(tmp_path):
    _, found = cases(tmp_path, suite("a", made("works")) + suite("b", made("works", "<skipped/>")))
    assert [one.case_id for one in found.samples] == ["a::parser::works"]
    assert found.without == ("b::parser::works",)


@pytest.mark.parametrize("names", [("a",), ("a", "a")])
def test_a_test_that_is_twice_in_a_suite_was_run_again(tmp_path, names):
    tests = [made("works")] * (3 - len(names))
    _, found = cases(tmp_path, "".join(suite(name, *tests) for name in names))
    assert found.repeated == ("parser::works",)
