"""The reproducibility bands of a comparison: whether trials, and parts of the cases, give the same result."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from typing import TYPE_CHECKING

from benchgate.gates.figures import (
    PrefixFigures,
    SampleSizeSensitivityReport,
    SeedReproducibilityReport,
)
from benchgate.statistics.bands import sample_size_band, seed_band
from benchgate.statistics.paired import paired_differences
from benchgate.statistics.welch import welch_test

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
    if pairs is None or candidate.case_ids is None or candidate.trials is None:
        return None
    of_case = dict(zip(candidate.case_ids, candidate.trials, strict=True))
    trials = [of_case[pair.case_id] for pair in pairs]
    if len({len(row) for row in trials}) != 1:
        return None
    before = [pair.before for pair in pairs]
    after = list(zip(*trials, strict=True))
    table = [paired_differences(before, run) for run in after]
    band = seed_band(table)
    if band is None:
        return None
    p_values = [welch_test(before, run, alpha=policy.alpha).p_two_sided for run in after]
    return SeedReproducibilityReport(
        band="scaled",
        runs=len(table),
        cases=len(pairs),
        deltas=band.deltas,
        delta_range=band.delta_range,
        max_delta_range=band.max_delta_range,
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
    before = [pair.before for pair in pairs]
    after = [pair.after for pair in pairs]
    band = sample_size_band(paired_differences(before, after))
    if band is None:
        return None
    points = []
    for point in band.points:
        m = point.cases
        p = welch_test(before[:m], after[:m], alpha=policy.alpha).p_two_sided
        points.append(PrefixFigures(**asdict(point), p_value=p))
    return SampleSizeSensitivityReport(
        band="scaled",
        cases=len(pairs),
        points=tuple(points),
        max_z=band.max_z,
        within_band=band.within_band,
    )


def _range(values: Sequence[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    if not numbers or len(numbers) < len(values):
        return None
    return max(numbers) - min(numbers)
