"""The session's side of the processes of its trials: has them started, answers them, and believes little."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from dataclasses import asdict, replace
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import EvalError
from benchgate.isolation.messages import Channel, send_sockets
from benchgate.live.prints import MAX_PRINTED
from benchgate.models import FailureMode
from benchgate.trials.executor import RECORDS, TrialRecord
from benchgate.trials.trial import FailedElsewhere
from benchgate.wire.plain import MAX_OUTPUT_BYTES
from benchgate.wire.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.isolation.messages import Job, Start
    from benchgate.models import Outcome
    from benchgate.trials.executor import TrialRequest

ROOM: Final = 4 * MAX_OUTPUT_BYTES
"""Bytes that a process may send: its output, escaped once more, and what it asks for."""

PATIENCE: Final = 10.0
"""Seconds after its limit in which a trial must have ended; else who watches it is taken for dead."""

MAIN: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[2]); "
    "from benchgate.isolation.helper import main; main(int(sys.argv[1]))"
)


def _pair() -> tuple[socket.socket, socket.socket]:
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def _forked(source: socket.socket, message: object) -> socket.socket:
    """Have the process behind a socket fork another one, and return the socket that this one serves."""
    own, its = _pair()
    with its:
        send_sockets(source, message, its.fileno())
    return own


class Root:
    """The process that forks all helpers of a session."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.socket, its = _pair()
        with its:
            self._process = subprocess.Popen(  # noqa: S603 - this very Python
                [sys.executable, "-c", MAIN, str(its.fileno()), json.dumps(sys.path)],
                env=environ,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=sys.__stderr__.fileno() if sys.__stderr__ else None,
                pass_fds=[its.fileno()],
                start_new_session=True,
            )

    def close(self) -> None:
        """End it with all helpers, and what they have started."""
        self.socket.close()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class Helper:
    """A process that has imported a system or a rubric, and its workers, each of which runs a trial at a time."""

    def __init__(self, root: Root, start: Start) -> None:
        self.start = start
        self._root = root
        self._free: list[socket.socket] = []
        self._deaths = 0
        self._source = _forked(root.socket, asdict(start))

    def wait(self) -> None:
        """
        Wait until it has imported all.

        :raises EvalError: it cannot.
        """
        said = json.loads(self._source.recv(2**17) or b'{"error": "its helper died"}')
        if said.get("is_threaded") and self.start.reads is None:
            self._source.close()
            self.start = replace(self.start, is_late=True)
            self._source = _forked(self._root.socket, asdict(self.start))
            self.wait()
        elif said.get("is_threaded"):
            what = f"imports of {self.start.target} leave threads behind"
            raise EvalError(f"isolation=sandbox: {what}, which are in no sandbox")
        elif "error" in said:
            raise EvalError(said["error"])

    def take(self) -> socket.socket:
        """
        Return a worker that runs nothing; a new one ends what those that died have left.

        :raises OSError: there is none.
        """
        try:
            return self._free.pop()
        except IndexError:
            worker = _forked(self._source, None)
        if not worker.recv(9):
            raise ConnectionError("its helper died")
        return worker

    def give(self, worker: socket.socket) -> None:
        """Take back a worker that has ended its trial."""
        self._free.append(worker)

    def close(self) -> None:
        """Forget it."""
        for one in (self._source, *self._free):
            one.close()


class Call:
    """
    One process of a trial, from its start to the end of all that it has started.

    :param request: its case has the meter and the recordings that the process asks for.
    """

    def __init__(self, request: TrialRequest, job: Job) -> None:
        self._request = request
        self._job = job
        self._called = False
        self._told: list[str] = []
        self._failed: Outcome = "harness_error" if job.output is None else "rubric_error"

    def run(self, helper: Helper) -> TrialRecord:
        """
        Run the process, and return what it says, which is an output or a score.

        :raises FailedElsewhere: it has neither.
        """
        status, fault = b"", ""
        with TemporaryFile() as prints:
            try:
                worker = helper.take()
                fault = self._served(worker, prints.fileno())
                worker.settimeout(PATIENCE)
                status = worker.recv(9)
                if fault or not status:
                    worker.close()
                    worker = helper.take()
                helper.give(worker)
            except OSError as error:
                fault = fault or str(error)
            prints.seek(0)
            sys.stdout.write(prints.read(MAX_PRINTED).decode(errors="backslashreplace"))
        if not status:
            fault = f"what watches it died {fault}"
        elif status != b"0" or not self._told:
            fault = fault or f"ended without a result, status {status.decode()}"
        if fault and not self._called:
            raise FailedElsewhere(self._request.not_run(f"before it was called: {fault}"))
        return self._believed(fault)

    def _served(self, worker: socket.socket, prints: int) -> str:
        """Answer the process until nothing is left that could ask; return what is wrong with what it says."""
        channel, its = socket.socketpair()
        with channel:
            with its:
                send_sockets(worker, self._job.limit, its.fileno(), prints)
            channel.settimeout(self._job.limit + PATIENCE)
            said = Channel(channel, ROOM)
            try:
                said.send("job", asdict(self._job))
                while (message := said.receive()) is not None:
                    self._hear(said, *message)
            except Exception as error:  # of whatever a process may send in the place of a message
                worker.shutdown(socket.SHUT_WR)
                return str(error)
        return ""

    def _hear(self, said: Channel, kind: str, value: Any) -> None:
        if self._told:
            raise ValueError("it sent something after its result")
        if kind == "called":
            self._called = True
        elif kind == "usage":
            self._request.case.usage.include(Usage.of(value))
        elif kind == "result":
            self._told.append(value)
        else:
            try:
                said.send("answer", self._answer(*value))
            except EvalError as error:
                said.send("refused", str(error))

    def _answer(self, name: str | None, request: str | None) -> str | None:
        """Return what a recording answers to a request; nothing, if there only is one."""
        from benchgate.http.exchange import HttpRequest

        http: Any = self._request.case._http  # noqa: SLF001 - not a field: it is no data
        recording = http.replayed_by(name)
        if request is None:
            return None
        answer: str = recording.ask(HttpRequest.model_validate_json(request)).model_dump_json()
        return answer

    def _believed(self, fault: str) -> TrialRecord:
        """Return what a process says that ended well and said one thing."""
        try:
            if fault:
                raise ValueError(fault)
            record = RECORDS.validate_json(self._told[0], strict=True)
            result, own = record.result, {self._failed, "timeout", "invalid_rl_payload"}
            codes = {mode.code for mode in result.failure_modes}
            if result.outcome == "scored":
                return record
            if result.outcome not in {self._failed, "timeout", "unavailable"} or codes - own:
                raise ValueError("it says what is not its own to say")
        except ValueError as error:
            mode = FailureMode(code=self._failed, detail=f"in its own process: {error}")
            result = self._request.result(self._failed, failure_modes=(mode,))
            record = TrialRecord(result=result, output_json=None)
        raise FailedElsewhere(record)
