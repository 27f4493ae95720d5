"""``benchgate pin``: shows what a new baseline changes, writes it when told to, and refuses what is no evidence."""

from __future__ import annotations

import json
import os
import shutil
from hashlib import sha256

import pytest

from benchgate.check.pinned import pin_of
from benchgate.cli import main
from benchgate.wire.holding import hold


@pytest.fixture
def pin(bench, capsys):
    """Run the command; return status, stdout and stderr."""

    def run(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        try:
            status = main(["pin", *map(str, arguments)])
        except SystemExit as error:  # argparse
            status = error.code
        return status, *capsys.readouterr()

    return run


def run_class(*arguments: str) -> None:
    assert main(["run", "--task-class=echo", "--out=.benchgate", *arguments]) in {0, 1, 10}


def other_system(bench) -> None:
    """Let the second case fail."""
    bench.system('if case.case_id == "02":\n    return {"answer": "no"}')


def baseline(bench):
    return bench.path / "baseline.json"


@pytest.mark.parametrize("door", ["pytest", "benchgate run"])
def test_the_first_baseline(bench, pin, door):
    bench.run() if door == "pytest" else run_class()
    status, out, err = pin(1)
    assert (status, err) == (0, "")
    assert out.startswith("pinned    no baseline is pinned yet\nnew       ")
    assert "passed 3 of 3, mean score 1.000 (95% lower bound" in out
    assert f"run {bench.record()['report']['run_id'][:16]}, gate hold" in out
    assert out.endswith("baseline.json is not written; with --yes it is\n")
    assert not baseline(bench).exists()
    written = "written   bench/echo/baseline.json, baseline.pin.json\n"
    assert pin(bench.folder(), "--yes")[1].endswith(written)
    assert baseline(bench).read_bytes() == (bench.folder() / "record.json").read_bytes()
    assert main(["run", "--task-class=echo", "--baseline=pinned"]) == 10
    assert pin(1, "--yes")[:2] == (0, pin(1)[1])
    assert "unchanged bench/echo/baseline.json is this record already" in pin(1)[1]


@pytest.fixture
def pinned(bench, pin, monkeypatch):
    """Return what the pin file of a baseline says that was just made."""
    monkeypatch.setenv("BENCHGATE_ACTOR", "ada")
    run_class()

    def read(*arguments: object) -> dict:
        assert pin(*arguments, "--yes")[0] == 0
        return json.loads((bench.path / "baseline.pin.json").read_bytes())

    return read


def test_a_pin_says_who_when_and_what_changes(bench, pinned):
    first = pinned(1)
    assert first["sha256"] == sha256(baseline(bench).read_bytes()).hexdigest()
    kept = ("task_class", "seq", "outcome", "by", "reason", "change")
    assert [first[key] for key in kept] == [
        *("echo", 1, "hold", "ada", None),
        "shout passes 3 of 3 cases; there was no baseline before that can be read",
    ]
    other_system(bench)
    shutil.rmtree(bench.path / "cases/03")
    run_class()
    second = pinned(2, "--reason= 03 is\u202e gone ")
    assert (second["seq"], second["reason"]) == (2, "03 is\u202e gone")
    change = "shout passes 1 of 2 cases, shout before 3: 0 newly passing, 1 newly failing, 1 case missing"
    assert second["change"] == change
    assert main(["verify", "bench/echo/baseline.pin.json"]) == 0


def rejected(bench):
    other_system(bench)
    run_class("--policy=claim=no_regression")
    return "the gate rejected it"


def harmful(bench):
    bench.write(
        "failure_modes.toml", '[failure_modes.wrong]\nseverity = "block"\ndescription = "-"\n'
    )
    other_system(bench)
    run_class("--baseline=none")
    return "it has failures of severity block: wrong"


def replayed(bench):
    run_class("--replay=1")
    return "it replays run 00000001-"


@pytest.mark.parametrize("doubtful", [rejected, harmful, replayed])
def test_what_speaks_against_a_run_is_answered_with_a_reason(bench, pin, pinned, doubtful):
    pinned(1)
    before = files(bench)
    doubt = doubtful(bench)
    status, out, err = pin(2, "--yes")
    assert (status, "changed " in out, files(bench) == before) == (1, True, True)
    assert f"is pinned with --reason=TEXT only: {doubt}" in err
    status, _, err = pin(2)
    assert (status, doubt in err, files(bench) == before) == (0, True, True)
    assert pin(2, "--yes", "--reason= ")[0] == 2
    assert pinned(2, "--reason=the tasks changed")["reason"] == "the tasks changed"


def files(bench):
    return [(bench.path / name).read_bytes() for name in ("baseline.json", "baseline.pin.json")]


def test_a_pin_that_is_gone_is_written_again(bench, pin, pinned):
    pinned(1)
    (bench.path / "baseline.pin.json").unlink()
    assert pin(1)[1].endswith("baseline.json is not written; with --yes it is\n")
    assert pinned(1)["seq"] == 1


def test_only_one_process_pins_at_a_time(bench, pin, pinned):
    held = hold(bench.path)
    status, _, err = pin(1, "--yes")
    assert (status, "another process pins a baseline there" in err) == (2, True)
    assert not baseline(bench).exists()
    held.close()
    pinned(1)


def test_a_baseline_whose_pin_cannot_be_written_is_one_by_hand(bench, pin, pinned, monkeypatch):
    pinned(1)
    other_system(bench)
    run_class()
    real = os.replace
    with monkeypatch.context() as patch:
        patch.setattr("os.replace", lambda old, new: "pin" in new.name or real(old, new))
        pin(2, "--yes")
    assert json.loads(baseline(bench).read_bytes())["seq"] == 2
    assert pin_of(bench.path) is None
    assert pinned(2)["seq"] == 2


def test_what_changes_is_shown(bench, pin):
    run_class()
    assert pin(1, "--yes")[0] == 0
    pinned = baseline(bench).read_bytes()
    other_system(bench)
    bench.case("04")
    shutil.rmtree(bench.path / "cases/01")
    bench.rubric("'''Another text of the rubric.'''")
    bench.write("gate.toml", "alpha = 0.01\n")
    run_class()
    status, out, _ = pin(2)
    assert status == 0
    assert (
        "changed   not comparable, because another rubric scored the baseline\n"
        "new       1 case: 04\nmissing   1 case: 01\n" in out
    )
    lines = [line.split(" changed: ")[0] for line in out.splitlines() if " changed: " in line]
    assert lines == ["rubric", "scorer", "policy alpha"]
    assert "policy alpha changed: 0.05, now 0.01\n" in out
    assert baseline(bench).read_bytes() == pinned
    assert pin(2, "--yes")[0] == 0
    assert json.loads(baseline(bench).read_bytes())["seq"] == 2


def test_a_baseline_that_cannot_be_read_is_said_and_replaced(bench, pin):
    baseline(bench).write_text("{}")
    run_class("--baseline=none")
    assert pin(1)[1].startswith(
        "pinned    bench/echo/baseline.json is no record that can be read\n"
    )
    assert pin(1, "--yes")[0] == 0
    assert json.loads(baseline(bench).read_bytes())["seq"] == 1


def changed_rubric(bench):
    bench.rubric("'''Another text of the rubric.'''")
    return "its rubric differs: "


def changed_case(bench):
    bench.write("cases/02/input/question.txt", "other")
    return "case '02' was changed since; run the class again"


def new_case(bench):
    bench.case("04")
    return "case '04' is not in the run; run the class again"


def edited_trial(bench):
    path = bench.folder() / "cases/01.json"
    path.write_bytes(path.read_bytes().replace(b"Q01", b"Q10"))
    return "it is not verified: "


def edited_record(bench):
    path = bench.folder() / "record.json"
    path.write_bytes(path.read_bytes().replace(b'"seed": 0', b'"seed": 1'))
    return "it is not verified: "


def torn_record(bench):
    (bench.folder() / "record.json").write_bytes(b"{")
    return "it is unreadable"


def a_link(bench):
    (bench.root / "elsewhere.json").write_text("kept")
    baseline(bench).symlink_to(bench.root / "elsewhere.json")
    return "is a link or no file, so it is not replaced"


def a_linked_pin(bench):
    (bench.root / "elsewhere.json").write_text("kept")
    (bench.path / "baseline.pin.json").symlink_to(bench.root / "elsewhere.json")
    return "baseline.pin.json: is a link or no file, so it is not replaced"


def a_folder(bench):
    baseline(bench).mkdir()
    return "is a link or no file, so it is not replaced"


@pytest.mark.parametrize(
    "change",
    [
        changed_rubric,
        changed_case,
        new_case,
        edited_trial,
        edited_record,
        torn_record,
        a_link,
        a_linked_pin,
        a_folder,
    ],
)
def test_what_is_no_evidence_is_refused(bench, pin, change):
    run_class()
    message = change(bench)
    status, out, err = pin(1, "--yes")
    assert (status, out) == (1, "")
    assert message in err
    assert len(err.splitlines()) == 1
    assert not baseline(bench).is_file() or baseline(bench).read_text() == "kept"


def test_a_fault_of_an_earlier_record_counts_and_one_of_a_later_does_not(bench, pin):
    run_class()
    run_class()
    path = bench.folder() / "cases/01.json"
    path.write_bytes(path.read_bytes().replace(b"Q01", b"Q10"))
    assert pin(1)[0] == 0
    assert pin(2)[0] == 1
    (first,) = (bench.out / "runs/echo").glob("00000001-*")
    (first / "cases/02.json").unlink()
    assert pin(1)[0] == 1


def test_a_run_that_is_not_whole_is_refused(bench, pin):
    bench.rubric('if case.case_id == "02":\n    raise ValueError("no")')
    run_class()
    status, _, err = pin(1, "--yes")
    assert (status, "cannot be pinned: it is incomplete\n" in err) == (1, True)
    left = bench.out / "runs/echo/incomplete-20260101T000000Z-7"
    left.mkdir()
    assert "it is unrecorded\n" in pin(left.name)[2]
    assert not baseline(bench).exists()


def test_a_part_of_the_cases_is_no_run(bench, pin):
    bench.run("-k", "01")
    status, _, err = pin(".benchgate/last-selected/echo")
    assert status == 2
    assert "expected the number of a record, or a folder of runs/CLASS/" in err
    assert "auto" not in err


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ((9,), 2, "there is no run '9'; benchgate runs lists them"),
        ((1, "--out=nowhere"), 2, "there is no run '1'"),
        ((1, "--task-class=ecko"), 1, "unknown task class 'ecko'; expected .benchgate/runs/ecko; "),
        ((1, "--bench-root=nowhere"), 1, "expected nowhere/echo/registration.py; known: none"),
        (("auto",), 2, "expected the number of a record"),
    ],
)
def test_wrong_use(bench, pin, arguments, status, message):
    run_class()
    found, out, err = pin(*arguments)
    assert (found, out) == (status, "")
    assert message in err


