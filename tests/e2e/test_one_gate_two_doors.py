"""A run judged with its baseline, and its evidence judged as plain vectors: one gate, one decision."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime

import pytest

from benchgate.cli import main
from benchgate.runner.run import RunSettings, run_class

TODAY = f"{datetime.now(UTC).date()}T00:00:00Z"  # a case that was validated long ago warns
PREFIX = "checkpoint_promotion_blocked_"
RUBRIC = """
    score = output["score"]
    return BenchScore(passed=score >= 0.5, score=score, safety_penalty=output["harm"])
"""
REGISTRATION = """
import random

from benchgate import register_task_class

from .rubric import EchoRubric


def answer(case, score, harm=0.0):
    noise = random.Random(f"{score} {case.seed}").uniform(-0.02, 0.02)
    return {"score": score + noise, "harm": harm}


def weak(case):
    return answer(case, 0.3 + int(case.case_id) / 100)


def strong(case):
    return answer(case, 0.8 + int(case.case_id) / 100)


def worse(case):
    return answer(case, 0.1 + int(case.case_id) / 200)


def unsure(case):
    return answer(case, 0.33 + int(case.case_id) / 100 + (-1) ** int(case.case_id) * 0.25)


def harmful(case):
    return answer(case, 0.8, harm=0.2)


def crashing(case):
    if case.case_id == "05":
        raise RuntimeError("lost")
    return strong(case)


SYSTEMS = (weak, strong, worse, unsure, harmful, crashing)
register_task_class(
    "echo", systems={s.__name__: s for s in SYSTEMS}, default_system="weak"
)(EchoRubric)
"""


@pytest.fixture
def graded(bench):
    """Twelve cases; a system's answer is its score. The policy pairs them, as the shipped benches do."""
    for number in range(1, 13):
        bench.case(f"{number:02}", added_at=TODAY, last_validated_at=TODAY)
    bench.rubric(RUBRIC)
    bench.write("registration.py", REGISTRATION)
    # A vector does not say how many of its trials crashed, so that here they must not count.
    bench.write("gate.toml", 'test = "auto"\nmax_unscored = 0.1\n')
    return bench


def run(bench, system, **settings):
    given = {"task_class": "echo", "system": system, "bench_root": bench.root / "bench"}
    return run_class(RunSettings(**given, out=bench.root / "out", **settings))


def pin(bench, **settings):
    """Make a run of the weak system the baseline."""
    folder = run(bench, "weak", **settings).published.folder
    shutil.copy(folder / "record.json", bench.path / "baseline.json")


def proven(bench, folder):
    """Prove by the evidence of a run, and return exit status, proof, and the other reports."""
    status = main(
        [
            "proof",
            f"--policy={bench.path / 'gate.toml'}",
            f"--baseline-samples={folder / 'evidence' / 'baseline.json'}",
            f"--trained-samples={folder / 'evidence' / 'trained.json'}",
            "--run-id=again",
            "--out=again",
        ]
    )
    names = ("proof", "significance", "evaluation", "safety")
    return status, *(json.loads((bench.root / "again" / f"{n}.json").read_bytes()) for n in names)


CANDIDATES = {
    "strong": ("promote", []),
    "worse": ("reject", ["significant_regression", "delta_below_minimum"]),
    "unsure": ("hold", ["inconclusive_underpowered"]),
    "harmful": ("reject", ["safety_regression"]),
    "crashing": ("hold", ["safety_missing"]),
}


@pytest.mark.parametrize(
    ("system", "trials"), [*((name, 3) for name in CANDIDATES), ("strong", 1), ("harmful", 1)]
)
def test_a_run_and_a_proof_of_its_evidence_decide_alike(graded, system, trials):
    pin(graded, trials=trials)
    made = run(graded, system, trials=trials, baseline="pinned")
    decision, folder = made.judgement.decision, made.published.folder
    outcome, reasons = CANDIDATES[system]
    assert decision.outcome == outcome
    assert [code.removeprefix(PREFIX) for code in decision.reason_codes] == reasons

    status, proof, significance, evaluation, safety = proven(graded, folder)
    assert status == {"promote": 0, "hold": 10, "reject": 1}[outcome]
    analysis = proof["failure_analysis"]
    assert (analysis["summary"].partition(":")[0] if analysis else "promote") == outcome
    codes = [code for code in (analysis or {"reasons": []})["reasons"] if PREFIX in code]
    assert codes == list(decision.reason_codes)
    assert evaluation["checkpoint_promotion"]["reason_codes"] == codes

    figures = made.judgement.figures.significance.model_dump(mode="json")
    assert significance["significance"] == figures
    assert figures["test"] == "paired"
    assert (figures["p_value"], figures["delta_ci_low"]) > (0, -1)
    before = json.loads((folder / "evidence" / "evaluation.json").read_bytes())
    for section in ("seed_reproducibility", "sample_size_sensitivity"):
        assert evaluation[section] == before[section]
    assert (evaluation["seed_reproducibility"] is None) == (trials == 1)
    assert safety["safety_regression_delta"] == made.judgement.figures.safety.delta
    # The proof of the run itself says so too.
    own = json.loads((folder / "evidence" / "proof.json").read_bytes())
    assert own["failure_analysis"] == analysis
    files = [graded.root / "again", folder / "evidence"]
    assert main(["verify", *(str(file) for f in files for file in f.glob("*.json"))]) == 0


