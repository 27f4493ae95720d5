"""``benchgate pin --extend``: the pinned system runs on new cases alone, and the baseline has them too."""

from __future__ import annotations

import json
import shutil
import warnings
from datetime import timedelta
from types import SimpleNamespace

import pytest

from benchgate.audit.runs import resumable
from benchgate.check.pinned import pin_of
from benchgate.cli import main
from benchgate.verify.earlier import ChainRecord, earlier_faults
from benchgate.wire import clock
from tests.engine.test_case_changes import said
from tests.engine.test_looks import OLD, SPEND, Looks

NOTED = """
root = case.input_path.parents[2]
with open(root / "calls.log", "a") as log:
    print(case.case_id, case.trial, file=log)
if case.trial and (root / "down").exists():
    from benchgate import SystemUnavailable
    raise SystemUnavailable("429") if (root / "down").read_text() else KeyboardInterrupt
"""


class Pinned:
    """A class whose system notes its calls, with a baseline of two trials of three cases."""

    def __init__(self, echo, capsys, made) -> None:
        """Run and pin it, or put the files of that there if an earlier test has made them."""
        self.echo = echo
        self.capsys = capsys
        echo.system(NOTED)
        if not made:
            before = self.files()
            self.main("run", "--trials=2", "--seed=7", "--timeout=50")
            assert self.main("pin", "1", "--yes").status == 0
            self.calls()
            for path in self.files() - before:
                made[path.relative_to(echo.root)] = path.read_bytes()
        for name, data in made.items():
            (echo.root / name).parent.mkdir(parents=True, exist_ok=True)
            (echo.root / name).write_bytes(data)

    def files(self) -> set:
        return {path for path in self.echo.root.rglob("*") if path.is_file()}

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
def pinned(echo, capsys, kept):
    return Pinned(echo, capsys, kept.setdefault("pinned", {}))


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
    pinned.calls()
    main(["check", "echo", "--bench-root", str(pinned.echo.path.parent)])
    assert "baseline" not in pinned.capsys.readouterr().err


def test_a_case_is_worth_what_it_was_before(pinned):
    pinned.echo.case("04")
    assert pinned.extend("--yes").status == 0
    rows = map(json.loads, pinned.main("runs", "--cases", "--json").out.splitlines())
    assert {(row["case"], row["trials"]) for row in rows} == {
        *(("01", 2), ("02", 2), ("03", 2), ("04", 2))
    }


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
    assert {r["case_id"] for r in pinned.baseline()["report"]["per_case"]} == {
        "01",
        "03",
        "04",
        "05",
    }
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


def samples(pinned):
    (pinned.echo.path / "baseline.json").write_text("[0.5, 0.7]")


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


def more_isolation(pinned):
    pinned.echo.write("gate.toml", '[run]\nisolation = "process"\n')


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (
            another_system,
            "system shout: its source is not the pinned run's",
        ),
        (a_changed_case, "case '02' was changed since"),
        (a_case_that_is_gone, "case '02' is in the run only"),
        (a_malformed_case, "cases/05/case.toml:5: case.difficulty"),
        (another_rubric, "its rubric differs"),
        (no_baseline, "no such baseline; benchgate pin makes one of a full run"),
        (samples, "baseline.json: "),
        (another_chain, "its run 1 is not in "),
        (an_edited_baseline, "give --out DIR with the pinned run, or run all cases, "),
        (an_edited_output, "it is not verified"),
        (of_a_checkpoint, "is of a checkpoint; run all cases, and pin that run"),
        (more_isolation, "isolation_class was 'none', is 'process'"),
    ],
)
def test_what_cannot_be_extended_is_refused(pinned, change, why):
    pinned.echo.case("04")
    change(pinned)
    files = list(pinned.echo.path.glob("baseline*"))
    before, runs = [path.read_bytes() for path in files], sorted(pinned.echo.out.glob("runs/*/*"))
    done = pinned.extend("--yes")
    assert done.status == 2
    assert why in done.err
    assert [path.read_bytes() for path in files] == before
    assert sorted(pinned.echo.out.glob("runs/*/*")) == runs
    assert pinned.calls() == []


