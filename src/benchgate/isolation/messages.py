"""What a session and the processes of its trials say to each other: lines of JSON, in both directions."""

from __future__ import annotations

import json
import socket
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchgate.errors import EvalError
from benchgate.wire.parsing import read_json

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """
    What a helper imports, once.

    :param target: the name of a system, or module and name of the class of a rubric.
    :param reads: what its trials may read besides the machine's own; ``None``: everything, as in no sandbox.
    :param network: whether they may make sockets of IP.
    :param is_late: each trial imports it anew, as it leaves threads behind, which a fork would not have.
    """

    task_class: str
    bench_root: str
    cwd: str
    target: str
    is_rubric: bool = False
    reads: tuple[str, ...] | None = None
    network: bool = False
    is_late: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """
    One call of a system or of a rubric.

    :param case: as JSON, with the paths that the process may use.
    :param work: the folder that is ``work_path``.
    :param home: the folder that a system lives in.
    :param output: what a rubric scores, as JSON.
    :param limits: ``memory`` in bytes, and ``processes``.
    """

    case: str
    limit: float
    work: str
    home: str = "/"
    output: str | None = None
    limits: Mapping[str, int] = field(default_factory=dict)


class Channel:
    """
    One end of a connection; threads may share it.

    :param room: bytes that the other end may send in all.
    """

    def __init__(self, end: socket.socket, room: int = 2**62) -> None:
        self._file = end.makefile("rwb")
        self._room = room
        self.lock = threading.RLock()

    def send(self, kind: str, value: Any = None) -> None:
        """Send a message."""
        with self.lock:
            self._file.write(json.dumps([kind, value]).encode() + b"\n")
            self._file.flush()

    def receive(self) -> tuple[str, Any] | None:
        """Return the next message, ``None`` at the end; :raises ValueError: it is none, not whole or too large."""
        line = self._file.readline(self._room)
        self._room -= len(line)
        if line and not line.endswith(b"\n"):
            raise ValueError("its last message is not whole, or too large")
        kind, value = read_json(line) if line else (None, None)
        return None if kind is None else (str(kind), value)

    def ask(self, kind: str, *values: Any) -> Any:
        """Ask the session for something; :raises EvalError: it refuses."""
        with self.lock:
            self.send(kind, values)
            said, answer = self.receive() or ("refused", "the session is over")
        if said == "refused":
            raise EvalError(answer)
        return answer


def send_sockets(source: socket.socket, message: object, *descriptors: int) -> None:
    """Send something short, and descriptors; :raises OSError: nobody is there."""
    socket.send_fds(source, [json.dumps(message).encode()], descriptors)


def receive_sockets(source: socket.socket) -> tuple[Any, list[int]]:
    """Return what :func:`send_sockets` sent; no descriptors if there will be nothing."""
    data, descriptors, _, _ = socket.recv_fds(source, 2**17, 2)
    return json.loads(data or b"null"), descriptors
