"""Running a task class without pytest: the same engine, the same ids, the same artifacts."""

from __future__ import annotations

import fnmatch
import warnings
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.cassettes.recorder import http_drafts, recorder_of
from benchgate.errors import ArtifactError, BenchCaseLoadError, EvalError, brief
from benchgate.gates.baseline import choose_baseline
from benchgate.loader.imports import bench_package
from benchgate.loader.loaded_class import NamedSystem, find_system, load_class, named
from benchgate.registry import TaskClassRegistry
from benchgate.replay.recording import find_recording
from benchgate.runner.class_run import ClassRun, read_sealed
from benchgate.runner.class_trials import ClassTrials
from benchgate.training.checkpoints import CheckpointFiles, read_checkpoints
from benchgate.trials.interrupts import finishing
from benchgate.trials.planned import AFTER_VIOLATION, PlannedTrials
from benchgate.wire.argument_types import MAX_SECONDS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from benchgate.gates.exit_status import ExitRule
    from benchgate.loader.loaded_class import LoadedClass
    from benchgate.models import BenchCase, BenchRunReport, TrialResult
    from benchgate.registry import System
    from benchgate.wire.shard import Shard


CaseFilter = Callable[["BenchCase"], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """The settings of a run of one task class; :func:`run_eval` says what they mean."""

    task_class: str
    system: System | str | None = None
    case_filter: CaseFilter | str | None = None
    timeout: float = 600.0
    out: Path | None = None
    bench_root: Path = Path("bench")
    trials: int = 1
    seed: int = 0
    jobs: int = 1
    executor: str | None = None
    retries: int = 3
    max_rpm: int | None = None
    max_cost_usd: float | None = None
    resume: str | Path = "none"
    shard: Shard | None = None
    record: str | None = None
    replay: str | Path | None = None
    baseline: str | Path = "none"
    policy: Mapping[str, Any] | None = None
    plan: Path | None = None
    exit_rule: ExitRule = "strict"
    checkpoints: CheckpointFiles = field(default_factory=CheckpointFiles)


def run_eval(
    task_class_name: str,
    *,
    system_under_test: System | str | None = None,
    case_filter: CaseFilter | str | None = None,
    timeout_per_case_seconds: float = 600.0,
    out_dir: Path | None = None,
    bench_root: Path = Path("bench"),
    trials: int = 1,
    seed: int = 0,
    jobs: int = 1,
) -> BenchRunReport:
    """
    Run the cases of a task class from Python, without a baseline, and return the report.

    The ``run_id`` is that of ``pytest --bench``, unless a hook scores there in the rubric's place.

    :param system_under_test: a callable, a registered name or ``module:attr``; by default the class's default.
    :param case_filter: a predicate over cases or a glob over their ids; a part of the cases is scope ``selected``.
    :param timeout_per_case_seconds: limit for cases that name none. An alarm enforces it in the main thread;
        in another thread, or without alarms, it is only noticed when the trial ends.
    :param out_dir: where to write the artifacts; ``None`` writes nothing.
    :param bench_root: the folder that holds the task classes.
    :param trials: trials of each case, at least 1.
    :param jobs: trials that run at once: async systems on one event loop, others in threads.
    :raises EvalError: the class, a system, a policy or the output folder is unusable.
    """
    settings = RunSettings(
        task_class=task_class_name,
        system=system_under_test,
        case_filter=case_filter,
        timeout=timeout_per_case_seconds,
        out=out_dir,
        bench_root=bench_root,
        trials=trials,
        seed=seed,
        jobs=jobs,
    )
    run = run_class(settings)
    if run.judgement is None or run.problems:
        raise ArtifactError(str(out_dir), brief(run.problems, "; "))
    return run.judgement.report


def run_class(
    settings: RunSettings,
    on_result: Callable[[TrialResult], None] = lambda _: None,
    on_plan: Callable[[int], None] = lambda _: None,
) -> ClassRun:
    """
    Run, judge and publish one task class: for callers that need the decision, where :func:`run_eval` has the report.

    :param on_result: called after each trial of the candidate.
    :param on_plan: called with the number of trials before the first one.
    :returns: the finished run; what could not be written is in its ``problems``.
    :raises EvalError: see :func:`run_eval`.
    """
    counted = settings.trials >= 1 and settings.seed >= 0 and settings.jobs >= 1
    if not (counted and 0 < settings.timeout <= MAX_SECONDS):
        raise EvalError(
            f"{settings.trials} trials of {settings.timeout} s, seed {settings.seed}, {settings.jobs} jobs; expected "
            f"at least 1 trial of more than 0 and at most {MAX_SECONDS} s, a seed of 0 or more, at least 1 job"
        )
    root = settings.bench_root.resolve()
    with bench_package(root):
        bench = load_class(root, settings.task_class, TaskClassRegistry(), settings.policy)
        choice = choose_baseline(settings.baseline, bench.path)
        out = settings.out.resolve() if settings.out else None
        recording = find_recording(bench.path, out, settings.replay)
        found = recording.named_system if recording else partial(_system, bench)
        system = found(settings.system)
        ledger = PlannedTrials(
            bench,
            system,
            trials=settings.trials,
            seed=settings.seed,
            checkpoints=read_checkpoints(settings.checkpoints),
        )
        beside = find_system(bench.task_class, choice.system) if choice.system else None
        keys = _selected(ledger, settings)
        if not keys:
            raise EvalError(f"task class {bench.name!r}: no case was selected")
        run = ClassRun(
            ledger=ledger,
            choice=choice,
            out=out,
            timeout=settings.timeout,
            resume=settings.resume,
            shard=settings.shard,
            max_cost_usd=settings.max_cost_usd,
            sealed=read_sealed(settings.plan),
            recorder=recorder_of(bench.path, settings.record),
            recording=recording,
            beside=ledger.beside(beside) if beside else None,
        )
        for one in run.ledgers.values():
            if settings.executor is None and settings.jobs > 1 and one.system.concurrency == "none":
                msg = f"jobs {settings.jobs}: system {one.system.name} says concurrency = 'none'"
                raise EvalError(msg)
        run.open(keys, keys)
        for text in run.warnings:
            warnings.warn(text, stacklevel=3)
        try:
            on_plan(len(ledger.keys))
            _run_all(run, settings, on_result)
        except KeyboardInterrupt:
            # As under pytest: the results so far are recorded as an incomplete run, then the interrupt propagates.
            run.interrupt()
            raise
        finally:
            with finishing():
                for side in run.ledgers.values():
                    side.system.close()
                run.finish(exit_rule=settings.exit_rule)
    return run


def _system(bench: LoadedClass, wanted: System | str | None) -> NamedSystem:
    if wanted is None or isinstance(wanted, str):
        return find_system(bench.task_class, wanted)
    label = getattr(wanted, "name", None) or getattr(wanted, "__qualname__", type(wanted).__name__)
    return named(str(label), wanted)


def _selected(ledger: PlannedTrials, settings: RunSettings) -> set[tuple[str, int]]:
    chosen = settings.case_filter
    if chosen is None:
        keys, shard = ledger.every_key(), settings.shard
        part = None if shard is None else shard.of(case_id for case_id, _ in keys)
        return keys if part is None else {key for key in keys if key[0] in part}
    if isinstance(chosen, str):
        return {key for key in ledger.every_key() if fnmatch.fnmatchcase(key[0], chosen)}
    return {key for key in ledger.every_key() if _accepts(chosen, ledger, key[0])}


def _accepts(chosen: CaseFilter, ledger: PlannedTrials, case_id: str) -> bool:
    try:
        return chosen(ledger.bench.load(case_id))
    except BenchCaseLoadError:
        return True  # a filter must not hide a case that cannot be read


def _run_all(
    run: ClassRun, settings: RunSettings, on_result: Callable[[TrialResult], None]
) -> None:
    trials = ClassTrials(
        run.ledgers,
        limit=settings.timeout,
        jobs=settings.jobs,
        executor=settings.executor,
        retries=settings.retries,
        max_rpm=settings.max_rpm,
        max_cost_usd=settings.max_cost_usd,
        files=run.files,
        recording=run.recording,
        http=http_drafts(run.out, *run.recorder.key) if run.recorder and run.out else None,
    )
    with closing(trials.records()) as records:
        told = len(run.warnings)
        for side, record in records:
            run.record(
                record.result,
                record.output_json,
                scorer=record.scorer,
                file_sha256=record.file_sha256,
                side=side,
            )
            for text in run.warnings[told:]:
                warnings.warn(text, stacklevel=4)
            told = len(run.warnings)
            if side == "candidate":
                on_result(record.result)
            if record.violation:
                for ledger in run.ledgers.values():
                    for key in ledger.keys:
                        ledger.not_run(key, f"{AFTER_VIOLATION}{record.violation}")
                return
