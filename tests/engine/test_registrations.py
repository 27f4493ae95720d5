"""What registers a class is held to its form, and a wrong one is told with its file before anything is written."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest

from benchgate.cli import main
from benchgate.errors import EvalError

IMPORTS = "from benchgate import register_task_class\nfrom .rubric import EchoRubric\n"
REGISTRATIONS = {
    "another name": (
        'register_task_class("ecco")(EchoRubric)',
        "registers 'ecco'; expected 'echo' and nothing else",
    ),
    "nothing": ("pass", "registers nothing; expected 'echo' and nothing else"),
    "one more": (
        'register_task_class("echo")(EchoRubric)\nregister_task_class("more")(EchoRubric)',
        "registers 'echo', 'more'; expected *",
    ),
    "the same twice": (
        'register_task_class("echo")(EchoRubric)\nregister_task_class("echo")(EchoRubric)',
        "*'echo' is registered twice*",
    ),
    "what is no rubric": (
        'register_task_class("echo")(object)',
        "*is no rubric: it has no score() method*",
    ),
    "a name of no name's form": (
        'register_task_class("Echo!")(EchoRubric)',
        "*expected lower-case words joined by '-'*",
    ),
    "a system that cannot be called": (
        'register_task_class("echo", systems={"a": 1})(EchoRubric)',
        "*system 'a' has call = 1; expected module:attr, *",
    ),
    "a default that is no system": (
        'register_task_class("echo", default_system="b")(EchoRubric)',
        "*default system 'b' is not one of *",
    ),
    "an error": ('raise ValueError("boom")', "ValueError: boom (registration.py:3)"),
    "an exit": ("import sys; sys.exit(0)", "SystemExit: 0 (registration.py:3)"),
    "a skip": ('import pytest; pytest.skip("no", allow_module_level=True)', "Skipped: no*"),
    "a module that is not there": (
        "import not_there",
        "ModuleNotFoundError: No module named 'not_there'*",
    ),
    "no Python": ("def", "SyntaxError: *"),
}


@pytest.mark.parametrize("what", REGISTRATIONS)
def test_a_wrong_registration_is_told_with_its_file(echo, capsys, what):
    body, words = REGISTRATIONS[what]
    echo.write("registration.py", f"{IMPORTS}{body}\n")
    assert main(["run", "--task-class=echo", f"--bench-root={echo.root / 'bench'}"]) == 2
    said = capsys.readouterr().err.splitlines()
    assert any(fnmatchcase(line, f"*bench/echo/registration.py: {words}") for line in said)


def refused(echo, words: str) -> None:
    """Whoever runs the class is told so, before anything is written."""
    with pytest.raises(EvalError) as raised:
        echo.engine()
    assert words in str(raised.value)
    assert not (echo.out / "runs").exists()


def test_a_missing_registration_is_wrong_use(echo):
    (echo.path / "registration.py").unlink()
    refused(echo, "bench/echo/registration.py: missing; it registers the task class 'echo'")


def test_a_missing_rubric_file_is_wrong_use(echo):
    (echo.path / "rubric.py").rename(echo.path / "scoring.py")
    echo.write(
        "registration.py",
        (echo.path / "registration.py").read_text().replace(".rubric", ".scoring"),
    )
    refused(echo, "bench/echo/rubric.py: missing; it defines the rubric of the class")


def test_a_rubric_in_the_registration_is_wrong_use(echo):
    echo.write(
        "registration.py",
        """
        from benchgate import BenchScore, register_task_class

        @register_task_class("echo", systems={"a": lambda case: {}})
        class Rubric:
            def score(self, case, output, /):
                return BenchScore(passed=True, score=1.0)
        """,
    )
    refused(
        echo,
        "score() of Rubric is defined in registration.py, which the rubric's digest does not cover",
    )


def test_a_rubric_that_cannot_be_made_is_wrong_use(echo):
    echo.write(
        "rubric.py",
        (echo.path / "rubric.py").read_text()
        + "\n    def __init__(self): raise ValueError('boom')\n",
    )
    refused(echo, "Registered() failed: ValueError: boom")


def test_a_score_that_is_no_function_is_wrong_use(echo):
    echo.write("rubric.py", "class EchoRubric:\n    score = print\n")
    refused(echo, "registration.py: score")


def test_a_helper_of_the_rubric_is_part_of_its_digest_and_a_system_is_not(echo):
    echo.write("helpers.py", "LIMIT = 1\n")
    echo.rubric("from .helpers import LIMIT")
    echo.engine()
    first = echo.record()["report"]["digests"]["rubric"]
    echo.system("# changed")
    echo.engine()
    assert echo.record()["report"]["digests"]["rubric"] == first
    echo.write("helpers.py", "LIMIT = 2\n")
    echo.engine()
    assert echo.record()["report"]["digests"]["rubric"] != first
