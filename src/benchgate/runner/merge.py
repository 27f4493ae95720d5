"""Puts the parts of a run together that several machines ran: the record is that of one run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchgate.artifacts.reading import read_artifact
from benchgate.artifacts.run_kinds import PlanFile
from benchgate.audit.chain import PLAN_FILE
from benchgate.errors import ArtifactError
from benchgate.gates.baseline import RERUN, choose_baseline
from benchgate.loader.imports import bench_package
from benchgate.loader.loaded_class import NamedSystem, find_system, load_class
from benchgate.registry import TaskClassRegistry
from benchgate.runner.class_run import ClassRun, read_sealed
from benchgate.training.checkpoints import CheckpointFiles, read_checkpoints
from benchgate.trials.planned import PlannedTrials

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeSettings:
    """
    What parts are put together, and how the whole is judged.

    :param parts: folders of the shards, in any order.
    :param baseline: as that of a run; ``None`` for what the shards were run with, else ``auto``.
    :param plan: that the whole run cites; it must have been sealed before the first shard began.
    """

    parts: tuple[Path, ...]
    out: Path
    bench_root: Path
    baseline: str | Path | None = None
    policy: Mapping[str, Any] | None = None
    plan: Path | None = None
    checkpoints: CheckpointFiles = field(default_factory=CheckpointFiles)


def merge(settings: MergeSettings) -> ClassRun:
    """
    Judge and record the run that some shards are the parts of. No system is called and nothing is scored.

    Trials that a shard could not finish are ``not_run``: the run is incomplete then, and can be resumed.

    :raises ArtifactError: a folder is no shard, a shard is missing or there twice, or shards were run by other code,
        options or versions than the others, or than what is here. :raises EvalError: as a run of the class.
    """
    first = _plan_of(settings.parts[0])
    root = settings.bench_root.resolve()
    with bench_package(root):
        bench = load_class(root, first.task_class, TaskClassRegistry(), settings.policy)
        ledger = PlannedTrials(
            bench,
            _PlannedSystem(
                name=first.system,
                call=_never,
                digest=first.digests.system,
                checkpoint=None,
                planned=first.digests.checkpoint,
            ),
            trials=first.trial_count,
            seed=first.seed,
            checkpoints=read_checkpoints(settings.checkpoints),
        )
        beside = first.baseline_system
        wanted = settings.baseline or (f"{RERUN}{beside}" if beside else "auto")
        choice = choose_baseline(wanted, bench.path)
        run = ClassRun(
            ledger=ledger,
            choice=choice,
            out=settings.out.resolve(),
            timeout=first.timeout_seconds,
            parts=tuple(part.resolve() for part in settings.parts),
            sealed=read_sealed(settings.plan),
            beside=ledger.beside(find_system(bench.task_class, beside)) if beside else None,
        )
        run.open(ledger.every_key(), ledger.every_key())
        run.finish(exit_rule="gate")
    return run


def _plan_of(part: Path) -> PlanFile:
    plan = read_artifact(part / PLAN_FILE, PlanFile)
    if plan is None or plan.shard is None:
        raise ArtifactError(part, f"is no shard: it has no {PLAN_FILE} of one")
    return plan


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlannedSystem(NamedSystem):
    """The system that the shards ran: the machine that merges may have neither its packages nor its keys."""

    planned: str | None

    def checkpoint_sha256(self) -> str | None:
        return self.planned


def _never(_: object) -> dict[str, Any]:
    raise AssertionError("a run that is merged calls no system")
