"""Processes that end all that they have started, orphans too, and that end with whoever started them."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

STUBBORN: Final = 5.0
"""Seconds after which processes that do not end are given up, and with them who watches them."""

PRCTL: Final = ctypes.CDLL(None).prctl
DEATH_SIGNAL, DUMPABLE, SUBREAPER, NO_NEW_PRIVILEGES = 1, 4, 36, 38
"""What ``prctl`` sets, by the kernel's numbers: Python has no names for them."""

STOPPED, ENDED = "T", ("Z", "X")
"""States of processes."""

EXIT: Final = os._exit  # as it was before a system could replace it


def keep(tasks: list[Callable[[], None]]) -> None:
    """Do each task in a process until it is done, again if that died."""
    PRCTL(SUBREAPER, 1, 0, 0, 0)
    own: dict[int, int] = {}
    begin = list(range(len(tasks)))
    while begin or own:
        own |= {forked(tasks[number]): number for number in begin}
        pid, status = os.waitpid(-1, 0)
        begin = []
        # What a task that died has started is ended with it; it would be nobody's.
        for child, how in {pid: status, **end(own)}.items():
            number = own.pop(child, None)
            if number is not None and how != 0:
                begin.append(number)


def forked(task: Callable[[], object]) -> int:
    """Do a task in a process of its own, and return its id; its status is 0 if the task is done."""
    pid = os.fork()
    if pid != 0:
        return pid
    try:
        PRCTL(DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        task()
        EXIT(0)
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode(errors="replace"))
    finally:
        EXIT(1)


def end(spared: Collection[int] = (), *, kept: Collection[int] = ()) -> dict[int, int]:
    """
    Stop all descendants of this process, which inherits orphans, then kill them; return the status of its children.

    :param spared: children that stay, with their descendants.
    :param kept: descendants that stay, stopped, without their descendants, but for those of these that are kept too.
    :raises TimeoutError: some of them do not end.
    """
    statuses: dict[int, int] = {}
    stay = {*spared, *kept}
    deadline = time.monotonic() + STUBBORN
    while time.monotonic() < deadline:
        with suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:  # the others still run
                    break
                statuses[pid] = status
        found: list[int] = []
        for parent in kept:
            # Those that have ended stay in the list until their parent, which is stopped, asks for them.
            found += [pid for pid in children(parent) if pid not in stay and not has_ended(pid)]
        # Its own children last: what has lost its parent meanwhile is among them.
        found += [pid for pid in children(os.getpid()) if pid not in stay]
        if not found:
            return statuses
        # It grows: once it is stopped, a process has all children that it will have.
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
            found += children(pid)
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.0005)
    raise TimeoutError


def stop(child: int, seconds: float) -> int | None:
    """
    Stop a child, and return when it stands still, or after some seconds if somebody wakes it again and again.

    :returns: its status if it has ended instead, and is gone now.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        os.kill(child, signal.SIGSTOP)
        pid, status = os.waitpid(child, os.WUNTRACED | os.WNOHANG)
        if pid and not os.WIFSTOPPED(status):
            return status
        if pid or state(child) == STOPPED:
            return None
        time.sleep(0.0002)
    return None


def has_ended(pid: int) -> bool:
    """Whether nothing of a process is left that could run: its first thread may have ended before the others."""
    if state(pid) not in ENDED:
        return False
    try:
        return len(os.listdir(f"/proc/{pid}/task")) <= 1
    except OSError:
        return True


def state(pid: int) -> str:
    """Return the letter of the state that a process is in; X for one that is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0].decode()
    except (OSError, IndexError):
        return "X"


def keep_open(descriptors: Collection[int]) -> None:
    """Close all descriptors of this process but the standard ones and these."""
    low = 3
    for descriptor in sorted(descriptors):
        os.closerange(low, descriptor)
        low = descriptor + 1
    os.closerange(low, 2**16)


def children(pid: int) -> list[int]:
    """Return the children of all threads of a process; none of one that is gone."""
    found: list[int] = []
    with suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError), open(f"/proc/{pid}/task/{task}/children", "rb") as file:
                found += map(int, file.read().split())
    return found
