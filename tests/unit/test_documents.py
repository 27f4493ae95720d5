"""Where the rows of a file are: in which list of a JSON document, by their ids, after the comments of a CSV."""

from __future__ import annotations

import json

import pytest

from benchgate.cli import main
from benchgate.errors import EvalError
from benchgate.interop import read
from benchgate.interop.vectors import kind_of

ROWS = [{"id": "a", "score": 1}, {"id": "b", "score": 0}]
BY_ID = {"a": {"score": 1, "of": "x"}, "b": {"score": 0, "of": "y"}}
STEPS = [{"name": "s"}, {"name": "t"}, {"name": "u"}]


@pytest.fixture
def log(tmp_path):
    def write(document, name="log.json", indent=1):
        path = tmp_path / name
        text = document if isinstance(document, str) else json.dumps(document, indent=indent)
        path.write_text(text)
        return path

    return write


def scores(found):
    return {sample.case_id: sample.score for sample in found.samples}


@pytest.mark.parametrize("indent", [1, None])
@pytest.mark.parametrize(
    ("document", "at"),
    [
        ({"run": "x", "results": ROWS, "ids": ["a"]}, "results"),
        ({"run": {"name": "x"}, "results": {"summary": {"n": 2}, "tests": ROWS}}, "results.tests"),
        ({"run": {"name": "x"}, "results": BY_ID}, "results"),
        ({"run": {"quick": True, "fresh": False}, "rows": ROWS}, "rows"),
    ],
)
def test_the_only_list_of_a_document_has_its_rows(log, document, at, indent):
    found = read(log(document, indent=indent))
    assert scores(found) == {"a": 1, "b": 0}
    assert ("rows", at, None) in found.fields
    named = read(log(document, indent=indent), rows=at)
    assert named.samples == found.samples
    assert ("rows", at, "--rows") in named.fields
    assert named.told == (f"rows {at}",)


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"a": True, "b": False}, {"a": 1, "b": 0}),
        ({"a": "passed", "b": "failed", "c": None}, {"a": 1, "b": 0, "c": None}),
        (BY_ID, {"a": 1, "b": 0}),
        # Whatever is within them is theirs.
        ({"a": {"score": 1, "steps": STEPS}, "b": {"score": 0, "steps": STEPS}}, {"a": 1, "b": 0}),
    ],
)
def test_a_document_may_be_rows_by_their_ids(log, document, expected):
    found = read(log(document))
    assert scores(found) == expected
    assert found.case_field == "key"
    assert kind_of(found.path) == "log"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("numbers", {"a": 0.5, "b": 1.5, "c": None}),
        ("verdicts", {"a": 1, "b": 0}),
        ("repeated", {"a": 0, "b": 1}),
        ("parts.ours", {"a": 1, "b": 0}),
    ],
)
def test_what_is_named_may_be_by_id_wherever_it_is(log, rows, expected):
    document = {
        "numbers": {"a": 0.5, "b": 1.5, "c": None},
        "verdicts": {"a": True, "b": False},
        "repeated": {"a": [{"score": 1}, {"score": 0}], "b": [{"score": 0}, {"score": 1}]},
        "parts": {"ours": ROWS, "theirs": ROWS},
    }
    found = read(log(document), rows=rows)
    assert scores(found) == expected
    assert len(found.samples) == (4 if rows == "repeated" else len(expected))


@pytest.mark.parametrize(
    ("document", "rows", "message"),
    [
        (json.dumps({"a": ROWS, "b": ROWS}), None, "has several lists of rows: a (2), b (2)"),
        (
            {"steps": STEPS, "of": {"tests": ROWS * 2}},
            None,
            "has several lists of rows: of.tests (4), steps (3); name one: --rows of.tests",
        ),
        ({"id": 1, "names": ["a", "b"]}, None, "is one JSON object without a list of rows"),
        (
            {"steps": STEPS, "of": {"tests": ROWS}},
            "tests",
            "has no list of rows at 'tests'; there are steps (3), of.tests (2)",
        ),
        # No case "tests" with two trials.
        (
            {"results": {"tests": ROWS}},
            "results",
            "no list of rows at 'results'; there are results.tests",
        ),
        ({"a": {"x": [1], "y": {}}}, "a", "has no list of rows at 'a'"),
        (ROWS, "results", "has no list of rows at 'results'"),
        ({"scores": [1, 2]}, "scores", "expected an object for each sample, not 1"),
        ('{"rows": [{"id": 1, "score": 1}]}\n{"id": 2}\n', "rows", ":2: more after a whole"),
    ],
)
def test_nothing_is_chosen_that_somebody_else_would_choose_otherwise(log, document, rows, message):
    with pytest.raises(EvalError) as caught:
        read(log(document), rows=rows)
    assert message in str(caught.value)


def test_a_row_that_is_alone_in_its_file_is_a_row(log):
    row = {"id": "a", "score": 1, "input": {"messages": STEPS}, "tools": STEPS}
    assert scores(read(log(json.dumps(row)))) == {"a": 1}


def test_only_json_has_lists(log):
    with pytest.raises(EvalError, match="is CSV; --rows is for JSON"):
        read(log("id,score\na,1\n", "log.csv"), rows="results")


def test_the_rows_of_a_document_may_be_named_in_the_file_of_the_map(log, tmp_path):
    (tmp_path / "map.toml").write_text('rows = "ours"\ncase = "id"\n')
    found = read(log({"ours": ROWS, "theirs": STEPS}), map=tmp_path / "map.toml")
    assert scores(found) == {"a": 1, "b": 0}
    assert "rows ours" in found.told


def test_a_row_without_an_id_is_named_where_no_line_is_known(log):
    with pytest.raises(EvalError, match=r"\.json: row 2: no case id"):
        read(log([ROWS[0], {"score": 1}]))


def test_comments_before_the_header_of_a_csv_are_no_rows(log):
    """Monitors of stable-baselines3 begin so."""
    path = log('#{"t_start": 1.0}\n# x\nr,l\n4,13\n-17,26\n', "0.monitor.csv")
    found = read(path, map={"score": "r", "case": "row"})
    assert scores(found) == {"1": 4, "2": -17}
    with pytest.raises(EvalError, match=r":4: no case id; .*case=row if .*; there are r, l"):
        read(path, map={"score": "r"})
    with pytest.raises(EvalError, match=":4: expected 2 values"):
        read(log("# x\n#y\nr,l\n4\n", "a.csv"), map={"score": "r", "case": "row"})


def test_the_number_of_a_row_counts_those_that_are_not_read(log):
    rows = "".join(f'{{"score": {n}, "of": "{"ab"[n % 2]}"}}\n' for n in range(4))
    found = read(log(rows, "log.jsonl"), map={"case": "row"}, where=["of=b"])
    assert scores(found) == {"2": 1, "4": 3}
    own = read(log('{"score": 1, "row": "x"}\n', "log.jsonl"), map={"case": "row"})
    assert scores(own) == {"x": 1}


def test_numbers_by_id_are_rows_beside_a_log(log, capsys):
    numbers = log({f"c{n}": n % 2 for n in range(12)}, "old.json")
    rows = log({f"c{n}": {"score": 1, "of": "x"} for n in range(12)}, "new.json")
    assert main(["gate", str(numbers), str(rows), "--map=case=key,score=score"]) == 0
    array = log([1, 0, 1], "array.json")
    assert main(["gate", str(array), str(rows)]) == 2
    assert "expected an object for each sample, not 1" in capsys.readouterr().err
