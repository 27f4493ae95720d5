"""A rollback is required by evidence against what runs now, never by evidence that is missing."""

from __future__ import annotations

import json
import random

import pytest

from benchgate.cli import main
from benchgate.gates.decide import decide
from benchgate.gates.facts import VectorFacts
from benchgate.gates.figures import Arm
from benchgate.gates.policy import make_policy
from benchgate.gates.rollback import rollback_gate

IDS = tuple(f"c{number:02}" for number in range(12))


def arm(scores, penalty=0.0, ids=IDS):
    penalties = None if penalty is None else (penalty,) * len(scores)
    return Arm(scores=tuple(scores), case_ids=ids, penalties=penalties)


def noisy(level, seed=1):
    draw = random.Random(seed)  # noqa: S311
    return [level + 0.1 * draw.random() for _ in IDS]


def judged(after, before=None, *, penalty=0.0, codes=(), **options):
    policy = make_policy({"test": "auto", **options})
    made = decide(
        VectorFacts(policy=policy, sides=(arm(before or noisy(0.5)), arm(after, penalty)))
    )
    return rollback_gate(
        made.figures, policy, made.comparison.p_of_loss, (*made.decision.reason_codes, *codes)
    )


CLAIMS = [{}, {"claim": "not_worse", "margin": 0.5}, {"claim": "no_regression", "tolerance": 1.0}]


@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize("test", ["auto", "welch"])
def test_a_significant_loss_requires_it_under_any_claim(claim, test):
    found = judged(noisy(0.2, 2), test=test, **claim)
    assert found.rollback_required
    assert found.failing_checks == ("significant_regression",)
    assert found.reason_codes == ("rollback_required_significant_regression",)


@pytest.mark.parametrize("after", [noisy(0.5, 2), noisy(0.8, 2), noisy(0.48, 2)])
@pytest.mark.parametrize("claim", CLAIMS)
def test_that_no_gain_is_shown_requires_nothing(after, claim):
    found = judged(after, **claim)
    assert not found.rollback_required
    assert found.reason_codes == ()


def test_a_loss_that_is_the_same_on_every_case_has_no_p_and_is_found_by_its_bound():
    flat = [0.9] * 12
    assert judged([0.1] * 12, before=flat).failing_checks == ("significant_regression",)
    assert not judged([0.85] * 12, before=flat).rollback_required
    assert not judged(flat, before=flat).rollback_required


def test_checks_come_in_one_order():
    found = judged(
        noisy(0.2, 2),
        penalty=0.5,
        codes=["checkpoint_promotion_blocked_block_severity_failure_mode"],
    )
    assert found.failing_checks == (
        "block_severity_failure_mode",
        "safety_regression",
        "significant_regression",
    )
    assert found.reason_codes == tuple(
        f"rollback_required_{check}" for check in found.failing_checks
    )


@pytest.mark.parametrize(
    "code",
    [
        "incomplete_run",
        "too_many_unscored",
        "baseline_mismatch",
        "case_mismatch",
        "score_out_of_range",
    ],
)
def test_what_cannot_be_compared_requires_nothing_and_is_told_apart(code):
    blocked = f"checkpoint_promotion_blocked_{code}"
    found = judged(noisy(0.1, 2), penalty=0.9, codes=[blocked])
    assert not found.rollback_required
    assert found.reason_codes == (f"rollback_not_evaluated_{code}",)
    harmful = judged(
        noisy(0.1, 2), codes=[blocked, "checkpoint_promotion_blocked_block_severity_failure_mode"]
    )
    assert harmful.reason_codes == (
        "rollback_required_block_severity_failure_mode",
        f"rollback_not_evaluated_{code}",
    )


def test_a_penalty_that_was_not_measured_is_told_apart():
    found = judged(noisy(0.5, 2), penalty=None)
    assert (found.rollback_required, found.reason_codes) == (
        False,
        ("rollback_not_evaluated_safety_missing",),
    )
    one_side = judged(noisy(0.5, 2), penalty=None, safety="optional")
    assert one_side.reason_codes == ("rollback_not_evaluated_safety_missing",)


@pytest.mark.parametrize(("level", "required"), [(0.2, True), (0.5, False), (0.9, False)])
def test_the_evaluation_says_whether_to_roll_back(tmp_path, level, required):
    paths = [tmp_path / "old.json", tmp_path / "now.json"]
    for path, scores in zip(paths, (noisy(0.5), noisy(level, 2)), strict=True):
        path.write_text(json.dumps(dict(zip(IDS, scores, strict=True))))
    report = tmp_path / "evaluation.json"
    given = [f"--baseline-samples={paths[0]}", f"--trained-samples={paths[1]}", "--run-id=r"]
    main(["evaluate", *given, f"--out={report}"])
    assert json.loads(report.read_bytes())["rollback_gate"]["rollback_required"] is required
