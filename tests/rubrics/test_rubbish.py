"""No rubric raises, whatever stands in an output: a rubric that raises makes every run incomplete."""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # every rubric scores every output of every system

BENCH = Path(__file__).parents[2] / "bench"
CLASSES = sorted(
    path.parent.name
    for path in BENCH.glob("*/rubric.py")
    if (path.parent / "registration.py").is_file()
)


@pytest.mark.parametrize("name", CLASSES)
def test_rubbish_is_scored_zero_and_not_passed(scoring, name):
    with scoring.loaded(name) as bench:
        for case in scoring.cases(bench):
            for text in scoring.rubbish_texts():
                score = scoring.scored(bench, case, text)

                assert (score.passed, score.score) == (False, 0.0), (case.case_id, text[:200])


@pytest.mark.slow
@pytest.mark.parametrize("name", CLASSES)
def test_a_damaged_answer_is_scored(scoring, name):
    with scoring.loaded(name) as bench:
        for case in first_of_each_disposition(scoring.cases(bench)):
            whole = scoring.made_by(bench, case)[bench.task_class.default_system]
            seen = scoring.observed(bench, case, whole)  # nobody has built its damaged copies
            for text in scoring.damaged_texts(whole):
                score = scoring.scored(bench, case, text, seen)

                assert 0.0 <= score.score <= 1.0
                assert set(score.failure_modes) <= set(bench.taxonomy.severities)


def first_of_each_disposition(cases):
    found = {}
    for case in cases:
        found.setdefault(case.disposition, case)
    return list(found.values())
