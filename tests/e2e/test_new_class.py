"""``benchgate new class``: what it makes runs, by the commands that it prints; it touches nothing that exists."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchgate.cli import main
from tests.conftest import PLAIN

SCRIPTS = Path(sys.executable).parent


@pytest.fixture
def new_class(pytester, capsys):
    """Run the command in an empty folder; return status, stdout and stderr."""

    def run(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        try:
            status = main(["new", "class", *arguments])
        except SystemExit as error:  # argparse
            status = error.code
        return status, *capsys.readouterr()

    return run


def entries(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def test_the_class_is_valid_and_runs(new_class, pytester, capsys):
    assert new_class("support-mail")[0] == 0
    assert main(["check"]) == 0
    assert capsys.readouterr().out == (
        "support-mail: 3 cases, small bench, stays at bronze, valid\n"
    )
    pytester.runpytest(*PLAIN, "--bench=support-mail").assert_outcomes(passed=3)
    assert entries(pytester.path / "bench")[:2] == ["support-mail", "support-mail/README.md"]


def test_one_of_its_systems_is_better(new_class, capsys):
    new_class("mail")
    weaker = ["--system=current", "--baseline=none", "--out=.benchgate"]
    assert main(["run", "--task-class=mail", *weaker]) == 1
    assert '"passed_count": 1' in capsys.readouterr().out
    assert main(["pin", "1", "--yes", "--reason=the weaker one is where it begins"]) == 0
    assert main(["run", "--task-class=mail", "--policy=min_cases=3"]) == 10
    out = capsys.readouterr().out
    assert '"passed_count": 3' in out
    assert "block_severity" not in out.splitlines()[-1].partition('"decision"')[2]


def test_the_tests_of_two_new_classes_run_in_one_session(new_class, pytester):
    new_class("mail")
    new_class("other-mail")
    pytester.runpytest(*PLAIN, "bench").assert_outcomes(passed=2 * (7 + 3))


def test_the_rubric_takes_any_answer(new_class, pytester):
    new_class("mail")
    pytester.makepyfile(
        """
        import pytest
        from pathlib import Path
        from benchgate.testing import load_cases, loaded_class

        CLASS = Path("bench/mail").absolute()
        WRONG = [None, "3", 3.5, True, [], {"a": 1}, -1, 10**15]

        @pytest.mark.parametrize("wrong", WRONG)
        def test_any(wrong):
            with loaded_class(CLASS) as bench:
                for case in load_cases(CLASS).values():
                    found = bench.rubric.score(case, {"count": wrong, "item": wrong})
                    assert 0 <= found.score < 1
                    assert not found.passed
        """
    )
    pytester.runpytest(*PLAIN, "test_the_rubric_takes_any_answer.py").assert_outcomes(passed=8)


@pytest.mark.slow
def test_the_printed_commands_do_what_they_say(new_class, pytester):
    (pytester.path / "pytest.ini").unlink(missing_ok=True)
    lines = new_class("mail")[1].splitlines()
    commands = [line for line in lines[2:] if not line.startswith("#")]
    environment = {**os.environ, "PATH": f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}"}
    done = [
        subprocess.run(
            ["bash", "-c", command], env=environment, capture_output=True, text=True, check=False
        )
        for command in commands
    ]
    assert [one.returncode for one in done] == [0, 0, 0, 1, 0, 10, 0], [one.stderr for one in done]
    assert "HOLD      " in done[5].stdout
    assert "3 passed" in done[5].stdout
    assert (pytester.path / "bench/mail/cases/004-next/case.toml").exists()


def test_who_has_a_root_is_not_told_to_make_one(new_class, pytester):
    (pytester.path / "pyproject.toml").touch()
    assert "pytest.ini" not in new_class("mail")[1]


def test_another_bench_root(new_class, pytester):
    status, out, _ = new_class("mail", "--bench-root=my benches")
    assert status == 0
    assert (
        "benchgate run --task-class mail --bench-root 'my benches' --out .benchgate --system=current"
    ) in out
    assert main(["check", "--bench-root=my benches"]) == 0


@pytest.mark.parametrize(
    ("name", "status", "message"),
    [
        ("Mail", 2, "'Mail' names no class; expected lower-case words joined by '-'"),
        ("../mail", 2, "names no class"),
        ("", 2, "names no class"),
        ("all", 2, "names no class"),
        ("class", 2, "names no class"),
        ("there", 1, "bench/there: exists already\n"),
        ("a-file", 1, "bench/a-file: exists already\n"),
        ("two_words", 1, "names must differ, also after '-' is read as '_'"),
    ],
)
def test_what_cannot_be_a_new_class_is_refused(new_class, pytester, name, status, message):
    new_class("two-words")
    (pytester.path / "bench/there").mkdir()
    (pytester.path / "bench/a-file").touch()
    before = entries(pytester.path)
    found, out, err = new_class(name)
    assert (found, out) == (status, "")
    assert message in err
    assert entries(pytester.path) == before


def test_a_failure_leaves_nothing_behind(new_class, pytester, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device", "rubric.py")

    monkeypatch.setattr(Path, "write_text", full)
    status, _, err = new_class("mail")
    assert (status, err) == (2, "rubric.py: cannot be written: No space left on device\n")
    assert entries(pytester.path) == []
