"""
The processes that start those of trials: one for a class, which forks a helper for each system and for the rubric.

A helper imports its own once, and forks workers. Each of them runs one trial at a time in a child, watches it, and ends
all that it has started before it reports.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from functools import partial, reduce
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import EvalError
from benchgate.isolation import sandbox
from benchgate.isolation.child import PRCTL, run_child, warm
from benchgate.isolation.isolated import READY, Start
from benchgate.loader.imports import BenchFinder
from benchgate.loader.loaded_class import find_system
from benchgate.loader.task_class import load_task_class
from benchgate.registry import TaskClassRegistry

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

GRACE: Final = 1.5
"""Seconds that a trial has to end by itself after its limit; with what it takes to kill it, it is over within 2."""

STUBBORN: Final = 5.0
"""Seconds after which processes that do not end are given up, and with them who watches them."""

SUBREAPER: Final = 36


def main(starts: list[dict[str, Any]]) -> None:
    """Keep a helper for each of the starts, until the session closes their sockets."""
    warm()
    _keep([partial(_help, Start(**start)) for start in starts])


def _keep(tasks: list[Callable[[], None]]) -> None:
    """Do each task in a process until it is done: anew if that dies, after what it has left."""
    PRCTL(SUBREAPER, 1, 0, 0, 0)
    own: dict[int, Callable[[], None]] = {}
    while tasks or own:
        for task in tasks:
            if not (pid := os.fork()):
                try:
                    task()
                    os._exit(0)
                finally:
                    os._exit(1)
            own[pid] = task
        pid, status = os.waitpid(-1, 0)
        ended = {pid: status, **_end(own)}
        tasks = [own[pid] for pid, status in ended.items() if status and pid in own]
        own = {pid: task for pid, task in own.items() if pid not in ended}
    _end()


def _help(start: Start) -> None:
    """Import a system or a rubric, and keep workers."""
    sockets = [socket.socket(fileno=one) for one in start.sockets]
    try:
        os.chdir(start.cwd)
        sys.meta_path.insert(0, BenchFinder(Path(start.bench).parent))
        called = (_rubric if start.is_rubric else _system)(start)
        gc.collect()
        gc.freeze()  # what a trial does not change stays shared
        _check(start)
    except Exception as error:
        for one in sockets:
            one.send(f"{start.target}: {error}".encode()[:2000])
        return
    _keep([partial(_work, start, called, one) for one in sockets])


def _check(start: Start) -> None:
    """Close a process as a sandbox does; :raises EvalError: that cannot be, or a fork is not safe."""
    if start.reads is not None:
        sandbox.check()
        sandbox.refusals(network=start.network)  # here, so that no trial has to make them
    if not (pid := os.fork()):
        try:
            if start.reads is not None:
                sandbox.close(start, os.devnull)
            os._exit(0)
        finally:
            os._exit(1)
    if os.waitpid(pid, 0)[1]:
        raise EvalError("isolation=sandbox cannot be had: not all is refused that it forbids")
    # Only now: libraries of numbers end their threads for a fork, and start them again when they need them.
    if len(os.listdir("/proc/self/task")) > 1:
        raise EvalError(
            "importing it starts threads, which trials would lack: start them in a call"
        )


def _system(start: Start) -> Any:
    path = Path(start.bench)
    bench = load_task_class(path.parent, path.name, TaskClassRegistry())
    system = find_system(bench, start.target)
    if system.concurrency == "async":
        import_module("asyncio")
        import_module("benchgate.live.helpers")
    return system.call


def _rubric(start: Start) -> Any:
    module, _, name = start.target.partition(":")
    sys.path[:] = filter(None, sys.path)
    rubric: Any = reduce(getattr, name.split("."), import_module(module))
    return rubric()


def _work(start: Start, called: Any, session: socket.socket) -> None:
    """Run a trial in a child for each message, its name and limit, and report its name and the status of its end."""
    PRCTL(SUBREAPER, 1, 0, 0, 0)
    with suppress(ConnectionError):
        session.send(READY)
    while True:
        message, descriptors, _, _ = socket.recv_fds(session, 99, 2)
        if not descriptors:
            return
        if not (child := os.fork()):
            run_child(start, called, *descriptors)
        ends, waiting = os.pidfd_open(child), select.poll()
        waiting.register(ends, select.POLLIN)
        waiting.register(session, select.POLLRDHUP)  # nobody waits for it any more
        waiting.poll((float(message.split()[1]) + GRACE) * 1000)
        for descriptor in (ends, *descriptors):
            os.close(descriptor)
        status = os.waitstatus_to_exitcode(_end()[child])
        with suppress(ConnectionError):
            session.send(b"%s %d" % (message.split()[0], status))


def _end(spared: Collection[int] = ()) -> dict[int, int]:
    """
    Stop all descendants of this process, so that none can start another, then kill and reap them.

    Whatever they have started is among them, as this process inherits orphans.

    :param spared: children that stay, with their descendants.
    :returns: the status of each that was reaped.
    :raises TimeoutError: some of them do not end.
    """
    statuses: dict[int, int] = {}
    deadline = time.monotonic() + STUBBORN
    while time.monotonic() < deadline:
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                statuses[ended[0]] = ended[1]
            found = [pid for pid in _children(os.getpid()) if pid not in spared]
            for pid in (
                found
            ):  # it grows: once it is stopped, a process has all children that it will have
                _signal(pid, signal.SIGSTOP)
                found += _children(pid)
            for pid in found:
                _signal(pid, signal.SIGKILL)
            if found:
                time.sleep(0.0005)
                continue
        return statuses
    raise TimeoutError


def _signal(pid: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def _children(pid: int) -> list[int]:
    """Return the children of all threads of a process; none of one that is gone."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += map(int, task.read_text().split())
    return found
