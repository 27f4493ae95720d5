"""Lists of two runs with different numbers of trials: a case passes if all do, so what is compared is how often."""

from __future__ import annotations

from itertools import product

from benchgate.aggregate import build_report
from benchgate.gates.run_diff import changes
from benchgate.ids import RunPlan
from benchgate.models import BenchScore, RunDigests, TrialResult
from benchgate.taxonomy import RESERVED, Taxonomy
from benchgate.wording.cases import case_lines

SHA = "0" * 64


def run(cases):
    """Return the report of cases with a score for each of their trials; 1 passes."""
    plan = RunPlan(
        task_class="toy",
        case_ids=tuple(cases),
        scope="full",
        system="s",
        trial_count=max(map(len, cases.values())),
        seed=0,
        digests=RunDigests(
            cases=dict.fromkeys(cases, SHA),
            rubric=SHA,
            scorer=SHA,
            taxonomy=SHA,
            system=None,
            policy=SHA,
        ),
        harness_version="0",
    )
    results = [
        TrialResult(
            case_id=case_id,
            trial=number,
            seed=0,
            held_out=False,
            outcome="scored",
            score=BenchScore(passed=score == 1, score=score, safety_penalty=None),
        )
        for case_id, scores in cases.items()
        for number, score in enumerate(scores)
    ]
    return build_report(plan, results, Taxonomy(RESERVED))


def first_line(before, after):
    return next(case_lines(after, before.passed_count, changes(before, after))).text


def test_the_same_system_with_fewer_trials_does_not_newly_pass():
    """One that passes half of the time: of three trials all do in an eighth of the cases, of one in half of them."""
    threes = list(product((0, 1), repeat=3))
    before = run({f"c{n:02}": threes[n // 5] for n in range(40)})
    after = run({f"c{n:02}": [int(n % 5 < 2)] for n in range(40)})
    assert (before.mean_score, after.mean_score) == (0.5, 0.4)
    assert (before.passed_count, after.passed_count) == (5, 16)
    found = changes(before, after)
    # Of the five cases that never passed two do now, and of the five that always did three do not.
    assert [row.case_id for row in found.newly_passing] == ["c00", "c01"]
    assert [row.case_id for row in found.newly_failing] == ["c37", "c38", "c39"]
    said = first_line(before, after)
    counts = "2 newly passing, 3 newly failing, 12 higher, 18 lower"
    assert said == f"40.0% of trials pass, before 50.0% (1 trial a case, before 3): {counts}"


def test_each_kind_of_change_is_one_of_rates():
    before = run({"a": [1, 1, 1], "b": [1, 1, 0], "c": [1, 0, 0], "d": [0, 0, 0], "e": [1, 1, 1]})
    after = run({"a": [0], "b": [1], "c": [0], "d": [1], "e": [1]})
    found = changes(before, after)
    kinds = (found.newly_failing, found.newly_passing, found.fell, found.rose)
    assert [[row.case_id for row in kind] for kind in kinds] == [["a"], ["d"], ["c"], ["b"]]
    assert found.same == 1
    assert (found.rates.trials_before, found.rates.trials) == (3, 1)
    assert first_line(before, after) == (
        "60.0% of trials pass, before 60.0% (1 trial a case, before 3): "
        "1 newly passing, 1 newly failing, 1 higher, 1 lower"
    )
    back = changes(after, before)
    assert [row.case_id for row in back.newly_failing] == ["d"]
    assert [row.case_id for row in back.fell] == ["b"]


def test_runs_with_the_same_numbers_of_trials_are_counted_in_cases():
    before, after = run({"a": [1, 0], "b": [1, 1]}), run({"a": [1, 1], "b": [1, 0]})
    assert changes(before, after).rates is None
    assert first_line(before, after) == "1 of 2 pass, before 1: 1 newly passing, 1 newly failing"


def test_only_the_cases_of_both_runs_say_whether_the_numbers_differ():
    before, after = run({"a": [1], "b": [1, 1]}), run({"a": [1], "c": [0, 1, 1]})
    assert changes(before, after).rates is None
