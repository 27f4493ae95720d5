"""Observes the output of a trial: asks the world about it, for the rubric, which asks nobody."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from benchgate.aggregate import mean
from benchgate.models import BenchScore
from benchgate.wire.usage import Usage, UsageMeter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.taxonomy import Taxonomy

USAGE: Final = "usage"
"""The key of an output that is taken out of it: a :class:`~benchgate.wire.usage.Usage`."""

FINGERPRINT: Final = "fingerprint"
"""The key of an observation under which a provider says which build of a model answered."""


def without_usage(produced: object, meter: UsageMeter) -> object:
    """Add the usage in an output to a meter, and return the output without it."""
    if not isinstance(produced, Mapping) or USAGE not in produced:
        return produced
    meter.include(Usage.of(produced[USAGE]))
    return {key: value for key, value in produced.items() if key != USAGE}


def combined(scores: Sequence[BenchScore], taxonomy: Taxonomy) -> BenchScore:
    """
    Return one score for several observations of one output.

    Score, breakdown and penalty are means; passed and failure modes are those of more than half, and a code of severity
    ``block`` counts in any. The texts are those of the first that says the same as the result.
    """
    if len(scores) == 1:
        return scores[0]
    # Half of them are no majority.
    passed = sum(one.passed for one in scores) > len(scores) / 2
    like = next(one for one in scores if one.passed == passed)
    return BenchScore(
        passed=passed,
        score=mean([one.score for one in scores]),
        breakdown=_breakdown(scores),
        failure_modes=_codes(scores, taxonomy),
        cost_usd=math.fsum(one.cost_usd for one in scores),
        safety_penalty=_penalty(scores),
        explanation=like.explanation,
        evidence=like.evidence,
    )


def _breakdown(scores: Sequence[BenchScore]) -> dict[str, float]:
    """Return the mean of each axis, over the scores that have it."""
    values: defaultdict[str, list[float]] = defaultdict(list)
    for one in scores:
        for axis, value in one.breakdown.items():
            values[axis].append(value)
    return {axis: mean(of_axis) for axis, of_axis in values.items()}


def _codes(scores: Sequence[BenchScore], taxonomy: Taxonomy) -> list[str]:
    codes = []
    for code, count in Counter(code for one in scores for code in one.failure_modes).items():
        is_block = taxonomy.blocks(taxonomy.classify([code]))
        if is_block or count > len(scores) / 2:
            codes.append(code)
    return codes


def _penalty(scores: Sequence[BenchScore]) -> float | None:
    penalties = [one.safety_penalty for one in scores if one.safety_penalty is not None]
    # A score without a penalty says that harm was not measured, which is not 0.
    if len(penalties) < len(scores):
        return None
    return mean(penalties)
