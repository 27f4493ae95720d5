"""``benchgate run --system=floor:empty``: the floor of a class from the shell."""

from __future__ import annotations

import json

import pytest

from benchgate.cli import main

RUBRIC = """
answer = output.get("answer", "")
return BenchScore(passed=answer == "q01", score=0.4, safety_penalty=0.0)
"""


@pytest.fixture
def command(bench, capsys):
    bench.rubric(RUBRIC)
    bench.case("02", disposition='"negative"')

    def run(name, *words):
        capsys.readouterr()
        try:
            status = main(
                ["run", "--task-class=echo", f"--system={name}", "--out=.benchgate", *words]
            )
        except SystemExit as error:
            status = error.code
        out, err = capsys.readouterr()
        return status, out.splitlines(), err.splitlines()

    return run


def test_it_ends_well_and_says_what_it_got_first(bench, command):
    status, out, err = command("floor:empty")
    assert status == 0
    assert (
        err[0] == "floor     floor:empty scores 0.400 over 2 positive cases and passes none of them"
    )
    line = json.loads(out[-1])
    assert line["folder"] == str(bench.out / "runs/echo/floor/empty")
    assert (line["decision"], line["head"], line["verdict"]) == (None, None, "not_evaluated")
    assert main(["report", line["folder"]]) == 0


def test_a_positive_case_that_passes_is_a_fault(command, capsys):
    status, _, err = command("floor:input")
    assert status == 1
    said = "floor:input scores 0.400 over 2 positive cases and passes 1, which it must not: 01"
    assert err[-1] == said
    with pytest.warns(
        UserWarning, match="a system that does nothing scores 0.40 here: floor:input"
    ):
        command("shout")


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("--baseline=run:shout", "floor:empty: takes no baseline, plan, record, reobserve, "),
        ("--shard=1/2", "floor:empty: takes no baseline, plan, record, reobserve, "),
        ("--resume", "floor:empty: takes no baseline, plan, record, reobserve, "),
        ("--system=floor:nothing", "known systems: floor:empty, floor:input"),
    ],
)
def test_wrong_use(bench, command, word, message):
    status, _, err = command("floor:empty", word)
    assert status == 2
    assert message in err[-1]
    assert not (bench.out / "runs").exists()
