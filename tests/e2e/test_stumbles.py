"""What a newcomer gets wrong on the command line is told so that the next attempt is right."""

from __future__ import annotations

import json
import shutil

import pytest

from benchgate.cli import main


@pytest.fixture
def command(bench, capsys):
    """Run a command in the folder of a toy bench; return status, stdout and stderr."""

    def run(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        try:
            status = main(list(arguments))
        except SystemExit as error:  # argparse
            status = error.code
        return status, *capsys.readouterr()

    return run


def run_class(command, *arguments: str) -> None:
    assert command("run", "--task-class=echo", "--out=.benchgate", *arguments)[0] in {0, 1}


def test_runs_of_an_unknown_class(command):
    run_class(command)
    status, out, err = command("runs", "--task-class=ecko")
    assert (status, out) == (1, "")
    assert (
        err
        == "unknown task class 'ecko'; expected .benchgate/runs/ecko; did you mean 'echo'? known: echo\n"
    )


def test_no_runs_at_all(command):
    assert command("runs") == (1, "", ".benchgate: there is no full run\n")


def left(bench):
    folder = bench.out / "runs/echo/incomplete-20260101T000000Z-7"
    folder.mkdir(parents=True)
    return folder.name


@pytest.mark.parametrize("option", ["--require-complete", "--require-promote"])
def test_an_incomplete_newest_run_is_valid(bench, command, option):
    bench.rubric('if case.case_id == "02":\n    raise ValueError("no")')
    run_class(command)
    status, out, err = command("verify", option)
    assert status == 1
    assert out.startswith("echo: 1 valid record; newest: reject, incomplete\n  head ")
    assert ".benchgate/runs/echo: the newest run, record 1, is incomplete\n" in err
    assert ("echo: not promoted: record 1 says reject" in err) is (option == "--require-promote")


def test_a_fault_is_still_not_valid_where_completeness_is_asked(bench, command):
    run_class(command)
    left(bench)
    (bench.folder() / "cases/01.json").unlink()
    status, out, err = command("verify", "--require-complete")
    assert status == 1
    assert out == "echo: not valid; first fault: record 1\n"
    assert "a session began and left no record" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "--taks-class=echo"), "unknown option --taks-class; did you mean --task-class?"),
        (("verify", "--require-promot-e"), "unknown option --require-promot-e; did you mean --req"),
        (("pin", "1", "--xyzzy"), "benchgate pin: error: unknown option --xyzzy\n"),
    ],
)
def test_an_option_that_is_misspelt(command, arguments, message):
    status, out, err = command(*arguments)
    assert (status, out) == (2, "")
    assert message in err


def test_what_is_no_option_is_left_alone(bench, command):
    run_class(command, "--task-cl=echo", "--cases=0*")
    assert command("check", "--", "--taks-class")[0] == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "test = auto",
            'gate.toml:2: Invalid value (at line 2, column 8); text needs quotes: "auto"',
        ),
        ("bands=upstream # why", 'text needs quotes: "upstream"'),
        ("safety = True", "(at line 2, column 10)\n"),
        ("alpha = ", "(at line 2, column 9)\n"),
    ],
)
def test_a_word_without_quotes(bench, command, line, message):
    bench.write("gate.toml", f"# thresholds\n{line}\n")
    status, _, err = command("run", "--task-class=echo")
    assert status == 2
    assert message in err


@pytest.fixture
def vectors(bench):
    def write(before, after):
        options = []
        for side, samples in (("baseline", before), ("trained", after)):
            (bench.root / f"{side}.json").write_text(json.dumps(samples))
            options.append(f"--{side}-samples={side}.json")
        return ["proof", *options, "--run-id=r"]

    return write


def test_sides_with_other_cases_are_not_weighed_and_the_way_out_is_named(command, vectors):
    given = vectors({"a": 0.1, "b": 0.2, "c": 0.3}, {"a": 0.3, "b": 0.4, "d": 0.6})
    status, out, err = command(*given)
    assert (status, out) == (10, "proof_status=fail\n")
    assert "p_value_above_threshold" not in err
    step = "run the missing cases, or count each as the worst: --policy missing=worst "
    step += "--policy 'score_range=[LO, HI]'"
    assert step in " ".join(err.split())
    assert (
        "p_value_above_threshold"
        in command(*given, "--policy=missing=worst", "--policy=score_range=[0,1]")[2]
    )


def test_sides_of_which_one_has_no_ids_have_no_missing_cases(command, vectors):
    err = command(*vectors([0.1, 0.2, 0.3], {"a": 0.3, "b": 0.4, "d": 0.6}))[2]
    assert "only the candidate has case ids" in err
    assert "--missing" not in err


def test_one_case_is_no_cases(bench, command):
    for case_id in ("02", "03"):
        shutil.rmtree(bench.path / f"cases/{case_id}")
    assert ": 1 case; expected at least 10" in command("check")[2]
    bench.system('return {"answer": "no"}')
    run_class(command, "--baseline=none", "--trials=2")
    bench.run("--bench-out=other").stdout.fnmatch_lines(["FAILED 1 of 1 case failed"])
    (bench.root / "one.json").write_text("[0.5]")
    (bench.root / "two.json").write_text("[0.6]")
    samples = ["--baseline-samples=one.json", "--trained-samples=two.json", "--run-id=r"]
    assert "one.json: 1 value; at least 2 are needed" in command("proof", *samples)[2]
