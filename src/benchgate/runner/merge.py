"""Puts the parts of a run together that several machines ran: the record is that of one run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from benchgate.audit.sources import read_shard
from benchgate.audit.store import unfinished_name
from benchgate.errors import ArtifactError
from benchgate.gates.choice import RERUN
from benchgate.loader.imports import bench_package
from benchgate.loader.loaded_class import load_class
from benchgate.registry import TaskClassRegistry
from benchgate.replay.recording import RecordedSystem
from benchgate.results.whole_files import WHOLE_FILES
from benchgate.runner.class_run import ClassRun
from benchgate.runner.settings import Grounds, RunRequest, found_systems
from benchgate.wire import clock
from benchgate.wire.files import file_sha256
from benchgate.wire.parsing import MAX_JSON_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from benchgate.loader.systems import NamedSystem
    from benchgate.models import Side
    from benchgate.runner.settings import RunSettings


def merge(settings: RunSettings) -> ClassRun:
    """
    Judge and record the run that some shards are the parts of. No system is called; the outputs are scored again.

    Trials that a shard could not finish are ``not_run``: the run is incomplete then, and can be resumed.

    :param settings: with ``parts``, in any order; what is not said in them is as in their plan.
    :raises ArtifactError: a folder is no shard, a shard is missing or there twice, or shards were run by other code,
        options or versions than the others, or than what is here, or a score is not that of its output.
    :raises EvalError: as a run of the class.
    """
    first = read_shard(settings.parts[0])
    if settings.expect:
        _check_expected(settings.parts, settings.expect)
    beside = first.baseline_system
    has_network = first.isolation_class == "sandbox+network"
    settings = replace(
        settings,
        task_class=first.task_class,
        trials=first.trial_count,
        seed=first.seed,
        timeout=first.timeout_seconds,
        isolation="sandbox" if has_network else first.isolation_class,
        out=settings.out and settings.out.resolve(),
        parts=tuple(part.resolve() for part in settings.parts),
        baseline=settings.baseline or (f"{RERUN}{beside}" if beside else "auto"),
    )
    root = settings.bench_root.resolve()
    with bench_package(root):
        bench = load_class(root, first.task_class, TaskClassRegistry(), settings.policy)
        candidate = RecordedSystem(
            name=first.system,
            digest=first.digests.system,
            recorded=first.digests.checkpoint,
            reads=first.reads,
            network=has_network,
        )
        systems: dict[Side, NamedSystem] = {"candidate": candidate}
        if beside is not None:
            own, processes = found_systems(bench, settings, {"baseline": beside})
            if processes is not None:
                processes.close()
            systems.update(own)
        request = RunRequest(
            bench=bench,
            systems=systems,
            settings=settings,
            unfinished=unfinished_name(clock.now(), command="merge"),
        )
        run = ClassRun(request, Grounds.read(settings, bench.path))
        every = run.candidate.every_key()
        run.open(every, every)
        run.finish()
    return run


def _check_expected(parts: Iterable[Path], expect: Mapping[int, str]) -> None:
    shards = {int(str(read_shard(part).shard).partition("/")[0]): part for part in parts}
    missing = sorted(set(expect) - set(shards))
    if missing:
        raise ArtifactError(f"expect {missing[0]}", "none of the folders is this shard")
    for number, part in shards.items():
        sha256 = file_sha256(part / WHOLE_FILES, limit=MAX_JSON_BYTES)
        if sha256 != expect.get(number):
            asked = ", which no --expect names"
            if number in expect:
                asked = f"; expected {expect[number]}"
            raise ArtifactError(part, f"its digest is {number}={sha256}{asked}")
