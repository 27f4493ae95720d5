"""Running a task class without pytest: the same engine, the same ids, the same artifacts."""

from __future__ import annotations

import argparse
import fnmatch
import sys
import warnings
from collections import deque
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchgate.errors import ArtifactError, BenchCaseLoadError, EvalError, Unreadable, brief
from benchgate.loader.imports import bench_package
from benchgate.loader.loaded_class import load_class
from benchgate.options.places import arguments, read_options
from benchgate.options.table import RUN_OPTIONS
from benchgate.registry import TaskClassRegistry
from benchgate.runner.class_run import ClassRun
from benchgate.runner.service import TrialService
from benchgate.runner.settings import CaseFilter, Grounds, RunRequest, RunSettings
from benchgate.trials.interrupts import finishing
from benchgate.trials.planned import AFTER_VIOLATION
from benchgate.trials.time_limit import Backstop, alarm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future

    from benchgate.models import BenchRunReport, Side, TrialResult
    from benchgate.registry import System
    from benchgate.trials.executor import TrialRecord, TrialRequest
    from benchgate.trials.planned import Key, PlannedTrials


_ARGUMENTS: Final = {
    "system": "system_under_test",
    "timeout": "timeout_per_case_seconds",
    "out": "out_dir",
    "trials": "trials",
    "seed": "seed",
    "jobs": "jobs",
    "stop": "stop",
}
"""The arguments of :func:`run_eval` that are options, by their keys."""


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
    stop: str = "never",
) -> BenchRunReport:
    """
    Run the cases of a task class from Python, and return the report.

    The ``run_id`` is that of ``pytest --bench``, unless a hook scores there in the rubric's place.

    :param system_under_test: a callable, a registered name or ``module:attr``; by default the class's default.
    :param case_filter: a predicate over cases or a glob over their ids; a part of the cases is scope ``selected``.
    :param timeout_per_case_seconds: limit for cases that name none. An alarm enforces it in the main thread;
        in another thread, or without alarms, it is only noticed when the trial ends.
    :param out_dir: where to write the artifacts; ``None`` writes nothing.
    :param bench_root: the folder that holds the task classes.
    :param trials: trials of each case, at least 1.
    :param jobs: trials that run at once: async systems on one event loop, others in threads.
    :param stop: as ``--stop``, against the pinned baseline; ``stopped`` in the report says if it did.
    :raises EvalError: the class, a system, a policy or the output folder is unusable.
    """
    given = {
        "system": system_under_test,
        "timeout": timeout_per_case_seconds,
        "out": out_dir,
        "trials": trials,
        "seed": seed,
        "jobs": jobs,
        "stop": stop,
    }
    place = arguments(given, Path(), lambda option, _: f"the argument {_ARGUMENTS[option.key]}")
    try:
        settled = read_options(RUN_OPTIONS, [place])
    except argparse.ArgumentTypeError as error:
        raise EvalError(str(error).replace("\n", "; ")) from None
    baseline = "none"
    if stop == "decided":
        baseline = "pinned"
    settings = RunSettings.of_options(
        settled.values,
        task_class=task_class_name,
        case_filter=case_filter,
        bench_root=bench_root,
        baseline=baseline,
        exit_rule="strict",
    )
    run = run_class(settings)
    if run.judgement is None or run.problems:
        raise ArtifactError(str(out_dir), brief(run.problems, "; "))
    return run.judgement.report


