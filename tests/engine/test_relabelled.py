"""What is said of a case besides its task changes without a new pin: it is named, and costs a look."""

from __future__ import annotations

import json

import pytest

from benchgate.cli import main
from tests.engine.test_looks import SPEND, Looks

SAID = {
    "held_out": "true",
    "critical": "true",
    "difficulty": '"hard"',
    "tags": '["rare"]',
    "cluster": '"one"',
    "added_at": "2026-11-02T00:00:00Z",
    "last_validated_at": "2026-11-02T00:00:00Z",
    "leak_ok": '"why not"',
}
PEEK = """
told = (case.held_out, case.critical, case.difficulty, case.tags, case.cluster, case.added_at.year, case.leak_ok)
if told != (False, False, "medium", (), None, 2000, None):
    raise ValueError(str(told))
"""


@pytest.fixture
def looks(echo, kept):
    return Looks(echo, kept)


def test_no_system_or_rubric_sees_what_is_said_of_a_case(echo):
    echo.case("02", **SAID)
    echo.rubric(PEEK)
    echo.system(PEEK)
    report = echo.run().judgement.report
    assert [result.outcome for result in report.per_case] == ["scored"] * 3
    assert [result.held_out for result in report.per_case] == [False, True, False]
    assert report.clusters == {"02": "one"}
    assert report.critical == ("02",)


def test_nothing_of_it_needs_a_new_pin(looks):
    looks.echo.case("05", **SAID)
    assert looks.run(0.5).judgement.decision.outcome == "promote"
    looks.echo.case("05", disposition='"negative"')  # which a rubric reads
    assert looks.run(0.5).judgement.decision.reason_codes == (
        "checkpoint_promotion_blocked_baseline_mismatch",
    )


def notes(run):
    return [one.message for one in run.judgement.decision.remarks if one.code == "note_relabelled"]


def test_a_change_since_the_pin_is_named_and_costs_a_look(looks):
    assert looks.number(0.2, **SPEND) == 1
    for case_id in ("02", "03"):
        looks.echo.case(case_id, cluster='"pair"')
    looks.echo.case("04", held_out="true")
    run = looks.run(0.3, **SPEND)
    (note,) = notes(run)
    assert note.startswith(
        "since the baseline was pinned: cluster of 02 was unset, is pair; cluster of 03"
    )
    assert note.endswith("held_out of 04 was unset, is true")
    assert run.judgement.decision.look.number == 3  # the labels, and the look
    assert run.judgement.figures.significance.clusters == 11  # of both sides
    assert looks.number(0.4, **SPEND) == 4
    assert looks.is_valid()


def test_the_same_results_with_other_labels_are_another_look(looks):
    assert looks.number(0.2) == 1
    looks.echo.case("02", critical="true")
    assert looks.number(0.2) == 3
    looks.echo.case("02")
    run = looks.run(0.2)
    assert notes(run) == [
        "since an earlier look at these results: critical of 02 was true, is unset"
    ]
    assert run.judgement.decision.look.number == 1
    assert looks.is_valid()


def test_a_baseline_that_runs_too_is_labelled_by_the_class(looks):
    looks.echo.write(
        "registration.py",
        """
        from benchgate import register_task_class
        from .rubric import EchoRubric
        register_task_class("echo", systems={"old": lambda case: {"answer": 0.1}}, default_system="old")(EchoRubric)
        """,
    )
    both = {"baseline": "run:old"}
    assert looks.number(0.2, **both) == 1
    looks.echo.case("02", critical="true")
    run = looks.run(0.2, **both)
    assert (run.judgement.decision.look.number, len(notes(run))) == (3, 1)
    assert looks.is_valid()


@pytest.mark.parametrize("place", ["baseline", "look"])
def test_what_a_record_says_of_it_is_recomputed(looks, place, capsys):
    looks.run(0.2)
    looks.echo.case("02", critical="true")
    looks.run(0.2)
    path = looks.echo.folder() / "record.json"
    record = json.loads(path.read_bytes())
    if place == "baseline":
        assert record["baseline"]["run"]["critical"] == []
        record["baseline"]["run"]["critical"] = ["02"]
    else:
        look = record["decision"]["look"]
        change = {"case_id": "02", "label": "critical", "before": None, "after": "true"}
        assert look.pop("relabelled") == [change]
    path.write_text(json.dumps(record))
    assert main(["verify", str(looks.echo.out)]) == 1
    assert {"baseline": "baseline.run.critical", "look": "relabelled"}[
        place
    ] in capsys.readouterr().err
