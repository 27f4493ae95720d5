"""
A user's bench as the README has it. It is not run: ``mypy --strict`` must accept it, without the plugin of pydantic.

What a line must not mean is marked ``type: ignore``; an ignore that is not needed is an error.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - as a user writes it
from pathlib import Path
from typing import Any

from benchgate import (
    BenchCase,
    BenchRunReport,
    BenchScore,
    CheckpointPromotionDecision,
    EvalError,
    TrialResult,
    register_task_class,
    run_eval,
)


def first_sentence(case: BenchCase) -> Mapping[str, Any]:
    text = (case.input_path / "text.txt").read_text()
    return {"summary": text.split(".")[0], "seed": case.seed}


@register_task_class("summaries", systems={"first-sentence": first_sentence})
class SummaryRubric:
    """Summarise a page in one sentence."""

    def score(self, case: BenchCase, harness_output: Mapping[str, Any], /) -> BenchScore:
        assert case.expected_path is not None
        wanted = (case.expected_path / "words.txt").read_text().split()
        share = sum(word in harness_output["summary"] for word in wanted) / len(wanted)
        return BenchScore(
            passed=share > 0.8,
            score=share,
            breakdown={"words": share},
            failure_modes=[] if share > 0.8 else ["words_missing"],
            safety_penalty=0.0,
        )


def worst(report: BenchRunReport) -> TrialResult:
    return min(report.per_case, key=lambda result: result.score.score if result.score else 0.0)


def promoted(decision: CheckpointPromotionDecision | None) -> bool:
    return decision is not None and decision.promotion_allowed


def weakest() -> str:
    try:
        report = run_eval("summaries", system_under_test=first_sentence, bench_root=Path("bench"))
    except EvalError as error:
        raise SystemExit(str(error)) from error
    return worst(report).case_id


BenchScore(passed=True, score="1.0")  # type: ignore[arg-type]
BenchScore(passed=True)  # type: ignore[call-arg]
BenchScore(passed=True, score=1.0, failure_modes=[1])  # type: ignore[list-item]
