"""Logs and expressions that are made to take for ever: they end, in a time that grows with their size alone."""

from __future__ import annotations

import json
import threading
import time

import pytest

from benchgate.errors import EvalError
from benchgate.interop import patterns, read


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<testsuites>" + "<testsuite>" * 20_000, "</testsuite>" * 20_000 + "</testsuites>"),
        ("<testsuite>" + "<x>" * 20_000 + "</x>" * 20_000, "</testsuite>"),
        (
            "<testsuite><testcase name='b'>" + "<x>" * 20_000,
            "</x>" * 20_000 + "</testcase></testsuite>",
        ),
    ],
    ids=["suites", "beside a test", "within a test"],
)
def test_elements_that_are_nested_deeply_take_a_time_that_grows_with_the_file(
    tmp_path, before, after
):
    """20,000 levels, 140 KB, took 21 CPU seconds."""
    path = tmp_path / "a.xml"
    path.write_text(f"{before}<testcase name='a'/>{after}")
    started = time.process_time()
    found = read(path)
    assert time.process_time() - started < 5
    assert "a" in {one.case_id for one in found.samples}


def failing(path, count=3):
    """Failures whose message takes ``(a+)+$`` about a second for 24 characters, and twice that for each more."""
    failure = f'<failure message="{"a" * 40}!"/>'
    tests = "".join(f'<testcase name="t{n}">{failure}</testcase>' for n in range(count))
    path.write_text(f'<testsuites><testsuite name="s">{tests}</testsuite></testsuites>')
    return path


def test_an_expression_that_never_ends_is_ended(tmp_path, monkeypatch):
    before = time.process_time()
    with pytest.raises(EvalError, match=r"errors-by: '\(a\+\)\+\$' took more than 1 s of CPU time"):
        read(failing(tmp_path / "a.xml"), errors_by="(a+)+$")
    monkeypatch.setattr(patterns, "LIMIT", 0.2)
    with pytest.raises(EvalError, match=r"--map: cluster: '.*' took more than 0\.2 s of CPU time"):
        read(failing(tmp_path / "a.xml"), map={"cluster": "failure~((a+)+)$"})
    assert time.process_time() - before < 10


def test_the_limit_is_one_for_all_values(tmp_path, monkeypatch):
    """Each message alone would be quick enough."""
    monkeypatch.setattr(patterns, "LIMIT", 0.3)
    rows = [
        {"testIdx": n, "vars": n, "success": False, "failureReason": 1, "error": "a" * 17 + "!"}
        for n in range(1000)
    ]
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"evalId": "e", "results": {"results": rows}}))
    with pytest.raises(EvalError, match=r"took more than 0.3 s of CPU time over all values"):
        read(path, errors_by="(a+)+$")


def test_an_expression_that_ends_is_not_hurried(tmp_path):
    path = failing(tmp_path / "a.xml", 5_000)
    assert len(read(path, errors_by="Timeout").errors) == 0
    assert len(read(path, errors_by="a+!$").errors) == 5_000


def test_an_expression_may_be_searched_for_in_any_thread(tmp_path):
    """No signal reaches another thread than the main one, so there is no limit, and no fault either."""
    found = []
    path = failing(tmp_path / "a.xml")
    thread = threading.Thread(target=lambda: found.append(read(path, errors_by="a+!$")))
    thread.start()
    thread.join()
    assert len(found[0].errors) == 3
