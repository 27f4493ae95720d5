"""What a comparison of this size detects, by the test that decides it and for scores spread as these."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from benchgate.statistics import (
    Detectable,
    paired_detectable,
    paired_differences,
    welch_detectable,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.gates.figures import Arm, CasePair
    from benchgate.gates.policy import GatePolicy
    from benchgate.statistics.detectable import Region


def detectable(
    baseline: Arm,
    candidate: Arm,
    pairs: Sequence[CasePair] | None,
    policy: GatePolicy,
    *,
    region: Region,
) -> Detectable:
    """
    Return the effect that the test finds with the policy's power, and the cases that ``target_effect`` needs.

    The test asks for more than ``min_delta``, so that an effect counts from there. Where cases share a cluster, the
    totals of the clusters are the sample.

    :param pairs: of the paired test; ``None`` if Welch's decides.
    :param region: of pairs that pass or fail, what the test that decides needs.
    """
    beyond = policy.target_effect - policy.min_delta
    plan = {"alpha": policy.alpha, "power": policy.power, "target": beyond if beyond > 0 else 1.0}
    if pairs is not None:
        differences = paired_differences([p.before for p in pairs], [p.after for p in pairs])
        sample, size = clusters_of(differences, [p.cluster for p in pairs])
        found = paired_detectable(sample, width=policy.width, region=region, **plan)
    else:
        (b, size_b), (c, size_c) = (clusters_of(a.scores, a.labels) for a in (baseline, candidate))
        size = max(size_b, size_c)
        found = welch_detectable(b, c, score_range=policy.score_range, **plan)
    effect = None if found.effect is None else found.effect + policy.min_delta
    return Detectable(
        effect=None if effect is None or effect > (policy.width or math.inf) else effect,
        cases=None if found.cases is None or beyond <= 0 else math.ceil(found.cases * size),
    )


def clusters_of(values: Sequence[float], labels: Sequence[str | None]) -> tuple[list[float], float]:
    """Return a value for each cluster, which have the mean of the cases, and the cases of a cluster on average."""
    totals: dict[object, list[float]] = {}
    for index, (value, label) in enumerate(zip(values, labels, strict=True)):
        totals.setdefault(index if label is None else label, []).append(value)
    size = len(values) / len(totals) if totals else 1.0
    return [math.fsum(value / size for value in group) for group in totals.values()], size
