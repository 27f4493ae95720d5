"""A folder as a side: parts of one log, trials, or a question; and which files of it are read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchgate.cli import main
from benchgate.errors import EvalError
from benchgate.interop import read
from benchgate.interop.folder import log_files


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def junit(path, passed, suite="unit", seconds=0):
    """Write a JUnit file of tests, each with whether it passed, or ``None`` for one that was skipped."""
    words = {True: "", False: '<failure message="no"/>', None: "<skipped/>"}
    tests = (f'<testcase name="{name}">{words[one]}</testcase>' for name, one in passed.items())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'<testsuite name="{suite}" time="{seconds}">{"".join(tests)}</testsuite>')


def rows(path, *lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def names(start, count=12):
    return {f"{start}{number:02}": True for number in range(count)}


def runs(folder, count=5, **failing):
    """Write several runs of twelve tests; a test that is named fails in the first runs."""
    for run in range(count):
        tests = {name: run >= failing.get(name, 0) for name in names("t")}
        # Equal bytes would be a copy.
        junit(Path(folder, f"run-{run + 1}.xml"), tests, seconds=run)


def test_files_that_share_no_case_are_one_log(capsys):
    for side in ("old", "new"):
        junit(Path(side, "core", "TEST-core.xml"), names("core"))
        junit(Path(side, "web", "TEST-web.xml"), names("web"), suite="web")
        Path(side, "core", "core.txt").write_text("12 tests")
    junit(Path("new", "web", "TEST-web.xml"), {**names("web"), "web03": False})
    assert main(["gate", "old", "new", "--policy=claim=no_regression"]) == 1
    shown = capsys.readouterr().out
    assert "baseline  old: log of junit, 24 samples of 24 cases\n" in shown
    assert "          2 files, parts of one log: none has a sample of another\n" in shown
    assert "fails   web03" in shown


def test_files_with_all_cases_are_trials(capsys):
    runs("old", t03=3)
    runs("new")
    samples = read(Path("old"))
    assert samples.files == ("5 files, each a trial: every case is in all of them",)
    assert len(samples.samples) == 60
    assert [one.trial for one in samples.samples][:2] == ["run-1.xml", "run-2.xml"]
    assert sum(one.score for one in samples.samples if one.case_id == "t03") == 2
    main(["gate", "old", "new"])
    shown = capsys.readouterr().out
    assert "baseline  old: log of junit, 60 samples of 12 cases\n" in shown
    assert "12 cases\n" in shown


@pytest.mark.parametrize(
    ("asked", "cases", "trials"), [({"trial": "file"}, 13, 2), ({"trial": "none"}, 25, 1)]
)
def test_anything_between_is_asked_about_with_both_readings(asked, cases, trials):
    junit(Path("old", "a.xml"), names("t"))
    junit(Path("old", "b.xml"), {**names("t"), "more": True})
    with pytest.raises(EvalError) as error:
        read(Path("old"))
    what = "12 of 13 cases are in several of its 2 files"
    question = "Are the files repetitions, or parts of one log? Say which, by one of"
    assert str(error.value).splitlines() == [
        f"old: {what} (t00 is in a.xml, b.xml, more only in b.xml). {question}",
        "  --map trial=file   repetitions: 13 cases; what a file lacks was not run",
        "  --map trial=none   parts: 25 cases, each with the name of its file",
    ]
    samples = read(Path("old"), map=asked).samples
    by_case = {}
    for one in samples:
        by_case.setdefault(one.case_id, []).append(one.trial)
    assert len(by_case) == cases
    assert max(map(len, by_case.values())) == trials


def test_a_test_that_was_skipped_in_one_run_is_asked_about_too():
    junit(Path("old", "a.xml"), names("t"))
    junit(Path("old", "b.xml"), {**names("t"), "t05": None})
    with pytest.raises(EvalError, match="t05 only in a"):
        read(Path("old"))


def test_a_trial_that_a_case_lacks_makes_a_side_incomplete(capsys):
    for seconds, side in enumerate(("old", "new")):
        junit(Path(side, "a.xml"), names("t"), seconds=seconds)
        lacking = {name: True for name in names("t") if name != "t05"}
        junit(Path(side, "b.xml"), lacking, seconds=seconds)
    assert main(["gate", "old", "new", "--map=trial=file", "--policy=claim=no_regression"]) == 1
    assert "the run is incomplete: 1 not_run (t05)" in capsys.readouterr().err


def test_equal_ids_of_two_tasks_are_no_trials():
    junit(Path("old", "a.xml"), names("t"), suite="sums")
    junit(Path("old", "b.xml"), names("t"), suite="products")
    with pytest.raises(EvalError, match="tasks: products, sums"):
        read(Path("old"))


def test_trials_that_have_a_name_of_their_own_are_not_counted_twice():
    rows(Path("job", "1", "r.jsonl"), {"case": "a", "trial": "a-1", "score": 1})
    rows(Path("job", "2", "r.jsonl"), {"case": "a", "trial": "a-2", "score": 0})
    rows(Path("job", "10", "r.jsonl"), {"case": "b", "trial": "b-1", "error": "timeout"})
    samples = read(Path("job"))
    assert [(one.case_id, one.trial) for one in samples.samples] == [
        ("a", "a-1"),
        ("a", "a-2"),
        ("b", "b-1"),
    ]
    assert samples.files == ("3 files, parts of one log: none has a sample of another",)
    assert list(log_files(Path("job"))) == ["1/r.jsonl", "2/r.jsonl", "10/r.jsonl"]


def test_the_same_bytes_twice_are_a_copy_unless_somebody_says_that_they_are_repetitions():
    for name in ("a.xml", "b.xml"):
        junit(Path("old", name), names("t"))
    with pytest.raises(EvalError, match=r"old/b.xml: has the same bytes as old/a.xml: .*--map t"):
        read(Path("old"))
    assert len(read(Path("old"), map={"trial": "file"}).samples) == 24


def test_a_log_of_a_known_tool_is_read_and_what_is_beside_it_is_not():
    junit(Path("old", "junit.xml"), names("t"))
    rows(Path("old", "notes.jsonl"), {"id": "x", "score": 1})
    junit(Path("old", ".cache", "junit.xml"), names("t"))
    Path("old", "empty.json").touch()
    assert [*log_files(Path("old"))] == ["junit.xml"]
    assert [*log_files(Path("old"), "jsonl")] == ["notes.jsonl"]


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({}, "old: a folder without record.json, and without a log that is known"),
        ({"a.txt": "12 passed"}, "old: a folder without record.json, and without a log"),
        (
            {"a.csv": "id,score\na,1\n", "b.jsonl": '{"id": "b", "score": 1}\n'},
            "old: has logs of several formats: csv and jsonl; name one: --format csv or --format jsonl",
        ),
        (
            {"a.jsonl": '{"id": "a", "score": 1}\n', "b.jsonl": '{"name": "b", "score": 1}\n'},
            "old/b.jsonl: has other fields than old/a.jsonl; name them: --map case=FIELD,score=FIELD",
        ),
        (
            {"a.json": '{"runs": [{"id": "a"}]}', "b.json": '{"rows": [{"id": "b"}]}'},
            "old/b.json: has its rows at rows, and old/a.json at runs; name one: --rows FIELD",
        ),
        (
            {"a.jsonl": '{"id": "a", "score": 1}\n', "b.jsonl": '{"id": "b", "score": {}}\n{"id'},
            "old/b.jsonl",
        ),
        (
            {"1/record.json": '{"schema_version": 1, "report_kind": "run"}'},
            "old/1/record.json: is a file of benchgate, in a folder of logs",
        ),
    ],
)
def test_what_is_no_log_is_refused(files, why, capsys):
    rows(Path("new", "a.jsonl"), {"id": "a", "score": 1})
    Path("old").mkdir()
    for name, text in files.items():
        Path("old", name).parent.mkdir(exist_ok=True)
        Path("old", name).write_text(text)
    assert main(["gate", "old", "new"]) == 2
    assert why in capsys.readouterr().err


@pytest.mark.parametrize("sides", [("old", "old/a.xml"), ("old/deep", "old"), ("old", ".")])
def test_a_side_inside_the_other_is_refused(sides, capsys):
    junit(Path("old", "a.xml"), names("t"))
    junit(Path("old", "deep", "b.xml"), names("u"))
    assert main(["gate", *sides]) == 2
    assert "what is in it would be on both sides" in capsys.readouterr().err


def test_an_error_names_the_file_that_it_is_in():
    rows(Path("old", "a.jsonl"), {"id": "a", "score": 1})
    rows(Path("old", "b.jsonl"), {"id": "", "score": 1})
    with pytest.raises(EvalError, match=r"^old/b.jsonl:1: no case id"):
        read(Path("old"))


def test_the_name_of_the_file_is_a_field():
    rows(Path("old", "a.jsonl"), {"id": "x", "score": 1})
    rows(Path("old", "b.jsonl"), {"id": "y", "score": 1})
    samples = read(Path("old"), map={"cluster": "file", "case": r"file~^(.*)\.jsonl$"}).samples
    assert [(one.case_id, one.cluster) for one in samples] == [("a", "a.jsonl"), ("b", "b.jsonl")]


def inspect_log(path, scores, *, started, status="success", task="sums"):
    """Write a log of inspect_ai as JSON."""
    samples = [
        {
            "id": name,
            "epoch": 1,
            "input": "?",
            "target": "!",
            "scores": {"match": {"value": "C" if score else "I"}},
        }
        for name, score in scores.items()
    ]
    spec = {
        "eval_id": path.stem,
        "run_id": path.stem,
        "created": started,
        "task": task,
        "task_id": task,
        "dataset": {"name": task, "samples": len(samples), "sample_ids": [*scores]},
        "model": "mock/model",
        "config": {},
    }
    log = {"version": 2, "status": status, "eval": spec, "samples": samples}
    if status == "error":
        log["error"] = {"message": "x", "traceback": "x", "traceback_ansi": "x"}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(log))


def ctrf(path, tests):
    """Write a report in the Common Test Report Format."""
    rows_of_it = [{"name": name, "status": status} for name, status in tests.items()]
    results = {"tool": {"name": "jest"}, "summary": {}, "tests": rows_of_it}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"reportFormat": "CTRF", "results": results}))


@pytest.mark.parametrize("where_it_is", [None, "results.tests"])
def test_a_format_that_is_a_document_is_read_of_a_folder_too(where_it_is):
    ctrf(Path("old", "1.json"), {"a": "passed", "b": "skipped"})
    ctrf(Path("old", "2.json"), {"c": "failed"})
    samples = read(Path("old"), rows=where_it_is)
    assert samples.format == "ctrf"
    assert {one.case_id: one.score for one in samples.samples} == {"a": 1, "c": 0}
    assert samples.without == ("b",)


def test_a_test_that_was_skipped_is_called_as_its_case_would_be():
    ctrf(Path("old", "1.json"), {"a": "passed", "b": "skipped"})
    ctrf(Path("old", "2.json"), {"a": "passed", "b": "passed"})
    samples = read(Path("old"), map={"trial": "none"})
    assert [one.case_id for one in samples.samples] == ["1.json::a", "2.json::a", "2.json::b"]
    assert samples.without == ("1.json::b",)


def test_the_list_of_rows_is_named_once_for_all_files():
    for name in ("a", "b"):
        lists = {"rows": [{"id": name, "score": 1}], "more": [{"id": "x", "score": 0}]}
        Path("old").mkdir(exist_ok=True)
        Path("old", f"{name}.json").write_text(json.dumps(lists))
    with pytest.raises(EvalError, match=r"old/a.json: has several lists of rows: .* --rows rows"):
        read(Path("old"))
    assert [one.case_id for one in read(Path("old"), rows="rows").samples] == ["a", "b"]


def test_a_field_that_somebody_named_may_be_another_than_a_file_seems_to_have():
    rows(Path("old", "a.jsonl"), {"id": "a", "key": "k1", "score": 1})
    rows(Path("old", "b.jsonl"), {"name": "b", "key": "k2", "score": 1})
    assert [one.case_id for one in read(Path("old"), map={"case": "key"}).samples] == ["k1", "k2"]


def test_the_fields_of_all_kinds_of_rows_of_all_files_are_offered():
    rows(Path("old", "a.jsonl"), {"of": "x", "right": 1})
    rows(Path("old", "b.jsonl"), *({"of": f"y{n}", "kind": "end"} for n in range(2)))
    with pytest.raises(EvalError) as error:
        read(Path("old"))
    what = "no score and no case id; name their fields: --map score=FIELD,case=FIELD"
    assert str(error.value).splitlines() == [
        f"old/a.jsonl:1: {what}; its rows are of 2 kinds, and --where FIELD=VALUE reads a part:",
        "  2 rows with of, kind, file: --where kind=end",
        "  1 row with of, right, file",
    ]


def test_one_folder_has_both_sides_but_no_row_twice(capsys):
    runs("old", count=2, t03=1)
    sides = ["--where=A:file=run-1.xml", "--where=B:file=run-2.xml"]
    assert main(["gate", "old", "old", *sides]) == 10
    shown = capsys.readouterr().out
    assert "1 file without such a row: run-2.xml\n          1 file\n" in shown
    assert "1 newly passing, 0 newly failing" in shown
    assert main(["gate", "old", "old", "--where=A:classname="]) == 2
    assert "24 rows of it would be on both sides, the first is row 1" in capsys.readouterr().err


EARLY = "2026-05-11T10:00:00+00:00"
LATE = "2026-05-12T10:00:00+00:00"


@pytest.mark.parametrize("status", ["error", "cancelled"])
def test_a_log_of_inspect_that_failed_gives_way_to_a_newer_one(status):
    pytest.importorskip("inspect_ai")
    inspect_log(Path("old", "1.json"), names("s", 2), started=EARLY, status=status)
    inspect_log(Path("old", "2.json"), names("s", 3), started=LATE)
    samples = read(Path("old"))
    assert samples.files == (
        "1.json is not read: it did not succeed, and 2.json is newer",
        "1 file",
    )
    assert len(samples.samples) == 3
    assert not samples.header.ended_early


def test_two_complete_logs_of_one_task_of_inspect_are_refused_unless_they_are_repetitions():
    pytest.importorskip("inspect_ai")
    inspect_log(Path("old", "1.json"), names("s", 2), started=EARLY)
    inspect_log(Path("old", "2.json"), names("s", 2), started=LATE)
    with pytest.raises(EvalError, match=r"old/2.json: is a log of task 'sums', as old/1.json is"):
        read(Path("old"))
    assert len(read(Path("old"), map={"trial": "file"}).samples) == 4


def test_logs_of_two_tasks_of_inspect_with_ids_of_their_own_are_one_log():
    pytest.importorskip("inspect_ai")
    inspect_log(Path("old", "1.json"), names("s", 2), started=EARLY)
    inspect_log(Path("old", "2.json"), names("p", 2), started=LATE, task="products")
    samples = read(Path("old"))
    assert [one.case_id for one in samples.samples] == ["p00", "p01", "s00", "s01"]
    assert samples.without == ()
