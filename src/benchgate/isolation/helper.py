"""A helper: imports a system or a rubric once, and forks a supervisor for each trial, which forks the trial itself."""

from __future__ import annotations

import gc
import json
import os
import pickle
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NoReturn

from benchgate.errors import EvalError
from benchgate.isolation import frames, linux
from benchgate.isolation.child import run_job, warm
from benchgate.isolation.job import GRACE
from benchgate.loader.imports import BenchFinder
from benchgate.loader.loaded_class import find_system
from benchgate.loader.task_class import load_task_class
from benchgate.registry import TaskClassRegistry

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.isolation.job import Job, Start

MOST_FILES: Final = 1024
_EXIT: Final = os._exit
"""As it was before a system could replace it."""

TICK: Final = 1.0
"""Seconds after which a helper without work looks for what ended supervisors left behind."""


def main(descriptor: int) -> None:
    """Serve the session at the other end of a socket until it is closed."""
    session = socket.socket(fileno=descriptor)
    start: Start = pickle.loads(session.recv(2**20))  # noqa: S301 - of the session
    try:
        load = _loader(start)
        loaded = None if start.late else load()
    except EvalError as error:
        session.send(json.dumps({"error": str(error)}).encode())
        return
    threads = len(os.listdir("/proc/self/task")) > 1
    warm()
    if start.fence is not None:
        from benchgate.isolation.sandbox import prepare

        prepare(start.fence)
    gc.freeze()  # what a trial does not change stays shared
    linux.prctl(linux.SUBREAPER)
    session.send(json.dumps({"threads": threads}).encode())
    if not threads:
        _serve(session, load if loaded is None else lambda: loaded)


def _loader(start: Start) -> Callable[[], Any]:
    os.chdir(start.cwd)
    sys.meta_path.insert(0, BenchFinder(start.bench_root))
    return partial(_system if start.role == "system" else _rubric, start)


def _system(start: Start) -> Any:
    loaded = load_task_class(start.bench_root, start.task_class, TaskClassRegistry())
    system = find_system(loaded, start.target)
    if system.concurrency == "async":
        import_module("asyncio")
        import_module("benchgate.live.helpers")
    return system.call


def _rubric(start: Start) -> Any:
    module, _, name = start.target.partition(":")
    found: Any = import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found()


def _serve(session: socket.socket, load: Callable[[], Any]) -> None:
    supervisors: set[int] = set()
    while True:
        ready, _, _ = select.select([session], [], [], TICK)
        if ready:
            _, descriptors, _, _ = socket.recv_fds(session, 16, 3)
            if not descriptors:
                return
            pid = os.fork()
            if not pid:
                session.close()
                _supervise(descriptors, load)
            supervisors.add(pid)
            for descriptor in descriptors:
                os.close(descriptor)
        _reap(supervisors)


def _reap(supervisors: set[int]) -> None:
    """Forget the supervisors that have ended; of one that was killed, end what is left."""
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            supervisors.discard(ended[0])
    if set(linux.children(os.getpid())) - supervisors:
        linux.end(supervisors)


def _supervise(descriptors: list[int], load: Callable[[], Any]) -> NoReturn:
    """Run a trial in a process, and report how it ended once nothing is left of it."""
    status = 1
    try:
        channel, report, prints = descriptors
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        linux.prctl(linux.SUBREAPER)
        session = socket.socket(fileno=report)
        job: Job = pickle.loads(frames.receive(session))  # noqa: S301 - of the session
        started = time.monotonic()
        child = os.fork()
        if not child:
            _enter(channel, prints)
            _EXIT(run_job(job, load))
        os.close(channel)
        os.close(prints)
        late = _wait(child, session, job.limit + GRACE)
        seconds = time.monotonic() - started
        statuses = linux.end()
        ended = {
            "status": os.waitstatus_to_exitcode(statuses[child]) if child in statuses else None,
            "seconds": seconds,
            "late": late,
            "left": len(linux.children(os.getpid())),
        }
        frames.send(session, json.dumps(ended).encode())
        status = 0
    finally:
        os._exit(status)


def _wait(child: int, session: socket.socket, seconds: float) -> bool:
    """Wait until a trial ends, or the session is gone; return whether its time was over first."""
    waiting = select.poll()
    waiting.register(os.pidfd_open(child), select.POLLIN)
    waiting.register(session, select.POLLRDHUP)
    return not waiting.poll(seconds * 1000)


def _enter(channel: int, prints: int) -> None:
    """Leave the helper's session, and keep no descriptor of it but the channel, as number 3."""
    os.setsid()
    channel, prints = (
        os.dup(one) for one in (channel, prints)
    )  # neither is 3 while that is closed
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(prints, 1)
    os.dup2(prints, 2)
    os.dup2(channel, 3, inheritable=False)
    os.closerange(4, MOST_FILES)
