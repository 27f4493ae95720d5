"""What a comparison of this size detects, by the test that decides it and for scores spread as these."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from benchgate.statistics import (
    Detectable,
    clustered_detectable,
    grouped,
    is_constant,
    mean,
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

    Where cases share a cluster, the clusters are the sample.

    :param pairs: of the paired test; ``None`` if Welch's decides.
    :param region: of pairs that pass or fail, what the test that decides needs.
    """
    plan = {
        "alpha": policy.alpha,
        "power": policy.power,
        "target": policy.target_effect,
        "null_delta": policy.min_delta,
    }
    if pairs is not None:
        differences = paired_differences([p.before for p in pairs], [p.after for p in pairs])
        samples = [(differences, tuple(p.cluster for p in pairs))]
    else:
        samples = [(list(arm.scores), arm.labels) for arm in (baseline, candidate)]
    groups = [grouped(*sample) for sample in samples]
    sizes = {len(group) for arm in groups for group in arm}
    if len(sizes) > 1 and not all(is_constant(*sample) for sample in samples):
        found, size = clustered_detectable(samples, **plan), 1
    else:
        # The means of clusters of one size are a sample like any other.
        means, size = [[mean(group) for group in arm] for arm in groups], max(sizes, default=1)
        if pairs is not None:
            found = paired_detectable(means[0], width=policy.width, region=region, **plan)
        else:
            found = welch_detectable(means[0], means[1], score_range=policy.score_range, **plan)
    effect = found.effect
    return Detectable(
        effect=None if effect is None or effect > (policy.width or math.inf) else effect,
        cases=None if found.cases is None else found.cases * size,
    )
