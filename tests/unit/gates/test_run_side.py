"""One side of a comparison decides the same whether it was made from a report or read from a record."""

from __future__ import annotations

import json

import pytest

from benchgate.gates.baseline import arm, differences
from benchgate.gates.run_diff import since_pin
from benchgate.gates.run_side import CaseTable, RunSide
from benchgate.models import LogSource
from tests.unit.gates.test_unscored import ERROR, LATE, run

ROWS = [0.2, 0.7, (0.9, 0.5), ERROR, LATE, 0.0]


def read_again(side):
    return RunSide.read_json(json.dumps(side.model_dump(mode="json")).encode())


@pytest.mark.parametrize("rows", [ROWS, [[0.2, 0.8], [ERROR, 0.9], [LATE, ERROR]]])
def test_a_side_that_was_written_and_read_decides_as_its_report(rows):
    report = run(rows)
    side = RunSide.of(report)
    assert read_again(side) == side
    assert arm(read_again(side)) == arm(report)
    assert arm(read_again(side), report) == arm(report)
    assert list(differences(read_again(side), report)) == []


def test_the_other_side_says_which_cases_count_and_how_they_are_labelled():
    side = RunSide.of(run(ROWS))
    now = run(ROWS[:4]).model_copy(update={"clusters": {"c000": "k"}, "critical": ("c001",)})
    like = arm(side, now)
    assert like.case_ids == ("c000", "c001", "c002", "c003")
    assert like.clusters == ("k", None, None, None)
    assert [facts.critical for facts in like.facts] == [False, True, False, False]
    assert [change.text for change in since_pin(side, now)] == [
        "case c004 was there, is unset",
        "case c005 was there, is unset",
        "cluster of c000 was unset, is k",
        "critical of c001 was unset, is true",
    ]


def test_a_log_has_no_durations_and_its_own_labels():
    source = LogSource(
        tool="x", version=None, sha256="1" * 64, metric="m", score_range=(0.0, 1.0), without=()
    )
    report = run(ROWS).model_copy(update={"source": source})
    log = report.model_copy(
        update={"digests": report.digests.model_copy(update={"system": "1" * 64})}
    )
    side = RunSide.of(log)
    assert (side.log, side.table.durations_seconds) == ("1" * 64, None)
    assert since_pin(side, run(ROWS[:4])) == ()
    assert len(arm(side, run(ROWS[:4])).scores) == len(ROWS)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ids": ("c001", "c000")}, "expected ids in their order, each once"),
        ({"ids": ("c000", "c000")}, "expected ids in their order, each once"),
        ({"scores": ((0.5,),)}, "1 scores; expected 2, one for each case"),
        ({"penalties": ()}, "0 penalties; expected 2, one for each case"),
    ],
)
def test_a_table_has_one_value_for_each_case(change, message):
    table = RunSide.of(run([0.2, 0.7])).table.model_dump()
    with pytest.raises(ValueError, match=message):
        CaseTable.model_validate({**table, **change})
