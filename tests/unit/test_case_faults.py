"""Whatever can be wrong with a case is told with its file, line and key, all of it at once."""

from __future__ import annotations

import cProfile
import os
from fnmatch import fnmatchcase
from threading import Thread

import pytest
from pydantic import BaseModel, ConfigDict

from benchgate.errors import BenchCaseLoadError
from benchgate.loader.case_folder import read_case
from benchgate.loader.case_toml import read_case_toml
from benchgate.wire.files import tree_digest

FILE = "bench/echo/cases/02/case.toml"


def faults(echo, case_id="02", **settings) -> list[str]:
    """Return the lines that a case is refused with."""
    with pytest.raises(BenchCaseLoadError) as error:
        read_case(echo.path / "cases" / case_id, task_class="echo", **settings)
    return str(error.value).replace(f"{echo.root}/", "").splitlines()


def is_told(echo, line: str, **settings) -> bool:
    pattern = line.replace("[", "[[]")
    return any(fnmatchcase(fault, pattern) for fault in faults(echo, **settings))


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
    "NaN": (
        "[case]",
        "[case]\ntimeout_seconds = nan",
        f"{FILE}:2: case.timeout_seconds: *; found nan",
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
    "a cassette without digest": (
        None,
        '[cassettes.shout]\npath = "x"',
        f"{FILE}:9: cassettes.shout.sha256: missing",
    ),
}


@pytest.mark.parametrize("what", EDITS)
def test_a_wrong_case_file_is_told_with_line_and_key(echo, what):
    old, new, line = EDITS[what]
    text = echo.case("02").read_text()
    echo.write("cases/02/case.toml", text + new if old is None else text.replace(old, new, 1))
    assert is_told(echo, line)


def test_every_problem_of_a_file_is_told_at_once(echo):
    text = echo.case("02").read_text().replace('"easy"', '"trivial"').replace('"curated"', '"x"')
    echo.write("cases/02/case.toml", text)
    first, second = faults(echo)
    assert first.startswith(f"{FILE}:5: case.difficulty: ")
    assert second.startswith(f"{FILE}:6: case.source: ")


# Files


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b'[case]\ncase_id = "\xff"\n', f"{FILE}:*utf-8*"),
        (b"\xef\xbb\xbf[case]\n", f"{FILE}:1: *"),
    ],
    ids=["no UTF-8", "a byte order mark"],
)
def test_bytes_that_are_no_text_are_told(echo, content, line):
    (echo.path / "cases/02/case.toml").write_bytes(content)
    assert is_told(echo, line)


def test_fifty_megabytes_are_not_read(echo):
    os.truncate(echo.path / "cases/02/case.toml", 50 * 2**20)
    assert is_told(echo, f"{FILE}:1: 52428800 bytes; at most * are read")


@pytest.mark.parametrize("place", ["case.toml", "input/pipe", "expected/pipe"])
def test_a_fifo_is_refused_and_not_waited_for(echo, place):
    path = echo.path / "cases/02" / place
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    found: list[str] = []
    reads = Thread(target=lambda: found.extend(faults(echo)), daemon=True)
    reads.start()
    reads.join(20)
    assert any(fnmatchcase(fault, f"{FILE}:1: *no*regular file*") for fault in found)


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
def test_a_nesting_bomb_is_told_in_one_line(echo, bomb):
    echo.write("cases/02/case.toml", f"[facts]\n{bomb}\n")
    (fault,) = faults(echo)
    assert fault.startswith(f"{FILE}:")


def test_many_keys_of_many_parts_are_read_in_steps_that_grow_with_their_number(echo):
    text = echo.case("02").read_text()

    def calls(count: int) -> int:
        keys = "\n".join(f"k{n}.{'.'.join('abcdefgh' * 4)} = {n}" for n in range(count))
        path = echo.write("cases/02/case.toml", f"{text}\n[facts]\n{keys}\n")
        # Seconds would depend on what else the machine does.
        profile = cProfile.Profile()
        profile.runcall(read_case_toml, path, task_class="echo", facts_model=None)
        return sum(entry.callcount for entry in profile.getstats())

    few = calls(50)
    many = calls(200)
    assert many / few < 5  # in proportion it is 4, in square 16


# Folders


@pytest.mark.parametrize("stray", ["notes.txt", "build", "conftest.py", ".hidden"])
def test_a_stray_file_in_a_case_folder_is_told(echo, stray):
    echo.write(f"cases/02/{stray}", "x")
    assert is_told(echo, f"{FILE}:1: stray '{stray}' in the case folder; only *")


