"""A call of a system or of a judge in a process of its own, as the session sees it."""

from __future__ import annotations

import json
import math
import socket
import sys
from contextlib import suppress
from dataclasses import asdict
from typing import IO, TYPE_CHECKING, Final

from benchgate.isolation.messages import RUBRIC, End, receive
from benchgate.live.prints import MAX_PRINTED
from benchgate.models import FailureMode
from benchgate.trials.executor import RECORDS, FailedElsewhere, TrialRecord
from benchgate.wire.parsing import read_json
from benchgate.wire.plain import MAX_OUTPUT_BYTES
from benchgate.wire.usage import Usage

if TYPE_CHECKING:
    from benchgate.isolation.messages import Job
    from benchgate.models import Outcome
    from benchgate.trials.executor import TrialRequest

ROOM: Final = 4 * MAX_OUTPUT_BYTES
"""Bytes that a process may send: its output, escaped once more, and what it has used."""

PATIENCE: Final = 10.0
"""Seconds after its limit in which a call must have ended; else who watches it is taken for dead."""


class Call:
    """One process, from its start to the end of all that it has started; then ``end`` says how that was."""

    def __init__(self, request: TrialRequest, job: Job) -> None:
        self._request = request
        self._job = job
        self._room = ROOM
        self._called = False
        self._told: str | None = None
        self._failed: Outcome = "rubric_error" if request.system == RUBRIC else "harness_error"
        self.end = End(is_ready=False)

    def run(self, watcher: socket.socket, prints: IO[bytes]) -> TrialRecord:
        """
        Have it run, and return what it says.

        :param prints: a file for what it prints.
        :raises FailedElsewhere: it has no output, and no score.
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
            for one in (channel, report):
                one.settimeout(self._job.limit + PATIENCE)
            try:
                self._hear(channel)
            except Exception as error:  # of whatever a process may send in the place of a message
                fault = str(error)
            channel.close()
            with suppress(OSError, ValueError, TypeError):  # it stands still, or has died
                if said := receive(report):
                    self.end = End(**said)
            prints.seek(0)
            sys.stdout.write(prints.read(MAX_PRINTED).decode(errors="backslashreplace"))
        fault = self.end.fault or fault
        if self.end.status != 0 or self._told is None:
            fault = fault or self._without_result()
        if not self._called:
            raise FailedElsewhere(self._request.not_run(f"before it was called: {fault}"))
        return self._believed(fault)

    def _without_result(self) -> str:
        if self.end.status is None:
            return "what watches it died"
        return f"ended without a result, status {self.end.status}"

    def _hear(self, channel: socket.socket) -> None:
        """Give the process its job, and take what it says until nothing is left that could say something."""
        with channel.makefile("rwb") as file:
            file.write(json.dumps(asdict(self._job)).encode() + b"\n")
            file.flush()
            while line := file.readline(self._room):
                self._room -= len(line)  # readline may return somewhat more than that
                if self._room <= 0:
                    raise ValueError(f"it says more than the {ROOM} bytes that are read")
                kind, value = read_json(line)
                if self._told is not None:
                    raise ValueError("it said something after its result")
                if kind == "usage":
                    self._request.case.usage.include(Usage.of(value))
                self._called = True
                self._told = value if kind == "result" else None

    def _believed(self, fault: str) -> TrialRecord:
        """Return what a process says that ended well, and said one thing that was its own to say."""
        is_rubric = self._request.system == RUBRIC
        own = {self._failed, "scored", "timeout", "unavailable"}
        if not is_rubric:
            own.add("not_run")
        try:
            record = RECORDS.validate_json(str(self._told), strict=True)
            said, waits = record.result, record.retry_after or 0.0
            is_own = said.outcome in own and (is_rubric or not record.violation)
            if not (is_own and 0 <= waits < math.inf):
                fault = fault or f"{said.outcome} is not for it to say"
        except ValueError:
            fault = fault or "what it says is no result"
        if fault:
            mode = FailureMode(code=self._failed, detail=f"in its own process: {fault}")
            result = self._request.result(self._failed, failure_modes=(mode,))
            record = TrialRecord(result=result, output_json=None)
        if record.result.outcome == "not_run":  # whose reasons are the session's
            record = self._request.not_run(f"in its own process: {record.result.detail}")
        if record.result.outcome != "scored":
            raise FailedElsewhere(record)
        return record
