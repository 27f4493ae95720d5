"""Logs with scores other than 0 and 1: lists say higher and lower, unless a map says which of them pass."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchgate.cli import main
from benchgate.errors import EvalError
from benchgate.interop import read
from benchgate.interop.reports import LogTerms, report_pair
from benchgate.runner.judging import judged, run_of_logs

F1 = [0.31, 0.45, 0.62, 1.0, 0.78, 0.15, 0.9, 0.55, 0.7, 1.0, 0.0, 0.66] * 2
PASSING = [score >= 0.6 for score in F1]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")


def log(name, scores, passing=None, **fields):
    marks = [score >= 0.6 for score in scores] if passing is None else passing
    rows = [
        {"id": f"c{n:02}", "score": score, "ok": mark, **fields}
        for n, (score, mark) in enumerate(zip(scores, marks, strict=True))
    ]
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return Path(name)


def moved(by, only=range(24)):
    """The scores, some of them moved within 0 and 1."""
    return [
        round(min(1.0, max(0.0, score + by)), 2) if n in only else score
        for n, score in enumerate(F1)
    ]


def judgement(after, policy, **options):
    sides = [read(path, **options) for path in (log("old.jsonl", F1), log("new.jsonl", after))]
    terms = LogTerms.of("t", policy)
    reports = report_pair(*sides, terms, (None, None))
    return judged(run_of_logs(*reports, terms.policy), None)


NO_REGRESSION = {"claim": "no_regression"}
NOT_WORSE = {"claim": "not_worse", "margin": 0.05}
NEWLY = ["newly_failing_cases"]


@pytest.mark.parametrize(
    ("after", "policy", "outcome", "codes"),
    [
        ([*F1[:3], 0.2, *F1[4:]], NO_REGRESSION | {"tolerance": 0.9}, "reject", NEWLY),
        ([*F1[:3], 0.2, *F1[4:]], {}, "hold", ["delta_below_minimum", "gain_excluded"]),
        (F1, NO_REGRESSION, "promote", []),
        (F1, NOT_WORSE, "hold", ["margin_not_shown"]),
        (moved(0.2), {}, "promote", []),
        (moved(0.2), NO_REGRESSION, "promote", []),
        (moved(-0.2), NOT_WORSE, "hold", ["margin_not_shown"]),
        (moved(-0.05, [3, 9, 15, 21]), NO_REGRESSION | {"tolerance": 0.2}, "reject", NEWLY),
        (moved(-0.05, [0, 1, 2, 4]), NO_REGRESSION | {"tolerance": 0.2}, "promote", []),
        (moved(0.5, [2, 4, 7, 8]), {}, "hold", ["inconclusive_underpowered"]),
    ],
)
def test_what_is_decided_of_graded_logs_is_what_was(after, policy, outcome, codes):
    """Lists say something else now, and nothing is decided by them: these are the decisions before that."""
    decision = judgement(after, policy).decision
    found = [code.removeprefix("checkpoint_promotion_blocked_") for code in decision.reason_codes]
    assert (decision.outcome, found) == (outcome, codes)


def kinds(changes):
    rows = (changes.newly_failing, changes.newly_passing, changes.fell, changes.rose)
    return [[row.case_id for row in kind] for kind in rows]


def test_graded_cases_are_higher_and_lower_and_none_newly_fails():
    after = [*F1]
    after[3] = 0.2  # from the best score
    after[4] = 1.0  # to it
    changes = judgement(after, {}).changes
    assert changes.is_graded
    assert kinds(changes) == [[], [], ["c03"], ["c04"]]
    marked = judgement(after, {}, map={"passed": "ok"}).changes
    assert not marked.is_graded
    assert kinds(marked) == [["c03"], [], [], ["c04"]]


@pytest.mark.parametrize("side", ["old", "new"])
def test_one_graded_side_is_enough(side):
    plain = [float(score >= 0.6) for score in F1]
    names = {"old": plain, "new": plain} | {side: F1}
    sides = [read(log(f"{name}.jsonl", scores)) for name, scores in names.items()]
    terms = LogTerms.of("t", {})
    facts = run_of_logs(*report_pair(*sides, terms, (None, None)), terms.policy)
    assert judged(facts, None).changes.is_graded


def test_scores_of_0_and_1_say_themselves_which_pass():
    sides = [read(log(f"{name}.jsonl", [0, 1] * 10)) for name in ("old", "new")]
    terms = LogTerms.of("t", {})
    facts = run_of_logs(*report_pair(*sides, terms, (None, None)), terms.policy)
    assert not judged(facts, None).changes.is_graded


def test_a_field_says_which_samples_pass_and_no_regression_goes_by_it():
    worse = [not mark if n == 3 else mark for n, mark in enumerate(PASSING)]
    sides = [
        read(log("old.jsonl", F1, PASSING), map={"passed": "ok"}),
        read(log("new.jsonl", F1, worse), map={"passed": "ok"}),
    ]
    terms = LogTerms.of("t", NO_REGRESSION | {"tolerance": 0.9})
    reports = report_pair(*sides, terms, (None, None))
    assert reports[0].passed_count == sum(PASSING)
    assert [reports[1].source.passed, sides[1].fields[2]] == ["ok", ("passed", "ok", "--map")]
    found = judged(run_of_logs(*reports, terms.policy), None)
    assert found.decision.outcome == "reject"
    assert [row.case_id for row in found.changes.newly_failing] == ["c03"]


@pytest.mark.parametrize("value", [0.7, "perhaps", 2, [1]])
def test_a_mark_is_true_or_false(value):
    path = log("a.jsonl", F1, [value] * 24)
    with pytest.raises(
        EvalError, match=r"a\.jsonl:1: passed of case 'c00' is .*expected true or f"
    ):
        read(path, map={"passed": "ok"})


@pytest.mark.parametrize("value", ["yes", "failed", 1, "0", True])
def test_words_for_true_and_false_are_marks(value):
    found = read(log("a.jsonl", F1, [value] * 24), map={"passed": "ok"})
    assert {one.passed for one in found.samples} == {value in ("yes", 1)}


def test_a_sample_without_a_mark_is_refused():
    path = log("a.jsonl", F1, [None, *PASSING[1:]])
    with pytest.raises(EvalError, match="case 'c00' has no 'ok', which is to be the passed"):
        read(path, map={"passed": "ok"})


def test_nothing_that_is_printed_or_written_counts_passes_of_graded_scores(capsys):
    log("old.jsonl", F1)
    log("new.jsonl", moved(0.2))
    assert main(["gate", "old.jsonl", "new.jsonl", "--html=proof.html", "-v"]) == 0
    shown = capsys.readouterr().out
    assert "cases     of 24 cases, 20 higher, 0 lower\n" in shown
    assert " pass" not in shown.partition("cases  ")[2].partition("test  ")[0]
    assert main(["gate", "old.jsonl", "new.jsonl", "--html=run.html", "--out=chain"]) == 0
    assert main(["verify", "chain"]) == 0
    pytest.importorskip("jinja2")
    for name in ("proof.html", "run.html"):
        text = Path(name).read_text()
        assert "Higher scores" in text
        assert "As before" in text
        for words in ("Cases passed", "Newly failing", ">pass<", ">fail<", "Failing"):
            assert words not in text, (name, words)


def test_a_mark_that_is_named_is_counted_and_recorded(capsys):
    log("old.jsonl", F1)
    log("new.jsonl", moved(0.2))
    words = ["gate", "old.jsonl", "new.jsonl", "--map=passed=ok", "--out=chain", "--html=run.html"]
    assert main(words) == 0
    shown = capsys.readouterr().out
    before = sum(PASSING)
    after = sum(score >= 0.6 for score in moved(0.2))
    said = f"{after} of 24 pass, before {before}: {after - before} newly passing, 0 newly failing"
    assert said in shown
    assert "passed=ok by --map" in shown
    assert main(["verify", "chain"]) == 0
    pytest.importorskip("jinja2")
    assert f"{after} of 24" in Path("run.html").read_text()
