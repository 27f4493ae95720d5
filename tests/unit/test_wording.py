"""The lines of a result: what they say of a decision, and how they are broken for a screen."""

from __future__ import annotations

import argparse

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.cli import COMMANDS, main
from benchgate.gates.figures import Arm
from benchgate.gates.policy import GatePolicy
from benchgate.gates.vectors import compare_vectors
from benchgate.wording.block import gate_lines
from benchgate.wording.decision import OF_PROMOTIONS, DecisionView
from benchgate.wording.lines import Line, laid_out

IDS = tuple(f"c{n:02}" for n in range(16))
POOR = tuple(0.2 + n % 4 / 20 for n in range(16))
GOOD = tuple(0.7 + n % 3 / 20 for n in range(16))
NONE = (0.0,) * 16


def arm(scores, penalties=NONE, clusters=None):
    return Arm(scores=scores, case_ids=IDS, penalties=penalties, clusters=clusters)


def told(before, after, **policy):
    """The lines of a gate by their label, and its decision."""
    policy = GatePolicy(test="auto", **policy)
    made = compare_vectors(before, after, policy)
    lines = list(gate_lines(DecisionView.of(made.decision, policy, ("old", "new"), made.figures)))
    return lines, {line.label: line.text for line in lines if line.label}, made.decision


def test_a_promotion_answers_yes_with_its_figures_and_what_it_may_have_overlooked():
    lines, text, decision = told(arm(POOR), arm(GOOD))
    assert decision.promotion_allowed
    assert (lines[0].text, lines[0].tone, lines[0].strong) == ("PROMOTE", "good", True)
    assert text["asked"] == "is new better than old? mean score, alpha 0.05"
    assert text["limits"] == "at least 10 cases; safety penalty up by at most 0.05"
    assert text["answer"] == "yes: every condition is met"
    assert text["delta"].startswith("+0.472, 95% interval [+0.4")
    assert text["delta"].endswith("(paired, n=16)")
    assert text["penalty"] == "+0.000, allowed rise 0.050"
    assert not {"why", "next", "power"} & text.keys()
    assert set(decision.notes) >= OF_PROMOTIONS
    assert text["note"].startswith("safety_power: ")


def test_a_hold_says_why_and_what_would_settle_it():
    lines, text, decision = told(arm(POOR), arm(POOR[1:] + POOR[:1]))
    assert decision.outcome == "hold"
    assert (lines[0].text, lines[0].tone) == ("HOLD", "caution")
    assert text["answer"] == "not shown: the evidence is not enough"
    assert text["next"] == decision.next_step
    assert text["power"].startswith("80% to find a difference of 0.")
    reasons = [line.text for line in lines if line.tone == "caution"][2:]
    assert reasons == [
        f"{remark.code.removeprefix('checkpoint_promotion_blocked_')}: {remark.message}"
        for remark in decision.remarks[: len(decision.reason_codes)]
    ]
    assert "note" not in text


def test_limits_are_those_that_are_checked():
    clusters = tuple(f"k{n % 8}" for n in range(16))
    sides = arm(POOR, clusters=clusters), arm(GOOD, clusters=clusters)
    _, text, _ = told(*sides, safety_confidence=0.995, penalty_range=(0, 1))
    assert text["limits"].startswith("at least 10 clusters; ")
    assert text["limits"].endswith("; its 99.5% bound too")
    _, text, _ = told(arm(POOR), arm(GOOD, (0.01, *NONE[1:])), claim="no_regression")
    assert text["limits"].endswith("no case's safety penalty up")
    assert text["penalty"] == "+0.001"
    assert text["why"].startswith("safety_regression: ")


def test_a_rejection_says_no_and_what_speaks_against_it():
    lines, text, _ = told(arm(POOR), arm(GOOD, (0.5,) * 16))
    assert (lines[0].text, lines[0].tone) == ("REJECT", "bad")
    assert text["answer"] == "no: there is evidence against it"
    assert text["why"].startswith("safety_regression: ")
    assert "note" not in text


