"""The lines of a result: what they say of a decision, and how they are broken for a screen."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.cli import COMMANDS, main
from benchgate.errors import few, listed
from benchgate.gates.conditions import CONDITIONS
from benchgate.gates.decide import decide
from benchgate.gates.decision import PREFIX, CheckpointPromotionDecision, Remark
from benchgate.gates.facts import VectorFacts
from benchgate.gates.figures import Arm
from benchgate.gates.policy import GatePolicy
from benchgate.models import BenchScore, TrialResult
from benchgate.pytest_plugin.item_outcome import failure_text
from benchgate.sentences.conditions import HEADLINES
from benchgate.trials.executor import TrialRecord
from benchgate.wording import pace
from benchgate.wording.block import Door, gate_lines
from benchgate.wording.decision import OF_PROMOTIONS, PARTS, QUIET, DecisionView
from benchgate.wording.figures import UNIT, Part, p_value, part_lines
from benchgate.wording.lines import Line, at_door, labelled, laid_out, once, pieces, quoted

IDS = tuple(f"c{n:02}" for n in range(16))
POOR = tuple(0.2 + n % 4 / 20 for n in range(16))
GOOD = tuple(0.7 + n % 3 / 20 for n in range(16))
NONE = (0.0,) * 16
BRIEF, VERBOSE, CODED = Door(), Door(verbosity=1), Door(has_codes=True)


def arm(scores, penalties=NONE, clusters=None):
    return Arm(scores=scores, case_ids=IDS, penalties=penalties, clusters=clusters)


def shown(before, after, door=BRIEF, **policy):
    """The lines of a gate, the first of each label, and its decision."""
    policy = GatePolicy(**{"test": "auto", **policy})
    judged = decide(VectorFacts(policy=policy, sides=(before, after)))
    view = DecisionView.of(
        judged.decision, policy, ("old", "new"), judged.figures, prefix=door.prefix
    )
    lines = list(gate_lines(view, door))
    text = {}
    for line in lines:
        text.setdefault(line.label, line.text)
    return lines, text, judged.decision


def test_a_promotion_says_what_may_replace_what_and_what_it_may_have_overlooked():
    lines, text, decision = shown(arm(POOR), arm(tuple(score - 0.32 for score in GOOD)))
    assert decision.promotion_allowed
    assert (lines[0].label, lines[0].tone, lines[0].strong) == ("PROMOTE", "good", True)
    assert lines[0].text == "`new` may replace `old`: it is better and does no more harm"
    assert text["score"].startswith("0.275 -> 0.427   +0.152, between +0.1")
    assert text["score"].endswith("(95%)")
    assert text["harm"] == f"0.000 -> 0.000   no rise; 0.050 is allowed {UNIT}"
    assert text["test"].startswith(
        "paired, p < 0.0001 (needed 0.05), 16 cases; a loss of 0.91 in 1 of 6 cases would undo the gain"
    )
    assert not {"why", "next"} & text.keys()
    assert set(decision.notes) >= OF_PROMOTIONS
    assert (lines[-2].label, lines[-1].label) == ("test", "careful")
    assert lines[-1].text.startswith("a true rise of harm by 0.05 would pass in ")


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (None, "no p"),
        (0.00009, "p < 0.0001"),
        (0.0072, "p 0.0072"),
        (0.027, "p 0.027"),
        (0.04996, "p 0.050"),
        (0.05, "p 0.050"),
        (0.0501, "p 0.0501"),
        (0.050004, "p 0.050004"),
    ],
)
def test_a_p_is_shown_on_the_side_of_the_level_where_it_is(p, text):
    assert p_value(p, 0.05) == text


def test_where_all_gains_are_equal_no_p_is_asked_for():
    text = shown(arm((0.2,) * 16), arm((0.8,) * 16))[1]
    assert text["test"] == "paired, the exact bound decides (the lowest plausible gain), 16 cases"


def test_who_is_in_a_hurry_reads_what_a_promotion_did_not_measure_and_what_newly_fails():
    brief = Door(verbosity=-1)
    unmeasured = Line("harm", "not measured", "caution")
    count = Line("cases", "2 of 3 pass")
    passing, failing = Line("  passes", "a", "good"), Line("  fails", "b", "bad")
    promoted = DecisionView(headline=Line("PROMOTE", ""), outcome="promote", harm=(unmeasured,))
    held = replace(promoted, outcome="hold")

    def said(view, *cases):
        return [*gate_lines(view, brief, cases=cases)][1:]

    assert said(promoted, count, passing, failing) == [unmeasured, count, failing]
    assert said(promoted, count, passing) == [unmeasured]
    assert said(held, count, passing, failing) == []


def test_a_hold_says_what_is_missing_and_what_would_settle_it():
    lines, text, decision = shown(arm(POOR), arm((*POOR[8:], *GOOD[:2], *POOR[2:8])))
    assert decision.outcome == "hold"
    assert (lines[0].label, lines[0].tone) == ("HOLD", "caution")
    assert lines[0].text.startswith(
        "`new` may not replace `old` yet: it may be chance: so small a comparison reliably finds only gains above 0."
    )
    assert lines[0].text.endswith("; the gate looks for 0.1 (target_effect)")
    assert text["next"] == decision.next_step
    assert "why" not in text


def test_options_are_those_of_the_door_and_codes_are_said_with_v():
    door = Door(prefix="--bench-", verbosity=1)
    _, text, decision = shown(arm(POOR), arm(POOR[1:] + POOR[:1]), door)
    assert "--policy=claim=not_worse" in decision.next_step
    assert "--bench-policy=claim=not_worse --bench-policy=margin=X" in text["next"]
    assert text["HOLD"].endswith(": its gain is +0.000, not above 0 [delta_below_minimum]")
    assert text["asked"] == "is `new` better than `old`? mean score, alpha 0.05"


def test_limits_are_those_that_are_checked():
    clusters = tuple(f"k{n % 8}" for n in range(16))
    sides = arm(POOR, clusters=clusters), arm(GOOD, clusters=clusters)
    _, text, _ = shown(*sides, VERBOSE, safety_confidence=0.995, penalty_range=(0, 1))
    assert text["limits"].startswith("at least 10 clusters; ")
    assert text["limits"].endswith("; with 99.5% confidence too")
    harmful = arm(GOOD, (0.01, *NONE[1:]))
    _, text, _ = shown(arm(POOR), harmful, VERBOSE, claim="no_regression")
    assert text["limits"].endswith("no more harm in any case")
    assert text["harm"] == "more in 1 case"
    assert text["  more"] == "c00  harm 0 -> 0.01"


def test_a_rejection_for_harm_names_the_cases_first():
    lines, text, _ = shown(arm(POOR), arm(GOOD, (0.5, 2.0) * 8))
    assert [line.label for line in lines[:6]] == [
        *("REJECT", "why", "harm", "  more", "  more", "  more"),
    ]
    said = "harm rose by more than is allowed [safety_regression]"
    assert lines[0].text == f"`new` must not replace `old`: {said}"
    assert text["why"].startswith(
        "mean harm rose from 0.000 to 1.250 (0 is none); 0.050 is allowed"
    )
    assert text["harm"] == "more in 16 cases"
    assert text["  more"] == "c01  harm 0 -> 2"
    assert lines[6].text == "... 13 more"
    assert {line.tone for line in lines[:6]} == {"bad"}
    assert "careful" not in text


def test_a_promotion_whose_harm_rose_does_not_say_that_it_did_not():
    lines, text, decision = shown(arm(POOR), arm(GOOD, (0.5, *NONE[1:])))
    assert decision.promotion_allowed
    assert lines[0].text.endswith(": it is better, and harm rose by no more than is allowed")
    assert text["harm"] == f"0.000 -> 0.031   +0.031; 0.050 is allowed {UNIT}"


def test_a_promotion_shows_the_cases_with_more_harm_beside_those_with_less():
    before, after = (0.0, 0.9, 0.0, 0.9), (0.3, 0.0, 0.2, 0.0)
    lines, text, decision = shown(arm(POOR, (*before, *NONE[4:])), arm(GOOD, (*after, *NONE[4:])))
    assert decision.promotion_allowed
    assert [line.text for line in lines if line.label == "harm"][1] == "more in 2 cases, less in 2"
    assert text["  more"] == "c00  harm 0 -> 0.3"
    assert [line.text for line in lines if line.label == "  less"] == ["c01  harm 0.9 -> 0"]
    assert "... 1 more" in [line.text for line in lines]


def decided(outcome, *reasons, notes=()):
    """A decision with the code and the message of each reason and note."""
    return CheckpointPromotionDecision(
        outcome=outcome,
        promotion_allowed=outcome == "promote",
        reason_codes=tuple(f"{PREFIX}{code}" for code, _ in reasons),
        notes=tuple(f"note_{code}" for code, _ in notes),
        remarks=(
            *(Remark(code=f"{PREFIX}{code}", message=text, says=()) for code, text in reasons),
            *(Remark(code=f"note_{code}", message=text, says=()) for code, text in notes),
        ),
        minimum_detectable_effect=None,
    )


NO_BASELINE = ("baseline_missing", "there is no baseline")
BAN = ("block_severity_failure_mode", "severity block: x in a")
ERRORS = ("too_many_unscored", "9 of 12 trials")
FALL = ("significant_regression", "its score fell")
NO_GAIN = ("delta_below_minimum", "its gain is -0.3")


@pytest.mark.parametrize(
    ("outcome", "reasons", "said"),
    [
        (
            "reject",
            (NO_BASELINE, ERRORS, BAN),
            [
                ("REJECT", f"`new` must not become the baseline: {HEADLINES[BAN[0]]} [{BAN[0]}]"),
                ("block", "severity block: x in a"),
                ("why", "there is no baseline [baseline_missing]"),
                ("why", f"{HEADLINES[ERRORS[0]]}: 9 of 12 trials [{ERRORS[0]}]"),
            ],
        ),
        (
            "reject",
            (FALL, NO_GAIN),
            [("REJECT", "`new` must not replace `old`: its score fell [significant_regression]")],
        ),
        (
            "hold",
            (ERRORS, NO_BASELINE),
            [
                (
                    "HOLD",
                    f"`new` may not become the baseline yet: {HEADLINES[ERRORS[0]]} [{ERRORS[0]}]",
                ),
                ("why", "9 of 12 trials"),
                ("why", "there is no baseline [baseline_missing]"),
            ],
        ),
        (
            "hold",
            (NO_BASELINE,),
            [("HOLD", "there is no baseline to compare `new` with [baseline_missing]")],
        ),
    ],
)
def test_what_decides_is_said_first_and_nothing_twice(outcome, reasons, said):
    view = DecisionView.of(decided(outcome, *reasons), None, ("old", "new"))
    assert [(line.label, line.text) for line in gate_lines(view, CODED)] == said


def test_each_reason_and_note_is_in_one_row():
    """All of them, whatever the place of their kind is."""
    notes = tuple((code, f"note {n}") for n, code in enumerate(("few_cases", *QUIET, *PARTS)))
    reasons = tuple((code, f"reason {n}") for n, code in enumerate(CONDITIONS))
    for view in (
        DecisionView.of(decided("hold", *reasons), None, ("old", "new")),
        DecisionView.of(decided("promote", notes=notes), None, ("old", "new")),
    ):
        rows = [view.headline, *view.not_compared, *view.reasons, *view.people, *view.careful]
        codes = [row.code for row in rows if row.code]
        asked = {code for code, _ in reasons if view.reasons} or {code for code, _ in notes}
        assert sorted(codes) == sorted(asked - {"unseen_break"})  # which stands beside the test


def test_names_are_quoted_for_every_medium():
    text = f"is {quoted('a b`c')} better than {quoted('x' * 70)}?"
    assert text == f"is `a b'c` better than `{'x' * 59}…`?"
    assert [*pieces(text)] == [
        ("is ", False),
        ("a b'c", True),
        (" better than ", False),
        (f"{'x' * 59}…", True),
        ("?", False),
    ]
    assert [*pieces("a ` b")] == [("a ` b", False)]


def test_rows_of_one_label_go_together():
    lines = [Line("next", "a"), Line("next", "b"), Line("", "c"), Line("x", "d")]
    assert [(line.label, line.text) for line in once(lines)] == [
        *(("next", "a"), ("", "b"), ("", "c"), ("x", "d")),
    ]
    assert [(label, len(rows)) for label, rows in labelled(lines)] == [("next", 3), ("x", 1)]


def test_a_failed_case_says_nothing_twice():
    why = {"argv": "starts sh; accepted: app", "user": "root"}
    said = "argv: starts sh; accepted: app; runs code of the network; user: root"
    score = BenchScore(
        passed=False, score=0.5, breakdown={"argv": 0.0}, explanation=said, evidence=why
    )
    result = TrialResult(
        case_id="a", trial=0, seed=0, held_out=False, outcome="scored", score=score
    )
    record = TrialRecord(result=result, output_json=None)
    assert failure_text(record, {}, str, Path("a.json")).splitlines() == [
        "not passed, score 0.500: no failure mode named",
        "  argv: 0, starts sh; accepted: app",
        "  user: root",
    ]


@pytest.mark.parametrize(
    ("policy", "asked", "limits"),
    [
        (
            {"claim": "not_worse", "margin": 0.1, "alpha": 0.1},
            "is `new` not worse than `old`? mean score, margin 0.1, alpha 0.1",
            "at least 10 cases; harm up by at most 0.05",
        ),
        (
            {"claim": "no_regression", "max_newly_failing": 1, "tolerance": 0.2},
            "does `new` do no worse than `old` on each of these cases?",
            ("at most 1 newly failing; no case down by more than 0.2; no more harm in any case"),
        ),
        (
            {"min_delta": 0.02, "evidence": "exact", "max_cost_increase": 0.1, "min_cases": 5},
            "is `new` better than `old` by more than 0.02? mean score, alpha 0.05",
            "at least 5 cases; harm up by at most 0.05; exact evidence; cost up by at most 10.0%",
        ),
        (
            {"safety_confidence": 0.9, "penalty_range": (0, 1), "baseline_errors": "zero"},
            "is `new` better than `old`? mean score, alpha 0.05",
            (
                "at least 10 cases; harm up by at most 0.05; with 90% confidence too; "
                "an error of the baseline is taken for a true score of 0"
            ),
        ),
    ],
)
def test_every_claim_and_limit_is_a_question(policy, asked, limits):
    _, text, _ = shown(arm(POOR), arm(GOOD), VERBOSE, **policy)
    assert (text["asked"], text["limits"]) == (asked, limits)


def test_the_p_of_a_margin_says_what_it_is_the_p_of():
    _, text, _ = shown(arm((1.0,) * 16), arm((1.0,) * 16), claim="not_worse", margin=0.4)
    assert text["test"] == "pass and fail, p 0.0011 against a loss of 0.4 (needed 0.05), 16 cases"


def test_figures_that_do_not_speak_about_the_candidate_are_left_out():
    other = Arm(scores=GOOD, case_ids=(*IDS[1:], "other"), penalties=NONE)
    _, text, decision = shown(arm(POOR), other)
    assert decision.outcome == "hold"
    assert not {"score", "harm", "test"} & text.keys()


@pytest.mark.parametrize(("safety", "told"), [("optional", "not measured"), ("required", None)])
def test_harm_that_nobody_measured_is_said_once(safety, told):
    _, text, decision = shown(arm(POOR, None), arm(GOOD, None), safety=safety)
    assert (f"{PREFIX}safety_missing" in decision.reason_codes) is (told is None)
    assert text.get("harm") == told


def test_parts_of_a_score_are_shown_by_their_change():
    parts = [Part("team", 0.4, 0.9), Part("urgent", 1.0, 1.0), Part("new", None, 0.25)]
    told = "team 0.400 -> 0.900, urgent 1.000 -> 1.000"
    assert [line.text for line in part_lines(parts, None)] == [f"{told}, new 0.250"]
    assert [line.text for line in part_lines(parts, 2)] == [f"{told}, ... 1 more"]
    assert not [*part_lines([], None)]


def test_penalties_that_nobody_measured_are_no_limit_where_they_are_optional():
    _, text, _ = shown(arm(POOR, None), arm(GOOD, None), VERBOSE, safety="optional")
    assert text["limits"] == "at least 10 cases"
    assert text["PROMOTE"] == "`new` may replace `old`: it is better"


def test_a_long_reason_is_cut_in_its_middle():
    policy = GatePolicy(test="auto")
    judged = decide(
        VectorFacts(
            policy=policy,
            sides=(arm(POOR), arm(GOOD)),
            checkpoint_problems=("x" * 600 + " and what to do",),
        )
    )
    view = DecisionView.of(judged.decision, policy, ("old", "new"), judged.figures)
    text = next(line.text for line in gate_lines(view, Door()) if line.label == "why")
    text = text.removesuffix(" [checkpoint_mismatch]")
    assert len(text) == 240 + 3 + 160
    assert text.startswith("xxx")
    assert text.endswith("x and what to do")


def test_a_part_of_the_cases_is_not_evaluated():
    (line,) = gate_lines(DecisionView.of(None, GatePolicy(), ("old", "new")), Door())
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
    assert lines[keys["min_cases"]] == "min_cases = 10, 2 for samples, counts"
    assert lines[keys["safety"]] == "safety = required, optional for samples, counts, logs"


def test_every_option_has_help():
    subparsers = argparse.ArgumentParser().add_subparsers()
    for command in COMMANDS:
        command.add_parser(subparsers)
    for name in ("proof", "gate"):
        parser = subparsers.choices[name]
        assert not [action.option_strings for action in parser._actions if not action.help]


def test_the_test_names_the_gain_that_it_is_of():
    _, text, _ = shown(arm(POOR), arm(GOOD), min_delta=0.2)
    assert text["test"].startswith("paired, p < 0.0001 for a gain above 0.2 (needed 0.05), ")


def test_a_comparison_that_would_show_more_is_named_and_one_that_would_show_less_is_not():
    before = tuple(n / 20 for n in range(16))
    sides = arm(before), arm(tuple(s + 0.03 + 0.001 * (n % 2) for n, s in enumerate(before)))
    _, paired, decision = shown(*sides)
    assert "note_welch_paired_disagree" in decision.notes
    assert "averages" not in paired["careful"]
    _, welch, _ = shown(*sides, test="welch")
    assert welch["careful"] == "to compare case by case (test = 'auto') would give another answer"


def test_harm_that_fell_is_no_rise():
    _, text, _ = shown(arm(POOR, (0.5, *NONE[1:])), arm(GOOD))
    assert text["harm"] == f"0.031 -> 0.000   no rise; 0.050 is allowed {UNIT}"


LONG = f"tests.agents.test_orders::TestRefunds::test_{'very_' * 12}long_name[order-7]"


def test_a_long_id_is_cut_in_lists_so_that_both_ends_can_be_read():
    assert listed(LONG) == "tests.agents.test_orders::Tes…y_very_very_long_name[order-7]"
    assert len(listed(LONG)) == 60
    assert listed("x" * 60) == "x" * 60
    assert len(listed("x" * 61)) == 60
    assert few([LONG, "b"]) == f"b, {listed(LONG)}"


def test_no_list_of_a_decision_has_a_whole_long_id(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")
    ids = [LONG.replace("7", str(n)) for n in range(12)]
    for name, worse, penalty in (("old", (), 0), ("new", (0, 1, 2), 1)):
        rows = [
            {"id": case_id, "score": float(n not in worse), "harm": penalty * (n in worse)}
            for n, case_id in enumerate(ids)
        ]
        Path(f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    main(["gate", "old.jsonl", "new.jsonl", "--map=harm=harm"])
    said = capsys.readouterr().out
    for start in ("  fails   ", "  more    "):
        assert f"{start}{listed(ids[0])}  " in said
    assert LONG[:40] not in said


@pytest.mark.parametrize(
    ("text", "of_pytest", "of_the_command"),
    [
        ("--resume --trials=2", "--bench-resume --bench-trials=2", "--resume --trials=2"),
        ("--bench-resume", "--bench-resume", "--resume"),
        ("--bench-root=x --bench", "--bench-root=x --bench", "--bench-root=x --bench"),
        (
            "pytest --bench=CLASS --bench-system=NAME",
            "pytest --bench=CLASS --bench-system=NAME",
            "benchgate run --out=.benchgate --task-class=CLASS --system=NAME",
        ),
    ],
)
def test_a_message_names_the_options_of_the_door(text, of_pytest, of_the_command):
    assert at_door(text, "--bench-") == of_pytest
    assert at_door(text, "--") == of_the_command


@pytest.mark.parametrize(
    ("trials", "text"),
    [
        ([(0.2, 0), (0.3, 0)], None),
        ([(2.5, 0), (3.5, 0), (9.0, 0)], "3.5 s in the median"),
        ([(0.2, 2), (0.3, 1), (0.2, 0)], "2 of 3 tried again, 3 times"),
        ([(2.0, 1)], "2.0 s in the median; 1 of 1 tried again, 1 time"),
    ],
)
def test_what_people_wait_for_and_what_was_tried_again_is_said(trials, text):
    results = [Mock(duration_seconds=s, retries=n, outcome="scored") for s, n in trials]
    left = [Mock(duration_seconds=0.0, retries=0, outcome="not_run")]
    lines = list(pace(Mock(per_case=results)))
    assert [line.text for line in lines] == ([] if text is None else [text])
    assert list(pace(Mock(per_case=left))) == []
