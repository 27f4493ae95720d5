"""What a run is going to do, as ``plan.json`` says it, and how two plans differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.artifacts.run_kinds import PlanDigests, PlanFile
from benchgate.errors import few
from benchgate.models.case import changes
from benchgate.wire.model import SCHEMA_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from benchgate.artifacts.run_kinds import Replayed, Resumed
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
    digests = plan.digests
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
        digests=PlanDigests(**dict(digests) | {"scorer": ""}),
        resumes=resumes,
        replays=replays,
        baseline_system=baseline_system,
        shard=None if shard is None else str(shard),
    )


def plan_changes(before: PlanFile, now: PlanFile) -> Iterator[str]:
    """Yield why results of one plan are none of another, a line for each change."""
    for name in (
        "benchgate",
        "system",
        "trial_count",
        "seed",
        "timeout_seconds",
        "isolation_class",
        "reads",
        "replays",
        "baseline_system",
    ):
        old, new = getattr(before, name), getattr(now, name)
        if old != new:
            yield f"{name} was {old!r}, is {new!r}"
    yield from (f"the observer: {change}" for change in changes(before.observer, now.observer))
    yield from _digest_changes(before.digests, now.digests)
    old_ids, new_ids = set(before.case_ids), set(now.case_ids)
    if new_ids - old_ids:
        yield f"new cases: {few(new_ids - old_ids)}"
    if old_ids - new_ids:
        yield f"cases that are gone: {few(old_ids - new_ids)}"
    # A case that could not be read was not run: no result depends on what it was.
    changed = {c for c, d in before.digests.cases.items() if now.digests.cases.get(c, d) != d}
    unreadable = set(before.digests.cases) & new_ids - set(now.digests.cases)
    if changed | unreadable:
        yield f"cases that changed: {few(changed | unreadable)}"


def _digest_changes(before: PlanDigests, now: PlanDigests) -> Iterator[str]:
    """Yield which digests changed, but for those of the cases."""
    for name in [name for name in PlanDigests.model_fields if name != "cases"]:
        old, new = getattr(before, name), getattr(now, name)
        if old == new:
            continue
        change = f"digest of the {name} was {str(old)[:12]}, is {str(new)[:12]}"
        if (
            name == "policy"
        ):  # a run from before that change has another digest though nobody changed the file
            change += ' (test = "welch" was the default once, now it is "auto")'
        yield change


def extension_changes(before: PlanFile, now: PlanFile) -> Iterator[str]:
    """Yield why a run cannot extend another: as :func:`plan_changes`, of the cases that both have."""
    shared = {"case_ids": tuple(c for c in now.case_ids if c in before.case_ids)}
    free = {name: getattr(now, name) for name in ("benchgate", "replays", "baseline_system")}
    digests = {name: getattr(now.digests, name) for name in ("policy", "baseline")}
    then = {**free, **shared, "digests": before.digests.model_copy(update=digests)}
    return plan_changes(before.model_copy(update=then), now.model_copy(update=shared))
