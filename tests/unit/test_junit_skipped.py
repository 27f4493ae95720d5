"""A test of JUnit that was skipped and failed: what went wrong counts, and the gate sees it."""

from __future__ import annotations

import pytest

from benchgate.interop import read
from benchgate.interop.reports import LogTerms, report_pair
from benchgate.runner.judging import judged, run_of_logs

SKIPPED = "<skipped message='no GPU'/>"
XFAIL = "<skipped type='pytest.xfail' message='a known bug'/>"
ERROR = "<error message='failed on teardown'>the agent left a process behind</error>"
FAILURE = "<failure message='assert 0'/>"


def junit(path, *bodies):
    tests = "".join(f'<testcase name="t{n:02}">{body}</testcase>' for n, body in enumerate(bodies))
    path.write_text(f'<testsuites><testsuite name="pytest">{tests}</testsuite></testsuites>')
    return path


@pytest.mark.parametrize(
    ("body", "score", "error"),
    [
        (SKIPPED + ERROR, None, "Error: failed on teardown"),
        (ERROR + SKIPPED, None, "Error: failed on teardown"),
        (XFAIL + ERROR, None, "Error: failed on teardown"),
        (SKIPPED + FAILURE, 0, None),
        (FAILURE + SKIPPED, 0, None),
        (FAILURE + ERROR, None, "Error: failed on teardown"),
        (SKIPPED + FAILURE + ERROR, None, "Error: failed on teardown"),
    ],
)
def test_an_error_beats_a_failure_and_a_failure_beats_skipped(tmp_path, body, score, error):
    found = read(junit(tmp_path / "a.xml", "", body))
    assert [(one.case_id, one.score, one.error) for one in found.samples] == [
        ("t00", 1, None),
        ("t01", score, error),
    ]
    assert found.without == ()


def test_a_status_does_not_hide_what_went_wrong(tmp_path):
    path = junit(tmp_path / "a.xml", "", ERROR, FAILURE)
    path.write_text(path.read_text().replace('name="t', 'status="notrun" name="t'))
    found = read(path)
    assert [(one.case_id, one.score) for one in found.samples] == [("t01", None), ("t02", 0)]
    assert found.without == ("t00",)


def test_a_status_that_is_error_is_an_error(tmp_path):
    path = junit(tmp_path / "a.xml", "", "")
    path.write_text(path.read_text().replace('name="t01"', 'result="error" name="t01"'))
    assert [(one.case_id, one.error) for one in read(path).errors] == [
        ("t01", "Error: its status is error")
    ]


def test_a_skipped_test_whose_fixture_broke_is_no_promotion(tmp_path):
    """pytest writes both where the fixture of a skipped test fails as it is torn down."""
    before = read(junit(tmp_path / "old.xml", *[""] * 20, SKIPPED))
    after = read(junit(tmp_path / "new.xml", *[""] * 20, SKIPPED + ERROR))
    terms = LogTerms.of("t", {"claim": "no_regression"})
    base, candidate = report_pair(before, after, terms, (None, None))
    decision = judged(run_of_logs(base, candidate, terms.policy), None).decision
    assert decision.outcome == "hold"
    assert candidate.per_case[-1].outcome == "harness_error"