def run_class(
    settings: RunSettings,
    on_result: Callable[[TrialResult], None] = lambda _: None,
    on_plan: Callable[[int], None] = lambda _: None,
    on_warning: Callable[[str], None] | None = None,
) -> ClassRun:
    """
    Run, judge and publish one task class: for callers that need the decision, where :func:`run_eval` has the report.

    :param on_result: called after each trial of the candidate.
    :param on_plan: called with the number of trials before the first one.
    :param on_warning: called with each warning; by default they are Python's.
    :returns: the finished run; what could not be written is in its ``problems``.
    :raises EvalError: see :func:`run_eval`.
    """
    root = settings.bench_root.resolve()
    settings = replace(settings, out=settings.out and settings.out.resolve())
    with bench_package(root), ExitStack() as stack:
        bench = load_class(root, settings.task_class, TaskClassRegistry(), settings.policy)
        request = RunRequest.of(bench, settings)
        stack.callback(request.close)
        run = ClassRun(request, Grounds.read(settings, bench.path))
        keys = _selected(run.candidate, settings)
        if not keys:
            raise EvalError(f"task class {bench.name!r}: no case was selected")
        service = TrialService({bench.name: run.request}, backstop=Backstop(), alarm=alarm)
        stack.callback(service.close)
        service.open()
        run.open(keys, keys)
        # A partial of it has no frame of its own: the warning is at the line that called run_eval.
        at_start = on_warning or partial(warnings.warn, stacklevel=3)
        for text in (*run.warnings, *service.notes):
            at_start(text)
        try:
            on_plan(len(run.candidate.keys))
            while_running = on_warning or partial(warnings.warn, stacklevel=4)
            _run_all(run, service, on_result, while_running)
        except KeyboardInterrupt:
            # As under pytest: the results so far are recorded as an incomplete run, then the interrupt propagates.
            run.interrupt()
            raise
        finally:
            with finishing():
                service.close()
                request.close()
                run.finish()
    return run


def _selected(trials: PlannedTrials, settings: RunSettings) -> set[Key]:
    chosen = settings.case_filter
    if chosen is None:
        return trials.every_key(settings.shard)
    if isinstance(chosen, str):
        return {key for key in trials.every_key() if fnmatch.fnmatchcase(key[0], chosen)}
    return {key for key in trials.every_key() if _accepts(chosen, trials, key[0])}


def _accepts(chosen: CaseFilter, trials: PlannedTrials, case_id: str) -> bool:
    try:
        return chosen(trials.bench.load(case_id))
    except BenchCaseLoadError:
        return True  # a filter must not hide a case that cannot be read


def _run_all(
    run: ClassRun,
    service: TrialService,
    on_result: Callable[[TrialResult], None],
    on_warning: Callable[[str], None],
) -> None:
    warning_count = len(run.warnings)
    for side, record in _records(run, service):
        result = run.record(record, side)
        for text in run.warnings[warning_count:]:
            on_warning(text)
        warning_count = len(run.warnings)
        if side == "candidate":
            on_result(result)
        if run.stopped:
            service.stop(run.name, run.stopped)
        if record.violation:
            for trials in run.sides.values():
                for key in trials.keys:
                    reason = f"{AFTER_VIOLATION}{record.violation}"
                    trials.not_run(key, reason, why="after_violation")
            return


def _records(run: ClassRun, service: TrialService) -> Iterator[tuple[Side, TrialRecord]]:
    """Run the planned trials, ahead of their turn where they need not wait for it; yield their records in order."""
    submitted: deque[tuple[Side, Future[TrialRecord]]] = deque()
    for request in _requests(run, service):
        while submitted and not service.has_room(run.name):  # told first, before more is paid for
            yield _printed(*submitted.popleft())
        submitted.append((request.side, service.submit(request)))
        while submitted and (submitted[0][1].done() or len(submitted) >= service.window):
            yield _printed(*submitted.popleft())
    while submitted:
        yield _printed(*submitted.popleft())


def _printed(side: Side, future: Future[TrialRecord]) -> tuple[Side, TrialRecord]:
    record = future.result()
    sys.stdout.write(record.printed)
    return side, record


def _requests(run: ClassRun, service: TrialService) -> Iterator[TrialRequest]:
    readable = {case.case_id: case for case in run.candidate.cases}
    for case_id, trial in run.candidate.keys:
        if case_id not in readable:  # the planned trials say why it has no result
            continue
        for side, trials in run.sides.items():
            try:
                yield service.request(readable[case_id], trial, side)
            except Unreadable as error:
                trials.not_run((case_id, trial), str(error))
