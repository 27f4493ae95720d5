"""Files of test runners and evals whose fields are known: each row's score, its error, and rows without a result."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchgate.errors import EvalError
from benchgate.interop import read
from benchgate.interop.asked import parse_map

DATA = Path(__file__).parents[1] / "data" / "logs"
EXAMPLES = Path(__file__).parents[2] / "docs" / "examples" / "logs"
HARBOR = sorted((EXAMPLES / "harbor" / "new").glob("*/result.json"))


@pytest.fixture
def log(tmp_path):
    def write(rows, name="log.jsonl"):
        path = tmp_path / name
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        return path

    return write


def told(found):
    """The scores by case, an error as its text."""
    return {
        sample.case_id: sample.score if sample.error is None else sample.error
        for sample in found.samples
    }


def test_pytest_json_report():
    found = read(DATA / "pytest-json-report.json")
    assert found.format == "pytest-json-report"
    assert told(found) == {
        "test_x.py::TestA::test_n": 1,
        "test_x.py::test_error": "OSError: no database",
        "test_x.py::test_flaky": 1,
        "test_x.py::test_n[0]": 1,
        "test_x.py::test_n[1]": 0,
        "test_x.py::test_n[2]": 1,
        "test_x.py::test_torn": "OSError: not torn down",
        "test_x.py::test_torn_failed": "OSError: not torn down",
        "test_x.py::test_xf": 0,
        "test_x.py::test_xp": 1,
    }
    assert found.without == ("test_x.py::test_skip",)
    assert found.repeated == ("test_x.py::test_flaky",)
    crashed = read(DATA / "pytest-json-report.json", errors_by="assert 1")
    assert told(crashed)["test_x.py::test_n[1]"] == "Error: assert 1 != 1"


def test_ctrf_of_pytest():
    found = read(DATA / "ctrf-pytest.json")
    assert found.format == "ctrf"
    assert told(found) == {
        "test_x.py::TestA::test_n": 1,
        "test_x.py::test_error": "OSError: no database",
        "test_x.py::test_flaky": 1,
        "test_x.py::test_n[0]": 1,
        "test_x.py::test_n[1]": 0,
        "test_x.py::test_n[2]": 1,
        "test_x.py::test_torn": "OSError: not torn down",
        "test_x.py::test_torn_failed": 0,
        "test_x.py::test_xp": 1,
    }
    assert found.without == ("test_x.py::test_skip", "test_x.py::test_xf")
    assert found.repeated == ("test_x.py::test_flaky",)


@pytest.mark.parametrize(
    ("fields", "case"),
    [
        ({"filePath": "src/a.spec.ts"}, "src/a.spec.ts::adds"),  # as of vitest
        ({"filePath": "src/a.spec.ts", "suite": "math"}, "math::adds"),
        ({"filePath": "/home/me/a.test.js"}, "adds"),
        ({"filePath": "C:\\me\\a.test.js"}, "adds"),
    ],
)
def test_a_test_of_ctrf_without_suites_is_told_apart_by_its_file(log, fields, case):
    tests = [{"name": "adds", "status": "passed", **fields}]
    path = log([{"reportFormat": "CTRF", "results": {"tests": tests}}], "ctrf.json")
    assert [one.case_id for one in read(path).samples] == [case]


def test_ctrf_of_mocha():
    found = read(DATA / "ctrf-mocha.json")
    assert found.format == "ctrf"
    assert told(found) == {
        't.js::broken "before all" hook for "never"': 0,
        "t.js::x flaky": 1,
        "t.js::x p": 1,
        "t.js::x y f": 0,
        "t.js::x y p": 1,
    }
    assert found.without == ("t.js::x pending", "t.js::x y s")


def test_tests_of_one_name_in_two_suites_are_two(log):
    tests = [{"name": "adds", "status": "passed", "suite": suite} for suite in ("a", ["b", "c"])]
    path = log([{"reportFormat": "CTRF", "results": {"tests": tests}}], "ctrf.json")
    assert told(read(path)) == {"a::adds": 1, "b::c::adds": 1}


def test_evalplus():
    """Fourth: it passes the base tests, and not those that EvalPlus adds."""
    found = read(DATA / "evalplus.json")
    assert (found.format, found.metric, found.ungated) == ("evalplus", "plus", ("base",))
    assert list(told(found).values()) == [0, 1, 0, 1, 0, 1, 0]
    assert list(told(read(found.path, metric="base")).values()) == [0, 1, 0, 1, 1, 1, 0]


@pytest.mark.parametrize(
    ("base", "plus", "score"),
    [("pass", "pass", 1), ("fail", "pass", 0), ("timeout", "fail", 0), ("?", "pass", None)],
)
def test_a_solution_of_evalplus_passes_with_all_tests(log, base, plus, score):
    row = {"task_id": "HumanEval/0", "base_status": base, "plus_status": plus}
    right = {"task_id": "HumanEval/1", "base_status": "pass", "plus_status": "pass"}
    several = {"HumanEval/0": [row, row], "HumanEval/1": [right, right]}
    found = read(log([{"date": "x", "eval": several, "pass_at_k": {"base": {}}}]))
    assert [sample.score for sample in found.samples] == [score, score, 1, 1]
    assert not found.repeated


def test_evalplus_with_the_base_tests_alone(log):
    rows = {"a": [{"task_id": "a", "base_status": "pass", "plus_status": None}]}
    assert read(log([{"eval": rows}])).metric == "base"


def test_matches_of_openai_evals():
    found = read(DATA / "openai-evals-match.jsonl")
    assert (found.format, found.metric) == ("openai-evals", "correct")
    assert list(told(found).values()) == [1, 0, 1, 0, 1, 0]
    assert found.left == {"type is not match": 8}


def test_another_event_of_openai_evals_is_named():
    path = DATA / "openai-evals-metrics.jsonl"
    with pytest.raises(EvalError) as caught:
        read(path)
    lines = str(caught.value).splitlines()
    assert "has no samples; of 14 rows type is not match; its rows are of 4 kinds" in lines[0]
    assert re.fullmatch(r"  6 rows with score, run_id, .*: --where type=metrics", lines[2])
    found = read(path, where=["type=metrics"])
    assert (found.metric, list(told(found).values())) == ("score", [1, 0, 1, 0, 1, 0])


def test_trials_of_harbor(log):
    trials = [json.loads(path.read_text()) for path in HARBOR]
    found = read(log(trials))
    assert (found.format, found.metric) == ("harbor", "reward")
    assert told(found)["task-04"] == "ApiRateLimitError: 429"
    assert told(found)["task-05"] == 0  # the agent's own timeout
    assert sum(sample.score or 0 for sample in found.samples) == 7
    assert told(read(HARBOR[0])) == {"task-00": 1}
    assert read(log([{"id": "job", "trial_results": trials}], "job.json")).samples == found.samples


@pytest.mark.parametrize(
    ("is_valid", "score"), [(True, {"a": 1}), (False, {"a": "NonZeroAgentExitCodeError: "})]
)
def test_harbor_may_say_itself_whether_a_reward_counts(log, is_valid, score):
    row = {
        "task_name": "a",
        "trial_name": "a__1",
        "trial_uri": "file:///a",
        "verifier_result": {"rewards": {"reward": 1}},
        "exception_info": {"exception_type": "NonZeroAgentExitCodeError"},
        "reward_valid": is_valid,
    }
    assert told(read(log([row]))) == score


def test_samples_of_lm_eval(log):
    found = read(EXAMPLES / "lm-eval" / "old.jsonl")
    assert (found.format, found.metric, found.has_inputs) == ("lm-eval", "acc", (True, True))
    row = {"doc_id": 0, "doc": {"q": 1}, "target": "x", "filtered_resps": ["x"]}
    older = log([{**row, "acc": 1.0, "acc_norm": 0.0}])
    with pytest.raises(EvalError, match="several scores: acc, acc_norm; --metric NAME"):
        read(older)
    assert told(read(older, metric="acc_norm")) == {"0": 0}


def test_the_fields_of_all_kinds_of_rows_are_offered(log):
    rows = [{"spec": {"model": "m"}}]
    rows += [{"of": f"s{n}", "type": "seen", "data": {"right": n % 2}} for n in range(30)]
    rows += [{"of": "s1", "type": "asked"}] * 2
    with pytest.raises(EvalError) as caught:
        read(log(rows))
    what, *kinds = str(caught.value).splitlines()
    assert what.endswith(
        "log.jsonl:1: no score and no case id; name their fields: --map score=FIELD,case=FIELD; "
        "its rows are of 3 kinds, and --where FIELD=VALUE reads a part:"
    )
    assert kinds == [
        "  30 rows with of, type, data.right: --where type=seen",
        "  2 rows with of, type: --where type=asked",
        "  1 row with spec.model",
    ]
    found = read(log(rows), where=["type=seen"], map={"case": "of", "score": "data.right"})
    assert len(found.samples) == 30


def test_one_kind_of_rows_is_offered_in_a_line(log):
    with pytest.raises(EvalError, match=r"no score; .*; there are id, grades.a, grades.b, text$"):
        read(log([{"id": 1, "grades": {"a": 1, "b": 2}, "text": "x"}] * 3))


def test_what_a_file_says_first_is_no_row_that_names_the_case(log):
    rows = [{"name": "my run", "model": "m"}, *({"id": n, "of": "x", "score": 1} for n in range(3))]
    assert read(log(rows), where=["of=x"]).case_field == "id"


@pytest.mark.parametrize(
    ("field", "whole"),
    [
        ("nodeid", lambda tests: {"exitcode": 0, "root": "x", "summary": {}, "tests": tests}),
        ("case", lambda tests: {"reportFormat": "CTRF", "results": {"tests": tests}}),
    ],
)
def test_repetitions_of_tests_are_asked_about(log, field, whole):
    """As those of JUnit: nobody is five times as sure because a plugin repeated each test."""
    names = [f"a.py::test_{name}[{n}-5]" for name in "xyz" for n in range(1, 6)]
    tests = [
        {"nodeid": name, "name": name, "outcome": "passed", "status": "passed"} for name in names
    ]
    path = log([whole(tests)], "log.json")
    with pytest.raises(EvalError, match="15 tests have names such as") as caught:
        read(path)
    typed = re.findall(r"--map '(.*)'", str(caught.value))
    assert typed[1] == "trial=none"
    found = read(path, map=parse_map(typed[:1]))
    assert found.case_field == field
    assert {sample.case_id for sample in found.samples} == {f"a.py::test_{n}" for n in "xyz"}
    assert len(read(path, map={"trial": "none"}).samples) == 15
