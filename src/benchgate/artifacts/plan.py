"""What a run is going to do, as ``plan.json`` says it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.artifacts.trial_kinds import PlanDigests, PlanFile
from benchgate.wire.model import SCHEMA_VERSION

if TYPE_CHECKING:
    from datetime import datetime

    from benchgate.artifacts.trial_kinds import Replayed, Resumed
    from benchgate.ids import RunPlan
    from benchgate.wire.shard import Shard


def plan_file(
    plan: RunPlan,
    *,
    timeout: float,
    started: datetime,
    resumes: Resumed | None = None,
    replays: Replayed | None = None,
    baseline_system: str | None = None,
    shard: Shard | None = None,
) -> PlanFile:
    """Return the plan of a run as it is written."""
    # What scores a trial is asked when it is scored.
    digests = PlanDigests(**dict(plan.digests) | {"scorer": ""})
    part = None
    if shard is not None:
        part = str(shard)
    return PlanFile(
        schema_version=SCHEMA_VERSION,
        report_kind="plan",
        task_class=plan.task_class,
        started_at=started,
        benchgate=plan.harness_version,
        system=plan.system,
        case_ids=tuple(sorted(plan.case_ids)),
        trial_count=plan.trial_count,
        seed=plan.seed,
        timeout_seconds=timeout,
        isolation_class=plan.isolation_class,
        reads=plan.reads,
        observer=plan.observer,
        digests=digests,
        resumes=resumes,
        replays=replays,
        baseline_system=baseline_system,
        shard=part,
    )
