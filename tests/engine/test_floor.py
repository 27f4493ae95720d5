"""The floor of a class: what a system gets that returns nothing, and one that returns the input as it was given."""

from __future__ import annotations

import json
import warnings

import pytest

from benchgate.audit.runs import known_runs
from benchgate.cli import main
from benchgate.errors import SystemNotFound

LENIENT = """
answer = output.get("answer") or ""
return BenchScore(passed={passed}, score={score}, failure_modes=[], safety_penalty=0.0)
"""


def lenient(echo, *, passed="False", score="0.0"):
    echo.rubric(LENIENT.format(passed=passed, score=score))


@pytest.fixture
def floor(echo):
    """Run a floor as both doors ask for it."""

    def run(name="empty", **settings):
        return echo.engine(system=f"floor:{name}", exit_rule="gate", **settings)

    return run


def warned(run, **settings):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run(**settings)
    return [text for one in caught if "does nothing" in (text := str(one.message))]


def outputs(run):
    files = sorted((run.published.folder / "cases").glob("*.json"))
    return [json.loads(path.read_bytes())["output"] for path in files]


def test_nothing_is_returned_and_it_is_written_outside_the_chain(echo, floor, capsys):
    lenient(echo)
    echo.run()
    head = echo.head()
    run = floor()
    assert run.exit_status == 0
    assert run.judgement.decision is None
    assert run.published.folder == echo.out / "runs/echo/floor/empty"
    assert outputs(run) == [{}, {}, {}]
    assert run.judgement.run.floor == (
        "floor:empty scores 0.000 over 3 positive cases and passes none of them",
    )
    report = echo.read("runs/echo/floor/empty/report.json")["report"]
    assert report["digests"]["cases"] == echo.record()["report"]["digests"]["cases"]
    assert report["digests"]["rubric"] == echo.record()["report"]["digests"]["rubric"]
    assert echo.head() == head
    assert not (echo.out / "last-selected").exists()
    assert main(["verify", str(echo.out)]) == 0
    capsys.readouterr()
    assert main(["runs", f"--out={echo.out}"]) == 0
    assert "floor" not in capsys.readouterr().out
    assert [one.seq for one in known_runs(echo.out / "runs/echo")] == [1]


def test_verify_knows_the_folder_and_no_file_of_that_name(echo, floor, capsys):
    lenient(echo)
    echo.run()
    (echo.out / "runs/echo/floor").write_text("")
    assert main(["verify", str(echo.out)]) == 1
    assert "floor: neither a record nor anything else" in capsys.readouterr().err
    (echo.out / "runs/echo/floor").unlink()
    floor()
    assert main(["verify", str(echo.out)]) == 0


def test_the_input_as_it_was_given(echo, floor):
    lenient(echo)
    echo.write("cases/01/input/sub/more.txt", "x")
    (echo.path / "cases/01/input/sub/more.txt").write_bytes(b"a\r\n\xff")
    first, second, _ = outputs(floor("input"))
    assert first == {
        "files": {"question.txt": "q01", "sub/more.txt": "a\r\n\ufffd"},
        "answer": "q01a\r\n\ufffd",
    }
    assert second == {"files": {"question.txt": "q02"}, "answer": "q02"}


def test_a_positive_case_that_passes_is_a_fault_and_others_are_listed(echo, floor):
    echo.case("02", disposition='"negative"')
    echo.case("04", disposition='"ambiguous"')
    lenient(echo, passed='answer != "q03"', score='float(answer != "q03")')
    run = floor("input")
    said = (
        "floor:input scores 0.500 over 2 positive cases and passes 1, which it must not: 01; "
        "other cases that it passes: 02, 04"
    )
    assert run.exit_status == 1
    assert run.failures == [said]
    lenient(echo, passed='case.case_id in {"02", "04"}')
    run = floor("input")
    assert run.exit_status == 0
    assert run.judgement.run.floor[0].endswith("none of them; other cases that it passes: 02, 04")


@pytest.mark.parametrize(("score", "is_said"), [("0.2", False), ("0.31", True)])
def test_the_gate_says_what_doing_nothing_scores_above_a_fifth(echo, floor, score, is_said):
    echo.case("02", disposition='"negative"')
    lenient(echo, score=f'{score} if case.case_id != "02" else 1.0')
    floor()
    said = f"a system that does nothing scores {score} here: floor:empty scores 0.310 over 2 positive cases and"
    found = warned(echo.run)
    assert [text.startswith(said) for text in found] == [True] * is_said
    assert main(["verify", str(echo.out)]) == 0
    assert warned(echo.run, case_filter="01") == []


