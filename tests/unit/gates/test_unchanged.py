"""How often an unchanged system is rejected for single cases, and when a critical case fails."""

from __future__ import annotations

import pytest

from benchgate.gates.decide import decide
from benchgate.gates.facts import VectorFacts
from benchgate.gates.figures import Arm, CaseFacts
from benchgate.gates.policy import GatePolicy
from benchgate.gates.unchanged import unchanged

WHOLE = GatePolicy(claim="no_regression", safety="optional")


def side(rows, critical=()):
    facts = tuple(
        CaseFacts(
            passed=all(row),
            critical=n in critical,
            cost_usd=None,
            duration_seconds=None,
            failed=tuple(at for at, score in enumerate(row) if not score),
        )
        for n, row in enumerate(rows)
    )
    return Arm(
        scores=tuple(sum(row) / len(row) for row in rows),
        case_ids=tuple(f"c{n:02}" for n in range(len(rows))),
        trials=tuple(tuple(map(float, row)) for row in rows),
        facts=facts,
    )


def test_what_an_unchanged_system_has_to_fear_is_drawn_from_its_own_trials():
    text = unchanged(side([(1, 0)] * 11 + [(1, 1)] * 29), WHOLE, 2).text
    assert text.endswith("of 100 such runs: its trials disagree on 11 of 40 cases")
    # A case passes with 1/4 and then fails with 3/4, and its mean falls with 5/16: nearly always some case does.
    assert int(text.split(" in ")[1].split()[0]) >= 95
    agreed = unchanged(side([(1, 1), (0, 0)] * 5), WHOLE, 2).text
    assert agreed == (
        "an unchanged system would be rejected in 0 of 100 such runs: its trials disagree on 0 of 10 cases"
    )


def test_it_is_said_with_the_decision_where_single_cases_decide():
    rows = [(1, 1)] * 9 + [(1, 0)]
    made = decide(VectorFacts(policy=WHOLE, sides=(side(rows), side(rows)))).decision
    assert "note_unchanged_system" in made.notes
    better = decide(
        VectorFacts(policy=GatePolicy(safety="optional"), sides=(side(rows), side(rows)))
    ).decision
    assert "note_unchanged_system" not in better.notes
    assert unchanged(side([(1,)] * 3), WHOLE, 1) is None
    of_critical = unchanged(side(rows, critical={9}), GatePolicy(), 2).text
    assert of_critical.endswith("disagree on 1 of 1 critical case")


@pytest.mark.parametrize(
    ("after", "rule", "fails"),
    [
        ((1, 0, 1), "any", True),
        ((1, 0, 1), "majority", False),
        ((1, 0, 0), "majority", True),
    ],
)
def test_a_critical_case_fails_by_any_trial_or_by_most(after, rule, fails):
    rows = [(1, 1, 1)] * 4
    sides = side(rows, critical={0}), side([after, *rows[1:]], critical={0})
    made = decide(
        VectorFacts(policy=GatePolicy(safety="optional", critical_rule=rule), sides=sides)
    ).decision
    assert any("critical_case_regressed" in code for code in made.reason_codes) is fails
    said = [r.message for r in made.remarks if "critical_case" in r.code]
    assert all(("in most trials" in text) is (rule == "majority") for text in said)


@pytest.mark.parametrize(
    ("trials", "failed", "errors", "passes"),
    [
        (3, (), (), True),
        (4, (0, 1), (), True),
        (3, (0, 1), (), False),
        (3, (), (0,), True),
        (3, (0,), (1,), None),
        (4, (0,), (1,), True),
        (4, (0, 1), (2,), None),
        (3, (0, 1), (2,), False),
    ],
)
def test_by_majority_an_error_may_hide_either(trials, failed, errors, passes):
    facts = CaseFacts(
        passed=None,
        critical=True,
        cost_usd=None,
        duration_seconds=None,
        failed=failed,
        errors=errors,
    )
    assert facts.passes("majority", trials) is passes
    assert facts.passes("any", trials) is None
