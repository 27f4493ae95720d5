"""The session's side of a trial in a process of its own: what it may ask, and what is believed of what it says."""

from __future__ import annotations

import base64
import json
import os
import pickle
import select
import socket
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NoReturn

from benchgate.errors import EvalError
from benchgate.isolation import frames
from benchgate.live.prints import MAX_PRINTED
from benchgate.models import BenchScore
from benchgate.trials.trial import FailedElsewhere
from benchgate.wire.files import MAX_TREE_BYTES, read_bytes
from benchgate.wire.plain import MAX_OUTPUT_BYTES
from benchgate.wire.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchgate.isolation.job import Job

ROOM: Final = 4 * MAX_OUTPUT_BYTES
"""Bytes that a process may send: its output, escaped once more, and what it asked for."""

FAILED: Final = {"system": "harness_error", "rubric": "rubric_error"}
"""The outcome of what fails in each of the two."""


@dataclass(slots=True)
class Call:
    """
    One process of a trial, from its start to the end of all that it has started.

    :param role: ``system`` or ``rubric``.
    :param case: a case, with the meter, the shelf and the recordings that the process asks for.
    :param may_send: whether HTTP may be recorded, which only a process with a network can do.
    """

    role: str
    case: Any
    job: Job
    may_send: bool = True
    called: bool = False
    report: socket.socket | None = None
    _results: list[Any] = field(default_factory=list)
    _printed: bytearray = field(default_factory=bytearray)
    _fault: str = ""
    _conversations: list[Any] = field(default_factory=list)

    def run(self, start: Callable[[tuple[int, int, int]], None]) -> Any:
        """
        Run the process, and return what it produced: the output of a system, or the score of a rubric.

        :param start: has a helper start it, with these descriptors.
        :raises FailedElsewhere: it produced nothing.
        """
        channel, its_channel = socket.socketpair()
        report, its_report = socket.socketpair()
        prints, its_prints = os.pipe()
        self.report = report
        try:
            try:
                start((its_channel.fileno(), its_report.fileno(), its_prints))
            finally:
                its_channel.close()
                its_report.close()
                os.close(its_prints)
            try:
                frames.send(report, pickle.dumps(self.job))
                ended = self._ended(channel, report, prints)
            except OSError:
                ended = None
        finally:
            channel.close()
            report.close()
            os.close(prints)
            sys.stdout.write(self._printed.decode(errors="backslashreplace"))
        return self._judged(ended)

    def stop(self) -> None:
        """End the process; its supervisor sees that nobody waits for it."""
        if self.report is not None:
            with suppress(OSError):  # it has ended
                self.report.shutdown(socket.SHUT_WR)

    def _ended(
        self, channel: socket.socket, report: socket.socket, prints: int
    ) -> dict[str, Any] | None:
        """Serve the process until its supervisor reports; ``None``: the supervisor is gone too."""
        heard = frames.Frames(ROOM)
        channel.settimeout(0)
        os.set_blocking(prints, False)
        sources = select.poll()
        hears = {
            channel.fileno(): partial(self._hear, channel, heard),
            prints: partial(self._print, prints),
        }
        for one in (report.fileno(), *hears):
            sources.register(one, select.POLLIN)
        while report.fileno() not in (ready := [descriptor for descriptor, _ in sources.poll()]):
            for one in ready:
                if not hears[one]():
                    sources.unregister(one)
        try:
            ended: dict[str, Any] = json.loads(frames.receive(report))
        except (EOFError, ConnectionError):
            return None
        # All that could write is dead: what is there is all that there will be.
        while self._hear(channel, heard) or self._print(prints):
            pass
        if not heard.is_whole:
            self._fault = self._fault or "its last message is not whole"
        return ended

    def _hear(self, channel: socket.socket, heard: frames.Frames) -> bool:
        """Take what the process has sent; return whether more may come at once."""
        try:
            data = channel.recv(2**20)
            for message in heard.take(data):
                self._take(message, channel)
        except BlockingIOError:
            return False
        except Exception as error:  # of whatever a process may send in the place of a question
            self._fault = self._fault or f"{error}"
            self.stop()
            return False
        return bool(data)

    def _print(self, prints: int) -> bool:
        try:
            data = os.read(prints, 2**20)
        except BlockingIOError:
            return False
        self._printed += data[: MAX_PRINTED - len(self._printed)]
        return bool(data)

    def _take(self, message: Any, channel: socket.socket) -> None:
        kind, value = message
        if self._results:
            raise ValueError("it sent something after its result")
        if kind == "called":
            self.called = True
        elif kind == "usage":
            self.case.usage.include(Usage.of(value))
        elif kind == "result":
            self._results.append(value)
        else:
            try:
                answer = {"value": ASKED[kind](self, *value)}
            except EvalError as error:
                answer = {"error": str(error)}
            channel.settimeout(
                None
            )  # a process that does not listen is killed at its limit, and this ends
            try:
                frames.send(channel, json.dumps(answer).encode())
            finally:
                channel.settimeout(0)

    # What the process may ask for

    def _cassette(self, name: str, case_id: str, trial: int) -> dict[str, str] | None:
        shelf = self.case._shelf  # noqa: SLF001 - not a field: it is no data
        found = shelf.find(name, case_id, trial) if shelf and isinstance(name, str) else None
        if found is None:
            return None
        data = base64.b64encode(read_bytes(found.path, limit=MAX_TREE_BYTES)).decode()
        return {"name": found.path.name, "sha256": found.sha256, "base64": data}

    def _http(self, name: str | None) -> tuple[int, bool]:
        http: Any = self.case._http  # noqa: SLF001 - not a field: it is no data
        conversation, is_replay = http.conversation(name)
        if not (is_replay or self.may_send):
            raise EvalError(
                "HTTP cannot be recorded without a network: network = True of the system"
            )
        self._conversations.append(conversation)
        return len(self._conversations) - 1, is_replay

    def _replay(self, number: int, request: Any) -> Any:
        from benchgate.http.exchange import HttpRequest

        asked = HttpRequest.model_validate_json(json.dumps(request))
        return self._conversations[number].ask(asked).model_dump(mode="json")

    def _send(self, number: int, request: Any, headers: Any) -> Any:
        from benchgate.http.exchange import HttpRequest

        asked = HttpRequest.model_validate_json(json.dumps(request))
        return self._conversations[number].ask(asked, [(str(a), str(b)) for a, b in headers])

    def _sent(self, number: int, request: int, answer: Any) -> None:
        from benchgate.http.exchange import HttpAnswer

        got = HttpAnswer.model_validate_json(json.dumps(answer))
        self._conversations[number].answered(request, got)

    # What is believed

    def _judged(self, ended: dict[str, Any] | None) -> Any:
        """Return what a process produced that ended well and said one thing."""
        failed = FAILED[self.role]
        if ended is None:
            if not self.called:
                raise FailedElsewhere(
                    "not_run", f"the helper died before the {self.role} was called"
                )
            self._refuse("what watched it was killed")
        if ended["late"] or ended["seconds"] >= self.job.limit:
            raise FailedElsewhere("timeout", "")
        if ended["left"]:
            self._refuse("a process that it started could not be ended")
        if self._fault or len(self._results) != 1:
            self._refuse(self._fault or _how(ended["status"]))
        if ended["status"]:
            self._refuse(_how(ended["status"]))
        try:
            return self._value(self._results[0], failed)
        except (TypeError, KeyError, ValueError) as error:
            self._refuse(f"its result is none: {type(error).__name__}")

    def _value(self, told: dict[str, Any], failed: str) -> Any:
        outcome, text = told["outcome"], told["text"]
        if outcome == "scored":
            if self.role == "system":
                return _mapping(told["output"])
            return BenchScore.model_validate_json(json.dumps(told["score"]))
        if outcome == "timeout":
            raise FailedElsewhere("timeout", "")
        if outcome not in {failed, "harness_error", "unavailable"} or not isinstance(text, str):
            raise ValueError(outcome)
        raise FailedElsewhere(
            failed if outcome == "harness_error" else outcome,
            text,
            code="invalid_rl_payload" if told["code"] == "invalid_rl_payload" else None,
            retry_after=_number(told["retry_after"]),
            violation=_text(told["violation"]) if self.role == "rubric" else None,
            raised_at=_place(told["raised_at"]),
        )

    def _refuse(self, why: str) -> NoReturn:
        raise FailedElsewhere(FAILED[self.role], f"the process of the {self.role}: {why}")


ASKED: Final[dict[str, Callable[..., Any]]] = {
    "cassette": Call._cassette,  # noqa: SLF001
    "http": Call._http,  # noqa: SLF001
    "replay": Call._replay,  # noqa: SLF001
    "send": Call._send,  # noqa: SLF001
    "sent": Call._sent,  # noqa: SLF001
}


def _mapping(text: Any) -> dict[str, Any]:
    found = json.loads(text)
    if not isinstance(found, dict):
        raise TypeError(text)
    return found


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and 0 <= value < 1e9 else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _place(value: Any) -> tuple[Path, int] | None:
    from pathlib import Path

    if value is None:
        return None
    path, line = value
    return Path(str(path)), int(line)


def _how(status: int | None) -> str:
    if status is None:
        return "its end was not seen"
    return (
        f"ended by signal {-status}"
        if status < 0
        else f"ended without a result, exit status {status}"
    )
