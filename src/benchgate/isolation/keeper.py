"""
The process that keeps all others of a class: it imports neither system nor rubric, and ends with the session.

It starts those who judge, and only when these have imported what they need, a watcher for each call of a system that
may run at once::

    session - keeper - rubric   - worker  - one call
                     - observer - worker  - one call
                     - watcher  - importing process of a system - one call

A judge is not started again: what it imports could have been changed. A watcher is: it imports nothing.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from contextlib import suppress
from fcntl import F_SETFL, F_SETOWN, fcntl
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from benchgate.isolation import sandbox
from benchgate.isolation.attempt import rehearse
from benchgate.isolation.descendants import (
    DUMPABLE,
    NO_NEW_PRIVILEGES,
    PRCTL,
    SUBREAPER,
    end,
    forked,
    keep_open,
)
from benchgate.isolation.judge import judge
from benchgate.isolation.messages import Start
from benchgate.isolation.watcher import Watcher

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(path: list[str], starts: list[dict[str, Any]]) -> None:
    """
    Keep a process for each of the starts, until the session closes the standard input, or dies.

    :param path: where those who import look for modules; this process looks only where Python and benchgate are.
    """
    PRCTL(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    PRCTL(SUBREAPER, 1, 0, 0, 0)
    PRCTL(DUMPABLE, 0, 0, 0, 0)  # no process of a system may write to the memory of a judge
    # The kernel sends SIGIO when the session closes its end, or dies: this process ends then, whatever it waits for.
    signal.signal(signal.SIGIO, lambda *_: sys.exit())
    session = os.dup(0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    fcntl(session, F_SETOWN, os.getpid())
    fcntl(session, F_SETFL, os.O_ASYNC)
    try:
        # No signal comes if it was closed before this process asked for one.
        if not select.select([session], [], [], 0)[0]:
            _keep([Start.of_json({"path": path, **start}) for start in starts])
    finally:
        end()


def _keep(starts: Sequence[Start]) -> None:
    rehearse()
    if any(start.layer is not None for start in starts):
        sandbox.load()
    # Those who judge come first: their code is imported before there is a process that could change it.
    judges = {_judging(start) for start in starts if not start.is_system}
    systems = [start for start in starts if start.is_system]
    if len(systems) > len({start.name for start in systems}):
        # Calls that run at once are mostly async, and each process that imports would import this anew.
        for name in ("asyncio", "benchgate.live.helpers"):
            import_module(name)
    watching = {_watching(start): start for start in systems}
    while watching or judges:
        pid, status = os.waitpid(-1, 0)
        ended = {pid: status, **end({*judges, *watching})}
        judges -= ended.keys()
        for pid in ended.keys() & watching.keys():
            start = watching.pop(pid)
            watching[_watching(start)] = start


def _judging(start: Start) -> int:
    """Start a judge, and return when it has imported what it needs, or has failed to, which it tells the session."""
    ready, its_end = os.pipe()
    pid = forked(partial(judge, start, its_end))
    os.close(its_end)
    os.read(ready, 1)
    os.close(ready)
    # If it dies, nobody else is to hold its socket, so that the session notices.
    os.close(start.socket)
    return pid


def _watching(start: Start) -> int:
    return forked(partial(_watch, start))


def _watch(start: Start) -> None:
    keep_open({start.socket})
    with suppress(BrokenPipeError, ConnectionResetError):  # the session is gone
        Watcher(start).work()
