"""A case that cannot be read is still an item: it fails with its place, the others run, the run is incomplete."""

from __future__ import annotations

import os
import time
import xml.etree.ElementTree as ET

import pytest

from benchgate.cli import main
from benchgate.loader.case_toml import read_case_toml

FILE = "bench/echo/cases/02/case.toml"


def assert_malformed(bench, result, problem: str) -> None:
    """The second of three cases was not run because of a problem, which is told in full."""
    result.assert_outcomes(passed=2, errors=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([problem.replace("[", "[[]")])
    report = bench.record()["report"]
    assert bench.outcomes() == {"01": "scored", "02": "not_run", "03": "scored"}
    assert report["complete"] is False
    assert report["case_count"] == 3
    assert bench.result("02")["detail"]
    assert bench.trial("02")["result"]["outcome"] == "not_run"
    assert (
        "checkpoint_promotion_blocked_incomplete_run" in bench.record()["decision"]["reason_codes"]
    )


def good_text(bench) -> str:
    return bench.case("02").read_text()


EDITS = {
    "no TOML": ("case_id =", "case_id ==", f"{FILE}:2: *"),
    "a key twice": ("[case]", '[case]\ncase_id = "02"', f"{FILE}:3: *"),
    "an unknown key": (
        "[case]",
        '[case]\ndificulty = "easy"',
        f"{FILE}:2: case.dificulty: unknown key; did you mean 'difficulty'?",
    ),
    "an unknown table": (
        "[case]",
        "[fact]\n[case]",
        f"{FILE}:1: fact: unknown key; did you mean 'facts'?",
    ),
    "no [case]": ("[case]", "[facts]", f"{FILE}:1: case: missing"),
    "a missing key": ('difficulty = "easy"\n', "", f"{FILE}:1: case.difficulty: missing"),
    "an unknown value": (
        '"easy"',
        '"trivial"',
        f"{FILE}:5: case.difficulty: Input should be 'easy', 'medium' or 'hard'; found 'trivial'",
    ),
    "a number as text": (
        "[case]",
        '[case]\ntimeout_seconds = "60"',
        f"{FILE}:2: case.timeout_seconds: *; found '60'",
    ),
    "a bool as number": (
        "[case]",
        "[case]\ntimeout_seconds = true",
        f"{FILE}:2: case.timeout_seconds: *; found True",
    ),
    "no time": (
        "[case]",
        "[case]\ntimeout_seconds = 0",
        f"{FILE}:2: case.timeout_seconds: *; found 0",
    ),
    "NaN": (
        "[case]",
        "[case]\ntimeout_seconds = nan",
        f"{FILE}:2: case.timeout_seconds: *; found nan",
    ),
    "infinity": (
        "[case]",
        "[case]\ntimeout_seconds = inf",
        f"{FILE}:2: case.timeout_seconds: *; found inf",
    ),
    "text as bool": (
        "[case]",
        '[case]\nheld_out = "false"',
        f"{FILE}:2: case.held_out: *; found 'false'",
    ),
    "a tag that is a number": (
        "[case]",
        "[case]\ntags = [1]",
        f"{FILE}:2: case.tags.0: *; found 1",
    ),
    "tags that are text": (
        "[case]",
        '[case]\ntags = "npm"',
        f"{FILE}:2: case.tags: *; found 'npm'",
    ),
    "a naive datetime": (
        "added_at = 2026-11-01T00:00:00Z",
        "added_at = 2026-11-01T00:00:00",
        f"{FILE}:7: case.added_at: *",
    ),
    "a date": (
        "added_at = 2026-11-01T00:00:00Z",
        "added_at = 2026-11-01",
        f"{FILE}:7: case.added_at: *",
    ),
    "a datetime as text": (
        "added_at = 2026-11-01T00:00:00Z",
        'added_at = "2026-11-01T00:00:00Z"',
        f"{FILE}:7: case.added_at: *",
    ),
    "another id than its folder": (
        '"02"',
        '"03"',
        f"{FILE}:2: case.case_id: '03' differs from its folder '02'",
    ),
    "an id of no id's form": ('"02"', '"O 2"', f"{FILE}:2: case.case_id: *; found 'O 2'"),
    "another class": (
        '"echo"',
        '"other"',
        f"{FILE}:3: case.task_class: 'other' differs from its class 'echo'",
    ),
    "no commit though not curated": (
        '"curated"',
        '"regression-converted"',
        f"{FILE}:1: case: commit_sha is required when source is 'regression-converted'",
    ),
    "a commit of no commit's form": (
        "[case]",
        '[case]\ncommit_sha = "HEAD"',
        f"{FILE}:2: case.commit_sha: *; found 'HEAD'",
    ),
    "a date among the facts": (
        "\nlast_v",
        "\n[facts]\nday = 2026-11-01\n[case.x]\nlast_v",
        f"{FILE}:*",
    ),
    "NaN among the facts": (None, "[facts]\nx = nan", f"{FILE}:10: facts.x: not plain JSON: *"),
    "a datetime among the facts": (
        None,
        "[facts]\nday = 2026-11-01T00:00:00Z",
        f"{FILE}:10: facts.day: not plain JSON: *string*",
    ),
    "an integer among the facts that JSON cannot hold": (
        None,
        "[facts]\nx = 9007199254740993",
        f"{FILE}:10: facts.x: not plain JSON: *",
    ),
    "facts that are nested too deeply": (
        None,
        f"[facts]\nx = {'[' * 300}{']' * 300}",
        f"{FILE}:10: facts.x: not plain JSON: *nested more than 150 deep*",
    ),
    "a cassette outside": (
        None,
        f'[cassettes.shout]\npath = "../x"\nsha256 = "{"0" * 64}"',
        f"{FILE}:10: cassettes.shout.path: '../x' leaves the case folder",
    ),
    "a cassette at an absolute path": (
        None,
        f'[cassettes.shout]\npath = "/etc/hosts"\nsha256 = "{"0" * 64}"',
        f"{FILE}:10: cassettes.shout.path: '/etc/hosts' leaves the case folder",
    ),
    "a cassette without digest": (
        None,
        '[cassettes.shout]\npath = "x"',
        f"{FILE}:9: cassettes.shout.sha256: missing",
    ),
}


@pytest.mark.parametrize("what", EDITS)
def test_a_wrong_case_file_is_told_with_line_and_key(bench, what):
    old, new, problem = EDITS[what]
    text = good_text(bench)
    changed = text + new if old is None else text.replace(old, new, 1)
    bench.write("cases/02/case.toml", changed)
    assert_malformed(bench, bench.run(), problem)


def test_every_problem_of_a_file_is_told_at_once(bench):
    text = good_text(bench).replace('"easy"', '"trivial"').replace('"curated"', '"found"')
    bench.write("cases/02/case.toml", text)
    result = bench.run()
    assert_malformed(bench, result, f"{FILE}:5: case.difficulty: *")
    result.stdout.fnmatch_lines([f"{FILE}:6: case.source: *"])


def test_a_missing_file_is_an_item_all_the_same(bench):
    (bench.path / "cases/02/case.toml").unlink()
    result = bench.run()
    assert_malformed(bench, result, f"{FILE}:1: missing; a case is a folder with a case.toml")


def test_bytes_that_are_no_utf8_are_told(bench):
    (bench.path / "cases/02/case.toml").write_bytes(b'[case]\ncase_id = "\xff"\n')
    assert_malformed(bench, bench.run(), f"{FILE}:*utf-8*")


def test_a_byte_order_mark_is_told_or_read_but_loses_nothing(bench):
    text = good_text(bench)
    (bench.path / "cases/02/case.toml").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert_malformed(bench, bench.run(), f"{FILE}:1: *")


def test_fifty_megabytes_are_not_read(bench):
    with (bench.path / "cases/02/case.toml").open("wb") as file:
        file.truncate(50 * 2**20)
    result = bench.run()
    assert_malformed(bench, result, f"{FILE}:1: 52428800 bytes; at most * are read")


@pytest.mark.parametrize("folder", ["input", "expected"])
def test_a_terabyte_of_data_is_not_read(bench, folder):
    path = bench.path / "cases/02" / folder / "big"
    path.touch()
    os.truncate(path, 2**40)
    assert_malformed(bench, bench.run(), f"{FILE}:1: {folder}: more than 1073741824 bytes; *")


def test_a_fifo_is_refused_and_not_waited_for(bench):
    places = {"02": "case.toml", "03": "input/pipe", "04": "expected/pipe"}
    for case_id, place in places.items():
        bench.case(case_id)
        path = bench.path / "cases" / case_id / place
        path.unlink(missing_ok=True)
        os.mkfifo(path)
    result = bench.run(apart=True)
    result.assert_outcomes(passed=1, errors=3)
    for case_id in places:
        line = f"bench/echo/cases/{case_id}/case.toml:1: *no*regular file"
        result.stdout.fnmatch_lines([line])
        assert bench.outcomes()[case_id] == "not_run"
    assert bench.record()["report"]["complete"] is False


def test_a_case_file_that_is_a_folder_is_told(bench):
    (bench.path / "cases/02/case.toml").unlink()
    (bench.path / "cases/02/case.toml").mkdir()
    assert_malformed(bench, bench.run(), f"{FILE}:1: *")


@pytest.mark.parametrize(
    "bomb",
    [
        "a" + ".a" * 20_000 + " = 1",
        "[" + "a." * 20_000 + "a]",
        "x = " + "[" * 20_000 + "]" * 20_000,
        "x = " + "{a=" * 5_000 + "1" + "}" * 5_000,
    ],
    ids=["dotted key", "dotted table", "arrays", "inline tables"],
)
def test_a_nesting_bomb_is_told_in_one_line(bench, bomb):
    bench.write("cases/02/case.toml", f"[facts]\n{bomb}\n")
    assert_malformed(bench, bench.run(), f"{FILE}:*")


def many_keys(bench, count: int):
    lines = "\n".join(f"k{n}.{'.'.join('abcdefgh' * 4)} = {n}" for n in range(count))
    return bench.write("cases/02/case.toml", f"{good_text(bench)}\n[facts]\n{lines}\n")


def cpu_seconds(call) -> float:
    started = time.process_time()
    call()
    return time.process_time() - started


def test_many_keys_of_many_parts_are_read_in_time_that_grows_with_their_number(bench):
    def read(count: int) -> float:
        path = many_keys(bench, count)
        return min(
            cpu_seconds(lambda: read_case_toml(path, task_class="echo", facts_model=None))
            for _ in range(5)
        )

    few, many = read(100), read(400)
    assert many / few < 10  # in proportion it is 4, in square 16
    bench.run("--bench-baseline=none").assert_outcomes(passed=3)


@pytest.mark.parametrize("stray", ["notes.txt", "build", "conftest.py", ".hidden"])
def test_a_stray_file_in_a_case_folder_is_told(bench, stray):
    bench.write(f"cases/02/{stray}", "x")
    assert_malformed(bench, bench.run(), f"{FILE}:1: stray '{stray}' in the case folder; only *")


def test_a_readme_beside_a_case_is_no_stray_file(bench):
    bench.write("cases/02/README.md", "why")
    bench.run().assert_outcomes(passed=3)


@pytest.mark.parametrize("folder", ["input", "expected"])
def test_a_link_that_leaves_the_case_is_told(bench, folder):
    (bench.path / f"cases/02/{folder}/link").symlink_to(bench.root / "pyproject.toml")
    assert_malformed(
        bench, bench.run(), f"{FILE}:1: {folder}: link is a symlink that leaves the folder"
    )


def test_a_link_to_the_folder_itself_is_told_and_not_followed(bench):
    (bench.path / "cases/02/input/loop").symlink_to(bench.path / "cases/02/input")
    assert_malformed(bench, bench.run(), f"{FILE}:1: input: *symlink*")


def test_a_link_in_place_of_a_folder_is_told(bench):
    os.rename(bench.path / "cases/02/input", bench.root / "elsewhere")
    (bench.path / "cases/02/input").symlink_to(bench.root / "elsewhere")
    assert_malformed(
        bench, bench.run(), f"{FILE}:1: input: must be a folder, not a file or a symlink"
    )


def test_a_link_that_stays_inside_is_fine(bench):
    (bench.path / "cases/02/input/again.txt").symlink_to("question.txt")
    bench.run().assert_outcomes(passed=3)


def test_a_case_file_that_is_a_link_out_of_the_case_is_told(bench):
    os.rename(bench.path / "cases/02/case.toml", bench.root / "elsewhere.toml")
    (bench.path / "cases/02/case.toml").symlink_to(bench.root / "elsewhere.toml")
    assert_malformed(bench, bench.run(), f"{FILE}:1: *symlink*")


def test_a_case_without_input_is_told(bench):
    (bench.path / "cases/02/input/question.txt").unlink()
    (bench.path / "cases/02/input").rmdir()
    assert_malformed(bench, bench.run(), f"{FILE}:1: neither input/ nor input-pointer.toml")


@pytest.mark.parametrize("name", ["build", "dist", "venv", "node_modules"])
def test_a_case_of_a_name_that_pytest_skips_does_not_vanish(bench, name):
    bench.case(name)
    result = bench.run()
    result.assert_outcomes(passed=3, errors=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    line = f"bench/echo/cases/{name}/case.toml:2: case.case_id: '{name}' is a folder name that pytest skips"
    result.stdout.fnmatch_lines([line])
    assert bench.outcomes()[name] == "not_run"


@pytest.mark.parametrize(
    "name", [".hidden", "x.egg", "Upper", "with space", "ümlaut", "a[1]", "x" * 65]
)
def test_a_folder_of_no_case_id_is_an_item_that_fails(bench, name):
    bench.case(name)
    result = bench.run()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=3, errors=1)


UNHOLDABLE = {
    "a\nb": "a%0Ab",
    "a\x1b[2J": "a%1B[2J",
    "a\u202eb": "a%E2%80%AEb",
    "a\udcffb": "a%FFb",
    "a::b": "a%3A%3Ab",
}


def rename(bench, name: str):
    os.rename(bench.case("renamed").parent, bench.path / "cases" / name)
    return bench.path / "cases" / name


def assert_refused_alone(bench, result) -> None:
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=3, errors=len(UNHOLDABLE))
    outcomes = bench.outcomes()
    assert {case_id for case_id, found in outcomes.items() if found == "scored"} == {
        "01",
        "02",
        "03",
    }
    assert {case_id for case_id, found in outcomes.items() if found == "not_run"} == {
        *UNHOLDABLE.values()
    }
    for shown in UNHOLDABLE.values():
        line = f"bench/echo/cases/{shown}/case.toml:1: 'a* is no name of a case; *".replace(
            "[", "[[]"
        )
        result.stdout.fnmatch_lines([line])
    assert bench.record()["report"]["complete"] is False
    assert bench.record()["report"]["scope"] == "full"


@pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n2",), marks=pytest.mark.slow)], ids=["serial", "-n2"]
)
def test_a_folder_of_a_name_that_ids_cannot_hold_is_refused_alone(bench, workers):
    for name in UNHOLDABLE:
        rename(bench, name)
    result = bench.run("--junit-xml=junit.xml", *workers, apart=bool(workers))
    assert_refused_alone(bench, result)
    suite = ET.parse(bench.root / "junit.xml").getroot()[0]  # noqa: S314 - our own file
    assert (suite.get("tests"), suite.get("errors")) == ("8", "5")
    assert main(["verify", str(bench.out)]) == 0


def test_such_a_folder_is_refused_alone_where_cases_are_named_by_path(bench):
    for name in UNHOLDABLE:
        rename(bench, name)
    assert_refused_alone(bench, bench.pytest("bench/echo/cases"))


@pytest.mark.slow
def test_such_a_folder_named_by_its_path_is_wrong_use(bench):
    path = rename(bench, "a\udcffb")
    assert bench.pytest(path, apart=True).ret == pytest.ExitCode.USAGE_ERROR


def test_such_a_folder_is_refused_alone_at_the_other_door(bench, monkeypatch, capsys):
    for name in UNHOLDABLE:
        rename(bench, name)
    monkeypatch.chdir(bench.root)
    assert main(["run", "--task-class=echo", "--out=.benchgate"]) == 1
    outcomes = bench.outcomes()
    assert {case_id for case_id, found in outcomes.items() if found == "not_run"} == {
        *UNHOLDABLE.values()
    }
    assert "Traceback" not in capsys.readouterr().err