@pytest.mark.parametrize(("said", "status"), [("429", 2), ("", 130)])
def test_nothing_is_recorded_if_a_new_case_has_no_result(pinned, said, status):
    pinned.echo.case("04")
    pinned.echo.write("gate.toml", "[run]\nretries = 0\n")
    before, runs = pinned.baseline(), pinned.echo.out / "runs/echo"
    pinned.echo.write("down", said)
    done = pinned.extend("--yes")
    assert done.status == status
    why = "1 unavailable (04): SystemUnavailable: 429; the next --extend takes over what finished"
    assert f"no extension is recorded: {why}" in done.err or not said
    assert (pinned.baseline(), pinned.is_valid(), pinned.calls()) == (
        before,
        True,
        ["04 0", "04 1"],
    )
    # As results of now, by a run of all cases, they would be younger than they are.
    assert resumable(runs, "auto") is None
    (pinned.echo.path / "down").unlink()
    assert pinned.extend("--yes").status == 0
    assert (pinned.calls(), pinned.is_valid()) == (["04 1"], True)
    assert not [*runs.glob(".extends*")]


def test_what_an_extension_left_is_for_the_same_plan_alone(pinned):
    pinned.echo.case("04")
    pinned.echo.write("gate.toml", "[run]\nretries = 0\n")
    pinned.echo.write("down", "429")
    assert pinned.extend("--yes").status == 2
    pinned.echo.write("cases/04/expected/answer.txt", "another")
    (pinned.echo.path / "down").unlink()
    pinned.calls()
    assert pinned.extend("--yes").status == 0
    assert pinned.calls() == ["04 0", "04 1"]


def test_a_cap_on_costs_is_for_the_new_cases(pinned):
    """What the others have cost is paid for: 1.50 USD."""
    pinned.echo.case("04")
    pinned.echo.write("gate.toml", "[run]\nmax_cost_usd = 1.0\n")
    assert pinned.extend("--yes").status == 0
    assert pinned.calls() == ["04 0", "04 1"]


@pytest.mark.parametrize("name", ["REPLAY", "REOBSERVE", "RECORD", "SHARD"])
def test_new_cases_are_run_whatever_recording_the_environment_names(pinned, monkeypatch, name):
    monkeypatch.setenv(f"BENCHGATE_{name}", "1/2" if name == "SHARD" else "tape")
    pinned.echo.case("04")
    assert pinned.extend("--yes").status == 0
    assert pinned.calls() == ["04 0", "04 1"]
    assert not (pinned.echo.path / "cassettes/tape").exists()


def test_a_failure_that_blocks_is_pinned_with_a_reason_only(pinned):
    pinned.echo.case("04", answer="another")
    block = '[failure_modes.wrong]\nseverity = "block"\ndescription = "-"\n'
    pinned.echo.write("failure_modes.toml", block)
    pinned.main("run", "--trials=2", "--baseline=none", "--cases=0[123]")
    done = pinned.extend("--yes")
    assert (done.status, "digest of the taxonomy was" in done.err) == (2, True)


def test_a_baseline_that_replays_a_cassette_is_extended_by_it(pinned):
    assert pinned.main("run", "--trials=2", "--record=tape", "--baseline=none").status in {0, 10}
    assert pinned.main("run", "--trials=2", "--replay=tape", "--baseline=none").status in {0, 10}
    assert pinned.main("pin", "3", "--yes", "--reason=it has the outputs").status == 0
    pinned.echo.case("04")
    why = "--reason=it has these too"
    done = pinned.extend("--yes", why)
    assert (done.status, "new cases: 04" in done.err) == (2, True)
    pinned.main("run", "--trials=2", "--record=tape", "--cases=04")
    pinned.calls()
    done = pinned.extend("--yes")
    assert (done.status, pinned.calls()) == (1, [])
    assert "is pinned with --reason=TEXT only: it replays cassette tape" in done.err
    assert pinned.extend("--yes", why).status == 0
    assert pinned.baseline()["report"]["case_count"] == 4
    assert pinned.is_valid()


