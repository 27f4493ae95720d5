"""A plan that is sealed before a run: its bar, what it is compared on, and what it can show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AwareDatetime, Field

from benchgate.gates.policy import GatePolicy
from benchgate.ids import system_digest
from benchgate.models import Observer
from benchgate.models.case import changes
from benchgate.wire.canonical import digest
from benchgate.wire.model import Artifact, Count, Number, Sha256, WireModel

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from benchgate.models import BenchRunReport


class PlannedBaseline(WireModel):
    """What a plan compares with: a run by its results, or its system if that runs again."""

    system: str
    system_sha256: Sha256
    run_id: Sha256


class Prediction(WireModel):
    """
    What the planned run is going to be able to show; ``None`` is not known, or not to be had.

    :param units: cases, or clusters where cases share some.
    :param look: number that the run would have among the looks at this baseline; the figures are at its level.
    :param looks: looks at this baseline that can promote, from the first; ``None`` if any can.
    :param obstacle: why even the best candidate would not be promoted; ``None`` if it would.
    :param runs: simulated ones that the gate was asked about; 0 if there were none, or a formula was used.
    :param power_of_target: share of them that a candidate with the policy's ``target_effect`` was promoted in; for
        ``not_worse`` a candidate as good as the baseline. ``interval`` is at 95 %.
    :param detectable: the gain that is found with the policy's power.
    :param power_if_uneven: the same where half of the cases, or clusters, gain nothing and half twice as much.
    :param unchanged: how often an unchanged system is rejected for single cases; ``None`` if none decides.
    :param is_lower_limit: no two trials of a case differ in the baseline, so that pairing may find more.
    :param smallest_margin: what ``not_worse`` can show if no case changes.
    :param cost_usd: of all trials, as the baseline's cost; ``seconds`` likewise, one after the other.
    """

    units: Count
    look: Annotated[Count, Field(ge=1)]
    looks: Count | None
    obstacle: str | None
    runs: Count
    power_of_target: Number | None
    interval: tuple[Number, Number] | None
    detectable: Number | None
    power_if_uneven: Number | None
    unchanged: str | None
    is_lower_limit: bool
    smallest_margin: Number | None
    cost_usd: Number | None
    seconds: Number | None


class SealedPlan(Artifact):
    """
    The file that ``benchgate plan`` writes, and that a run cites.

    :param cases: digest over those of the cases, or over the ids of a log's; ``rubric`` that of what scores them.
    :param observer: what observes the outputs; left out if nothing does.
    :param seal: SHA-256 over all other fields.
    """

    report_kind: Literal["sealed_plan"]
    sealed_at: AwareDatetime
    benchgate: str
    task_class: str
    case_count: Count
    cases: Sha256
    rubric: Sha256
    observer: Observer | None = Field(default=None, exclude_if=lambda one: one is None)
    baseline: PlannedBaseline
    trial_count: Annotated[Count, Field(ge=1)]
    policy: GatePolicy
    prediction: Prediction
    seal: Sha256

    @classmethod
    def sealed(cls, **fields: object) -> SealedPlan:
        """Return a plan with the seal of its fields."""
        plan = cls.model_validate({**fields, "seal": "0" * 64})
        return plan.model_copy(update={"seal": plan.own_seal()})

    @staticmethod
    def cases_of(report: BenchRunReport) -> str:
        """Return the digest of the cases; of a log that of their ids, for the other log may say no inputs."""
        digests = report.digests.cases
        return digest(sorted(digests) if report.source else dict(digests))

    def own_seal(self) -> str:
        """Return the seal that its fields have."""
        return digest(self.model_dump(mode="json", exclude={"seal"}))


class CitedPlan(WireModel):
    """What a proof says of the plan that its run cites: the bar was set then."""

    seal: Sha256
    sealed_at: AwareDatetime


def broken(
    plan: SealedPlan,
    report: BenchRunReport,
    policy: GatePolicy,
    started: datetime,
    *,
    run_id: str | None,
    beside: BenchRunReport | None,
) -> Iterator[str]:
    """
    Yield how a run differs from the plan that it cites.

    :param started: when the run began.
    :param run_id: of its baseline, if that could be read.
    :param beside: its baseline, if that ran in the same session.
    """
    if plan.own_seal() != plan.seal:
        yield "the plan was edited after it was sealed"
    if not plan.sealed_at <= started:  # both in whole seconds
        yield f"the plan was sealed at {plan.sealed_at:%Y-%m-%d %H:%M:%S}, after the run began"
    if plan.task_class != report.task_class:
        yield f"the plan is of task class {plan.task_class!r}"
        return
    yield from _other_facts(plan, report)
    yield from _other_baseline(plan.baseline, run_id, beside)
    then, now = plan.policy.model_dump(mode="json"), policy.model_dump(mode="json")
    for key in [key for key in now if then.get(key) != now[key]]:
        yield f"{key} is {now[key]}, planned was {then.get(key)}".replace("None", "none")


def _other_facts(plan: SealedPlan, report: BenchRunReport) -> Iterator[str]:
    if plan.cases != plan.cases_of(report):
        yield f"the cases are not the {plan.case_count} that were planned, or were changed"
    if plan.rubric != report.digests.scorer:
        yield f"the rubric is {report.digests.scorer[:12]}, planned was {plan.rubric[:12]}"
    for change in changes(plan.observer, report.observer):
        yield f"the observer is another than was planned: {change}"
    if plan.trial_count != report.trial_count:
        yield f"trials of each case are {report.trial_count}, planned were {plan.trial_count}"


def _other_baseline(
    planned: PlannedBaseline, run_id: str | None, beside: BenchRunReport | None
) -> Iterator[str]:
    ran = beside if beside is not None and beside.source is None else None  # a log runs nothing
    if run_id is None:
        yield "a baseline was planned, and the run has none"
    elif ran is None and run_id != planned.run_id:
        yield f"the baseline is run {run_id[:12]}, planned was {planned.run_id[:12]}"
    elif ran is not None and system_digest(ran) != planned.system_sha256:
        yield f"the baseline is another system than {planned.system}, which was planned"