def test_a_folder_of_the_longest_name_does_not_cost_the_record(bench):
    bench.case("x" * 255)
    result = bench.run()
    result.assert_outcomes(passed=3, errors=1)
    assert bench.record()["report"]["case_count"] == 4


def test_an_id_that_ends_like_a_trial_is_told(bench):
    bench.case("04-t1")
    result = bench.run()
    result.assert_outcomes(passed=3, errors=1)
    line = "bench/echo/cases/04-t1/case.toml:2: case.case_id: '04-t1' ends like the id of a trial: -t<digits>"
    result.stdout.fnmatch_lines([line])
    assert bench.outcomes()["04-t1"] == "not_run"
    assert bench.record()["report"]["complete"] is False


FACTS_MODEL = """
from pydantic import BaseModel, ConfigDict
from benchgate import register_task_class
from .rubric import EchoRubric
from .system import system

class Facts(BaseModel):
    model_config = ConfigDict(extra="forbid")
    package: str

register_task_class("echo", systems={"shout": system}, facts_model=Facts)(EchoRubric)
"""


@pytest.mark.parametrize(
    ("facts", "problem"),
    [
        (
            "[facts]\npackage = 1",
            f"{FILE}:10: facts.package: Input should be a valid string; found 1",
        ),
        ("", f"{FILE}:1: facts.package: missing"),
        (
            '[facts]\npackage = "x"\npakage = 1',
            f"{FILE}:11: facts.pakage: unknown key; did you mean 'package'?",
        ),
    ],
    ids=["wrong", "missing", "unknown"],
)
def test_facts_that_the_class_refuses_are_told_with_their_line(bench, facts, problem):
    bench.write("registration.py", FACTS_MODEL)
    for case_id in ("01", "03"):
        bench.case(case_id, extra='[facts]\npackage = "x"')
    bench.case("02", extra=facts)
    assert_malformed(bench, bench.run(), problem)


