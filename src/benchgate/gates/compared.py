"""Two sides and the policy that compares them, prepared once for whatever test decides."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from benchgate.statistics.clusters import is_constant
from benchgate.statistics.paired import paired_differences
from benchgate.statistics.summary import summarize
from benchgate.statistics.welch import mean_difference

if TYPE_CHECKING:
    from benchgate.gates.figures import Arm, CasePair
    from benchgate.gates.policy import GatePolicy
    from benchgate.statistics.clusters import Labels


@dataclass(frozen=True, kw_only=True)
class Compared:
    """
    The cases of a baseline and a candidate, under a policy.

    :param policy: at the level of the look.
    """

    baseline: Arm
    candidate: Arm
    policy: GatePolicy

    @cached_property
    def pairs(self) -> tuple[CasePair, ...]:
        """The cases of both sides in pairs, by id; empty if the sides do not have the same cases."""
        return self.baseline.paired_with(self.candidate) or ()

    @cached_property
    def differences(self) -> list[float]:
        """Candidate minus baseline of each pair."""
        return paired_differences(
            [pair.before for pair in self.pairs], [pair.after for pair in self.pairs]
        )

    @cached_property
    def pair_labels(self) -> list[str | None]:
        """The cluster of each pair."""
        return [pair.cluster for pair in self.pairs]

    @cached_property
    def delta(self) -> float | None:
        """The candidate's mean minus the baseline's; ``None`` if a side has no case."""
        return mean_difference(summarize(self.baseline.scores), summarize(self.candidate.scores))

    @cached_property
    def labels(self) -> tuple[Labels, Labels]:
        """The clusters of the baseline's cases and of the candidate's, each in its own order."""
        return self.baseline.labels, self.candidate.labels

    @property
    def size(self) -> int:
        """Number of cases of the smaller side."""
        return min(len(self.baseline.scores), len(self.candidate.scores))

    @property
    def compares_pairs(self) -> bool:
        """Whether the policy lets pairs decide, and there are some."""
        return bool(self.pairs) and self.policy.test != "welch"

    @cached_property
    def is_clustered(self) -> bool:
        """Whether cases of a side share a cluster."""
        return any(arm.sources < arm.measured for arm in (self.baseline, self.candidate))

    @cached_property
    def has_constant_side(self) -> bool:
        """Whether the scores of a side do not vary, or not from cluster to cluster."""
        sides = (self.baseline, self.candidate)
        return any(is_constant(arm.scores, arm.labels) for arm in sides)

    @cached_property
    def has_constant_pairs(self) -> bool:
        """Whether all pairs differ alike, or all clusters do."""
        return is_constant(self.differences, self.pair_labels)

    @property
    def limit(self) -> float:
        """What the true difference must exceed for the claim: ``min_delta``, or the margin below 0."""
        if self.policy.margin is None:
            return self.policy.min_delta
        return -self.policy.margin
