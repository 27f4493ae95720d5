"""
The processes of trials, and those that start them: one for a class forks a helper for each system, rubric, observer.

A helper imports its own once, and forks workers. Each of them runs one trial at a time in a child, watches it, and ends
all that it has started before it reports.
"""

from __future__ import annotations

import gc
import json
import mmap
import os
import select
import signal
import socket
import sys
import threading
from contextlib import suppress
from fcntl import F_SETFL, F_SETOWN, fcntl
from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from benchgate.cassettes.shelf import ClassCassettes
from benchgate.errors import EvalError
from benchgate.isolation import place
from benchgate.isolation.descendants import NO_NEW_PRIVILEGES, PRCTL, SUBREAPER, end, forked, keep
from benchgate.isolation.isolated import Job, Start
from benchgate.live.loop import SessionLoop
from benchgate.loader.imports import BenchFinder
from benchgate.loader.loaded_class import find_system
from benchgate.loader.observer import load_observer
from benchgate.loader.task_class import load_task_class
from benchgate.models import BenchCase, BenchScore, Observer
from benchgate.models.case import changes
from benchgate.registry import TaskClassRegistry
from benchgate.trials.executor import RECORDS, TrialRequest
from benchgate.trials.time_limit import alarm
from benchgate.trials.trial import TrialRunner
from benchgate.trials.trial_http import HttpTerms

if TYPE_CHECKING:
    from collections.abc import Callable

    Tell = Callable[[str, Any], None]

GRACE: Final = 1.5
"""Seconds that a trial has to end by itself after its limit; with what it takes to kill it, it is over within 2."""

SCORED: Final = BenchScore(passed=True, score=1.0)
"""Stands for what the rubric, in a process of its own, will say."""

CASE: Final = """{"case_id": "none", "task_class": "none", "disposition": "positive",
"difficulty": "easy", "source": "curated", "added_at": "2000-01-01T00:00:00Z",
"last_validated_at": "2000-01-01T00:00:00Z", "input_path": "/", "expected_path": null}"""