def test_a_facts_model_that_raises_fails_the_case_alone(bench):
    hook = """
    def model_post_init(self, _):
        if self.package == "bad":
            raise RuntimeError("model broke")
"""
    field = "    package: str\n"
    bench.write("registration.py", FACTS_MODEL.replace(field, field + hook))
    for case_id in ("01", "03"):
        bench.case(case_id, extra='[facts]\npackage = "x"')
    bench.case("02", extra='[facts]\npackage = "bad"')
    assert_malformed(bench, bench.run(), f"{FILE}:*model broke*")


# A shared input


def point(bench, path: str, sha256: str) -> None:
    (bench.path / "cases/02/input/question.txt").unlink()
    (bench.path / "cases/02/input").rmdir()
    bench.write("inputs/tree/question.txt", "q02")
    bench.write("cases/02/input-pointer.toml", f'path = "{path}"\nsha256 = "{sha256}"\n')


def test_a_pointer_to_a_shared_input_is_followed(bench):
    from benchgate.wire.files import tree_digest

    bench.write("inputs/tree/question.txt", "q02")
    point(bench, "tree", tree_digest(bench.path / "inputs/tree"))
    bench.run().assert_outcomes(passed=3)


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("tree", "input-pointer.toml: sha256 differs from that of inputs/tree"),
        (
            "../cases/01/input",
            "input-pointer.toml: path '../cases/01/input' is no folder inside inputs/",
        ),
        ("/etc", "input-pointer.toml: path '/etc' is no folder inside inputs/"),
        ("other", "input-pointer.toml: path 'other' is no folder inside inputs/"),
        ("a/..", "input-pointer.toml: path 'a/..' is no folder inside inputs/"),
    ],
    ids=["changed", "escaping", "absolute", "missing", "itself"],
)
def test_a_wrong_pointer_is_told(bench, path, problem):
    point(bench, path, "0" * 64)
    assert_malformed(bench, bench.run(), f"{FILE}:1: {problem}")


