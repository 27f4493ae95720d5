"""Whatever is read has a limit, is read in time that grows with its size, and its faults are told in brief."""

from __future__ import annotations

import inspect
import json
import os
import sys
import time
from typing import TYPE_CHECKING

import pytest

from benchgate import BenchScore
from benchgate.artifacts.run_kinds import RunRecord
from benchgate.artifacts.trial_kinds import SelectedRecord
from benchgate.check import check_class
from benchgate.errors import (
    MAX_MESSAGE,
    MAX_PROBLEMS,
    ArtifactError,
    BenchCaseLoadError,
    ClassLoadError,
    EvalError,
    PolicyError,
    SampleError,
    Unreadable,
    brief,
)
from benchgate.gates.choice import choose_baseline
from benchgate.gates.policy import make_policy
from benchgate.interop.vectors import read_scores
from benchgate.loader.case_folder import case_folders, read_case, shown_name
from benchgate.loader.case_toml import read_case_toml
from benchgate.models import FailureMode
from benchgate.verify.validate import validate_file
from benchgate.wire import files, model, parsing, plain
from benchgate.wire.files import file_sha256, read_bytes, tree_digest, tree_files
from benchgate.wire.parsing import read_json
from benchgate.wire.plain import output_json
from benchgate.wire.toml import KeyLines
from benchgate.wire.writing import write_draft, write_file

if TYPE_CHECKING:
    from pathlib import Path

TERABYTE = 2**40


def sparse(path: Path, size: int = TERABYTE) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    os.truncate(path, size)
    return path


def seconds(call) -> float:
    started = time.process_time()
    call()
    return time.process_time() - started


# Files


def test_a_file_is_read_to_its_limit_and_no_further(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"123")
    assert read_bytes(path, limit=3) == b"123"
    for read in (read_bytes, file_sha256):
        with pytest.raises(Unreadable, match="x: 3 bytes; at most 2 are read"):
            read(path, limit=2)


def test_a_file_that_says_it_is_empty_is_read_to_its_limit(monkeypatch):
    monkeypatch.setattr(files, "CHUNK", 4)
    with pytest.raises(Unreadable, match="at most 8 are read"):
        read_bytes("/proc/self/status", limit=8)


def test_a_digest_is_that_of_all_chunks(tmp_path, monkeypatch):
    path = tmp_path / "x"
    path.write_bytes(b"0123456789")
    whole = file_sha256(path, limit=100)
    monkeypatch.setattr(files, "CHUNK", 3)
    assert file_sha256(path, limit=100) == whole


def test_a_folder_has_a_limit_of_bytes_and_of_files(tmp_path, monkeypatch):
    for name in "abc":
        (tmp_path / name).write_text("12")
    assert len(tree_files(tmp_path)) == 3
    monkeypatch.setattr(files, "MAX_TREE_BYTES", 5)
    with pytest.raises(Unreadable, match="more than 5 bytes"):
        tree_digest(tmp_path)
    monkeypatch.setattr(files, "MAX_TREE_BYTES", 6)
    monkeypatch.setattr(files, "MAX_TREE_FILES", 2)
    with pytest.raises(Unreadable, match="more than 2 files"):
        tree_files(tmp_path)


def test_folders_in_folders_are_read_however_deep(tmp_path):
    here = tmp_path / "/".join("d" * 300)
    here.mkdir(parents=True)
    (here / "x").write_text("1")
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 100)
    try:
        assert [name for name, _ in tree_files(tmp_path)] == ["d/" * 300 + "x"]
    finally:
        sys.setrecursionlimit(before)


# JSON


def duplicates(count: int) -> bytes:
    return ("{" + "".join(f'"k{n}":0,' for n in range(count)) + f'"k{count - 1}":1}}').encode()


def test_a_key_that_appears_twice_is_found_in_time_that_grows_with_the_keys():
    def read() -> None:
        with pytest.raises(ValueError, match="key 'k99999' appears twice"):
            read_json(duplicates(100_000))

    assert seconds(read) < 5


def test_a_case_that_appears_twice_among_samples_is_found_as_fast(tmp_path):
    path = tmp_path / "x.json"
    path.write_bytes(duplicates(100_000))

    def read() -> None:
        with pytest.raises(SampleError, match="key 'k99999' appears twice"):
            read_scores(path)

    assert seconds(read) < 5


