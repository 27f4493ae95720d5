"""What Linux alone offers: processes that inherit orphans, no privileges to gain, and a list of children."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

SUBREAPER: Final = 36
NO_NEW_PRIVS: Final = 38
STUBBORN: Final = 5.0
"""Seconds after which processes that do not end are given up; the trial says so."""

_PRCTL: Final = getattr(ctypes.CDLL(None, use_errno=True), "prctl", None)


def prctl(option: int, value: int = 1) -> None:
    """Set an attribute of this process."""
    if _PRCTL is None or _PRCTL(option, value, 0, 0, 0):
        raise OSError(ctypes.get_errno(), f"prctl {option}")


def children(pid: int) -> list[int]:
    """Return the children of a process, of all its threads."""
    found: list[int] = []
    with suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
                found += map(int, file.read().split())
    return found


def descendants(roots: Iterable[int]) -> set[int]:
    """Return processes with all their descendants."""
    found, waiting = set(), list(roots)
    while waiting:
        if (pid := waiting.pop()) not in found:
            found.add(pid)
            waiting += children(pid)
    return found


def end(spared: Iterable[int] = ()) -> dict[int, int]:
    """
    Stop all descendants of this process, so that none can start another, then kill and reap them.

    :param spared: children that stay, with their descendants.
    :returns: the status of each that was reaped. One that cannot be killed is left after some seconds.
    """
    statuses: dict[int, int] = {}
    spared, deadline = set(spared), time.monotonic() + STUBBORN
    while time.monotonic() < deadline:
        stopped: set[int] = set()
        while more := descendants(set(children(os.getpid())) - spared) - stopped:
            _signal(more, signal.SIGSTOP)
            stopped |= more
        _signal(stopped, signal.SIGKILL)
        while (ended := _reaped())[0]:
            statuses[ended[0]] = ended[1]
        if not set(children(os.getpid())) - spared:
            return statuses
        time.sleep(0.0005)
    return statuses


def _reaped() -> tuple[int, int]:
    try:
        return os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return 0, 0


def _signal(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with suppress(OSError):
            os.kill(pid, number)
