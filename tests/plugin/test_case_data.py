"""What lies in ``input/`` and ``expected/`` of a case is data: never imported, never collected."""

from __future__ import annotations

import pytest

BOMB = "raise RuntimeError('planted code ran')\n"


@pytest.fixture
def planted(bench):
    """Each case carries a project of its own, whose Python files must not be imported."""
    for case_id in ("01", "02"):
        for folder in ("input", "expected", "input/deep/tests"):
            for name in ("conftest.py", "test_planted.py", "__init__.py"):
                bench.write(f"cases/{case_id}/{folder}/{name}", BOMB)
    bench.write("cases/01/input/bench/echo/cases/01/case.toml", "[case]\n")
    bench.write("cases/01/input/bench/echo/cases/01/conftest.py", BOMB)
    return bench


EVERY_FILE = (
    "--import-mode=importlib",
    "--doctest-modules",
    "-onorecursedirs=",
    "-opython_files=*.py",
)
"""Each of them has pytest look at more files, or import them in another way."""
PLANTED = [
    (("--bench=echo",), 3),
    (("bench",), 3),
    (("bench/echo/cases",), 3),
    (("bench/echo/cases/01/case.toml::01",), 1),
    (("bench/echo/cases/01", "bench/echo/cases/02"), 2),
    (("--bench=echo", "bench/echo/cases/02/case.toml::02"), 1),
    (("--bench=all", *EVERY_FILE), 3),
    (("bench/echo/cases", *EVERY_FILE), 3),
]


@pytest.mark.parametrize(
    ("arguments", "passed"), PLANTED, ids=[" ".join(row[0]) for row in PLANTED]
)
def test_planted_files_are_not_imported(planted, arguments, passed):
    result = planted.pytest(*arguments)
    result.assert_outcomes(passed=passed)
    assert result.ret == pytest.ExitCode.OK
    result.stdout.no_fnmatch_line("*planted code ran*")


@pytest.mark.parametrize("arguments", [(), (".", "--doctest-modules")], ids=["plain", "doctest"])
def test_planted_files_are_not_imported_by_a_run_that_asks_for_no_bench(planted, arguments):
    planted.pytester.makepyfile(test_plain="def test_plain(): pass")
    planted.write("system.py", "")  # a bench's own modules are no doctests of the project
    result = planted.pytest(
        "--ignore=bench/echo/registration.py", "--ignore=bench/echo/rubric.py", *arguments
    )
    assert result.ret == pytest.ExitCode.OK
    result.stdout.no_fnmatch_line("*planted code ran*")
    assert not planted.out.exists()


def test_planted_files_are_not_imported_from_within_a_case(planted, monkeypatch):
    planted.pytester.makeini("[pytest]\n")
    monkeypatch.chdir(planted.path / "cases/01")
    result = planted.pytest("case.toml::01")
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*planted code ran*")


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ((), "input/"),
        (("--bench=echo",), "expected"),
        ((), "input/test_planted.py::test_x"),
        ((), "../01/input/deep/tests"),
        ((), "input/bench/echo/cases/01"),
    ],
)
def test_a_path_into_the_data_of_a_case_is_wrong_use(planted, options, path):
    result = planted.pytest(*options, f"bench/echo/cases/01/{path}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*the data of a case, never collected; run the case: *case.toml"])
    result.stderr.no_fnmatch_line("*planted code ran*")


def test_a_path_into_the_data_of_a_case_is_wrong_use_from_another_folder(planted, monkeypatch):
    monkeypatch.chdir(planted.path / "cases/01/input")
    result = planted.pytest("test_planted.py")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.no_fnmatch_line("*planted code ran*")


@pytest.mark.parametrize(
    "arguments",
    [("--confcutdir=bench/echo/cases/01/input",), ("--pyargs", "bench/echo/cases/01/input")],
    ids=["confcutdir", "pyargs"],
)
def test_no_option_makes_the_data_importable(planted, arguments):
    result = planted.run(*arguments)
    result.stdout.no_fnmatch_line("*planted code ran*")
    result.stderr.no_fnmatch_line("*planted code ran*")


def test_a_conftest_beside_a_case_file_is_not_imported(bench):
    bench.write("cases/01/conftest.py", BOMB)
    result = bench.run()
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.no_fnmatch_line("*RuntimeError*")
    result.stdout.fnmatch_lines(
        ["bench/echo/cases/01/case.toml:1: stray 'conftest.py' in the case folder;*"]
    )
