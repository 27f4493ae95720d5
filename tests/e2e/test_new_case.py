"""``benchgate new case``: the folder it makes, what it refuses, and that it leaves nothing behind."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest
import tomli

from benchgate.cli import main
from benchgate.loader.case_toml import read_case_toml

FACTS = """
[facts]
cve = "CVE-1"
count = 3
share = 0.5
direct = true
names = ["a"]
ranges = [{ from = "1" }]

[facts.source]
repo = "r"
depth = 2
"""


@pytest.fixture
def new_case(bench, capsys):
    """Run the command for the class ``echo``; return status, stdout and stderr."""

    def run(*arguments: object, task_class: str = "echo") -> tuple[int, str, str]:
        capsys.readouterr()
        try:
            status = main(["new", "case", task_class, *map(str, arguments)])
        except SystemExit as error:  # argparse
            status = error.code
        return status, *capsys.readouterr()

    return run


def entries(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def manifest(bench, case_id: str):
    path = bench.path / f"cases/{case_id}/case.toml"
    return read_case_toml(path, task_class="echo", facts_model=None)[0]


def test_the_folder(bench, new_case):
    status, _, err = new_case("004-new")
    assert (status, err) == (0, "")
    assert entries(bench.path / "cases/004-new") == ["case.toml", "expected", "input"]
    umask = os.umask(0)
    os.umask(umask)
    mode = stat.S_IMODE((bench.path / "cases/004-new").stat().st_mode)
    assert mode == 0o777 & ~umask


def test_the_manifest_is_valid_and_dated_now(bench, new_case, monkeypatch):
    new_case("004-new")
    case = manifest(bench, "004-new").case
    assert (case.case_id, case.task_class) == ("004-new", "echo")
    assert (case.disposition, case.difficulty, case.source) == ("positive", "medium", "curated")
    assert (case.held_out, case.tags, case.commit_sha) == (False, (), None)
    assert case.added_at == case.last_validated_at
    text = (bench.path / "cases/004-new/case.toml").read_text()
    assert f"added_at = {case.added_at:%Y-%m-%dT%H:%M:%S}Z\n" in text


def test_facts_are_those_of_the_newest_case_without_their_values(bench, new_case):
    bench.case("01", extra=FACTS, added_at="2026-11-02T00:00:00Z")
    bench.case("03", extra="[facts]\nold = 1\n")
    bench.write("cases/02/case.toml", "[case\n")
    new_case("004")
    assert manifest(bench, "004").facts == {
        "cve": "",
        "count": 0,
        "share": 0.0,
        "direct": False,
        "names": [],
        "ranges": [],
        "source": {"repo": "", "depth": 0},
    }


def test_of_cases_of_one_day_the_last_is_followed(bench, new_case):
    bench.case("02", extra="[facts]\nsecond = 1\n")
    bench.case("03", extra="[facts]\nthird = 1\n")
    assert "[facts] (third: as in 03)" in new_case("004")[1]


def test_the_first_case_of_a_class(bench, new_case):
    shutil.rmtree(bench.path / "cases")
    assert new_case("001")[0] == 0
    assert tomli.loads((bench.path / "cases/001/case.toml").read_text())["facts"] == {}


def test_it_says_in_two_lines_what_to_fill_in_and_what_to_type(bench, new_case):
    assert new_case("004-new")[1].splitlines() == [
        "bench/echo/cases/004-new: fill in input/, expected/ or remove it, and case.toml",
        "pytest bench/echo/cases/004-new; benchgate check echo",
    ]


def test_another_bench_root(bench, new_case):
    (bench.root / "bench").rename(bench.root / "my benches")
    status, out, _ = new_case("004", "--bench-root", "my benches")
    assert status == 0
    assert (bench.root / "my benches/echo/cases/004/case.toml").is_file()
    assert out.splitlines()[-1] == (
        "benchgate run --task-class echo --cases 004 --bench-root 'my benches'; "
        "benchgate check echo --bench-root 'my benches'"
    )


def test_a_case_that_was_filled_in_runs(bench, new_case):
    new_case("004")
    bench.write("cases/004/input/question.txt", "q")
    bench.write("cases/004/expected/answer.txt", "Q")
    bench.pytest("bench/echo/cases/004").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    "arguments",
    [
        ["004-t1"],
        ["Upper"],
        ["build"],
        ["a/b"],
        ["../004"],
        [".."],
        [""],
        ["/x"],
        ["x" * 65],
        ["\udcff"],
        ["004", "--force"],
        [],
    ],
)
def test_what_no_case_may_be_is_refused_and_nothing_is_written(bench, new_case, arguments):
    before = entries(bench.root)
    status, out, err = new_case(*arguments)
    assert (status, out) == (2, "")
    assert err
    assert "Traceback" not in err
    assert entries(bench.root) == before


def test_the_reason_names_the_key(new_case):
    assert new_case("04-t1")[2] == (
        "case.case_id: '04-t1' ends like the id of a trial: -t<digits>\n"
    )


@pytest.mark.parametrize("name", ["ecco", "..", ""])
def test_an_unknown_class(new_case, name):
    status, _, err = new_case("004", task_class=name)
    assert status == 1
    assert err.endswith("known: echo\n")


def make_file(path: Path) -> None:
    path.write_text("mine")


@pytest.mark.parametrize(
    "make",
    [make_file, Path.mkdir, lambda path: path.symlink_to("nowhere")],
    ids=["file", "folder", "link"],
)
def test_what_is_there_is_never_touched(bench, new_case, make):
    make(bench.path / "cases/004")
    before = entries(bench.root)
    status, _, err = new_case("004")
    assert (status, err) == (
        1,
        "bench/echo/cases/004: exists already; an id is never given to another case\n",
    )
    assert entries(bench.root) == before


@pytest.mark.parametrize("step", ["write_text", "rename"])
@pytest.mark.parametrize("first", [False, True])
def test_a_failure_leaves_nothing_behind(bench, new_case, monkeypatch, step, first):
    def fail(*_, **__):
        raise OSError(28, "No space left on device", "case.toml")

    if first:
        shutil.rmtree(bench.path / "cases")
    before = entries(bench.root)
    monkeypatch.setattr(Path, step, fail)
    status, _, err = new_case("004")
    assert (status, err) == (2, "case.toml: cannot be written: No space left on device\n")
    assert entries(bench.root) == before


def test_cases_that_is_a_file(bench, new_case):
    shutil.rmtree(bench.path / "cases")
    bench.write("cases", "")
    assert new_case("004")[0] in {1, 2}
    assert (bench.path / "cases").is_file()