def test_the_number_of_a_trial_may_have_thousands_of_digits(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(f"case,score,trial\na,1,{'9' * 5000}\na,0,2\nb,1,1\n")
    assert read_scores(path).trials == ((0.0, 1.0), (1.0,))


def test_json_has_a_limit_of_values_but_commas_in_texts_are_none(monkeypatch):
    monkeypatch.setattr(parsing, "MAX_JSON_VALUES", 10)
    assert read_json(json.dumps(['"\\[{,,,,,,,,,,,,,,,', "{" * 20]).encode())
    with pytest.raises(ValueError, match="more than 10 values"):
        read_json(json.dumps([0] * 20).encode())


def test_what_could_not_be_read_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(parsing, "MAX_JSON_BYTES", 3)
    for write in (write_file, write_draft):
        with pytest.raises(ArtifactError, match="cannot be written: 4 bytes; at most 3 are read"):
            write(tmp_path / "x", b"1234")
    assert os.listdir(tmp_path) == []


def test_an_artifact_with_many_faults_is_refused_by_the_first_ones():
    data = b'{"report": {"per_case": [%s0]}}' % (b"0," * 1000)
    with pytest.raises(ValueError, match="Field required") as raised:
        SelectedRecord.read_json(data)
    assert raised.value.error_count() < 100


def test_a_mapping_of_digests_has_a_limit(monkeypatch):
    monkeypatch.setattr(model, "MAX_DIGESTS", 200)
    digests = ",".join(f'"{n}": 0' for n in range(201))
    with pytest.raises(ValueError, match="201 entries; at most 200 are read") as raised:
        RunRecord.read_json(f'{{"case_files": {{{digests}}}}}'.encode())
    assert raised.value.error_count() < 100


def test_a_large_file_of_anything_is_refused_at_once(tmp_path):
    path = sparse(tmp_path / "record.json")
    with pytest.raises(Unreadable, match=f"{TERABYTE} bytes; at most"):
        validate_file(path)


# Messages


def test_a_message_has_at_most_twenty_problems_and_two_thousand_characters():
    text = brief(f"problem {n}" for n in range(332))
    assert text.splitlines() == [*(f"problem {n}" for n in range(20)), "... and 312 more"]
    text = brief(("x" * 10_000, "y"), "; ")
    assert text.endswith("…; ... and 1 more")
    assert len(text) <= MAX_MESSAGE
    assert brief(["a", "b"]) == "a\nb"
    for text in ("x" * 10_000, "\x1b" * 1999):  # also where escapes make it longer
        assert len(str(EvalError(text))) == MAX_MESSAGE
    assert brief([]) == ""


def test_every_error_with_a_list_of_problems_is_brief():
    many = [(n, "key", "x" * 50) for n in range(332)]
    one = BenchCaseLoadError("p", many)
    assert str(one).count("\n") == MAX_PROBLEMS
    assert str(one).endswith("... and 312 more")
    assert len(one.faults) == 332
    assert len(str(ClassLoadError([one, one, one]))) <= MAX_MESSAGE
    for error in (Unreadable("p", "x" * 9999).why, ArtifactError("p", "x" * 9999).message):
        assert len(error) == MAX_MESSAGE


def unknown_keys(tmp_path: Path, count: int) -> Path:
    path = tmp_path / "c1" / "case.toml"
    path.parent.mkdir()
    path.write_text("[case]\n" + "".join(f"k{n}=0\n" for n in range(count)))
    return path


def test_unknown_keys_are_told_in_brief_and_in_time_that_grows_with_their_number(tmp_path):
    path = unknown_keys(tmp_path, 7000)

    def read() -> None:
        with pytest.raises(BenchCaseLoadError) as raised:
            read_case_toml(path, task_class="x", facts_model=None)
        assert len(str(raised.value)) <= MAX_MESSAGE
        assert "case.k0: unknown key; known: case_id" in str(raised.value)
        assert raised.value.faults[-1][:2] == (7001, "case.k6999")

    assert seconds(read) < 3


def test_an_unknown_policy_key_of_any_length_is_told_in_brief():
    with pytest.raises(PolicyError) as raised:
        make_policy({"alhpa" + "x" * 60_000: 1, "alhpa": 1, "alpha": "y" * 60_000})
    assert len(str(raised.value)) <= MAX_MESSAGE
    assert "did you mean 'alpha'?" in str(raised.value)


@pytest.mark.parametrize(
    ("location", "line"),
    [
        (("case", "tags"), 3),
        (("case", "nothing"), 1),
        (("facts", "a b"), 7),
        (("facts", "deep", "er"), 8),
        (("cassettes", "shout", "sha256"), 12),
        (("cassettes", "x", "sha256"), 14),
        (("absent",), 1),
    ],
)
def test_the_line_of_a_key_is_found(location, line):
    text = """[case]
case_id = "tags = 1"
tags = [
 1, # case_id
]
[facts]
"a b" = 1
deep.er = 2

[cassettes.shout]
path = "sha256"
sha256 = 1
[cassettes."x"]
sha256 = 1
"""
    assert KeyLines(text).key(*location) == line


# What systems and rubrics return


def test_an_output_has_a_limit_of_bytes_and_of_values(monkeypatch):
    monkeypatch.setattr(plain, "MAX_OUTPUT_BYTES", 100)
    assert output_json({"a": "x" * 40}) == json.dumps({"a": "x" * 40})
    for produced in ({"a": "x" * 101}, {"x" * 101: 1}, {"a": "\x00" * 20}, {"a": [0] * 10}):
        with pytest.raises(ValueError, match="output has more than 100 bytes as JSON"):
            output_json(produced)


def test_one_list_in_an_output_a_million_times_over_is_refused_on_the_way(monkeypatch):
    monkeypatch.setattr(plain, "MAX_OUTPUT_BYTES", 1_000_000)
    bomb: list = []
    for _ in range(100):
        bomb = [bomb] * 10

    def walk() -> None:
        with pytest.raises(ValueError, match="output has more than 1000000 bytes"):
            output_json({"a": bomb})

    assert seconds(walk) < 5


@pytest.mark.parametrize(
    "fields",
    [
        {"breakdown": {str(n): 1.0 for n in range(101)}},
        {"breakdown": {"x" * 201: 1.0}},
        {"failure_modes": [str(n) for n in range(101)]},
        {"failure_modes": ["x" * 201]},
    ],
    ids=["parts", "name of a part", "codes", "name of a code"],
)
def test_a_score_has_limits(fields):
    with pytest.raises(ValueError, match="at most"):
        BenchScore(passed=True, score=1.0, **fields)


def test_repeated_codes_count_once():
    score = BenchScore(passed=True, score=1.0, failure_modes=["a"] * 1000)
    assert score.failure_modes == ("a",)


def test_a_detail_is_cut():
    assert len(FailureMode(code="a", detail="x" * 10_000).detail) == MAX_MESSAGE


# Cases


CASE = """[case]
case_id = "c1"
task_class = "x"
disposition = "positive"
difficulty = "easy"
source = "curated"
added_at = 2026-11-01T00:00:00Z
last_validated_at = 2026-11-01T00:00:00Z
"""


def case(tmp_path: Path, extra: str = "") -> Path:
    folder = tmp_path / "x" / "cases" / "c1"
    (folder / "input").mkdir(parents=True)
    (folder / "input" / "a").write_text("1")
    (folder / "case.toml").write_text(CASE + extra)
    return folder


@pytest.mark.parametrize("name", ["input", "expected"])
def test_a_file_of_a_terabyte_is_a_fault_of_its_case(tmp_path, name):
    folder = case(tmp_path)
    sparse(folder / name / "big")
    with pytest.raises(BenchCaseLoadError, match=f"case.toml:1: {name}: more than {2**30} bytes"):
        read_case(folder, task_class="x")[0]


def test_a_cassette_of_a_terabyte_is_a_fault_of_its_case(tmp_path):
    folder = case(tmp_path, f'[cassettes.s]\npath = "cassettes/big"\nsha256 = "{"0" * 64}"\n')
    sparse(folder / "cassettes" / "big")
    with pytest.raises(BenchCaseLoadError, match=f"cassettes.s.path: .*{TERABYTE} bytes; at most"):
        read_case(folder, task_class="x")[0]


def test_check_finds_facts_that_are_nested_too_deeply_without_a_baseline(tmp_path):
    case(tmp_path, f"[facts]\nx = {'[' * 300}{']' * 300}\n")
    found = [str(problem) for problem in check_class(tmp_path, "x").problems]
    assert any("case.toml:10: facts.x: not plain JSON: facts.x is nested" in one for one in found)


NAMES = {
    "a\nb": "a%0Ab",
    "a\x1bb": "a%1Bb",
    "a\u202eb": "a%E2%80%AEb",
    "a\udcffb": "a%FFb",
    "a::b": "a%3A%3Ab",
    "a@b": "a%40b",
    "a%40b": "a%2540b",
    "\u00fcmlaut a[1]": "\u00fcmlaut a[1]",
    "x" * 100: "x" * 100,
}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_a_folder_is_shown_so_that_ids_can_hold_it(name):
    assert shown_name(name) == NAMES[name]


def test_long_names_that_begin_alike_are_shown_differently():
    names = {shown_name("x" * 200 + end) for end in "ab"} | {shown_name("\udcff" * 255)}
    assert len(names) == 3
    assert all(len(name) <= 100 for name in names)


def test_a_case_of_a_name_that_ids_cannot_hold_is_refused_alone(tmp_path):
    folder = case(tmp_path)
    os.rename(folder, folder.with_name("a\udcff\n"))
    (found,) = case_folders(tmp_path / "x")
    with pytest.raises(
        BenchCaseLoadError, match=r"cases/a%FF%0A/case.toml:1: 'a.udcff.n' is no name"
    ):
        read_case(found, task_class="x")[0]
    assert any("is no name of a case" in str(one) for one in check_class(tmp_path, "x").problems)


# Options


def test_a_baseline_whose_name_is_too_long_is_told(tmp_path):
    with pytest.raises(ArtifactError, match="no such baseline"):
        choose_baseline(tmp_path / ("x" * 300), tmp_path)