def test_what_a_part_says_is_compared_with_the_record_that_it_is_of(pinned):
    pinned.echo.case("04")
    assert pinned.extend("--yes").status == 0
    folders = sorted((pinned.echo.out / "runs/echo").glob("0*"))
    chain = [ChainRecord.read(seq, folder) for seq, folder in enumerate(folders, 1)]
    record = chain[1].record

    def faults(**fields):
        changed = record.model_copy(update=fields)
        return list(earlier_faults(changed, [chain[0], chain[1]._replace(record=changed)]))

    assert faults() == []
    part = record.report.parts[0]
    for name, value in (
        ("sha256", "0" * 64),
        ("finished_at", part.finished_at + timedelta(days=1)),
        ("counted_by", "0" * 64),
    ):
        parts = (part.model_copy(update={name: value}),)
        [fault] = faults(report=record.report.model_copy(update={"parts": parts}))
        assert fault == "report.parts: they are not those of a record before it"
    files = dict(record.case_files) | {"02.json": "0" * 64}
    assert faults(case_files=files) == [f"report.parts: not as in {folders[0].name}: 02.json"]
    path = folders[1] / "record.json"
    forged = json.loads(path.read_bytes())
    forged["report"]["parts"][0]["finished_at"] = "2026-01-01T00:00:00Z"
    path.write_text(json.dumps(forged))
    assert not pinned.is_valid()
    assert "report.parts: they are not those" in pinned.capsys.readouterr().err


def test_its_age_is_that_of_its_oldest_part(pinned, monkeypatch):
    pinned.echo.case("04")
    real = clock.now
    monkeypatch.setattr(clock, "now", lambda: real() + timedelta(days=60))
    assert pinned.extend("--yes").status == 0
    monkeypatch.setattr(clock, "now", lambda: real() + timedelta(days=91))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pinned.echo.engine(baseline="auto", trials=2, seed=7)
    assert any("the baseline is 91 days old" in str(one.message) for one in caught)


def test_looks_are_counted_on(echo, kept):
    looks = Looks(echo, kept)
    echo.write("registration.py", OLD)
    where = [f"--bench-root={echo.path.parent}", f"--out={echo.out}", "--task-class=echo"]
    main(["run", "--baseline=none", *where])
    looks.pin()
    assert [looks.number(score, **SPEND) for score in (0.2, 0.3)] == [1, 2]
    echo.case("13")
    run = looks.run(0.4, **SPEND)
    assert said(run, "note_new_cases")[0].endswith(
        "benchgate pin --extend --task-class CLASS --yes runs the baseline on new cases"
    )
    assert run.judgement.decision.look.number == 3
    assert main(["pin", "--extend", "--yes", *where]) == 0
    run = looks.run(0.5, **SPEND)
    assert run.judgement.figures.compared == 13
    assert said(run, "note_new_cases") == []
    assert run.judgement.decision.look.number == 4
    assert (
        echo.record()["baseline"]["run"]["outputs"]
        == json.loads((echo.path / "baseline.json").read_bytes())["report"]["parts"][0][
            "counted_by"
        ]
    )
    assert looks.is_valid()


def test_whoever_follows_the_advice_of_a_hold_can_be_promoted(echo, kept):
    """Cases are added, the baseline is extended, and the second look at all of them decides at its level."""
    looks = Looks(echo, kept)
    echo.write("registration.py", OLD.replace("0.1", "0.5"))
    where = [f"--bench-root={echo.path.parent}", f"--out={echo.out}", "--task-class=echo"]
    main(["run", "--baseline=none", *where])
    looks.pin()

    def system(case):
        number = int(case.case_id)
        gain = -0.15 if number % 4 == 3 else 0.1
        return {"answer": 0.5 + gain + number / 1000}

    system.name = "better"
    two = {"policy": {"looks": "spend:2", "safety": "optional"}}

    def compared():
        return echo.run(system=system, baseline="auto", **two).judgement.decision

    first = compared()
    assert (first.outcome, first.look.number) == ("hold", 1)
    assert first.next_step.startswith("add cases: about ")
    assert first.next_step.endswith("; it would be look 2 of the 2 that were declared")
    for number in range(13, 73):
        echo.case(f"{number}")
    assert main(["pin", "--extend", "--yes", *where]) == 0
    second = compared()
    assert (second.outcome, second.look.number, second.look.over_seen) == ("promote", 2, None)
    # Of cases that were seen none may be dropped: those that the candidate failed least.
    for number in range(13, 20):
        echo.case(f"{number}", retired='"too hard"')
    third = compared()
    assert third.look.over_seen is not None
    assert looks.is_valid()


