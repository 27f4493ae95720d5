"""Cases that are new or retired since the baseline was pinned: the rest is compared, and it is said first."""

from __future__ import annotations

import json
import shutil
import warnings
from datetime import timedelta

import pytest

from benchgate.cli import main
from benchgate.gates.exit_status import HELD
from benchgate.wire import clock
from tests.engine.test_looks import SPEND, Looks

PREFIX = "checkpoint_promotion_blocked_"


@pytest.fixture
def looks(echo, kept):
    return Looks(echo, kept)


def said(run, code):
    return [one.message for one in run.judgement.decision.remarks if one.code == code]


def test_a_new_case_is_named_and_not_compared(looks):
    looks.echo.case("13")
    run = looks.run(0.5)
    assert run.judgement.decision.outcome == "promote"
    assert said(run, "note_new_cases") == [
        (
            "12 of 13 cases: 13 is new and was not compared; "
            "benchgate pin --extend --task-class CLASS --yes runs the baseline on new cases"
        )
    ]
    assert run.judgement.figures.compared == 12
    assert looks.is_valid()
    evidence = run.published.folder / "evidence"
    assert main(["verify", *map(str, evidence.glob("*.json"))]) == 0


def test_it_is_no_promotion_if_the_baseline_might_have_solved_what_the_candidate_fails(looks):
    """Without the new cases the gain is sure; with them it would not be."""
    for number in range(13, 25):
        looks.echo.case(f"{number}")

    def system(case):
        return {"answer": 0.3 + int(case.case_id) ** 2 / 1000 if case.case_id < "13" else 0.0}

    run = looks.echo.run(system=system, baseline="auto")
    decision = run.judgement.decision
    assert (run.exit_status, decision.outcome) == (1, "hold")  # cases fail
    assert decision.reason_codes == (f"{PREFIX}new_cases_decide",)
    assert said(run, f"{PREFIX}new_cases_decide")[0].startswith(
        "if the baseline had solved the new"
    )
    assert looks.is_valid()
    evidence = run.published.folder / "evidence"
    assert main(["verify", *map(str, evidence.glob("*.json"))]) == 0


def test_a_case_that_is_retired_leaves_both_sides(looks, capsys):
    looks.echo.case("05", retired='"its answer was wrong"')
    assert main(["check", "echo", "--bench-root", str(looks.echo.path.parent)]) in {0, 1}
    assert "case '05'" not in capsys.readouterr().err
    run = looks.run(0.5)
    report = run.judgement.report
    assert (report.case_count, report.retired) == (11, {"05": "its answer was wrong"})
    assert run.judgement.figures.compared == 11
    assert run.judgement.decision.outcome == "promote"
    assert said(run, "note_relabelled") == [
        "since the baseline was pinned: case 05 was there, is retired: its answer was wrong"
    ]
    assert looks.is_valid()


def test_a_case_that_is_gone_is_refused_as_before(looks):
    shutil.rmtree(looks.echo.path / "cases/05")
    run = looks.run(0.5)
    assert run.exit_status == HELD
    assert "cases only in the baseline: 05" in said(run, f"{PREFIX}baseline_mismatch")[0]


def test_cases_that_go_after_a_look_cost_one_and_new_ones_none(looks):
    looks.echo.case("13")
    assert looks.number(0.2, **SPEND) == 1
    looks.echo.case("14", cluster='"new"')
    assert looks.number(0.3, **SPEND) == 2
    looks.echo.case("04", retired='"too easy"')
    assert looks.number(0.4, **SPEND) == 4
    run = looks.run(0.2, **SPEND)
    assert "case 04 was there, is retired: too easy" in said(run, "note_relabelled")[0]
    assert run.judgement.decision.look.number == 5
    assert looks.is_valid()


def test_a_retired_case_needs_a_reason_and_a_fact_of_that_name_retires_nothing(looks):
    looks.echo.case("05", extra="[facts]\nretired = true")
    looks.echo.case("06", retired='""')
    run = looks.run(0.5)
    assert run.judgement.report.retired == {}
    assert run.judgement.report.case_count == 12
    assert not run.judgement.report.complete