def test_of_two_classes_with_that_number_one_has_to_be_named(bench, pin):
    run_class()
    shutil.copytree(bench.out / "runs/echo", bench.out / "runs/other")
    assert "several classes have a run 1: echo, other; name the class" in pin(1)[2]
    assert pin(1, "--task-class=echo")[0] == 0
    assert pin(bench.folder())[0] == 0


def test_what_cannot_be_written_is_one_line(bench, pin, monkeypatch):
    run_class()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    status, _, err = pin(1, "--yes")
    assert status == 2
    assert err == "bench/echo/baseline.json: cannot be written: No space left on device\n"
    assert [path.name for path in bench.path.iterdir() if "baseline" in path.name] == []


def test_a_baseline_of_pytest_is_extended(bench, pin):
    """By the command; the session of pytest after it compares all cases, and says no more which is new."""
    bench.run()
    assert pin(1, "--yes")[0] == 0
    bench.case("04")
    bench.run()
    assert note(bench) == [
        (
            "3 of 4 cases: 04 is new and was not compared; "
            "benchgate pin --extend --task-class CLASS --yes runs the baseline on new cases"
        )
    ]
    before = baseline(bench).read_bytes()
    status, out, err = pin("--extend", "--task-class=echo")
    lacks = "bench/echo/baseline.json lacks 04; with --yes shout runs on these\n"
    assert (status, out, err, baseline(bench).read_bytes()) == (0, lacks, "", before)
    status, out, err = pin("--extend", "--task-class=echo", "--yes")
    assert (status, err) == (0, "")
    assert out.endswith("written   bench/echo/baseline.json, baseline.pin.json\n")
    bench.run()
    assert note(bench) == []
    assert main(["verify", ".benchgate"]) == 0
    assert main(["verify", "bench/echo/baseline.pin.json"]) == 0


def note(bench):
    remarks = bench.record()["decision"]["remarks"]
    return [one["message"] for one in remarks if one["code"] == "note_new_cases"]


@pytest.mark.parametrize(
    ("arguments", "status", "why"),
    [
        ((), 2, "one of the arguments RUN --extend is required"),
        ((1, "--extend"), 2, "argument --extend: not allowed with argument RUN"),
        (("--extend",), 2, "--extend needs --task-class CLASS"),
        (("--extend", "--task-class=nothing"), 1, "unknown task class 'nothing'"),
        (("--extend", "--task-class=echo"), 2, "bench/echo/baseline.json: no such baseline"),
    ],
)
def test_it_is_told_what_to_pin(bench, pin, arguments, status, why):
    got, _, err = pin(*arguments)
    assert (got, why in err) == (status, True)