def test_a_floor_of_another_bench_is_not_quoted(echo, floor):
    lenient(echo, score="0.5")
    floor()
    assert len(warned(echo.run)) == 1
    floor("input")
    assert len(warned(echo.run)) == 2
    echo.write("cases/02/input/question.txt", "another")
    assert warned(echo.run) == []
    echo.write("cases/02/input/question.txt", "q02")
    assert len(warned(echo.run)) == 2
    lenient(echo, score="0.6")
    assert warned(echo.run) == []
    floor()
    assert len(warned(echo.run)) == 1
    (echo.out / "runs/echo/floor/empty/report.json").write_text("{}")
    assert warned(echo.run) == []


def test_a_floor_by_another_judge_is_not_quoted(echo, floor):
    echo.observer('return {"score": 0.4}')
    floor("input")
    assert len(warned(echo.run)) == 1
    echo.observer('return {"score": 0.40}')
    assert warned(echo.run) == []


def test_a_part_replaces_no_floor_and_a_rubric_that_fails_has_none(echo, floor):
    lenient(echo, score="0.5")
    floor()
    part = floor(case_filter="01")
    assert part.published.folder == echo.out / "last-selected/echo"
    assert len(warned(echo.run)) == 1
    echo.rubric()  # output["answer"] of nothing
    run = floor()
    assert run.exit_status == 1
    assert run.judgement.run.floor == ()
    assert any("the run is incomplete" in text for text in run.failures)
    assert warned(echo.run) == []


def test_an_unknown_floor(floor):
    with pytest.raises(SystemNotFound, match="known systems: floor:empty, floor:input"):
        floor("nothing")


def test_a_floor_beside_a_candidate_and_in_processes(echo, floor):
    lenient(echo, score="0.5")
    run = echo.engine(system="shout", baseline="run:floor:empty")
    assert run.judgement.run.baseline.report.system == "floor:empty"
    assert floor("input", jobs=2).judgement.run.floor
    assert floor("input", isolation="process").judgement.run.floor
    assert main(["verify", str(echo.out)]) == 0


def test_a_class_of_that_name(tmp_path, monkeypatch):
    from tests.conftest import BenchFolder

    bench = BenchFolder(tmp_path, "floor")
    lenient(bench, score="0.5")
    run = bench.engine(system="floor:empty", exit_rule="gate")
    assert run.published.folder == bench.out / "runs/floor/floor/empty"
    assert warned(bench.engine, system="shout", exit_rule="gate") != []
    assert main(["verify", str(bench.out)]) == 0


# From the shell


@pytest.fixture
def command(echo, capsys):
    echo.rubric("""
        passed = output.get("answer", "") == "q01"
        return BenchScore(passed=passed, score=0.4, safety_penalty=0.0)
    """)
    echo.case("02", disposition='"negative"')
    where = [f"--bench-root={echo.path.parent}", f"--out={echo.out}", "--task-class=echo"]

    def run(name, *words):
        capsys.readouterr()
        try:
            status = main(["run", f"--system={name}", *where, *words])
        except SystemExit as error:
            status = error.code
        out, err = capsys.readouterr()
        return status, out.splitlines(), err.splitlines()

    return run


def test_the_command_ends_well_and_says_what_it_got_first(echo, command):
    status, out, err = command("floor:empty")
    assert status == 0
    assert (
        err[0] == "floor     floor:empty scores 0.400 over 2 positive cases and passes none of them"
    )
    line = json.loads(out[-1])
    assert line["folder"] == str(echo.out / "runs/echo/floor/empty")
    assert (line["decision"], line["head"], line["verdict"]) == (None, None, "not_evaluated")
    assert main(["report", line["folder"]]) == 0


def test_the_command_says_that_a_positive_case_passes(command):
    status, _, err = command("floor:input")
    assert status == 1
    said = "floor:input scores 0.400 over 2 positive cases and passes 1, which it must not: 01"
    assert err[-1] == said
    _, _, err = command("shout")
    told = "warning   a system that does nothing scores 0.40 here: floor:input"
    assert any(line.startswith(told) for line in err)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("--baseline=run:shout", "compared with nothing"),
        ("--shard=1/2", "a floor is run whole"),
        ("--resume", "a floor is run whole"),
        ("--system=floor:nothing", "known systems: floor:empty, floor:input"),
    ],
)
def test_wrong_use_of_the_command(echo, command, word, message):
    status, _, err = command("floor:empty", word)
    assert status == 2
    assert message in err[-1]
    assert not (echo.out / "runs").exists()
