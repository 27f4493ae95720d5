"""``benchgate check``: what it prints where, and how it exits."""

from __future__ import annotations

import pytest

from benchgate.cli import main


@pytest.fixture
def check(bench, capsys):
    """Run the command over a bench that holds the contract; return status, stdout and stderr."""
    bench.write("README.md", "")
    bench.write("tests/test_rubric.py", "")
    for number in range(4, 11):
        bench.case(f"{number:02}")

    def run(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        try:
            status = main(["check", *map(str, arguments)])
        except SystemExit as error:  # argparse
            status = error.code
        return status, *capsys.readouterr()

    return run


@pytest.fixture
def second(bench):
    """A second class, with one problem: it has no cases."""
    for path in ("rubric.py", "failure_modes.toml", "README.md", "tests/test_rubric.py"):
        target = bench.root / "bench/alpha" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    text = 'import benchgate\n@benchgate.register_task_class("alpha")\nclass A: ...\n'
    (bench.root / "bench/alpha/registration.py").write_text(text)
    (bench.root / "bench/alpha/cases").mkdir()


def test_a_bench_that_holds(check):
    assert check() == (0, "echo: 10 cases, valid\n", "")


def test_problems_are_sorted_lines_with_their_place_as_given(bench, check):
    bench.write("cases/02/case.toml", "[case\n")
    bench.write("cases/01/notes.txt", "")
    bench.write("notes.txt", "")
    status, out, err = check()
    assert (status, out) == (1, "echo: 10 cases, 3 problems\n")
    places = [line.partition(": ")[0] for line in err.splitlines()]
    assert places == [
        "bench/echo/cases/01/case.toml:1",
        "bench/echo/cases/02/case.toml:1",
        "bench/echo/notes.txt:1",
    ]


def test_a_seed_bench_says_so(bench, check):
    old, new = "systems=", 'min_cases_for_promotion={"bronze": 3}, systems='
    path = bench.path / "registration.py"
    path.write_text(path.read_text().replace(old, new))
    assert check() == (0, "echo: 10 cases, small bench, stays at bronze, valid\n", "")


def test_without_a_name_all_classes_are_checked(second, check):
    status, out, err = check()
    assert status == 1
    assert out == "alpha: 0 cases, 1 problem\necho: 10 cases, valid\n"
    assert err.startswith("bench/alpha/registration.py:2: 0 cases; expected at least 10")


def test_only_the_named_classes_are_checked(second, check):
    assert check("echo", "echo") == (0, "echo: 10 cases, valid\n", "")


def test_an_unknown_class_is_named_and_the_others_are_checked(second, check):
    status, out, err = check("ecco", "echo")
    assert (status, out) == (1, "echo: 10 cases, valid\n")
    assert (
        err
        == "unknown task class 'ecco'; expected bench/ecco/registration.py; did you mean 'echo'? known: alpha, echo\n"
    )


def test_another_bench_root(bench, check):
    elsewhere = bench.root / "elsewhere"
    (bench.root / "bench").rename(elsewhere)
    assert check("--bench-root", elsewhere)[:2] == (0, "echo: 10 cases, valid\n")
    (elsewhere / "echo/README.md").unlink()
    assert check("--bench-root", "elsewhere")[2].startswith("elsewhere/echo/README.md:1: missing; ")


@pytest.mark.parametrize("root", ["nowhere", "bench/echo/rubric.py", "bench/echo/cases"])
def test_a_bench_root_that_holds_no_class(check, root):
    status, out, err = check("--bench-root", root)
    assert (status, out) == (2, "")
    assert err.startswith(f"{root}: ")
    assert check("--bench-root", root, "echo")[0] in {1, 2}


def test_an_unknown_option(check):
    assert check("--fix")[0] == 2


def test_a_registration_that_raises_is_read_all_the_same(bench, check):
    path = bench.path / "registration.py"
    path.write_text(path.read_text() + "\nraise SystemExit(3)\n")
    assert check()[0] == 0


def test_a_name_of_two_lines_stays_on_one(bench, check):
    bench.write("a\nb.txt", "")
    assert check()[2].startswith("bench/echo/a\\nb.txt:1: stray file; ")


def test_the_rules_hold_for_relative_paths(bench, check):
    bench.write("more.py", "import openai\n")
    bench.rubric("from . import more")
    places = [line.partition(": ")[0] for line in check()[2].splitlines()]
    assert places == ["bench/echo/more.py:1"]


def test_a_case_that_may_give_its_answer_away_is_a_warning(bench, check):
    answer = "an answer that nobody would write by chance"
    bench.write("cases/01/expected/answer.txt", answer)
    bench.write("cases/01/input/notes.txt", f"see\n{answer}")
    status, out, err = check()
    assert (status, out) == (0, "echo: 10 cases, 1 warning, valid\n")
    assert err.startswith(
        "warning: bench/echo/cases/01/input/notes.txt:2: has the answer 'an answer"
    )
    assert err.endswith('; take it out, or say leak_ok = "why" in case.toml\n')
