"""The evidence of a comparison whose record is not there: what no scores tell is believed, and nothing else is."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from benchgate.artifacts.build import Evidence
from benchgate.artifacts.proof import evidence_files
from benchgate.errors import ArtifactError
from benchgate.gates.decide import decide
from benchgate.gates.decision import Objection
from benchgate.gates.facts import VectorFacts
from benchgate.gates.figures import Arm
from benchgate.gates.policy import GatePolicy
from benchgate.models import Suite
from benchgate.sentences.says import says
from benchgate.verify.validate import validate_file

N = 30


def side(score, harm=0.0):
    ids = tuple(f"c{n:02}" for n in range(N))
    trials = ((score,),) * N
    return Arm(scores=(score,) * N, case_ids=ids, penalties=(harm,) * N, trials=trials)


WORSE = VectorFacts(policy=GatePolicy(), sides=(side(1.0), side(0.0)))
HARMFUL = VectorFacts(policy=GatePolicy(), sides=(side(0.5), side(1.0, 1.0)))
BETTER = VectorFacts(policy=GatePolicy(), sides=(side(0.0), side(1.0)))


def faults(folder, facts):
    """What is wrong with the files that a decision on these facts would have left."""
    made = Evidence(
        run_id="a" * 64,
        candidate_run_id="a" * 64,
        suite=Suite(name="s", version="1"),
        generated_at=datetime(2026, 1, 1, tzinfo=UTC),
        names=("old", "new"),
        decided=decide(facts),
    )
    for name, data in evidence_files(made).items():
        (folder / name).write_bytes(data)
    found = []
    for name in ("proof", "significance", "safety", "evaluation"):
        try:
            validate_file(folder / f"{name}.json")
        except ArtifactError as error:
            found.append(str(error))
    return found


@pytest.mark.parametrize("facts", [WORSE, HARMFUL, BETTER])
def test_what_follows_from_two_sides_is_valid(tmp_path, facts):
    assert faults(tmp_path, facts) == []


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        (WORSE, "case_mismatch"),
        (WORSE, "score_out_of_range"),
        (WORSE, "baseline_mismatch"),
        (HARMFUL, "case_mismatch"),
        (BETTER, "significant_regression"),
        (BETTER, "safety_regression"),
        (BETTER, "made_up"),
    ],
)
def test_a_reason_that_the_sides_do_not_give_is_forged(tmp_path, facts, code):
    assert faults(tmp_path, replace(facts, blockers=((code, says("gate", text="forged")),)))


@pytest.mark.parametrize(
    "said",
    [
        {"blockers": (("incomplete_run", says("gate", text="2 not run")),)},
        {"blockers": (("observer_not_trusted", says("gate", text="0.5; needed is 0.9")),)},
        {"blockers": (("block_severity_failure_mode", says("gate", text="x in c01")),)},
        {
            "new_cases": (
                ("new_cases_decide", says("gate", text="if the baseline had solved them")),
            )
        },
        {"objections": (Objection(gate="b", text="no"), Objection(gate="a", text="no"))},
    ],
)
def test_what_only_the_run_tells_is_believed(tmp_path, said):
    assert decide(replace(BETTER, **said)).decision.outcome in {"hold", "reject"}
    assert faults(tmp_path, replace(BETTER, **said)) == []