@pytest.mark.parametrize("folder", ["input", "expected"])
def test_a_link_that_leaves_the_case_is_told(echo, folder):
    (echo.path / f"cases/02/{folder}/link").symlink_to(echo.path / "rubric.py")
    assert is_told(echo, f"{FILE}:1: {folder}: link is a symlink that leaves the folder")


def test_a_link_to_the_folder_itself_is_told_and_not_followed(echo):
    (echo.path / "cases/02/input/loop").symlink_to(echo.path / "cases/02/input")
    assert is_told(echo, f"{FILE}:1: input: *symlink*")


def test_a_link_in_place_of_a_folder_is_told(echo):
    os.rename(echo.path / "cases/02/input", echo.root / "elsewhere")
    (echo.path / "cases/02/input").symlink_to(echo.root / "elsewhere")
    assert is_told(echo, f"{FILE}:1: input: must be a folder, not a file or a symlink")


def test_a_case_file_that_is_a_link_out_of_the_case_is_told(echo):
    os.rename(echo.path / "cases/02/case.toml", echo.root / "elsewhere.toml")
    (echo.path / "cases/02/case.toml").symlink_to(echo.root / "elsewhere.toml")
    assert is_told(echo, f"{FILE}:1: *symlink*")


def test_what_stays_inside_and_a_readme_are_fine(echo):
    (echo.path / "cases/02/input/again.txt").symlink_to("question.txt")
    echo.write("cases/02/README.md", "why")
    assert read_case(echo.path / "cases/02", task_class="echo")[0].case_id == "02"


def test_a_case_without_input_is_told(echo):
    (echo.path / "cases/02/input/question.txt").unlink()
    (echo.path / "cases/02/input").rmdir()
    assert is_told(echo, f"{FILE}:1: neither input/ nor input-pointer.toml")


@pytest.mark.parametrize("name", ["build", "dist", "venv", "node_modules"])
def test_a_name_that_pytest_skips_is_told(echo, name):
    echo.case(name)
    line = f"*/{name}/case.toml:2: case.case_id: '{name}' is a folder name that pytest skips"
    assert is_told(echo, line, case_id=name)


@pytest.mark.parametrize("name", [".hidden", "x.egg", "Upper", "with space", "ümlaut", "a[1]"])
def test_a_name_that_is_no_id_is_told(echo, name):
    echo.case(name)
    assert faults(echo, case_id=name)


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
        (".", "input-pointer.toml: path '.' is no folder inside inputs/"),
        ("a/..", "input-pointer.toml: path 'a/..' is no folder inside inputs/"),
    ],
    ids=["changed", "escaping", "absolute", "missing", "itself", "itself again"],
)
def test_a_wrong_pointer_is_told(echo, path, problem):
    (echo.path / "cases/02/input/question.txt").unlink()
    (echo.path / "cases/02/input").rmdir()
    echo.write("inputs/tree/question.txt", "q02")
    echo.write("cases/02/input-pointer.toml", f'path = "{path}"\nsha256 = "{"0" * 64}"\n')
    assert is_told(echo, f"{FILE}:1: {problem}")


def test_a_right_pointer_is_followed(echo):
    (echo.path / "cases/02/input/question.txt").unlink()
    (echo.path / "cases/02/input").rmdir()
    echo.write("inputs/tree/question.txt", "q02")
    digest = tree_digest(echo.path / "inputs/tree")
    echo.write("cases/02/input-pointer.toml", f'path = "tree"\nsha256 = "{digest}"\n')
    case, _ = read_case(echo.path / "cases/02", task_class="echo")
    assert (case.input_path / "question.txt").read_text() == "q02"


class Facts(BaseModel):
    model_config = ConfigDict(extra="forbid")
    package: str


@pytest.mark.parametrize(
    ("facts", "problem"),
    [
        ("[facts]\npackage = 1", "10: facts.package: Input should be a valid string; found 1"),
        ("", "1: facts.package: missing"),
        ('[facts]\npackage = "x"\npakage = 1', "11: facts.pakage: unknown key; did you mean *"),
    ],
    ids=["wrong", "missing", "unknown"],
)
def test_facts_that_the_class_refuses_are_told_with_their_line(echo, facts, problem):
    echo.case("02", extra=facts)
    assert is_told(echo, f"{FILE}:{problem}", facts_model=Facts)
