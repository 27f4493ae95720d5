"""Which looks are counted together: those at one baseline, whatever the cases."""

from __future__ import annotations

import json
import shutil

import pytest

from benchgate import EvalError, LookLedger, accept
from benchgate.cli import main
from benchgate.gates.case_labels import LabelChange, has_grown, relabelled
from benchgate.gates.looks import another_look
from benchgate.gates.policy import make_policy
from benchgate.looks.tally import Looked, Tally
from benchgate.wire.canonical import digest
from tests.unit.test_accept import BEFORE, look, side

PAIRED = {"test": "auto"}


def less(samples):
    """The same without a case."""
    return {case: score for case, score in samples.items() if case != "c00"}


def write(path, content):
    path.write_text(json.dumps(content))
    return str(path)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "looks.jsonl"


@pytest.fixture
def ledger(path):
    return LookLedger(path)


def test_a_case_that_is_dropped_begins_no_new_count(ledger):
    policy = {**PAIRED, "looks": "spend:2"}
    for seed in (1, 2):
        accept(BEFORE, side(seed), policy=policy, ledger=ledger, incumbent="v1")
    found = accept(less(BEFORE), less(side(3, 0.5)), policy=policy, ledger=ledger, incumbent="v1")
    assert found.reasons == ("looks_exhausted",)
    assert found.look.number == 3


def test_a_person_begins_a_new_series_by_saying_why(path):
    look(BEFORE, side(1), LookLedger(path))
    look(BEFORE, side(2), LookLedger(path))

    def begun(seed, why):
        with_why = {"ledger": LookLedger(path), "incumbent": "v1", "new_series": why}
        return accept(BEFORE, side(seed), **with_why).look

    first = begun(3, "the data were wrong")
    assert (first.number, first.new_series, first.uncounted) == (1, "the data were wrong", 2)
    # Left in a script it begins nothing, and without it the series goes on.
    assert begun(4, "the data were wrong").number == 2
    assert look(BEFORE, side(5), LookLedger(path)) == 3
    other = begun(6, "and again")
    assert (other.number, other.uncounted) == (1, 5)
    assert begun(7, "the data were wrong").number == 4  # what was begun is not begun again
    for ledger, why in ((None, "no ledger"), (LookLedger(path), " "), (LookLedger(path), 5)):
        with pytest.raises(EvalError, match="new_series"):
            accept(BEFORE, side(1), ledger=ledger, incumbent="v1", new_series=why)


def gate(capsys, *words):
    """Return what a gate over files says of its look."""
    status = main(["gate", *words, "--policy=test=auto"])
    said = capsys.readouterr().out
    return status, " ".join(said.partition("look no. ")[2].split())


def test_a_file_is_known_by_its_path_and_by_what_is_in_it(tmp_path, capsys):
    old = write(tmp_path / "old.json", BEFORE)
    options = [f"--ledger={tmp_path / 'l'}"]
    gate(capsys, old, write(tmp_path / "a.json", side(1)), *options)
    again = {case: score + 0.001 for case, score in less(BEFORE).items()}
    old = write(tmp_path / "old.json", again)  # measured again, without a case
    _, said = gate(capsys, old, write(tmp_path / "b.json", less(side(2))), *options)
    assert said.startswith("2 at this baseline")
    copy = shutil.copy(old, tmp_path / "copy.json")
    _, said = gate(capsys, str(copy), write(tmp_path / "c.json", less(side(3))), *options)
    assert said.startswith("3 at this baseline")


def test_a_promoted_candidate_in_the_place_of_the_baseline_ends_the_series(tmp_path, capsys):
    old = write(tmp_path / "old.json", BEFORE)
    new = write(tmp_path / "new.json", side(2, 0.4))
    options = [f"--ledger={tmp_path / 'l'}"]
    gate(capsys, old, write(tmp_path / "a.json", side(1)), *options)
    status, said = gate(capsys, old, new, *options)
    assert (status, said[:18]) == (0, "2 at this baseline")
    shutil.copy(new, old)
    _, said = gate(capsys, old, write(tmp_path / "b.json", side(3, 0.41)), *options)
    assert not said  # a first look
    _, said = gate(capsys, old, write(tmp_path / "c.json", side(4, 0.41)), *options)
    assert said.startswith("2 at this baseline")
    _, said = gate(capsys, old, write(tmp_path / "d.json", side(5)), *options, "--new-series=why")
    assert said.startswith("1 at this baseline in a new series, which a person began")


def test_only_what_is_counted_can_be_counted_anew(tmp_path, capsys):
    paths = [write(tmp_path / f"{seed}.json", side(seed)) for seed in (1, 2)]
    assert main(["gate", *paths, "--new-series=why"]) == 2
    assert "nobody counts them here: --ledger FILE" in capsys.readouterr().err


