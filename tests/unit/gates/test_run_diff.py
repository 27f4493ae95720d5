"""Two runs case by case, and a run against itself."""

from __future__ import annotations

import pytest

from benchgate.aggregate import INCOMPLETE, build_report
from benchgate.gates.policy import GatePolicy
from benchgate.gates.run_diff import changes
from benchgate.ids import RunPlan
from benchgate.models import BenchScore, FailureMode, RunDigests, TrialResult
from benchgate.taxonomy import RESERVED, Taxonomy
from benchgate.wording.cases import case_lines

SHA = "0" * 64
PAIRED = GatePolicy(test="auto")


def trial(case_id, number, score, *, passed=None):
    """Return a scored trial, or one that crashed where ``score`` is ``None``."""
    common = {"case_id": case_id, "trial": number, "seed": 0, "held_out": False}
    if score is None:
        return TrialResult(**common, outcome="harness_error")
    right = score >= 0.5 if passed is None else passed
    made = BenchScore(passed=right, score=score, safety_penalty=0.0)
    return TrialResult(**common, outcome="scored", score=made)


def run(scores, digests=None):
    """Return a report; ``scores`` holds for each case a score, or those of its trials."""
    table = {c: s if isinstance(s, (list, tuple)) else [s] for c, s in scores.items()}
    plan = RunPlan(
        task_class="toy",
        case_ids=tuple(table),
        scope="full",
        system="s",
        trial_count=max(map(len, table.values()), default=1),
        seed=0,
        digests=RunDigests(
            cases=dict.fromkeys(table, SHA) | (digests or {}),
            rubric=SHA,
            scorer=SHA,
            taxonomy=SHA,
            system=None,
            policy=SHA,
        ),
        harness_version="0",
    )
    trials = [trial(c, n, s) for c, row in table.items() for n, s in enumerate(row)]
    return build_report(plan, trials, Taxonomy(RESERVED))


def told(cases):
    return [(case.case_id, case.before, case.after) for case in cases]


def moved(found):
    return found.newly_failing + found.newly_passing + found.fell + found.rose


def test_each_case_stands_in_the_list_it_belongs_to():
    before = run({"a": 0.9, "b": 0.1, "c": 0.8, "d": 0.2, "e": 0.7, "gone": 1.0})
    after = run({"a": 0.2, "b": 0.9, "c": 0.6, "d": 0.3, "e": 0.7, "here": 1.0})
    found = changes(before, after)
    assert told(found.newly_failing) == [("a", 0.9, 0.2)]
    assert told(found.newly_passing) == [("b", 0.1, 0.9)]
    assert (told(found.fell), told(found.rose)) == ([("c", 0.8, 0.6)], [("d", 0.2, 0.3)])
    assert (found.same, found.errors, found.is_rescored) == (1, (), False)
    assert (found.new, found.missing, found.changed) == (("here",), ("gone",), ())
    assert found.newly_failing[0].delta == pytest.approx(-0.7)


def test_the_same_run_has_no_changes():
    report = run({"a": 0.9, "b": None})
    found = changes(report, report)
    assert not moved(found)
    assert (found.same, found.errors) == (1, (("b", "harness_error"),))


def test_the_largest_change_stands_first_and_equal_ones_by_case_id():
    ids = ["c", "a", "b"]
    found = changes(run(dict.fromkeys(ids, 1.0)), run({"c": 0.4, "a": 0.4, "b": 0.1}))
    assert [case.case_id for case in found.newly_failing] == ["b", "a", "c"]
    found = changes(run(dict.fromkeys(ids, 0.5)), run({"c": 0.8, "a": 0.9, "b": 1.0}))
    assert [case.case_id for case in found.rose] == ["b", "a", "c"]
    found = changes(run({"k": 1.0}), run(dict.fromkeys(["k", *ids], 1.0)))
    assert found.new == ("a", "b", "c")


def test_changed_files_are_named_whatever_the_scores():
    found = changes(run({"a": 0.9, "b": 0.9}), run({"a": 0.1, "b": 0.1}, {"a": "1" * 64}))
    assert found.changed == ("a",)
    assert told(found.newly_failing) == [("b", 0.9, 0.1)]


def test_scores_of_another_rubric_are_said_to_be_that():
    before, after = run({"a": 0.9}), run({"a": 0.1})
    rescored = after.model_copy(
        update={"digests": after.digests.model_copy(update={"scorer": "1" * 64})}
    )
    assert changes(before, rescored).is_rescored