def test_which_cases_are_retired_is_held_against_the_bench(looks, capsys):
    looks.run(0.5)
    looks.echo.case("05", retired='"its answer was wrong"')
    options = ["--require-promote", "--bench-root", str(looks.echo.path.parent)]
    capsys.readouterr()
    assert main(["verify", str(looks.echo.out), *options]) == 1
    assert "case 05 was there, is retired: its answer was wrong" in capsys.readouterr().err


def test_a_baseline_with_other_cases_than_it_is_said_to_lack_is_found_out(looks):
    looks.echo.case("13")
    looks.run(0.5)
    path = looks.echo.folder() / "record.json"
    record = json.loads(path.read_bytes())
    record["report"]["retired"] = {"13": "no"}
    path.write_text(json.dumps(record))
    assert main(["verify", str(looks.echo.out)]) == 1


def graded(good):
    """A system that is much better on some cases, and worse on the others."""

    def system(case):
        gain = 0.08 + int(case.case_id) ** 2 / 10000 if case.case_id in good else -0.1
        return {"answer": 0.1 + gain}

    system.name = "picked"
    return system


def test_cases_that_were_retired_after_a_look_do_not_make_a_promotion(looks):
    for number in range(13, 25):
        looks.echo.case(f"{number}")
    looks.run(0.1, baseline="none")
    looks.pin()
    system = graded({f"{number:02}" for number in range(1, 13)})
    held = looks.echo.run(system=system, baseline="auto", policy={"min_cases": 5})
    assert held.judgement.decision.outcome == "hold"
    for number in range(13, 25):
        looks.echo.case(f"{number}", retired='"too hard"')
    run = looks.echo.run(system=system, baseline="auto", policy={"min_cases": 5})
    decision = run.judgement.decision
    assert decision.reason_codes == (f"{PREFIX}cases_changed_the_answer",)
    assert said(run, f"{PREFIX}cases_changed_the_answer") == [
        "with the cases as they were at earlier looks at this baseline the decision is hold"
    ]
    assert decision.look.over_seen == "hold"
    assert looks.is_valid()
    evidence = run.published.folder / "evidence"
    assert main(["verify", *map(str, evidence.glob("*.json"))]) == 0


def test_a_retired_case_of_which_nothing_is_known_counts_as_failed(looks):
    """Another candidate is compared: nobody knows how it would do on the case that the first look had."""
    looks.run(0.15)
    for case_id in ("04", "05", "06"):
        looks.echo.case(case_id, retired='"its answer was wrong"')
    system = graded({f"{number:02}" for number in range(1, 13)})
    run = looks.echo.run(system=system, baseline="auto", policy={"min_cases": 5})
    assert run.judgement.decision.look.over_seen == "hold"
    assert run.judgement.decision.reason_codes == (f"{PREFIX}cases_changed_the_answer",)
    assert looks.is_valid()


def test_where_the_answer_is_the_same_nothing_objects(looks, capsys):
    assert looks.run(0.5).judgement.decision.outcome == "promote"
    looks.echo.case("05", retired='"its answer was wrong"')
    run = looks.run(0.5)
    assert run.judgement.decision.outcome == "promote"
    assert run.judgement.decision.look.over_seen == "promote"
    assert looks.is_valid()
    path = looks.echo.folder() / "record.json"
    record = json.loads(path.read_bytes())
    del record["decision"]["look"]["over_seen"]
    path.write_text(json.dumps(record))
    capsys.readouterr()
    assert main(["verify", str(looks.echo.out)]) == 1
    assert "over_seen" in capsys.readouterr().err


@pytest.mark.parametrize(("days", "is_said"), [(89, False), (91, True)])
def test_an_old_baseline_is_named_with_the_command_that_makes_it_again(looks, days, is_said):
    path = looks.echo.path / "baseline.json"
    record = json.loads(path.read_bytes())
    record["finished_at"] = f"{clock.now() - timedelta(days=days):%Y-%m-%dT%H:%M:%SZ}"
    path.write_text(json.dumps(record))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        looks.run(0.5)
    found = [str(one.message) for one in caught if "days old" in str(one.message)]
    assert bool(found) is is_said
    if is_said:
        assert found[0].startswith(f"the baseline is {days} days old, and a model changes behind")
        assert "pytest --bench=echo --bench-system=" in found[0]
