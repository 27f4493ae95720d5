"""
The processes that start those of trials: one for a session, which forks a helper for each system and for the rubric.

A helper imports its own once, and forks workers. Each of them runs one trial at a time in a child, watches it, and ends
all that it has started before it reports.
"""

from __future__ import annotations

import gc
import json
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
from benchgate.isolation.child import PRCTL, SUBREAPER, run_child, warm
from benchgate.isolation.messages import Start, receive_sockets
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


def main(descriptor: int) -> None:
    """Fork helpers for the session at the other end of a socket, until that is closed."""
    warm()
    _serve(socket.socket(fileno=descriptor), _help)


def _serve(source: socket.socket, become: Callable[[Any, socket.socket], None]) -> None:
    """Fork a process for each message, with the socket in it; what one that died has left ends before."""
    PRCTL(SUBREAPER, 1, 0, 0, 0)
    own: set[int] = set()
    while True:
        message, descriptors = receive_sockets(source)
        own -= _end(own).keys()
        if not descriptors:
            _end()
            return
        pid = os.fork()
        if not pid:
            try:
                source.close()
                become(message, socket.socket(fileno=descriptors[0]))
            finally:
                os._exit(0)
        own.add(pid)
        os.close(descriptors[0])


def _help(message: dict[str, Any], session: socket.socket) -> None:
    """Import a system or a rubric, say how that went, and fork workers."""
    start = Start(**message)
    load: Callable[[], Any] = partial(_rubric if start.is_rubric else _system, start)
    try:
        os.chdir(start.cwd)
        sys.meta_path.insert(0, BenchFinder(Path(start.bench_root)))
        if not start.is_late:
            load = partial(lambda loaded: loaded, load())
        gc.collect()
        gc.freeze()  # what a trial does not change stays shared
        _check(start)
    except Exception as error:
        session.send(json.dumps({"error": f"{start.target}: {error}"}).encode())
        return
    # Only now: libraries of numbers end their threads for a fork, and start them again when they need them.
    is_threaded = len(os.listdir("/proc/self/task")) > 1
    session.send(json.dumps({"is_threaded": is_threaded}).encode())
    if not is_threaded:
        _serve(session, partial(_work, start, load))


def _check(start: Start) -> None:
    """Try in a process what a sandbox refuses; :raises EvalError: something is not refused."""
    if start.reads is not None:
        sandbox.check()
        sandbox.refusals(network=start.network)  # here, so that no trial has to make them
    if not (pid := os.fork()):
        os._exit(start.reads is not None and sandbox.is_open(start))
    if os.waitpid(pid, 0)[1]:
        raise EvalError("isolation=sandbox cannot be had: not all is refused that it forbids")


def _system(start: Start) -> Any:
    bench = load_task_class(Path(start.bench_root), start.task_class, TaskClassRegistry())
    system = find_system(bench, start.target)
    if system.concurrency == "async":
        import_module("asyncio")
        import_module("benchgate.live.helpers")
    return system.call


def _rubric(start: Start) -> Any:
    module, _, name = start.target.partition(":")
    sys.path[:] = filter(None, sys.path)
    return reduce(getattr, name.split("."), import_module(module))()  # type: ignore[operator]


def _work(start: Start, load: Callable[[], Any], _: None, session: socket.socket) -> None:
    """Run a trial in a child for each message, which has its limit, and report the status of its end."""
    PRCTL(SUBREAPER, 1, 0, 0, 0)
    session.send(b"ready")
    while True:
        limit, descriptors = receive_sockets(session)
        if not descriptors:
            return
        child = os.fork()
        if not child:
            run_child(start, load, *descriptors)
        ends, waiting = os.pidfd_open(child), select.poll()
        waiting.register(ends, select.POLLIN)
        waiting.register(session, select.POLLRDHUP)  # nobody waits for it any more
        waiting.poll((limit + GRACE) * 1000)
        for descriptor in (ends, *descriptors):
            os.close(descriptor)
        session.send(b"%d" % os.waitstatus_to_exitcode(_end()[child]))


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
            ):  # which grows: once it is stopped, a process has all children that it will have
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
