"""Sample files: what is read, and what is refused with file, place and value."""

from __future__ import annotations

import json
import os

import pytest

from benchgate.errors import SampleError
from benchgate.interop.vectors import MAX_VALUES, kind_of, read_scores


def written(tmp_path, text, name="s.json"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_an_array_has_no_ids_and_keeps_its_order(tmp_path):
    samples = read_scores(written(tmp_path, "[1, 0.5, -2e3]"))
    assert (samples.scores, samples.case_ids) == ((1.0, 0.5, -2000.0), None)


def test_an_object_names_its_cases(tmp_path):
    samples = read_scores(written(tmp_path, '{"b": 1, "a": 0}'))
    assert (samples.case_ids, samples.scores) == (("a", "b"), (0.0, 1.0))


def test_csv_with_trials_is_folded_into_case_means(tmp_path):
    text = "case,score,trial\nb,1,0\na,0.5,10\na,1,9\nb,0,1\n"
    samples = read_scores(written(tmp_path, text, "s.csv"))
    assert (samples.case_ids, samples.scores) == (("a", "b"), (0.75, 0.5))
    assert samples.trials == ((1.0, 0.5), (1.0, 0.0))


def test_csv_columns_may_stand_in_any_order(tmp_path):
    samples = read_scores(written(tmp_path, "score,case\n1,a\n0,b\n", "s.csv"))
    assert samples.scores == (1.0, 0.0)


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("[1]", "s.json", "1 value; at least 2 are needed"),
        ("[]", "s.json", "0 values"),
        ("[1, true]", "s.json", r"\[1\] is true; expected a finite number"),
        ('[1, "2"]', "s.json", r'\[1\] is "2"; expected a finite number'),
        ("[1, null]", "s.json", r"\[1\] is null"),
        ("[1, NaN]", "s.json", r"\[1\] is NaN; expected"),
        ("[1, -Infinity]", "s.json", r"\[1\] is too large"),
        ("[1, 1e999]", "s.json", r"\[1\] is too large"),
        (f"[1, {10**400}]", "s.json", r"\[1\] is too large"),
        ('{"a": 1, "a": 2}', "s.json", "key .a. appears twice"),
        ('{"a": 1, "b": [2]}', "s.json", r"\['b'\] is \[2\]"),
        ('{"": 1, "b": 2}', "s.json", "s.json: no case id"),
        ('{"\\ud800": 1, "b": 2}', "s.json", "is no text of a case id: surrogates not allowed"),
        ("3", "s.json", "expected a JSON array of numbers or an object"),
        ("[1, 2", "s.json", "no JSON"),
        ("[" * 100_000, "s.json", "no JSON"),
        (b"\xff[1, 2]", "s.json", "codec can't decode"),
        (json.dumps([0] * (MAX_VALUES + 1)), "s.json", "at most 100000 are read"),
        (b" " * (8 * 1024 * 1024 + 1), "s.json", "bytes; at most 8388608 are read"),
        ('{"report_kind": "baseline"}', "s.json", "no valid sample report: schema_version"),
        ("case,value\na,1\n", "s.csv", r"columns .*; expected case,score\[,trial\]\[,cluster\]"),
        ("case,score\na,1\na,2\n", "s.csv", "s.csv:3: case 'a' trial '0' .*: on line 2 too"),
        ("case,score\na,one\n", "s.csv", "s.csv:2: score is 'one'"),
        ("case,score\na,nan\n", "s.csv", "s.csv:2: score is 'nan'"),
        ("case,score\na\nb,1\n", "s.csv", "s.csv:2: expected 2 values"),
        ("case,score\na,1,2\n", "s.csv", "s.csv:2: expected 2 values"),
        ('case,score\n"a,1\n', "s.csv", "s.csv:1: no CSV"),
    ],
)
def test_what_is_no_sample_file_is_refused(tmp_path, text, name, message):
    path = written(tmp_path, text, name)
    with pytest.raises(SampleError, match=message) as caught:
        read_scores(path)
    assert str(path) in str(caught.value)


def test_a_missing_file_and_a_fifo_are_refused(tmp_path):
    with pytest.raises(SampleError, match="No such file"):
        read_scores(tmp_path / "none.json")
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(SampleError, match="not a regular file"):
        read_scores(tmp_path / "fifo")


def test_clusters_are_a_column_of_csv_and_a_key_of_json(tmp_path):
    table = "case,score,trial,cluster\nb,1,0,axios\na,0.5,0,\nb,0,1,axios\n"
    rows = {"b": {"score": 0.5, "cluster": "axios"}, "a": 0.5}
    found = [
        read_scores(written(tmp_path, table, "s.csv")),
        read_scores(written(tmp_path, json.dumps(rows))),
    ]
    assert [samples.clusters for samples in found] == [(None, "axios")] * 2
    assert found[0].scores == found[1].scores


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("case,score,trial,cluster\na,1,0,x\na,1,1,y\n", "s.csv", "s.csv:3: case 'a' has two clu"),
        ("case,score,cluster,cluster\na,1,x,x\n", "s.csv", "columns"),
        ('{"a": {"score": 1, "cluster": 3}, "b": 1}', "s.json", "cluster of case 'a': .* string"),
        (f"case,score,cluster\na,1,{'x' * 999}\n", "s.csv", "s.csv:2: cluster of case 'a'"),
        ("case,score,trial,cluster\na,1,0,x\na,1,1,\n", "s.csv", "two clusters: 'x' and none"),
        ('{"a": {"score": true, "cluster": "x"}, "b": 1}', "s.json", r"\['a'\] is true"),
    ],
)
def test_a_case_is_of_one_cluster(tmp_path, text, name, message):
    with pytest.raises(SampleError, match=message):
        read_scores(written(tmp_path, text, name))


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("a.json", "[1, 2.5]", "samples"),
        ("a.json", '{"a": 1, "b": {"score": 2, "cluster": "k"}}', "samples"),
        ("a.json", '{"schema_version": 2, "report_kind": "trained"', "samples"),
        ("a.json", '{"x": 1, "report_kind": "baseline"}', "samples"),
        ("a.json", '{\n "schema_version": 2,\n "report_kind": "record"', "record"),
        ("a.json", '{"report_kind": "proof"}', "record"),
        ("a.csv", "case,score\na,1\n", "log"),
        ("a.jsonl", '{"id": 1, "score": 1}\n{"id": 2, "score": 0}\n', "log"),
        ("a.json", '[{"id": 1, "score": 1}]', "log"),
        ("a.json", '["a"]', "log"),
        ("a.json", '[{"score": 1}, {"score": 0}]', "log"),
        ("a.json", "{}", "log"),
        ("a.json", "[1, 2", "log"),
        ("a.xml", "<testsuite/>", "log"),
    ],
)
def test_the_kind_of_a_file_is_what_it_has(tmp_path, name, text, kind):
    path = tmp_path / name
    path.write_text(text)
    assert kind_of(path) == kind
