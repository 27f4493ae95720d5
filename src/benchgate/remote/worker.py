"""
What runs where trials are run: :func:`run_request` for any engine.

On a Dask worker :func:`receive` takes a class, and :func:`run_attempt` runs one trial of it.
"""

from __future__ import annotations

import math
import sys
import tempfile
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import MAX_MESSAGE, EvalError, brief, excerpt
from benchgate.live.executor import GRACE, LiveExecutor
from benchgate.remote.attempt import BENCHGATE, Answer, versions
from benchgate.remote.worker_bench import worker_benches
from benchgate.trials.inputs import marked_modified
from benchgate.trials.pacing import Pacing, Turns
from benchgate.wire.parsing import collector_paused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchgate.remote.attempt import Attempt, SentClass
    from benchgate.remote.worker_bench import Systems
    from benchgate.trials.executor import TrialRecord, TrialRequest
    from benchgate.trials.trial import TrialRunner


BALLOT_SECONDS: Final = 1.0
"""How long a worker waits for room in the queue of an attempt; there is none if another has started it."""


def run_request(request: TrialRequest, bench_root: Path) -> TrialRecord:
    """
    Run a trial in this process, for an executor that hands requests to processes of its own.

    The class is loaded when its first trial is run. A trial over its limit is given up; see
    :class:`~benchgate.live.executor.LiveExecutor`.

    :param bench_root: the folder with the task classes. It and the case's files are read from this machine's disk.
    :raises EvalError: the class or the system cannot be loaded here.
    """
    if request.starts is not None:  # an engine that runs a trial again by itself does not tell
        with suppress(OSError), open(request.starts, "ab") as starts:
            starts.write(b".")
    key = worker_benches().open(request.case.task_class, bench_root)
    with worker_benches().using(key) as bench:
        assert bench is not None  # noqa: S101 - it was opened above
        run = partial(_run, bench.runner(bench.system(request.system), request.limit))
        return Pacing(0, Turns(None)).run(run, request, lambda *_: None)


def receive(
    sent: SentClass, systems: Systems, there: Mapping[str, str], data: bytes, *, may_be_mixed: bool
) -> Answer:
    """
    Keep a class, load it, and say whether its trials can run here.

    :param systems: what each of them declares, see :func:`~benchgate.remote.worker_bench.declared`.
    :param there: the versions where the run was started, see :func:`~benchgate.remote.attempt.versions`.
    :param may_be_mixed: whether only Python and benchgate must be equal.
    """
    from distributed import get_worker

    worker = get_worker()
    profiler = worker.periodic_callbacks.get("profile")
    if profiler is not None and sys.version_info < (3, 11, 9):
        profiler.callback = partial(profile, worker)
    try:
        mixed = _compared(there, may_be_mixed=may_be_mixed)
        folder = Path(tempfile.mkdtemp(prefix="benchgate-", dir=worker.local_directory))
        worker_benches().receive(sent, data, folder, worker.state.nthreads)
        with worker_benches().using(sent.key) as bench:
            for name, declares in systems.items():
                if bench is not None:
                    bench.check(name, declares)
    except EvalError as error:
        return Answer(kind="refused", worker=worker.address, why=str(error))
    except Exception as error:
        return Answer(kind="refused", worker=worker.address, why=_said(error))
    worker_benches().compared.add(sent)
    return Answer(kind="ready", worker=worker.address, why=mixed)


def profile(worker: Any) -> None:
    """Profile as Dask does, but collect no garbage, in which Python before 3.11.9 may stand still (gh-106883)."""
    with collector_paused():
        worker.trigger_profile()


def run_attempt(attempt: Attempt) -> Answer:
    """Run a trial, unless another worker has started this very attempt, or it cannot run here."""
    from distributed import get_worker

    worker = get_worker()
    answer = partial(Answer, worker=worker.address)
    try:
        return _answered(attempt, answer)
    except Exception as error:
        # Outside the trial, by something that its system changed in this process.
        # As text: of a deep traceback, as that of a RecursionError, Dask tells its client nothing at all.
        return answer(kind="elsewhere", why=f"failed on its worker with {_said(error)}")


def _said(error: Exception) -> str:
    try:
        text = str(error)
    except Exception:  # of a foreign exception may raise anything
        text = "which cannot be shown"
    return excerpt(f"{type(error).__name__}: {text}", MAX_MESSAGE)


def _answered(attempt: Attempt, answer: Callable[..., Answer]) -> Answer:
    try:
        with worker_benches().using(attempt.sent.key) as bench:
            if bench is None or attempt.sent not in worker_benches().compared:
                return answer(kind="lacks")
            system = bench.system(attempt.system)
            request = bench.request(attempt, system)
            if request is None:
                return answer(kind="changed")
            if not _is_first(attempt.id):
                return answer(kind="elsewhere")
            runner = bench.runner(system, request.limit)
            # Whoever watches the processes keeps the limit.
            grace = math.inf if bench.is_apart else GRACE
            try:
                record = _run(runner, request, grace)
            except KeyboardInterrupt:  # of the system; here it would end the worker
                return answer(kind="interrupted")
            where = record.raised_at and bench.relative(record.raised_at[0])
            # The controller has files of its own, and cannot see that a trial changed its inputs here.
            if bench.is_modified(attempt):
                record = replace(record, result=marked_modified(record.result))
            return answer(kind="ran", record=record, raised_in=where)
    except EvalError as error:
        return answer(kind="refused", why=str(error))


def _compared(there: Mapping[str, str], *, may_be_mixed: bool) -> str:
    """Return what is different here from where the run was started; raise EvalError unless that is allowed."""
    here = versions(there)
    # A package that is not here is named where the class is loaded, if it is needed.
    differing = [name for name in there if here.get(name, there[name]) != there[name]]
    lines = (f"{name} is {here[name]} here, and {there[name]}" for name in differing)
    text = brief((f"{line} where the run was started" for line in lines), "; ")
    if {"Python", BENCHGATE} & {*differing}:
        raise EvalError(text)
    if differing and not may_be_mixed:
        raise EvalError(f"{text} (--bench-allow-mixed-workers takes it)")
    return text


def _is_first(attempt_id: str) -> bool:
    """
    Note at the scheduler that this worker starts an attempt, unless one has done so.

    Dask gives a task whose worker is gone to another one. A lock would not do: its lease ends with the worker.
    """
    from distributed import get_worker, sync

    worker = get_worker()
    # Not get_client(): it makes a client for each thread, and dropped ones hold up the worker's loop.
    put = worker.scheduler.queue_put
    try:
        sync(worker.loop, put, name=attempt_id, data=worker.address, timeout=BALLOT_SECONDS)
    except (TimeoutError, KeyError):  # full; or there is none, as nobody waits for the trial
        return False
    return True


def _run(runner: TrialRunner, request: TrialRequest, grace: float = GRACE) -> TrialRecord:
    """Run a trial with its own prints, in a thread that can be given up some seconds after its limit."""
    # One for each trial: while it is open, nothing can end the process, and Dask must be able to.
    prints = worker_benches().prints
    call = LiveExecutor(lambda request, _: runner.run(request), 1, prints=prints, grace=grace)
    with closing(call) as executor:
        record = executor.submit(request).result()
    if runner.masker is None or not record.printed:
        return record
    return replace(record, printed=runner.masker.text(record.printed))
