"""Rows that are to be cases: which rows cannot be one, what each is called, and what is new or changed."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime

import pytest

from benchgate.errors import EvalError, LocatedError
from benchgate.interop.cases import read_rows
from benchgate.loader.case_folder import read_case
from benchgate.loader.from_rows import CaseRow, case_name, cases_of_rows, has_rows
from benchgate.loader.new import APART, create_folder, create_folders
from benchgate.wire.holding import hold

NOW = datetime(2026, 11, 28, tzinfo=UTC)
ROW = {"id": "a", "input": "q", "expected": "yes"}


@pytest.fixture
def table(tmp_path):
    def write(content, name="rows.jsonl"):
        path = tmp_path / name
        if isinstance(content, list):
            content = "".join(f"{json.dumps(row)}\n" for row in content)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def faults(path, fields=None):
    with pytest.raises(LocatedError) as error:
        read_rows(path, fields)
    return [f"{line}: {key}: {message}" for line, key, message in error.value.faults]


def test_fields_within_fields_are_mapped_as_those_of_a_gate(table):
    row = {"meta": {"id": 7, "kind": ["x", "y", ""]}, "in": [{"q": "?"}], "of": "Köln", "yes": 1}
    mapping = {
        "case": "meta.id",
        "input": "in.0",
        "expected": "yes",
        "tag": "meta.kind",
        "cluster": "of~(K.)",
    }
    found = read_rows(table([row, {**row, "meta": {"id": "b", "kind": "z"}}]), mapping)
    assert found == [
        CaseRow(1, 1, "7", {"q": "?"}, 1, tags=("x", "y"), cluster="Kö"),
        CaseRow(2, 2, "b", {"q": "?"}, 1, tags=("z",), cluster="Kö"),
    ]


def test_every_row_that_cannot_be_a_case_is_named_with_its_line(table):
    rows = [
        ROW,
        {"input": "q", "expected": "yes"},
        ROW,
        {"id": "b", "input": "", "expected": None},
        {"id": {"n": 1}, "input": "q", "expected": "yes"},
        {"id": "c", "input": {}, "expected": False},
    ]
    assert faults(table(rows)) == [
        "2: : has no id (id)",
        "3: : id 'a' is that of line 1 too",
        "4: : b has no input (input or inputs)",
        "4: : b has no expected (expected or expected_output or target)",
        "5: : its case is an object: name a field of it by a dot",
    ]


def test_rows_of_a_document_have_a_number_for_a_line(table):
    path = table(json.dumps({"rows": [ROW, ROW]}), "rows.json")
    assert faults(path) == ["0: row 2: id 'a' is that of row 1 too"]


def test_csv_with_a_mark_of_byte_order_line_ends_of_windows_and_empty_cells(table):
    text = '\ufeffid;input;expected;kind\r\na;"one\r\ntwo";yes;\r\n;q;yes;x\r\nb;q;;x\r\n'
    assert faults(table(text, "rows.csv")) == [
        "4: : has no id (id)",
        "5: : b has no expected (expected or expected_output or target)",
    ]
    (row,) = read_rows(table(text.partition("\r\n;")[0], "rows.csv"), {"tag": "kind"})
    assert (row.input, row.tags) == ("one\r\ntwo", ())


def test_a_dataset_of_pydantic_evals(table):
    cases = [{"name": f"c{n}", "inputs": {"n": n}, "expected_output": n} for n in range(2)]
    document = {"name": "d", "cases": cases, "evaluators": [{"A": {}}, {"B": {}}]}
    rows = read_rows(table(json.dumps(document), "dataset.json"))
    assert [(row.id, row.input, row.expected) for row in rows] == [
        ("c0", {"n": 0}, 0),
        ("c1", {"n": 1}, 1),
    ]


def test_a_row_alone_may_have_a_list(table):
    row = {"id": "a", "chat": [{"role": "user", "text": "?"}], "right": "yes"}
    fields = {"case": "id", "input": "chat", "expected": "right"}
    (found,) = read_rows(table([row]), fields)
    assert (found.id, found.input) == ("a", row["chat"])
    path = table(json.dumps({"id": "of all", "rows": [row]}), "rows.json")
    assert read_rows(path, fields)[0].id == "a"


@pytest.mark.parametrize(
    ("rows", "fields", "message"),
    [
        ([ROW], {"input": "ask"}, "no row has 'ask', which is to be the input; there are id, "),
        ([ROW], {"tag": "kind"}, "no row has 'kind', which is to be the tag; there are id, "),
        ([{"a": 1}], None, "which field is the case? Name it: --map case=FIELD (case=row takes"),
        ([ROW], {"score": "x"}, "map: 'score' is none of case, input, expected, tag, cluster"),
        ([], None, "is empty"),
        ("<testsuite/>", None, "is none of these: JSON, JSON lines, CSV"),
        ("[]", None, "has no rows"),
    ],
)
def test_a_file_of_which_no_row_can_be_a_case(table, rows, fields, message):
    with pytest.raises(EvalError) as error:
        read_rows(table(rows), fields)
    assert message in str(error.value)


def test_a_part_of_the_rows(table):
    rows = [{**ROW, "lang": "de"}, {**ROW, "lang": "en", "input": "other"}]
    (row,) = read_rows(table(rows), where=["lang=en"])
    assert (row.input, row.line) == ("other", 2)


@pytest.mark.parametrize(
    ("row_id", "name"),
    [
        ("001-plain_a", "001-plain_a"),
        ("T-1000", "t-1000"),
        ("a/b c", "a-b-c"),
        ("Köln", "koln-"),
        ("東京", "case-"),
        ("../..", "case-"),
        ("x-T12", "x-t12-"),
        ("build", "build-"),
        ("a-baseline", "a-baseline-"),
        ("L" * 500, "l" * 40 + "-"),
    ],
)
def test_what_the_case_of_a_row_is_called(row_id, name):
    found = case_name(row_id)
    if name.endswith("-"):
        assert found.startswith(name)
        found = found.removeprefix(name)
        name = found.rjust(8, "?")
    assert found == name


@pytest.fixture
def made(tmp_path):
    """Make cases of rows in a class; return what was found."""
    class_path = tmp_path / "bench/mail"

    def make(*rows):
        found = cases_of_rows(tmp_path / "rows.jsonl", rows, class_path, now=NOW)
        if not class_path.exists():
            texts = {
                f"cases/{c}/{p}": t for c, files in found.new.items() for p, t in files.items()
            }
            class_path.parent.mkdir()
            create_folder(class_path, texts)
        else:
            create_folders(class_path / "cases", found.new)
        return found

    make.path = class_path
    return make


def row(row_id, asked="q", expected="yes", **labels):
    return CaseRow(1, 1, row_id, asked, expected, **labels)


def test_a_case_is_valid_and_dated_with_the_day_and_its_values_are_those_of_the_row(made):
    found = made(row("A/1", "one\r\ntwo", {"team": "é"}, tags=("x",), cluster="c"), row("a-1", [1]))
    assert next(iter(found.new)) == "a-1"
    case, _ = read_case(made.path / "cases/a-1", task_class="mail")
    assert (case.added_at, case.last_validated_at) == (NOW, NOW)
    assert (case.tags, case.cluster, dict(case.facts)) == (("x",), "c", {"id": "A/1"})
    assert (case.input_path / "input.txt").read_bytes() == b"one\r\ntwo"
    assert json.loads((case.expected_path / "expected.json").read_text()) == {"team": "é"}
    assert has_rows(made.path)


def test_rows_that_are_there_are_not_made_again_whatever_their_case_is_called(made):
    rows = [row("A/1"), row("a-1"), row("a 1"), row("Köln"), row("plain"), row("x" * 300)]
    assert len(made(*rows).new) == 6
    again = made(*rows, row("new"))
    assert (again.same, again.changed, [*again.new]) == (6, (), ["new"])


def test_a_row_is_known_by_its_name_where_somebody_removed_its_id(made):
    made(row("Köln"))
    (path,) = made.path.glob("cases/*/case.toml")
    path.write_text(path.read_text().replace('id = "Köln"', ""))
    assert made(row("Köln")).same == 1


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (row("a", "other"), ("input",)),
        (row("a", expected=True), ("expected",)),
        (row("a", {"q": 1}, "no"), ("input", "expected")),
        (row("a", tags=("x", "z")), ("tag",)),
        (row("a", cluster="d"), ("cluster",)),
        (row("a", tags=("x",), cluster="c"), ()),
        (row("a"), ()),  # labels that the table does not have are those of people
    ],
)
def test_a_row_that_changed_is_named_and_its_case_stays(made, other, what):
    made(row("a", tags=("x", "y"), cluster="c"))
    before = {p: p.read_bytes() for p in made.path.rglob("*") if p.is_file()}
    found = made(other)
    assert [one.what for one in found.changed] == ([what] if what else [])
    assert {p: p.read_bytes() for p in made.path.rglob("*") if p.is_file()} == before


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (("a", "\ud800"), "lone surrogate"),
        (("\udfff",), "lone surrogate"),
        (("a", float("nan")), "input: is no JSON: it has a number that is not finite"),
        (("a", "q", {"llm": 1}), "expected: its field 'llm' contains 'llm'"),
        (("a", "q", dict.fromkeys(map(str, range(101)), 1)), "has 101 fields; at most 100"),
        (("i" * 70_000,), "its case.toml would have 70"),
    ],
)
def test_what_no_file_can_have_is_refused_before_anything_is_written(made, values, message):
    with pytest.raises(LocatedError, match=message):
        made(row("good"), row(*values))
    assert not made.path.exists()


def test_what_a_killed_process_left_is_removed_and_what_another_makes_is_not(made):
    made(row("a"))
    names = (f"{APART}left", f"{APART}held", f"{APART}young")
    left, held, young = (made.path / name for name in names)
    for folder in (left, held, young):
        (folder / "b").mkdir(parents=True)
        os.utime(folder, (1e9, 1e9))
    os.utime(young)
    holding = hold(held)
    made(row("b"))
    holding.close()
    assert {path.name for path in made.path.iterdir()} == {"cases", held.name, young.name}


def test_a_failure_takes_back_the_folders_that_were_made(made, monkeypatch):
    made(row("a"))
    from benchgate.loader import new

    move = new._move

    def fail(source, target):
        if target.name == "d":
            raise OSError(28, "No space left on device", str(target))
        move(source, target)

    monkeypatch.setattr(new, "_move", fail)
    with pytest.raises(OSError, match="No space"):
        made(row("b"), row("c"), row("d"), row("e"))
    assert [path.name for path in made.path.iterdir()] == ["cases"]
    assert [path.name for path in (made.path / "cases").iterdir()] == ["a"]
