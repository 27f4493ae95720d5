"""Compares two runs case by case, and the trials of one run with each other (A/A test)."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.aggregate import case_figures

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchgate.aggregate import CaseFigures
    from benchgate.gates.policy import GatePolicy
    from benchgate.models import BenchRunReport


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseChange:
    """One case that both runs have, with its mean score in each."""

    case_id: str
    before: float
    after: float

    @property
    def delta(self) -> float:
        """Score after minus score before."""
        return self.after - self.before


@dataclass(frozen=True, slots=True, kw_only=True)
class RunChanges:
    """
    The differences of two runs; each list is sorted by case id.

    :param moved: cases with another score that pass, or fail, in both runs.
    :param new: ids of cases that only the second run has.
    :param missing: ids of cases that only the first run has.
    :param changed: ids of cases whose files differ, so that their scores are not comparable.
    """

    newly_failing: tuple[CaseChange, ...]
    newly_passing: tuple[CaseChange, ...]
    moved: tuple[CaseChange, ...]
    new: tuple[str, ...]
    missing: tuple[str, ...]
    changed: tuple[str, ...]


def changes(before: BenchRunReport, after: BenchRunReport) -> RunChanges:
    """Compare two runs case by case, to see which cases explain a difference of the means."""
    digests = before.digests.cases, after.digests.cases
    return case_changes(
        case_figures(before.per_case),
        case_figures(after.per_case),
        changed=sorted(
            c for c in {*digests[0], *digests[1]} if digests[0].get(c) != digests[1].get(c)
        ),
    )


def case_changes(
    before: Iterable[CaseFigures], after: Iterable[CaseFigures], *, changed: Iterable[str] = ()
) -> RunChanges:
    """
    Compare two sides by the figures of their cases, as the evidence of a run has them.

    :param changed: ids of cases whose files differ.
    """
    old = {case.case_id: case for case in before}
    new = {case.case_id: case for case in after}
    both = sorted(old.keys() & new.keys())
    return RunChanges(
        newly_failing=_pairs(old, new, [c for c in both if old[c].passed and not new[c].passed]),
        newly_passing=_pairs(old, new, [c for c in both if new[c].passed and not old[c].passed]),
        moved=_pairs(
            old,
            new,
            [c for c in both if old[c].passed == new[c].passed and old[c].score != new[c].score],
        ),
        new=tuple(sorted(new.keys() - old.keys())),
        missing=tuple(sorted(old.keys() - new.keys())),
        changed=tuple(c for c in changed if c in both),
    )


def _pairs(
    old: dict[str, CaseFigures], new: dict[str, CaseFigures], ids: Sequence[str]
) -> tuple[CaseChange, ...]:
    return tuple(CaseChange(case_id=c, before=old[c].score, after=new[c].score) for c in ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class FalseAlarms:
    """
    How often a gate finds a difference between a run and itself, which is always a false alarm.

    :param draws: number of comparisons, each of two random trials of every case.
    :param promoted: comparisons in which the gate promoted.
    :param rejected: comparisons with a significant regression.
    """

    draws: int
    promoted: int
    rejected: int


def against_itself(
    report: BenchRunReport, policy: GatePolicy, *, draws: int = 200, seed: int = 0
) -> FalseAlarms:
    """
    Compare a run's trials with each other (A/A) to measure the false alarms of a bench under a policy.

    :param draws: number of comparisons.
    :param seed: seed of the random choice of trials.
    :raises ValueError: a case has fewer than two trials, or the claim is not ``better``.
    """
    from benchgate.gates.decide import decide
    from benchgate.gates.decision import GateInput
    from benchgate.gates.figures import Arm
    from benchgate.gates.reason_codes import PREFIX
    from benchgate.gates.weigh import weigh

    if policy.claim != "better":
        msg = f"claim {policy.claim!r}: a run is compared with itself by the claim 'better'"
        raise ValueError(msg)
    cases = case_figures(report.per_case)
    if not cases or min(len(case.trials) for case in cases) < 2:
        msg = "a run is compared with itself by its trials: at least 2 of each case are needed"
        raise ValueError(msg)
    generator = random.Random(seed)  # noqa: S311 - for statistics, not for secrets
    ids = tuple(case.case_id for case in cases)
    clusters = tuple(report.clusters.get(case_id) for case_id in ids)
    promoted = rejected = 0
    for _ in range(draws):
        pairs = [generator.sample(case.trials, 2) for case in cases]
        sides = [
            Arm(scores=tuple(side), case_ids=ids, penalties=(0.0,) * len(ids), clusters=clusters)
            for side in zip(*pairs, strict=True)
        ]
        decision = decide(GateInput(policy=policy, figures=weigh(sides[0], sides[1], policy)))
        promoted += decision.promotion_allowed
        rejected += f"{PREFIX}significant_regression" in decision.reason_codes
    return FalseAlarms(draws=draws, promoted=promoted, rejected=rejected)
