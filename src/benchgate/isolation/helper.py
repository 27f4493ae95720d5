"""
The processes of trials, and those that start them: one for a class forks a helper for each system, rubric, observer.

A helper imports its own once, and forks workers. Each of them runs one trial at a time in a child, watches it, and ends
all that it has started before it reports.
"""

from __future__ import annotations

import ctypes
import gc
import json
import mmap
import os
import select
import signal
import socket
import sys
import threading
import time
from contextlib import suppress
from fcntl import F_SETFL, F_SETOWN, fcntl
from functools import partial, reduce
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from benchgate.cassettes.shelf import ClassCassettes
from benchgate.errors import EvalError
from benchgate.isolation import place
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
    from collections.abc import Callable, Collection

    Tell = Callable[[str, Any], None]

GRACE: Final = 1.5
"""Seconds that a trial has to end by itself after its limit; with what it takes to kill it, it is over within 2."""

STUBBORN: Final = 5.0
"""Seconds after which processes that do not end are given up, and with them who watches them."""

PRCTL: Final = ctypes.CDLL(None).prctl
DEATH_SIGNAL, SUBREAPER, NO_NEW_PRIVILEGES = 1, 36, 38

SCORED: Final = BenchScore(passed=True, score=1.0)
"""Stands for what the rubric, in a process of its own, will say."""

CASE: Final = """{"case_id": "none", "task_class": "none", "disposition": "positive",
"difficulty": "easy", "source": "curated", "added_at": "2000-01-01T00:00:00Z",
"last_validated_at": "2000-01-01T00:00:00Z", "input_path": "/", "expected_path": null}"""

_EXIT: Final = os._exit  # as it was before a system could replace it


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
        _end()


def _keep_helpers(starts: list[Start]) -> None:
    # A trial of nothing builds what each of them needs, so that no process of a trial has to.
    none = Start(bench="/none", target="none", socket=0)
    _attempt(none, Job(case=CASE, limit=9.0, work="/"), lambda _: {}, lambda *_: None)
    ready = mmap.mmap(-1, len(starts))

    def again(number: int, status: int) -> bool:
        """Whether a helper that ended is started again: not if its import ended it, which whoever waits is told."""
        if not ready[number]:
            with socket.socket(fileno=starts[number].socket) as session, suppress(OSError):
                session.send(b"importing it ends its process")
        return bool(ready[number] and status)

    _keep([partial(_help, start, ready, n) for n, start in enumerate(starts)], again)


def _keep(
    tasks: list[Callable[[], None]],
    again: Callable[[int, int], bool] = lambda _, status: bool(status),
) -> None:
    """Do each task in a process until it is done: ``again``, given its number and status, if that died."""
    PRCTL(SUBREAPER, 1, 0, 0, 0)
    own: dict[int, int] = {}
    begin = list(range(len(tasks)))
    while begin or own:
        own |= {_forked(tasks[number]): number for number in begin}
        pid, status = os.waitpid(-1, 0)
        ended = {pid: status, **_end(own)}
        begin = [own[p] for p, how in ended.items() if p in own and again(own[p], how)]
        own = {pid: number for pid, number in own.items() if pid not in ended}


def _forked(task: Callable[[], object]) -> int:
    """Do a task in a process of its own, and return its id; its status is 0 if the task is done."""
    if pid := os.fork():
        return pid
    try:
        PRCTL(DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        task()
        _EXIT(0)
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode(errors="replace"))
    finally:
        _EXIT(1)


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
    _keep([partial(_work, start, called, session)] * start.jobs)


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
    if os.waitpid(_forked(probe), 0)[1]:
        raise EvalError("isolation=sandbox cannot be had: not all is refused that it forbids")
    # Only now: libraries of numbers end their threads for a fork, and start them again when they need them.
    if len(os.listdir("/proc/self/task")) > 1:
        raise EvalError("importing it starts threads, which trials lack: start them in a call")
    return called


def _found(start: Start, path: Path) -> Any:
    if start.is_rubric:
        module, _, name = start.target.partition(":")
        os.chdir("/")
        sys.path[:] = filter(None, sys.path)
        scores: Any = reduce(getattr, name.split("."), import_module(module))
        return scores()
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
    while (message := socket.recv_fds(session, 99, 3))[1]:
        channel, report, prints = message[1]
        child = _forked(partial(_run, start, called, channel, prints))
        ends = os.pidfd_open(child)
        select.select([ends], [], [], float(message[0]) + GRACE)
        status = b"%d" % os.waitstatus_to_exitcode(_end()[child])
        with suppress(OSError):
            os.write(report, status)
        for descriptor in (ends, *message[1]):
            os.close(descriptor)


def _end(spared: Collection[int] = ()) -> dict[int, int]:
    """
    Stop all descendants of this process, which inherits orphans, then kill them; return the status of its children.

    :param spared: children that stay, with their descendants.
    :raises TimeoutError: some of them do not end.
    """
    statuses: dict[int, int] = {}
    deadline = time.monotonic() + STUBBORN
    while time.monotonic() < deadline:
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                statuses[ended[0]] = ended[1]
            found = [pid for pid in _children(os.getpid()) if pid not in spared]
            # It grows: once it is stopped, a process has all children that it will have.
            for pid in found:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGSTOP)
                found += _children(pid)
            for pid in found:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            if found:
                time.sleep(0.0005)
                continue
        return statuses
    raise TimeoutError


def _children(pid: int) -> list[int]:
    """Return the children of all threads of a process; none of one that is gone."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += map(int, task.read_text().split())
    return found


def _run(start: Start, called: Any, channel: int, prints: int) -> None:
    """Run the trial that comes by a channel in this process, and tell what came of it."""
    os.setsid()
    os.dup2(prints, 1)
    os.dup2(prints, 2)
    os.closerange(3, channel)
    os.closerange(channel + 1, 2**16)
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
