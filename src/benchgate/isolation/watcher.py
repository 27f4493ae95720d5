"""
Watches a system, and never imports it: ends what a call has left behind, and has the system stand still in between.

The process that imports the system is the system's own from then on: it may do anything that it can reach, and is
believed nothing but what it says of itself. Whoever watches it is above it, inherits all orphans, and stops it
whenever no call runs, so that what a call has left is scored as it was left.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import socket
import sys
import termios
import time
from contextlib import closing, suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import EvalError
from benchgate.isolation.attempt import GRACE
from benchgate.isolation.descendants import (
    PRCTL,
    STOPPED,
    SUBREAPER,
    children,
    end,
    forked,
    state,
    stop,
)
from benchgate.isolation.disk import Disk
from benchgate.isolation.importer import import_system
from benchgate.isolation.messages import End, receive, send
from benchgate.isolation.place import most_disk

if TYPE_CHECKING:
    from benchgate.isolation.messages import Start

LOOK: Final = 0.25
"""Seconds between two looks at what a call has written."""

COUNT: Final = 0.02
"""Seconds for which such a look counts at most."""

STILL: Final = 0.1
"""Seconds in which a process is stopped, unless somebody wakes it."""

TRIES: Final = 3
"""Times that a process is stopped which somebody wakes; then it is ended."""

MOST_PRINTED: Final = 10_000
"""Bytes that are shown of what an import prints."""

LAST_WORD: Final = 1.0
"""Seconds that the importing process has to say how a call ended, once nothing of the call is left."""


class Watcher:
    """Watches one importing process of a system, for the session at the other end of its socket."""

    def __init__(self, start: Start) -> None:
        self._start = start
        self._session = socket.socket(fileno=start.socket)
        self._importing: _Importing | None = None

    def work(self) -> None:
        """
        Import the system when the session says so, and have it called.

        Each message has a socket for the answer, so that the session notices if this process dies.
        """
        PRCTL(SUBREAPER, 1, 0, 0, 0)
        while True:
            message, descriptors, _, _ = socket.recv_fds(self._session, 99, 3)
            if not message:
                return
            if message == b"import":
                (report,) = descriptors
                answer = self._import()
            else:
                channel, report, prints = descriptors
                answer = asdict(self._call(float(message), channel, prints))
            with socket.socket(fileno=report) as told, suppress(OSError):
                send(told, answer)

    def _import(self) -> dict[str, Any]:
        """Return what a new importing process says of its system, or a ``fault``."""
        self._give_up()
        importing = self._importing = _Importing(self._start)
        try:
            said = importing.answer(self._start.limit)
            if not said:
                said = {"fault": "importing it ends its process"}
            elif importing.threads() > 1:
                why = "importing it starts threads, which trials lack: start them in a call"
                said = {"fault": why}
        except TimeoutError:
            said = {"fault": f"importing it took longer than {self._start.limit:g} s"}
        except EvalError as error:
            said = {"fault": str(error)}
        if not importing.stand_still():
            said.setdefault("fault", "importing it ends its process")
        said["prints"] = importing.prints()
        if "fault" in said:
            self._give_up()
        return said

    def _call(self, limit: float, channel: int, prints: int) -> End:
        """Have the system called, and return how the process of the call ended; nothing of it is left."""
        importing = self._importing
        if importing is None:
            os.close(channel)
            os.close(prints)
            return End(fault="its importing process is gone", is_ready=False)
        fault = ""
        is_late = False
        said: dict[str, Any] = {}
        try:
            importing.hand_over(channel, prints)
            said = importing.answer(limit + GRACE)
        except TimeoutError:
            is_late = True
        except EvalError as error:
            fault = str(error)
        lives = importing.stand_still()
        if lives and said and importing.is_out_of_step():
            lives = False
        if lives and not said:
            # Nothing of the call is left. Whoever forked it says how it ended, or is not worth keeping.
            said = importing.last_word()
            lives = importing.stand_still() and bool(said)
        if not lives:
            self._give_up()
        status = said.get("status")
        if not isinstance(status, int):
            status = None
            fault = fault or ("" if is_late else "the process that imported it died")
        return End(status=status, is_late=is_late, fault=fault, is_ready=lives)

    def _give_up(self) -> None:
        """End the importing process and all that it has started."""
        if self._importing is not None:
            self._importing.socket.close()
            self._importing = None
        end()


class _Importing:
    """The process that imports a system, and forks itself for each call."""

    def __init__(self, start: Start) -> None:
        self._folder = Path(start.folder)
        self._most_disk = most_disk(start.limits or {})
        self.socket, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._prints = TemporaryFile()  # noqa: SIM115 - it lives as long as this
        with its:
            self.pid = forked(partial(import_system, start, its.fileno(), self._prints.fileno()))
        self._waiting: object = None
        self._kept = [self.pid]

    def hand_over(self, channel: int, prints: int) -> None:
        """Let it go on with a call."""
        with suppress(OSError):  # it is gone, which its answer shows
            socket.send_fds(self.socket, [b"call"], [channel, prints])
        os.close(channel)
        os.close(prints)
        self._go_on()

    def answer(self, seconds: float) -> dict[str, Any]:
        """
        Return what it says next, which may be anything; empty if it says nothing any more.

        :raises TimeoutError: it says nothing for so long.
        :raises EvalError: its folder has more than it may have.
        """
        deadline = time.monotonic() + seconds
        with closing(Disk(self._folder, self._most_disk)) as disk:
            while not select.select([self.socket], [], [], LOOK)[0]:
                if disk.is_over(COUNT):
                    limit = f"limits.disk, which is {self._most_disk} bytes"
                    raise EvalError(f"what it has written takes more than {limit}")
                if time.monotonic() > deadline:
                    raise TimeoutError
        with suppress(OSError, ValueError, RecursionError):
            said = receive(self.socket)
            if isinstance(said, dict):
                self._waiting = said.pop("waiting", None)
                return said
        return {}

    def last_word(self) -> dict[str, Any]:
        """Return what it says when nothing is left that it could wait for; empty if it says nothing."""
        self._go_on()
        try:
            return self.answer(LAST_WORD)
        except (TimeoutError, EvalError):
            return {}

    def is_out_of_step(self) -> bool:
        """Whether it has said more than it was asked for, or has not taken what it was sent."""
        if select.select([self.socket], [], [], 0)[0]:
            return True
        left = fcntl.ioctl(self.socket, termios.TIOCOUTQ, bytes(4))
        return int.from_bytes(left, sys.byteorder) > 0

    def prints(self) -> str:
        """Return what its import has printed; never straight to where the session prints, which it could rewrite."""
        self._prints.seek(0)
        text = self._prints.read(MOST_PRINTED).decode(errors="backslashreplace")
        self._prints.close()
        return text

    def threads(self) -> int:
        """Return how many threads it has."""
        with suppress(OSError):
            return len(os.listdir(f"/proc/{self.pid}/task"))
        return 0

    def stand_still(self) -> bool:
        """Have it stand still, with nothing left that it has started but who waits for the next call; if it lives."""
        for _ in range(TRIES):
            if stop(self.pid, STILL) is not None:
                break
            self._kept = [self.pid]
            waiting = next((pid for pid in children(self.pid) if pid == self._waiting), None)
            if waiting is not None and self._stands_still(waiting):
                self._kept.append(waiting)
            if self.pid in end(kept=self._kept):
                break
            # What has ended just now may have woken it before.
            if all(state(pid) == STOPPED for pid in self._kept):
                return True
        end()
        return False

    def _stands_still(self, pid: int) -> bool:
        """Stop a process that is no child of this one, and wait until it is; whether it was in time."""
        deadline = time.monotonic() + STILL
        while time.monotonic() < deadline:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
            if state(pid) == STOPPED:
                return True
        return False

    def _go_on(self) -> None:
        for pid in self._kept:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