@pytest.mark.parametrize("outcome", sorted(INCOMPLETE))
def test_a_trial_that_says_nothing_about_the_system_is_no_change(outcome):
    before, after = run({"a": [0.9, 0.9], "b": 0.9}), run({"a": [0.9, None], "b": 0.1})
    silent = [
        t.model_copy(update={"outcome": outcome}) if t.score is None else t for t in after.per_case
    ]
    found = changes(before, after.model_copy(update={"per_case": tuple(silent)}))
    assert told(moved(found)) == [("b", 0.9, 0.1)]
    assert found.errors == (("a", outcome),)


def test_a_selection_lacks_no_case():
    after = run({"a": 0.9}).model_copy(update={"scope": "selected"})
    assert changes(run({"a": 0.9, "b": 0.9}), after).missing == ()


def test_a_change_has_the_failure_modes_of_the_second_run_each_once():
    before, after = run({"a": [0.9, 0.9]}), run({"a": [0.1, 0.1]})
    modes = (FailureMode(code="late"), FailureMode(code="wrong", detail="x"))
    named = [t.model_copy(update={"failure_modes": modes}) for t in after.per_case]
    found = changes(before, after.model_copy(update={"per_case": tuple(named)}))
    assert found.newly_failing[0].codes == ("late", "wrong")


def test_a_case_without_a_score_fails_with_0():
    found = changes(run({"a": 0.9, "b": 0.1}), run({"a": None, "b": None}))
    assert told(found.newly_failing) == [("a", 0.9, 0.0)]
    assert found.fell == ()
    assert found.errors == (("a", "harness_error"), ("b", "harness_error"))


def test_a_case_is_its_mean_over_trials_and_passes_if_all_of_them_do():
    found = changes(run({"a": [1.0, 0.5]}), run({"a": [1.0, 0.0]}))
    assert told(found.newly_failing) == [("a", 0.75, 0.5)]
    found = changes(run({"a": [0.6, 0.8]}), run({"a": [0.8, 0.6]}))
    assert not moved(found)


def test_what_is_shown_of_the_changes_ends_with_a_gain_if_one_is_to_be_named():
    old = run({"a": 0.4, "b": 0.9, "c": 0.8, "d": 0.7, "e": 0.2, "f": 0.1})
    new = run({"a": 0.9, "b": 0.4, "c": 0.3, "d": 0.2, "e": 0.8, "f": 0.1})
    found = changes(old, new)

    def rows(**how):
        return [(line.label.strip(), line.text[0]) for line in case_lines(new, 3, found, **how)][1:]

    worst = [("fails", "b"), ("fails", "c"), ("fails", "d")]
    more = [("", ".")]  # "... 2 more": f, which fails as before, is none of the changes
    assert rows() == worst + more
    assert rows(has_gain=True) == [*worst[:2], ("passes", "e"), *more]
    assert rows(most=None, has_gain=True) == [
        *worst,
        ("passes", "e"),
        ("passes", "a"),
        ("still", "f"),
    ]
    assert [*case_lines(new, 3, found)][-1].text == "... 2 more"
    same = changes(old, old)
    assert [(line.label.strip(), line.text) for line in case_lines(old, 3, same)][1:] == [
        *(("still", case_id) for case_id in "aef"),
    ]


def test_a_score_that_differs_in_its_last_digit_is_the_same():
    """The mean of nine trials, added up in another order, or divided first."""
    once = 7 / 9
    other = sum([1 / 9] * 7)
    assert once != other
    found = changes(run({"a": once, "b": other}), run({"a": other, "b": once}))
    assert not moved(found)
    assert found.same == 2
    lines = [line.text for line in case_lines(run({"a": other}), 1, found)]
    assert lines == ["1 of 1 pass, before 1: 0 newly passing, 0 newly failing"]


def test_a_small_change_is_one_and_is_seen():
    found = changes(run({"a": 0.7781, "b": 0.7}), run({"a": 0.7780, "b": 0.9}))
    assert told(found.fell) == [("a", 0.7781, 0.778)]
    rows = [line.text for line in case_lines(run({"a": 0.778, "b": 0.9}), 2, found)]
    assert rows[1:] == ["a  0.7781 -> 0.7780", "b  0.700 -> 0.900"]