@pytest.fixture
def judged(echo, capsys, kept):
    echo.observer()
    pinned = Pinned(echo, capsys, kept.setdefault("judged", {}))
    echo.case("04")
    (echo.path / "asked.log").unlink()
    return pinned


def test_the_observer_is_asked_of_new_outputs_alone(judged):
    assert judged.extend("--yes").status == 0
    assert judged.echo.asked() == ["04", "04"]
    manifest = judged.echo.path / "cassettes/pinned/manifest.json"
    assert sorted(json.loads(manifest.read_bytes())["cases"]) == ["01", "02", "03", "04"]
    assert judged.is_valid()


def test_another_observer_is_refused(judged):
    judged.echo.observer("pass")
    done = judged.extend("--yes")
    assert (done.status, "its observer differs" in done.err) == (2, True)
    judged.echo.observer()
    judged.echo.write("gate.toml", "[run]\nobservations = 3\n")
    done = judged.extend("--yes")
    assert (done.status, "the observer: observations was 1, is 3" in done.err) == (2, True)
    assert judged.echo.asked() == judged.calls() == []


def again(pinned, *words, number=2):
    """Make another run the baseline, and add a case."""
    assert pinned.main("run", "--trials=2", *words).status in {0, 1, 10}
    done = pinned.main("pin", str(number), "--yes", "--reason=so that it is this one")
    assert (done.status, done.err) == (0, "")
    pinned.calls()
    pinned.echo.case("04")


def test_results_that_cannot_be_scored_again_stay_as_they_are(pinned):
    """An error, a limit, and an output with files beside it; what they cost was seen once."""
    pinned.echo.write("gate.toml", "max_cost_increase = 0.5\n")
    pinned.echo.system(f"""{NOTED}
if case.case_id == "01":
    raise ValueError("no")
(case.work_path / "left.txt").write_text("here")
""")
    again(pinned, "--baseline=none")
    before = pinned.baseline()["report"]["per_case"]
    assert [one["outcome"] for one in before[:3]] == ["harness_error", "harness_error", "scored"]
    assert pinned.extend("--yes").status == 0
    assert pinned.calls() == ["04 0", "04 1"]
    assert pinned.baseline()["report"]["per_case"][:6] == before
    assert pinned.is_valid()


def test_of_a_session_with_two_sides_the_candidate_is_extended(pinned):
    again(pinned, "--baseline=run:shout")
    assert pinned.extend("--yes").status == 0
    assert pinned.calls() == ["04 0", "04 1"]
    assert pinned.baseline()["baseline"] is None
    assert pinned.is_valid()


def test_it_is_extended_where_it_ran(pinned):
    again(pinned, "--baseline=none", "--isolation=process")
    before = pinned.baseline()["report"]["per_case"]
    assert pinned.extend("--yes").status == 0
    report = pinned.baseline()["report"]
    assert (report["isolation_class"], report["case_count"]) == ("process", 4)
    assert report["per_case"][:6] == before  # with the times of then
    assert pinned.is_valid()


def test_clusters_and_critical_cases_are_those_of_now(pinned):
    pinned.echo.case("01", cluster='"one"', critical="true")
    pinned.echo.case("04")
    assert pinned.extend("--yes").status == 0
    report = pinned.baseline()["report"]
    assert (report["clusters"], report["critical"]) == ({"01": "one"}, ["01"])
    assert pinned.is_valid()


DECLARED = """
from benchgate import register_task_class
from .rubric import EchoRubric
from .system import system

class Model:
    name = "shout"
    def digest(self): return "{digest}"
    def __call__(self, case): return system(case)

@register_task_class("echo", systems={{"shout": Model()}})
class Registered(EchoRubric): ...
"""


def test_a_system_with_a_digest_is_known_by_that_alone(pinned):
    pinned.echo.write("registration.py", DECLARED.format(digest="model-1"))
    again(pinned, "--baseline=none")
    pinned.echo.write("registration.py", DECLARED.format(digest="model-2"))
    done = pinned.extend("--yes")
    assert (done.status, "digest of the system was" in done.err) == (2, True)
    pinned.echo.write("registration.py", DECLARED.format(digest="model-1") + "# moved\n")
    assert pinned.extend("--yes").status == 0
    assert pinned.calls() == ["04 0", "04 1"]
    assert pinned.is_valid()
