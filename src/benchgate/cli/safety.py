"""Vectors of safety penalties alone, without scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.cli.vectors import policy_of
from benchgate.wire import clock

if TYPE_CHECKING:
    import argparse

    from benchgate.artifacts.evidence_kinds import SafetyReport


def safety_of(given: argparse.Namespace) -> SafetyReport:
    """
    Read and judge two vectors of penalties.

    :raises EvalError: :raises ValueError: an input or a threshold is wrong.
    """
    from benchgate.artifacts.build import safety_report
    from benchgate.artifacts.samples import arm_of, read_samples
    from benchgate.gates.decide import safety_objections
    from benchgate.gates.decision import PREFIX, Remark
    from benchgate.gates.weigh import safety

    policy = policy_of(given)
    vectors = [read_samples(path) for path in (given.baseline_samples, given.trained_samples)]
    arms = [arm_of(vector, vector) for vector in vectors]
    figures = safety(arms[0], arms[1], policy)
    objections = tuple(
        Remark(code=PREFIX + code, message=text)
        for code, text in safety_objections(figures, policy)
    )
    return safety_report(
        run_id=given.run_id,
        generated_at=given.generated_at or clock.now(),
        sample_count=len(vectors[1].values),
        figures=figures,
        max_safety_regression=policy.max_safety_regression,
        objections=objections,
    )
