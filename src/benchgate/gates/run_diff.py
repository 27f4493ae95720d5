"""Compares two runs case by case, and the trials of one run with each other (A/A test)."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.aggregate import INCOMPLETE, case_figures

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from benchgate.gates.policy import GatePolicy
    from benchgate.models import BenchRunReport


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseChange:
    """
    One case that both runs have, with its mean score in each.

    :param codes: the failure modes of its trials in the second run.
    """

    case_id: str
    before: float
    after: float
    codes: tuple[str, ...] = ()

    @property
    def delta(self) -> float:
        """Score after minus score before."""
        return self.after - self.before


@dataclass(frozen=True, slots=True, kw_only=True)
class RunChanges:
    """
    The differences of two runs. Changes are sorted by their size, the largest first; ids are sorted.

    A case is only among the changes if its scores can be compared: its files are the same, and each of its trials says
    something about the system.

    :param fell: cases with a lower score that pass, or fail, in both runs; ``rose`` with a higher one.
    :param errors: cases of the second run of which a trial was not scored, each with how it ended; of the others only
        ``newly_failing`` may have them too.
    :param same: number of cases that did not change.
    :param new: ids of cases that only the second run has.
    :param missing: ids of cases that only the first run has; none if the second is a selection.
    :param changed: ids of cases whose files differ.
    :param is_rescored: the runs were scored by different rubrics, so that no score can be compared.
    """

    newly_failing: tuple[CaseChange, ...]
    newly_passing: tuple[CaseChange, ...]
    fell: tuple[CaseChange, ...]
    rose: tuple[CaseChange, ...]
    errors: tuple[tuple[str, str], ...]
    same: int
    new: tuple[str, ...]
    missing: tuple[str, ...]
    changed: tuple[str, ...]
    is_rescored: bool


def changes(before: BenchRunReport, after: BenchRunReport) -> RunChanges:
    """Compare two runs case by case, to see which cases explain a difference of the means."""
    old = {case.case_id: case for case in case_figures(before.per_case)}
    new = {case.case_id: case for case in case_figures(after.per_case)}
    both = sorted(old.keys() & new.keys())
    digests = before.digests.cases, after.digests.cases
    edited = tuple(c for c in both if digests[0].get(c) != digests[1].get(c))
    silent = {r.case_id for r in (*before.per_case, *after.per_case) if r.outcome in INCOMPLETE}
    codes = _codes(after)
    pairs = [
        (
            old[c].passed,
            new[c].passed,
            CaseChange(case_id=c, before=old[c].score, after=new[c].score, codes=codes.get(c, ())),
        )
        for c in both
        if c not in silent and c not in edited
    ]
    errors = tuple(_errors(after))
    erred = {case_id for case_id, _ in errors}
    moved = [change for was, now, change in pairs if was == now and change.case_id not in erred]
    return RunChanges(
        newly_failing=_by_size(change for was, now, change in pairs if was and not now),
        newly_passing=_by_size(change for was, now, change in pairs if now and not was),
        fell=_by_size(change for change in moved if change.delta < 0),
        rose=_by_size(change for change in moved if change.delta > 0),
        errors=errors,
        same=sum(change.delta == 0 for change in moved),
        new=tuple(sorted(new.keys() - old.keys())),
        missing=tuple(sorted(old.keys() - new.keys())) if after.scope == "full" else (),
        changed=edited,
        is_rescored=before.digests.scorer != after.digests.scorer,
    )


def _by_size(found: Iterable[CaseChange]) -> tuple[CaseChange, ...]:
    return tuple(sorted(found, key=lambda change: (-abs(change.delta), change.case_id)))


def _codes(report: BenchRunReport) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for result in report.per_case:
        found.setdefault(result.case_id, {}).update(
            dict.fromkeys(m.code for m in result.failure_modes)
        )
    return {case_id: tuple(codes) for case_id, codes in found.items()}


def _errors(report: BenchRunReport) -> Iterator[tuple[str, str]]:
    found: dict[str, dict[str, None]] = {}
    for result in report.per_case:
        if result.outcome != "scored":
            found.setdefault(result.case_id, {})[result.outcome] = None
    yield from ((case_id, ", ".join(found[case_id])) for case_id in sorted(found))


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
