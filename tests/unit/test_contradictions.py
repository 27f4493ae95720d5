"""Rows that contradict themselves, or the direction in which a score is better: never a pass, and never overlooked."""

from __future__ import annotations

import json

import pytest

from benchgate.errors import EvalError
from benchgate.interop import read
from benchgate.interop.reports import LogTerms, report_of, report_pair
from benchgate.runner.judging import judged, run_of_logs


def written(path, document):
    path.write_text(json.dumps(document))
    return path


def promptfoo(*rows):
    results = [{"testIdx": n, "vars": {"n": n}, **row} for n, row in enumerate(rows)]
    return {"evalId": "e", "results": {"results": results}}


PASSED = {"success": True, "failureReason": 0, "gradingResult": {"pass": True}, "error": None}


@pytest.mark.parametrize(
    ("of_row", "said"),
    [
        ({"gradingResult": {"pass": False}}, "success is true, but gradingResult.pass is false"),
        ({"success": False}, "success is false, but gradingResult.pass is true"),
        ({"failureReason": 1}, "success is true, but failureReason is 1"),
        ({"failureReason": 2}, "success is true, but failureReason is 2"),
        ({"error": "429"}, "success is true, but it has an error: 429"),
    ],
)
@pytest.mark.parametrize("options", [{}, {"metric": "score"}, {"map": {"error": "nothing"}}])
def test_a_contradiction_within_a_row_of_promptfoo_is_an_error(tmp_path, of_row, said, options):
    document = promptfoo(PASSED | {"score": 1}, PASSED | {"score": 1} | of_row)
    found = read(written(tmp_path / "a.json", document), **options)
    assert [one.score for one in found.samples] == [1, None]
    assert found.errors[0].error == f"Contradiction: {said}"


@pytest.mark.parametrize(
    ("row", "score"),
    [
        (PASSED, 1),
        ({"success": True}, 1),
        (
            {"success": False, "failureReason": 1, "error": "no", "gradingResult": {"pass": False}},
            0,
        ),
        ({"success": False, "failureReason": 2, "error": "no"}, None),
    ],
)
def test_a_row_of_promptfoo_that_is_of_one_mind_is_read_as_it_is(tmp_path, row, score):
    path = written(tmp_path / "a.json", promptfoo(PASSED, row))
    assert [one.score for one in read(path).samples] == [1, score]


def deepeval(*cases):
    """Cases of (success, metrics), a metric being (score, passed), with the threshold 0.5."""
    return {
        "testCases": [
            {
                "name": f"c{n:02}",
                "success": success,
                "metricsData": [
                    {"name": "Harm", "score": score, "threshold": 0.5, "success": passed}
                    for score, passed in metrics
                ],
            }
            for n, (success, metrics) in enumerate(cases)
        ]
    }


def test_a_case_of_deepeval_that_passed_without_its_metric_is_an_error(tmp_path):
    document = deepeval((True, [(0.1, True)]), (True, [(0.9, False)]), (False, [(0.1, True)]))
    found = read(written(tmp_path / "a.json", document))
    assert [one.score for one in found.samples] == [1, None, 0]
    said = "Contradiction: success is true, but that of its metric 'Harm' is false"
    assert found.errors[0].error == said


def test_a_run_of_langsmith_that_ended_in_an_error_which_it_lacks_is_an_error(tmp_path):
    run = {"reference_example_id": "a", "id": "r", "feedback_stats": {"ok": {"avg": 1}}}
    rows = [run | {"status": status} for status in ("success", "error")]
    rows[1]["reference_example_id"] = "b"
    found = read(written(tmp_path / "a.json", {"runs": rows}))
    assert [one.score for one in found.samples] == [1, None]


def harms(value, against=None):
    """Twenty cases with one harm, which is lower than its threshold where it passed; one may say the opposite."""
    cases = [(value < 0.5, [(value, value < 0.5)])] * 20
    if against is not None:
        cases[against] = (value < 0.5, [(0.6, True)])
    return deepeval(*cases)


def test_one_row_against_the_direction_of_harm_does_not_turn_its_check_off(tmp_path):
    """It did: harm that rose from 0.1 to 0.9 was read as safety, and promoted."""
    old = written(tmp_path / "old.json", harms(0.1, against=3))
    new = written(tmp_path / "new.json", harms(0.9, against=3))
    for path in (old, new):
        with pytest.raises(
            EvalError, match=r"more of 'Harm' is better in case 'c03'.*correct that"
        ):
            read(path, map={"harm": "Harm"})
        with pytest.raises(EvalError, match=r"less of 'Harm' is better in case 'c0[01]'.*correct"):
            read(path, map={"safety": "Harm"})
        for ends in ([0, 1], [1, 0]):
            terms = LogTerms.of("t", {"score_range": ends})
            with pytest.raises(
                EvalError, match=r"'Harm' is better in case 'c0[013]'.*correct that"
            ):
                report_of(read(path, metric="Harm"), terms, "x")


def test_harm_that_rose_is_rejected_and_in_the_other_direction_refused(tmp_path):
    old = written(tmp_path / "old.json", harms(0.1))
    new = written(tmp_path / "new.json", harms(0.9))
    sides = [read(path, map={"harm": "Harm"}) for path in (old, new)]
    terms = LogTerms.of("t", {"claim": "not_worse", "margin": 0.9})
    reports = report_pair(*sides, terms, (None, None))
    decision = judged(run_of_logs(*reports, terms.policy), None).decision
    assert decision.outcome == "reject"
    for path in (old, new):
        with pytest.raises(EvalError, match="--map harm=Harm"):
            read(path, map={"safety": "Harm"})
