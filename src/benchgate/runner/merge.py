"""Puts the parts of a run together that several machines ran: the record is that of one run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchgate.audit.unfinished import read_shard
from benchgate.audit.whole_files import WHOLE_FILES
from benchgate.errors import ArtifactError
from benchgate.gates.baseline import RERUN, choose_baseline
from benchgate.loader.imports import bench_package
from benchgate.loader.loaded_class import NamedSystem, find_system, load_class
from benchgate.registry import TaskClassRegistry
from benchgate.runner.class_run import ClassRun, read_sealed
from benchgate.training.checkpoints import CheckpointFiles, read_checkpoints
from benchgate.trials.planned import PlannedTrials
from benchgate.wire.files import file_sha256
from benchgate.wire.parsing import MAX_JSON_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path
    from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeSettings:
    """
    What parts are put together, and how the whole is judged.

    :param parts: folders of the shards, in any order.
    :param baseline: as that of a run; ``None`` for what the shards were run with, else ``auto``.
    :param expect: the digest of each shard by its number, as it printed it; others are refused.
    :param plan: that the whole run cites; it must have been sealed before the first shard began.
    """

    parts: tuple[Path, ...]
    out: Path
    bench_root: Path
    baseline: str | Path | None = None
    policy: Mapping[str, Any] | None = None
    plan: Path | None = None
    checkpoints: CheckpointFiles = field(default_factory=CheckpointFiles)
    expect: Mapping[int, str] = field(default_factory=dict)


def merge(settings: MergeSettings) -> ClassRun:
    """
    Judge and record the run that some shards are the parts of. No system is called; the outputs are scored again.

    Trials that a shard could not finish are ``not_run``: the run is incomplete then, and can be resumed.

    :raises ArtifactError: a folder is no shard, a shard is missing or there twice, or shards were run by other code,
        options or versions than the others, or than what is here,
        or a score is not that of its output. :raises EvalError: as a run of the class.
    """
    first = read_shard(settings.parts[0])
    if settings.expect:
        _check_expected(settings.parts, settings.expect)
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
            expects_parts=bool(settings.expect),
            sealed=read_sealed(settings.plan),
            beside=ledger.beside(find_system(bench.task_class, beside)) if beside else None,
        )
        run.open(ledger.every_key(), ledger.every_key())
        run.finish(exit_rule="gate")
    return run


def _check_expected(parts: Iterable[Path], expect: Mapping[int, str]) -> None:
    shards = {int(str(read_shard(part).shard).partition("/")[0]): part for part in parts}
    if missing := sorted(set(expect) - set(shards)):
        raise ArtifactError(f"expect {missing[0]}", "none of the folders is this shard")
    for number, part in shards.items():
        sha256 = file_sha256(part / WHOLE_FILES, limit=MAX_JSON_BYTES)
        if sha256 != expect.get(number):
            asked = expect.get(number, "no --expect of this shard")
            raise ArtifactError(part, f"its digest is {number}={sha256}; expected {asked}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlannedSystem(NamedSystem):
    """The system that the shards ran: the machine that merges may have neither its packages nor its keys."""

    planned: str | None

    def checkpoint_sha256(self) -> str | None:
        return self.planned


def _never(_: object) -> dict[str, Any]:
    raise AssertionError("a run that is merged calls no system")