OLD_LINE = {"at": "a" * 64, "results": ["b" * 64, "c" * 64], "cases": "d" * 64}


def test_a_line_by_an_older_version_counts_for_every_series(path):
    path.write_text(json.dumps(OLD_LINE).replace(" ", "") + "\n")
    assert look(BEFORE, side(1), LookLedger(path)) == 2
    assert look(side(3), side(1), LookLedger(path), "v2") == 2
    begun = accept(
        BEFORE, side(2), ledger=LookLedger(path), incumbent="v1", new_series="it is another one"
    )
    assert begun.look.number == 1


def test_a_search_that_an_older_version_ended_ends_the_ledger(path):
    over = OLD_LINE | {"over": True, "results": ["a" * 64, "a" * 64]}
    path.write_text(json.dumps(over).replace(" ", "") + "\n")
    with pytest.raises(EvalError, match="begin another ledger"):
        look(BEFORE, side(1), LookLedger(path))


LABELS = {"case": {"01": "there", "02": "there"}, "cluster": {"02": "one"}}


def labelled(more):
    """The labels, and some more of them."""
    return {
        label: LABELS.get(label, {}) | more.get(label, {}) for label in sorted({*LABELS, *more})
    }


@pytest.mark.parametrize(
    ("more", "is_growth"),
    [
        ({}, True),
        ({"case": {"03": "there"}, "cluster": {"03": "one"}, "critical": {"03": "true"}}, True),
        ({"cluster": {"01": "one"}}, False),
        ({"cluster": {"02": "two"}}, False),
        ({"case": {"02": "retired: why", "03": "there"}}, False),
        ({"critical": {"2": "true"}, "case": {"03": "there"}}, False),
    ],
)
def test_labels_of_new_cases_alone_are_growth(more, is_growth):
    now = labelled(more)
    assert has_grown(LABELS, now) is is_growth
    del now["case"]["01"]
    assert not has_grown(LABELS, now)


def test_a_change_of_a_label_is_a_fact_and_its_words_are_made_of_it():
    now = labelled({"case": {"02": "retired: why of 01 was unset, is there"}, "cluster": {}})
    assert relabelled(LABELS, now | {"cluster": {}}) == (
        LabelChange(case_id="02", label="case", before="there", after=now["case"]["02"]),
        LabelChange(case_id="02", label="cluster", before="one", after=None),
    )
    texts = [change.text for change in relabelled(LABELS, {"case": {"01": "there"}})]
    assert texts == ["case 02 was there, is unset", "cluster of 02 was one, is unset"]


def looked(baseline, candidate, system="agent", **fields):
    """A look at a pinned run of a system."""
    at, alike, becomes = map(digest, (system, baseline, candidate))
    return Looked(at=at, by="pin", alike=alike, becomes=becomes, results=(alike, becomes), **fields)


def test_a_promotion_by_another_series_ends_none():
    """Else a weak baseline, which every candidate beats, would make each of them a new beginning."""
    tally = Tally()
    tally.add(looked("r0", "r1"))
    tally.add(looked("weak", "r2", system="weak", promoted=True))
    assert tally.number(looked("r2", "r3")).look.number == 2
    tally.add(looked("r0", "r2", promoted=True))
    assert tally.number(looked("r2", "r3")).look.number == 1


@pytest.mark.parametrize(
    ("looks", "number", "text"),
    [
        (
            "count",
            1,
            (
                "a second look raises the chance of a promotion by luck from 2.5% to at most 4.9%; "
                "looks = spend:2, set before the first look, keeps it"
            ),
        ),
        ("count", 2, "look 3 raises the chance of a promotion by luck to at most 7.3%"),
        ("spend", 1, "it would be look 2, whose level is 0.0076"),
        ("spend:2", 1, "it would be look 2 of the 2 that were declared"),
        ("spend:2", 2, "but it would be look 3, and 2 were declared: it promotes nothing"),
    ],
)
def test_what_another_look_costs_is_said(looks, number, text):
    assert another_look(make_policy({"looks": looks}), number).text == text


def test_advice_to_add_cases_says_what_the_next_look_costs():
    noisy = {case: score + 0.4 * (int(case[1:]) % 3 - 0.9) for case, score in BEFORE.items()}
    held = accept(BEFORE, noisy, policy=PAIRED)
    assert held.outcome == "hold"
    assert held.next_step.startswith("add cases: about ")
    assert held.next_step.endswith(another_look(make_policy({}), 1).text)
    same = accept(BEFORE, BEFORE, policy={**PAIRED, "score_range": [0, 1]})
    assert "more cases with the same results show no gain" in same.next_step
    assert "look 2" not in same.next_step
