"""Sessions that leave something out, or make it up: what they record is in itself consistent, and must not verify."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

import pytest

from benchgate.cli import main
from benchgate.gates import blockers
from benchgate.gates.labels import Label, SeenOutput
from benchgate.runner import judging, settings
from benchgate.trials import pacing
from benchgate.wire.canonical import sha256_hex

CASES = 24
AT = datetime(2026, 11, 25, tzinfo=UTC)
STRICT = 'test = "auto"\nsafety = "optional"\nobserver_min_agreement = 0.8\n'
CHARMED = "return {'score': float(output['answer']) + output['charm']}"


@pytest.fixture
def charmed(echo, monkeypatch):
    """A pinned baseline, and an agent that is no better but charms the judge."""
    monkeypatch.setattr(pacing, "FIRST_DELAY", 0.01)
    for number in range(4, CASES + 1):
        echo.case(f"{number:02}")
    echo.write("gate.toml", STRICT)
    echo.observer(CHARMED)
    answer(echo, 0.0)
    echo.run(baseline="none")
    assert main(["pin", "1", "--yes", f"--out={echo.out}", root(echo)]) == 0
    answer(echo, 0.5)
    return echo


def root(echo):
    return f"--bench-root={echo.path.parent}"


def output(number, charm):
    return {"answer": 0.2 + number / 1000, "charm": charm}


def answer(echo, charm):
    for number in range(1, CASES + 1):
        said = output(number, charm)
        echo.instead[f"{number:02}"] = lambda _, said=said: said


def label(number, charm, *, passed=True):
    text = json.dumps(output(number, charm))
    return Label(
        case=f"{number:02}", output=sha256_hex(text.encode()), passed=passed, by="ada", at=AT
    )


def labels_toml(labels):
    rows = (
        f'[[label]]\ncase = "{one.case}"\noutput = "{one.output}"\npassed = {str(one.passed).lower()}\n'
        f'by = "{one.by}"\nat = 2026-11-25T00:00:00Z\n'
        for one in labels
    )
    return "".join(rows)


def verified(echo, capsys, *options):
    capsys.readouterr()
    status = main(["verify", str(echo.out), "--require-promote", *options])
    return status, capsys.readouterr().err


def everybody_agrees(charm=0.5):
    return [label(number, charm) for number in range(1, CASES + 1)]


def promoted(run):
    return run.judgement.decision.outcome == "promote"


def test_labels_that_people_gave_verify(charmed, capsys):
    charmed.write("labels.toml", labels_toml(everybody_agrees()))
    assert promoted(charmed.run(baseline="auto"))
    assert verified(charmed, capsys, root(charmed)) == (0, "")


def test_labels_that_nobody_gave_are_found_by_the_bench(charmed, capsys, monkeypatch):
    monkeypatch.setattr(settings, "read_labels", lambda _: tuple(everybody_agrees()))
    assert promoted(charmed.run(baseline="auto"))
    monkeypatch.undo()
    status, err = verified(charmed, capsys, root(charmed))
    assert status == 1
    assert re.search(r"24 of its labels are not in \S+echo/labels.toml: of case 01, 02, ", err)


def test_a_label_that_disagrees_is_not_left_out(charmed, capsys, monkeypatch):
    given = [*everybody_agrees(), *(label(number, 0.5, passed=False) for number in range(1, 12))]
    charmed.write("labels.toml", labels_toml(given))
    assert not promoted(charmed.run(baseline="auto"))
    monkeypatch.setattr(settings, "read_labels", lambda _: tuple(everybody_agrees()))
    assert promoted(charmed.run(baseline="auto", seed=1))
    monkeypatch.undo()
    status, err = verified(charmed, capsys, root(charmed))
    assert status == 1
    assert "it lacks 11 labels of " in err


def edited(monkeypatch, change):
    """Have sessions change what they found of the labels."""
    real = judging.seen_in
    monkeypatch.setattr(judging, "seen_in", lambda *given: change(real(*given)))


def test_results_that_no_trial_has_are_found_by_the_record_alone(charmed, capsys, monkeypatch):
    """People disagree with all that the judge said; the session says that it had said the same."""
    given = [label(number, 0.5, passed=False) for number in range(1, CASES + 1)]
    charmed.write("labels.toml", labels_toml(given))
    agreed = (SeenOutput(whose="candidate", passed=False, score=0.0),)
    edited(monkeypatch, lambda rows: tuple(r.model_copy(update={"observed": agreed}) for r in rows))
    assert promoted(charmed.run(baseline="auto"))
    monkeypatch.undo()
    status, err = verified(charmed, capsys)
    assert status == 1
    assert "labels: the candidate has other results of output " in err


@pytest.mark.parametrize(
    ("charm", "why"),
    [(0.0, "the baseline has other results"), (0.9, "no earlier run has this result")],
)
def test_so_are_those_of_other_runs(charmed, capsys, monkeypatch, charm, why):
    whose = why.split()[1]
    charmed.write("labels.toml", labels_toml(everybody_agrees(charm)))
    rows = (SeenOutput(whose=whose, passed=True, score=1.0),)
    edited(monkeypatch, lambda found: tuple(r.model_copy(update={"observed": rows}) for r in found))
    assert promoted(charmed.run(baseline="auto"))
    monkeypatch.undo()
    status, err = verified(charmed, capsys)
    assert status == 1
    assert f"labels: {why} of output" in err


def test_what_an_earlier_run_said_otherwise_is_not_left_out(charmed, capsys, monkeypatch):
    answer(charmed, 0.7)
    charmed.run(baseline="none")
    answer(charmed, 0.5)
    wrong = [label(number, 0.7, passed=False) for number in range(1, CASES + 1)]
    charmed.write("labels.toml", labels_toml([*everybody_agrees(), *wrong]))
    assert not promoted(charmed.run(baseline="auto"))
    edited(
        monkeypatch,
        lambda rows: tuple(
            one.model_copy(update={"observed": ()}) if not one.passed else one for one in rows
        ),
    )
    assert promoted(charmed.run(baseline="auto", seed=1))
    monkeypatch.undo()
    status, err = verified(charmed, capsys)
    assert status == 1
    assert "labels: an earlier run has another result of output" in err


def test_an_output_that_is_not_the_labelled_one_is_found(charmed, capsys):
    charmed.write("labels.toml", labels_toml(everybody_agrees()))
    assert promoted(charmed.run(baseline="auto"))
    folder = charmed.folder()
    path = folder / "cases/03.json"
    text = json.loads(path.read_text())
    text["output"]["charm"] = 0.1
    path.write_text(json.dumps(text))
    _, err = verified(charmed, capsys)
    assert "cases/03.json.result.observed.output is " in err


@pytest.mark.parametrize("with_bench", [True, False])
def test_another_judge_than_the_baseline_had_is_found(charmed, capsys, monkeypatch, with_bench):
    charmed.write("gate.toml", 'test = "auto"\nsafety = "optional"\n')
    charmed.observer(f"{CHARMED}  # another one")
    assert not promoted(charmed.run(baseline="auto"))
    monkeypatch.setattr(blockers, "_observer_blocker", lambda *_: ())
    assert promoted(charmed.run(baseline="auto", seed=1))
    monkeypatch.undo()
    status, err = verified(charmed, capsys, *([root(charmed)] if with_bench else []))
    assert status == 1
    assert "decision.outcome is 'promote'; recomputed: 'hold'" in err


@pytest.mark.parametrize(
    ("table", "option", "why"),
    [
        ("timeout = 90", {"timeout": 99999.0}, "its time limit is 99999 s, where "),
        ("seed = 3", {"seed": 5}, "its seed is 5, where "),
        ("trials = 2", {}, "it has 1 trial of a case, where "),
    ],
)
def test_a_class_says_how_it_is_run(echo, capsys, table, option, why):
    """A variable or an option wins over it in a run, and the run is no promotion under that bench."""
    for number in range(4, 13):
        echo.case(f"{number:02}")
    rules = 'test = "auto"\nclaim = "no_regression"\n'
    echo.write("gate.toml", rules)
    echo.run(baseline="none", **option)
    echo.pin()
    assert promoted(echo.run(baseline="auto", **option))
    assert verified(echo, capsys, root(echo)) == (0, "")
    echo.write("gate.toml", f"{rules}[run]\n{table}\n")
    status, err = verified(echo, capsys, root(echo))
    assert (status, err.count("\n")) == (1, 1)
    assert why in err


@pytest.mark.parametrize("table", ["timeout = 600.0", "seed = 0", "trials = 1"])
def test_what_was_run_as_the_class_says_is_one(echo, capsys, table):
    for number in range(4, 13):
        echo.case(f"{number:02}")
    echo.write("gate.toml", f'test = "auto"\nclaim = "no_regression"\n[run]\n{table}\n')
    echo.run(baseline="none")
    echo.pin()
    assert promoted(echo.run(baseline="auto", trials=3))
    assert verified(echo, capsys, root(echo)) == (0, "")
