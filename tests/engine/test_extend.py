"""``benchgate pin --extend``: the pinned system runs on new cases alone, and the baseline has them too."""

from __future__ import annotations

import json
import shutil
import warnings
from datetime import datetime, timedelta
from types import SimpleNamespace

import pytest

from benchgate.artifacts.run_kinds import RunRecord
from benchgate.check.pinned import pin_of
from benchgate.cli import main
from benchgate.verify.earlier import ChainRecord, earlier_faults
from benchgate.wire import clock
from tests.engine.test_case_changes import said
from tests.engine.test_looks import GRADED, OLD, SPEND, Looks

NOTED = 'with open(case.input_path.parents[2] / "calls.log", "a") as log: print(case.case_id, case.trial, file=log)'


class Pinned:
    """A class whose system notes its calls, with a baseline of two trials of three cases."""

    def __init__(self, echo, capsys) -> None:
        self.echo, self.capsys = echo, capsys
        echo.system(NOTED)
        self.main("run", "--trials=2", "--seed=7", "--timeout=50")
        assert self.main("pin", "1", "--yes").status == 0
        self.calls()

    def main(self, command: str, *words: str) -> SimpleNamespace:
        where = [f"--bench-root={self.echo.path.parent}", f"--out={self.echo.out}"]
        where += ["--task-class=echo"]
        self.capsys.readouterr()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            status = main([command, *words, *where])
        out, err = self.capsys.readouterr()
        return SimpleNamespace(status=status, out=out, err=err)

    def extend(self, *words: str) -> SimpleNamespace:
        return self.main("pin", "--extend", *words)

    def calls(self) -> list[str]:
        """Return what the system was called for since this was asked last."""
        path = self.echo.path / "calls.log"
        calls = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return calls

    def baseline(self) -> dict:
        return json.loads((self.echo.path / "baseline.json").read_bytes())

    def is_valid(self) -> bool:
        return main(["verify", str(self.echo.out)]) == 0


@pytest.fixture
def pinned(echo, capsys):
    return Pinned(echo, capsys)


def test_the_system_runs_on_the_new_case_alone_and_as_it_did_on_the_others(pinned):
    before = pinned.baseline()
    pinned.echo.case("04", held_out="true", cluster='"four"')
    shown = pinned.extend()
    assert (shown.status, pinned.calls(), pinned.baseline()) == (0, [], before)
    assert shown.out.endswith("baseline.json lacks 04; with --yes shout runs on these\n")
    done = pinned.extend("--yes", "--reason=a case of last week")
    assert (done.status, done.err) == (0, "")
    assert pinned.calls() == ["04 0", "04 1"]
    assert "new       1 case: 04\n" in done.out
    report, record = pinned.baseline()["report"], pinned.echo.record()
    assert pinned.baseline() == record
    assert (report["seed"], report["trial_count"], report["case_count"]) == (7, 2, 4)
    assert report["per_case"][:6] == before["report"]["per_case"]
    assert json.loads((pinned.echo.folder() / "plan.json").read_bytes())["timeout_seconds"] == 50
    [part] = report["parts"]
    assert part["finished_at"] == before["finished_at"]
    assert part["counted_by"] == before["report"]["run_id"]
    assert record["resumes"] is None
    assert pin_of(pinned.echo.path).reason == "a case of last week"
    assert pinned.is_valid()
    run = pinned.main("run", "--trials=2", "--seed=7")
    assert "not compared" not in run.err
    assert "cases     4 of 4 pass, before 4" in run.err
    assert pinned.is_valid()
    main(["check", "echo", "--bench-root", str(pinned.echo.path.parent)])
    assert "baseline" not in pinned.capsys.readouterr().err


def test_it_can_be_extended_again_and_cases_may_be_retired(pinned):
    pinned.echo.case("04")
    assert pinned.extend("--yes").status == 0
    pinned.echo.case("05")
    pinned.echo.case("02", retired='"too easy"')
    assert pinned.calls() == ["04 0", "04 1"]
    assert pinned.extend("--yes").status == 0
    assert pinned.calls() == ["05 0", "05 1"]
    first, second = pinned.baseline()["report"]["parts"]
    assert first["counted_by"] == second["counted_by"]
    assert {r["case_id"] for r in pinned.baseline()["report"]["per_case"]} == {"01", "03", "04", "05"}
    assert pinned.is_valid()
    again = pinned.extend("--yes")
    assert again.out.endswith("baseline.json has all cases of the class\n")
    assert (again.status, pinned.calls()) == (0, [])


def another_system(pinned):
    pinned.echo.system(f"{NOTED}\npass")


def a_changed_case(pinned):
    pinned.echo.write("cases/02/expected/answer.txt", "another")


def a_case_that_is_gone(pinned):
    shutil.rmtree(pinned.echo.path / "cases/02")


def a_malformed_case(pinned):
    pinned.echo.case("05", difficulty='"hardest"')


def another_rubric(pinned):
    pinned.echo.rubric("pass")


def no_baseline(pinned):
    (pinned.echo.path / "baseline.json").unlink()


def another_chain(pinned):
    shutil.rmtree(pinned.echo.out)


def an_edited_baseline(pinned):
    path = pinned.echo.path / "baseline.json"
    path.write_text(json.dumps(pinned.baseline() | {"started_at": "2026-01-01T00:00:00Z"}))


def an_edited_output(pinned):
    path = pinned.echo.folder() / "cases/02.json"
    path.write_bytes(path.read_bytes().replace(b"Q02", b"Q03"))


def of_a_checkpoint(pinned):
    for path in (pinned.echo.path / "baseline.json", pinned.echo.folder() / "record.json"):
        record = json.loads(path.read_bytes())
        record["subject"]["kind"] = "checkpoint"
        path.write_text(json.dumps(record))


def an_answer_that_cannot_be_had(pinned):
    pinned.echo.write(
        "system.py",
        (pinned.echo.path / "system.py").read_text().replace("def ", "def "),
    )


def more_isolation(pinned):
    pinned.echo.write("gate.toml", '[run]\nisolation = "process"\n')


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (another_system, "system shout: cannot extend the baseline: the source of its system has changed"),
        (a_changed_case, "case '02' was changed since"),
        (a_case_that_is_gone, "case '02' is in the run only"),
        (a_malformed_case, "cases/05/case.toml:5: case.difficulty"),
        (another_rubric, "its rubric differs"),
        (no_baseline, "baseline.json"),
        (another_chain, "there is no run '1'"),
        (an_edited_baseline, "expected --out DIR with the pinned run"),
        (an_edited_output, "it is not verified"),
        (of_a_checkpoint, "is of a checkpoint; run all cases, and pin that run"),
        (more_isolation, "isolation_class was 'none', is 'process'"),
    ],
)
def test_what_cannot_be_extended_is_refused(pinned, change, why):
    pinned.echo.case("04")
    change(pinned)
    files = [path for path in pinned.echo.path.glob("baseline*")]
    before, runs = [path.read_bytes() for path in files], sorted(pinned.echo.out.glob("runs/*/*"))
    done = pinned.extend("--yes")
    print(done.err)
    assert done.status == 2
    assert why in done.err
    assert [path.read_bytes() for path in files] == before
    assert sorted(pinned.echo.out.glob("runs/*/*")) == runs
    assert pinned.calls() == []
