"""
Write the golden run report anew; a test fails until this was run.

Run it when the report is meant to change, which needs a new version of the artifacts too.
"""

from __future__ import annotations

from pathlib import Path

from benchgate.aggregate import build_report
from benchgate.ids import RunPlan, trial_seed
from benchgate.models import BenchRunReport, BenchScore, FailureMode, RunDigests, TrialResult
from benchgate.taxonomy import RESERVED, Taxonomy
from benchgate.wire.writing import model_bytes

PATH = Path(__file__).parent / "data" / "eval_run_report.json"

TRIALS = {
    ("001-solved", 0): {
        "score": BenchScore(passed=True, score=1.0, cost_usd=0.25, safety_penalty=0.0)
    },
    ("001-solved", 1): {
        "score": BenchScore(passed=True, score=0.875, breakdown={"exact": 0.75}, safety_penalty=0.5)
    },
    ("002-held-out", 0): {
        "held_out": True,
        "score": BenchScore(
            passed=False, score=0.5, failure_modes=("wrong", "harm"), safety_penalty=1.0
        ),
        "failure_modes": (FailureMode(code="wrong"), FailureMode(code="harm")),
    },
    ("002-held-out", 1): {"held_out": True, "score": BenchScore(passed=True, score=0.625)},
    ("003-crashed", 0): {
        "outcome": "harness_error",
        "failure_modes": (FailureMode(code="harness_error", detail="ValueError: no"),),
    },
    ("003-crashed", 1): {"outcome": "not_run", "detail": "the session ended early", "reruns": 1},
}


def golden() -> BenchRunReport:
    """Return a report with every kind of result in it."""
    results = [
        TrialResult(
            case_id=case_id,
            trial=trial,
            seed=trial_seed("echo", case_id, trial, 7),
            duration_seconds=0.125,
            **{"held_out": False, "outcome": "scored", **fields},
        )
        for (case_id, trial), fields in TRIALS.items()
    ]
    taxonomy = Taxonomy({**RESERVED, "wrong": "warn", "harm": "block"})
    cases = {case_id: f"{number:064x}" for number, (case_id, _) in enumerate(TRIALS)}
    plan = RunPlan(
        task_class="echo",
        case_ids=tuple(cases),
        scope="full",
        system="shout",
        trial_count=2,
        seed=7,
        harness_version="1",
        digests=RunDigests(
            cases=cases,
            rubric="a" * 64,
            scorer="b" * 64,
            taxonomy=taxonomy.digest,
            system="v1",
            policy="c" * 64,
        ),
    )
    return build_report(plan, results, taxonomy)


if __name__ == "__main__":
    PATH.write_bytes(model_bytes(golden()))
