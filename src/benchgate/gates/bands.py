"""The reproducibility bands of a comparison: whether trials, and parts of the cases, give the same result."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from benchgate.gates.figures import (
    PrefixFigures,
    SampleSizeSensitivityReport,
    SeedReproducibilityReport,
)
from benchgate.statistics import (
    paired_differences,
    sample_size_band,
    seed_band,
    welch_test,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.gates.figures import Arm
    from benchgate.gates.policy import GatePolicy


def seed_reproducibility(
    baseline: Arm, candidate: Arm, policy: GatePolicy
) -> SeedReproducibilityReport | None:
    """
    Compare the candidate's trials, each treated as a run of its own, with the baseline's case means.

    :returns: ``None`` below two trials or two cases, if cases differ in their number of trials, or if the arms cannot
        be paired.
    """
    pairs = baseline.paired_with(candidate)
    if pairs is None or len({len(pair.trials) for pair in pairs}) != 1:
        return None
    before = [pair.before for pair in pairs]
    after = list(zip(*(pair.trials for pair in pairs), strict=True))
    table = [paired_differences(before, run) for run in after]
    band = seed_band(table)
    if band is None:
        return None
    p_values = [welch_test(before, run, alpha=policy.alpha).p_two_sided for run in after]
    return SeedReproducibilityReport(
        band="scaled",
        runs=band.runs,
        cases=band.cases,
        deltas=band.deltas,
        delta_range=band.delta_range,
        max_delta_range=band.limit,
        p_values=tuple(p_values),
        p_value_range=_range(p_values),
        within_band=band.within_band,
    )


def sample_size_sensitivity(
    baseline: Arm, candidate: Arm, policy: GatePolicy
) -> SampleSizeSensitivityReport | None:
    """
    Compare the first quarter, half and three quarters of the cases with all of them.

    The cases are ordered by the SHA-256 of their ids, an order that nobody can choose after seeing the scores.

    :returns: ``None`` below four cases, or if the arms cannot be paired.
    """
    pairs = sorted(
        baseline.paired_with(candidate) or (),
        key=lambda pair: hashlib.sha256(pair.case_id.encode()).digest(),
    )
    before, after = [pair.before for pair in pairs], [pair.after for pair in pairs]
    band = sample_size_band(paired_differences(before, after))
    if band is None:
        return None
    sizes = [*(point.cases for point in band.points), band.cases]
    p_values = [
        welch_test(before[:size], after[:size], alpha=policy.alpha).p_two_sided for size in sizes
    ]
    points = [(point.cases, point.delta, point.z) for point in band.points]
    points.append((band.cases, band.delta, None))
    return SampleSizeSensitivityReport(
        band="scaled",
        cases=band.cases,
        points=tuple(
            PrefixFigures(cases=cases, delta=delta, z=z, p_value=p)
            for (cases, delta, z), p in zip(points, p_values, strict=True)
        ),
        max_z=band.limit,
        within_band=band.within_band,
    )


def _range(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return max(known) - min(known) if len(known) == len(values) and known else None