# A malformed case is never filtered away


@pytest.mark.parametrize(
    "arguments",
    [("-m", "bench_case"), ("-k", "02"), ("-k", "echo")],
    ids=["-m bench_case", "-k id", "-k class"],
)
def test_a_malformed_case_is_selected_like_any_other(bench, arguments):
    bench.write("cases/02/case.toml", "[case\n")
    result = bench.run(*arguments)
    assert result.parseoutcomes()["errors"] == 1
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([f"{FILE}:1: *"])


def test_selecting_by_what_a_malformed_case_cannot_say_is_a_selection(bench):
    bench.write("cases/02/case.toml", "[case\n")
    result = bench.run("-m", "bench_case(difficulty='easy')")
    result.assert_outcomes(passed=2, deselected=1)
    assert bench.selected()["scope"] == "selected"
    assert "02" not in bench.outcomes(bench.selected())


def test_collect_only_lists_a_malformed_case_and_runs_nothing(bench):
    bench.write("cases/02/case.toml", "[case\n")
    result = bench.run("--co", "-q")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines([f"bench/echo/cases/0{n}/case.toml::0{n}" for n in (1, 2, 3)])
    assert not (bench.out / "runs").exists()


@pytest.mark.slow
def test_a_malformed_case_under_xdist_is_told_and_recorded(bench):
    bench.write("cases/02/case.toml", "[case\n")
    result = bench.run("-n2", apart=True)
    assert_malformed(bench, result, f"{FILE}:1: *")


def test_a_class_whose_cases_are_all_malformed_is_incomplete(bench):
    for case_id in ("01", "02", "03"):
        bench.write(f"cases/{case_id}/case.toml", "[case\n")
    result = bench.run()
    result.assert_outcomes(errors=3)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert set(bench.outcomes().values()) == {"not_run"}
    assert bench.record()["report"]["complete"] is False