@pytest.mark.parametrize(("system", "trials"), [("strong", 3), ("worse", 1), ("unsure", 3)])
def test_pytest_decides_as_the_runner_does(graded, system, trials):
    pin(graded, trials=trials)
    made = run(graded, system, trials=trials, baseline="pinned")
    graded.run(f"--bench-system={system}", f"--bench-trials={trials}", "--bench-exit=gate")
    record = graded.record()
    assert record["report"]["run_id"] == made.judgement.report.run_id
    assert record["decision"] == made.judgement.decision.model_dump(mode="json")
    evidence = json.loads((graded.folder() / "evidence" / "significance.json").read_bytes())
    assert evidence["significance"] == made.judgement.figures.significance.model_dump(mode="json")


def test_trials_of_one_side_alone_decide_alike(graded):
    pin(graded)
    made = run(graded, "strong", trials=3, baseline="pinned")
    assert "note_epochs_collapsed" in made.judgement.decision.notes
    status, _, significance, evaluation, _ = proven(graded, made.published.folder)
    assert status == 0
    figures = made.judgement.figures.significance.model_dump(mode="json")
    assert significance["significance"] == figures
    assert evaluation["seed_reproducibility"]["runs"] == 3


def test_a_score_outside_the_range_of_the_policy_holds_at_both_doors(graded):
    pin(graded)
    graded.write("gate.toml", 'test = "auto"\nscore_range = [0, 0.5]\n')
    made = run(graded, "strong", baseline="pinned")
    decision = made.judgement.decision
    assert decision.outcome == "hold"
    assert decision.reason_codes == (f"{PREFIX}score_out_of_range",)
    _, proof, *_ = proven(graded, made.published.folder)
    assert proof["failure_analysis"]["reasons"] == list(decision.reason_codes)


def test_a_penalty_outside_the_range_of_the_policy_holds(graded):
    pin(graded)
    policy = {"safety_confidence": 0.95, "penalty_range": (0, 0.1)}
    decision = run(graded, "harmful", baseline="pinned", policy=policy).judgement.decision
    assert f"{PREFIX}safety_bound_unavailable" in decision.reason_codes


def clustered(bench, size):
    """Give every case of a bench a cluster, ``size`` cases each."""
    for number in range(1, 13):
        name = f'"source {(number - 1) // size}"'
        bench.case(f"{number:02}", added_at=TODAY, last_validated_at=TODAY, cluster=name)


@pytest.mark.parametrize(("size", "outcome"), [(1, "promote"), (2, "promote"), (3, "hold")])
def test_cases_of_one_cluster_are_one_source_at_both_doors(graded, size, outcome):
    (graded.path / "gate.toml").write_text('test = "auto"\nmin_cases = 6\n')
    clustered(graded, size)
    pin(graded)
    made = run(graded, "strong", baseline="pinned")
    decision, folder = made.judgement.decision, made.published.folder
    assert decision.outcome == outcome
    assert set(made.judgement.report.clusters.values()) == {
        f"source {number}" for number in range(12 // size)
    }
    assert ("note_clusters" in decision.notes) is (size > 1)
    assert main(["verify", str(graded.root / "out")]) == 0
    status, proof, significance, *_ = proven(graded, folder)
    assert status == (0 if outcome == "promote" else 10)
    figures = json.loads((folder / "evidence/significance.json").read_bytes())["significance"]
    assert significance["significance"] == figures
    assert figures["clusters"] == (None if size == 1 else 12 // size)
    if outcome == "hold":
        assert (
            "4 clusters are too few: at least 6 are needed" in proof["failure_analysis"]["details"]
        )


def test_a_record_that_forgets_its_clusters_is_found(graded, capsys):
    (graded.path / "gate.toml").write_text('test = "auto"\nmin_cases = 6\n')
    clustered(graded, 3)
    pin(graded)
    folder = run(graded, "strong", baseline="pinned").published.folder
    path = folder / "record.json"
    record = json.loads(path.read_bytes())
    record["report"]["clusters"] = {}
    path.write_text(json.dumps(record))
    assert main(["verify", str(path)]) == 1
    assert "score_lower_bound_95" in capsys.readouterr().err


def test_a_cluster_is_of_both_sides_whatever_was_pinned(graded):
    pin(graded)
    plain = run(graded, "strong", baseline="pinned").judgement
    assert plain.decision.outcome == "promote"
    clustered(graded, 1)
    named = run(graded, "strong", baseline="pinned").judgement
    assert "note_relabelled" in named.decision.notes
    assert named.decision.look.number == plain.decision.look.number + 2
    assert plain.report.digests.cases == named.report.digests.cases
