"""A call of a system or of a judge in a process of its own, as the session sees it."""

from __future__ import annotations

import json
import math
import socket
import sys
import time
from contextlib import suppress
from dataclasses import asdict
from typing import IO, TYPE_CHECKING, Final

from benchgate.isolation.messages import RUBRIC, TOLD, End, receive
from benchgate.live.prints import MAX_PRINTED
from benchgate.models import FailureMode
from benchgate.trials.calls import Told
from benchgate.wire.parsing import read_json
from benchgate.wire.plain import MAX_OUTPUT_BYTES
from benchgate.wire.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.isolation.messages import Job
    from benchgate.models import BenchCase, Outcome

ROOM: Final = 4 * MAX_OUTPUT_BYTES
"""Bytes that a process may send: its output, escaped once more, and what it has used."""

PATIENCE: Final = 10.0
"""Seconds after its limit in which a call must have ended; else who watches it is taken for dead."""


class Call:
    """
    One process, from its start to the end of all that it has started; then ``end`` says how that was.

    :param name: of the system or of who judges.
    :param case: whose meter is told what the process uses.
    """

    def __init__(self, name: str, case: BenchCase, job: Job) -> None:
        self._case = case
        self._job = job
        self._is_rubric = name == RUBRIC
        self._called = False
        self._told: str | None = None
        self._failed: Outcome = "rubric_error" if self._is_rubric else "harness_error"
        self.end = End(is_ready=False)

    def run(self, watcher: socket.socket, prints: IO[bytes]) -> Told:
        """
        Have it run, and return what it says.

        :param prints: a file for what it prints.
        """
        prints.seek(0)
        prints.truncate()
        channel, its_channel = socket.socketpair()
        report, its_report = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        fault = ""
        with channel, report:
            with its_channel, its_report:
                descriptors = [one.fileno() for one in (its_channel, its_report, prints)]
                with suppress(OSError):  # nobody is there, which the report shows
                    socket.send_fds(watcher, [b"%r" % self._job.limit], descriptors)
            report.settimeout(self._job.limit + PATIENCE)
            try:
                self._hear(channel)
            except OSError:
                pass  # it is gone, or says nothing: its end tells
            except Exception as error:  # of whatever a process may send in the place of a message
                fault = str(error)
            channel.close()
            with suppress(OSError, ValueError, TypeError):  # it stands still, or has died
                said = receive(report)
                if said:
                    self.end = End(**said)
            prints.seek(0)
            sys.stdout.write(prints.read(MAX_PRINTED).decode(errors="backslashreplace"))
        fault = self.end.fault or fault
        if self.end.status != 0 or self._told is None:
            fault = fault or self._without_result()
        if not self._called:
            return Told(failed="not_run", detail=f"before it was called: {fault}")
        return self._believed(fault)

    def _without_result(self) -> str:
        if self.end.status is None:
            return "what watches it died"
        return f"ended without a result, status {self.end.status}"

    def _hear(self, channel: socket.socket) -> None:
        """Give the process its job, and take what it says until nothing is left that could say something."""
        deadline = time.monotonic() + self._job.limit + PATIENCE
        channel.settimeout(self._job.limit + PATIENCE)
        channel.sendall(json.dumps(asdict(self._job)).encode() + b"\n")
        for line in self._lines(channel, deadline):
            kind, value = read_json(line)
            if self._told is not None:
                raise ValueError("it said something after its result")
            if kind == "usage":
                self._case.usage.include(Usage.of(value))
            self._called = True
            self._told = value if kind == "result" else None

    def _lines(self, channel: socket.socket, deadline: float) -> Iterator[bytes]:
        """Yield what it says line by line; :raises TimeoutError: it has not ended at the deadline."""
        room = ROOM
        rest = [b""]  # what came of a line that has not ended yet
        while True:
            channel.settimeout(max(deadline - time.monotonic(), 0.001))
            data = channel.recv(2**16)
            room -= len(data)
            if room <= 0:
                raise ValueError(f"it says more than the {ROOM} bytes that are read")
            first, *others = data.split(b"\n")
            rest.append(first)
            if others:
                yield b"".join(rest)
                yield from others[:-1]
                rest = others[-1:]
            if not data:
                last = b"".join(rest)
                if last:
                    yield last
                return

    def _believed(self, fault: str) -> Told:
        """Return what a process says that ended well, and said one thing that was its own to say."""
        told = Told()
        try:
            told = TOLD.validate_json(str(self._told), strict=True)
            if not self._is_whole(told):
                fault = fault or "what it says is no result"
            if not self._is_own(told):
                fault = fault or f"{told.failed} is not for it to say"
        except ValueError:
            fault = fault or "what it says is no result"
        if fault:
            mode = FailureMode(code=self._failed, detail=f"in its own process: {fault}")
            return Told(failed=self._failed, modes=(mode,))
        if told.failed == "not_run":
            return Told(failed="not_run", detail=f"in its own process: {told.detail}")
        return told

    def _is_whole(self, told: Told) -> bool:
        """Whether a call that ended well has what it was made for, and no other has: a score or a text."""
        has_score = told.score is not None
        has_text = told.text is not None
        if told.failed is not None:
            return not has_score and not has_text
        return has_score == self._is_rubric and has_text != self._is_rubric

    def _is_own(self, told: Told) -> bool:
        """Whether a process says of itself alone what it can know."""
        own = {None, self._failed, "timeout", "unavailable"}
        if not self._is_rubric:
            own.add("not_run")
        speaks_for_itself = self._is_rubric or not told.violation
        waits = told.retry_after or 0.0
        return told.failed in own and speaks_for_itself and 0 <= waits < math.inf