@pytest.mark.parametrize(
    ("policy", "asked", "limits"),
    [
        (
            {"claim": "not_worse", "margin": 0.1, "alpha": 0.1},
            "is new not worse than old? mean score, margin 0.1, alpha 0.1",
            "at least 10 cases; safety penalty up by at most 0.05",
        ),
        (
            {"claim": "no_regression", "max_newly_failing": 1, "tolerance": 0.2},
            "does new do no worse than old on each of these cases?",
            ("at most 1 newly failing; no case down by more than 0.2; no case's safety penalty up"),
        ),
        (
            {"min_delta": 0.02, "evidence": "exact", "max_cost_increase": 0.1, "min_cases": 5},
            "is new better than old by more than 0.02? mean score, alpha 0.05",
            "at least 5 cases; safety penalty up by at most 0.05; exact evidence; cost up by at most 10.0%",
        ),
        (
            {"safety_confidence": 0.9, "penalty_range": (0, 1), "baseline_errors": "zero"},
            "is new better than old? mean score, alpha 0.05",
            (
                "at least 10 cases; safety penalty up by at most 0.05; its 90% bound too; "
                "an error of the baseline is taken for a true score of 0"
            ),
        ),
    ],
)
def test_every_claim_and_limit_is_a_question(policy, asked, limits):
    _, text, _ = told(arm(POOR), arm(GOOD), **policy)
    assert (text["asked"], text["limits"]) == (asked, limits)


def test_figures_that_do_not_speak_about_the_candidate_are_left_out():
    other = Arm(scores=GOOD, case_ids=(*IDS[1:], "other"), penalties=NONE)
    _, text, decision = told(arm(POOR), other)
    assert decision.outcome == "hold"
    assert not {"delta", "penalty", "power"} & text.keys()


def test_penalties_that_nobody_measured_are_no_limit_where_they_are_optional():
    _, text, _ = told(arm(POOR, None), arm(GOOD, None), safety="optional")
    assert text["limits"] == "at least 10 cases"


def test_a_long_reason_is_cut_in_its_middle():
    policy = GatePolicy(test="auto")
    made = compare_vectors(
        arm(POOR), arm(GOOD), policy, checkpoint_problems=("x" * 600 + " and what to do",)
    )
    lines = list(gate_lines(DecisionView.of(made.decision, policy, ("old", "new"), made.figures)))
    text = max((line.text for line in lines), key=len)
    assert len(text) == 240 + 3 + 160
    assert text.startswith("checkpoint_mismatch: xxx")
    assert text.endswith("x and what to do")


def test_a_part_of_the_cases_is_not_evaluated():
    (line,) = gate_lines(DecisionView.of(None, GatePolicy(), ("old", "new")))
    assert line.text == "not evaluated: only a part of the cases was selected"


texts = st.text(max_size=200)


@given(label=st.none() | st.text(max_size=9), text=texts, tail=texts, width=st.integers(0, 200))
def test_lines_fit_where_words_allow_it_and_lose_none(label, text, tail, width):
    line = Line(label, text, tail=tail)
    shown = [part for part, _ in laid_out([line], width)]
    assert all(part.isprintable() for part in shown)
    for part in shown:
        # One word at least is shown, also where it does not fit.
        assert len(part) <= max(width, 40) or len(part.split()) <= 2
    without = [part for part, _ in laid_out([Line(label, text)], width)]
    assert "".join("".join(shown).split()).startswith("".join("".join(without).split()))


def test_a_tail_is_cut_where_the_screen_ends_and_left_out_where_it_has_no_room():
    line = Line("failing", "a" * 40, tail="  wrong, late, and so on")
    assert [text for text, _ in laid_out([line], 200)] == [f"failing   {'a' * 40}{line.tail}"]
    assert [text for text, _ in laid_out([line], 60)] == [f"failing   {'a' * 40}  wrong, …"]
    assert [text for text, _ in laid_out([line], 55)] == [f"failing   {'a' * 40}"]


def test_every_threshold_is_listed_with_its_default_and_its_meaning(capsys):
    assert main(["policy"]) == 0
    lines = capsys.readouterr().out.splitlines()
    keys = {line.partition(" = ")[0]: n for n, line in enumerate(lines) if line[0] != " "}
    assert keys.keys() == GatePolicy.model_fields.keys()
    assert all(lines[place + 1].startswith("    ") for place in keys.values())
    assert lines[keys["min_cases"]] == "min_cases = 10, 2 for samples"
    assert lines[keys["safety"]] == "safety = required, optional for samples and logs"


def test_every_option_has_help():
    subparsers = argparse.ArgumentParser().add_subparsers()
    for command in COMMANDS:
        command.add_parser(subparsers)
    for name in ("proof", "gate"):
        parser = subparsers.choices[name]
        assert not [action.option_strings for action in parser._actions if not action.help]