def main(starts: list[dict[str, Any]]) -> None:
    """Keep a helper for each of the starts, until the session closes the standard input, or dies."""
    PRCTL(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    signal.signal(signal.SIGIO, lambda *_: sys.exit())
    session = os.dup(0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    fcntl(session, F_SETOWN, os.getpid())
    fcntl(session, F_SETFL, os.O_ASYNC)
    try:
        if not select.select([session], [], [], 0)[0]:
            _keep_helpers([Start(**start) for start in starts])
    finally:
        end()


def _keep_helpers(starts: list[Start]) -> None:
    _rehearse()
    ready = mmap.mmap(-1, len(starts))

    def again(number: int, status: int) -> bool:
        """Whether a helper that ended is started again: not if its import ended it, which whoever waits is told."""
        if not ready[number]:
            with socket.socket(fileno=starts[number].socket) as session, suppress(OSError):
                session.send(b"importing it ends its process")
        return bool(ready[number] and status)

    keep([partial(_help, start, ready, n) for n, start in enumerate(starts)], again)


def _help(start: Start, ready: mmap.mmap, number: int) -> None:
    """Import what it is of, say that it is ready, and keep workers."""
    ready[number] = 0
    os.closerange(3, start.socket)  # those of the others
    os.closerange(start.socket + 1, 2**16)
    session = socket.socket(fileno=start.socket)
    try:
        called = _imported(start)
    except Exception as error:
        session.send(str(error).encode()[-2000:])
        return
    session.send(b"ready")
    ready[number] = 1
    keep([partial(_work, start, called, session)] * start.jobs)


def _imported(start: Start) -> Any:
    path = Path(start.bench)
    sys.meta_path.insert(0, BenchFinder(path.parent))
    try:
        called = _found(start, path)
    except Exception as error:
        hint = "its environment has the names of an allow list, to which pass_env in gate.toml adds"
        raise EvalError(f"{error}; {hint}") from error
    gc.collect()
    gc.freeze()  # what a trial does not change stays shared
    probe: Callable[[], object] = gc.collect
    if start.reads is not None:
        place.check()
        place.refusals(network=start.network)  # here, so that no trial has to make them
        probe = partial(place.close, os.devnull, start.reads, start.bench, network=start.network)
    if os.waitpid(forked(probe), 0)[1]:
        raise EvalError("isolation=sandbox cannot be had: not all is refused that it forbids")
    # Only now: libraries of numbers end their threads for a fork, and start them again when they need them.
    if len(os.listdir("/proc/self/task")) > 1:
        raise EvalError("importing it starts threads, which trials lack: start them in a call")
    return called


def _found(start: Start, path: Path) -> Any:
    if start.is_rubric:
        os.chdir("/")
        sys.path[:] = filter(None, sys.path)
        return resolve_name(start.target)()
    task_class = load_task_class(path.parent, path.name, TaskClassRegistry())
    if start.observer is not None:
        there = Observer(**start.observer)
        found = load_observer(task_class, path, there.observations)
        if other := changes(there, found and found.identity):
            raise EvalError("; ".join(other))
        return found and found.call
    system = find_system(task_class, start.target)
    if system.concurrency == "async":
        import_module("asyncio")
        import_module("benchgate.live.helpers")
    return system.call


def _work(start: Start, called: Any, session: socket.socket) -> None:
    """Run a trial in a child for each message, which has its limit, and report the status of its end."""
    PRCTL(SUBREAPER, 1, 0, 0, 0)
    while True:
        ours, its = socket.socketpair()
        with ours, its:
            # Before there is a trial: a fork takes milliseconds, in which the session has other things to do.
            child = forked(partial(_run, start, called, its))
            if not (message := socket.recv_fds(session, 99, 3))[1]:
                return
            channel, report, prints = message[1]
            with suppress(OSError):
                socket.send_fds(ours, [b"run"], [channel, prints])
        ends = os.pidfd_open(child)
        select.select([ends], [], [], float(message[0]) + GRACE)
        status = b"%d" % os.waitstatus_to_exitcode(end()[child])
        with suppress(OSError):
            os.write(report, status)
        for descriptor in (ends, *message[1]):
            os.close(descriptor)


def _run(start: Start, called: Any, worker: socket.socket) -> None:
    """Run the trial whose channel comes from the worker in this process, and tell what came of it."""
    os.setsid()
    os.closerange(3, worker.fileno())
    os.closerange(worker.fileno() + 1, 2**16)
    _rehearse()
    channel, prints = socket.recv_fds(worker, 9, 2)[1]
    for number in (1, 2):
        os.dup2(prints, number)
    for descriptor in (prints, worker.detach()):
        os.close(descriptor)
    session, lock = socket.socket(fileno=channel).makefile("rwb"), threading.RLock()

    def tell(kind: str, value: Any = None) -> None:
        with lock:
            session.write(json.dumps([kind, value]).encode() + b"\n")
            session.flush()

    job = Job(**json.loads(session.readline()))
    if job.folder is not None:
        place.settle(f"{job.folder}/home", start.limits or {})
    if start.reads is not None:
        place.close(str(job.folder), start.reads, start.bench, network=start.network)
    tell("called")
    told = _attempt(start, job, called, tell)
    sys.stdout.flush()
    lock.acquire()  # threads that are left say nothing after this
    tell("result", told)


def _rehearse() -> None:
    """Run a trial of nothing: it builds what trials need, and makes the memory that they change this process's own."""
    none = Start(bench="/none", target="none", socket=0)
    _attempt(none, Job(case=CASE, limit=9.0, work="/"), lambda _: {}, lambda *_: None)


def _attempt(start: Start, job: Job, called: Any, tell: Tell) -> str:
    """Return the record of the trial as JSON; its score is that of the rubric, or stands for it."""
    case, path = BenchCase.model_validate_json(job.case), Path(start.bench)
    record = Path(job.record) if job.record else None
    output = json.loads(job.output or "null")
    case._shelf = ClassCassettes(path)  # noqa: SLF001 - not a field: it is no data
    case.usage.told = lambda usage: tell("usage", usage.model_dump(mode="json"))
    runner = TrialRunner(
        task_class=path.name,
        system=(lambda _: output) if start.is_rubric else called,
        score=called.score if start.is_rubric else lambda *_: SCORED,
        observes=() if start.observer is None else (output,),
        taxonomy=SimpleNamespace(classify=lambda _: ()),  # type: ignore[arg-type] # the session does
        wait=SessionLoop().wait,
        work=Path(job.work),
        http=HttpTerms(system=job.system, class_path=path, record=record, number=job.number),
    )
    with alarm(job.limit):
        told = runner.run(TrialRequest(case=case, system=start.target, limit=job.limit))
    return RECORDS.dump_json(told).decode()
