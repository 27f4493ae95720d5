"""The messages between a session and the processes of its trials: JSON of a limited size, in both directions."""

from __future__ import annotations

import json
import struct
import threading
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import EvalError
from benchgate.wire.parsing import read_json

if TYPE_CHECKING:
    import socket

_LENGTH: Final = struct.Struct("!Q")


def send(channel: socket.socket, data: bytes) -> None:
    """Send a message of bytes."""
    channel.sendall(_LENGTH.pack(len(data)) + data)


def receive(channel: socket.socket) -> bytes:
    """
    Return the next message of somebody who is trusted with its size.

    :raises EOFError: there is none any more.
    """
    (length,) = _LENGTH.unpack(_exactly(channel, _LENGTH.size))
    return _exactly(channel, length)


def _exactly(channel: socket.socket, length: int) -> bytes:
    data = bytearray()
    while len(data) < length:
        part = channel.recv(min(length - len(data), 2**20))
        if not part:
            raise EOFError
        data += part
    return bytes(data)


class Frames:
    """
    Takes apart what a process sends that nobody trusts.

    :param room: bytes that it may send in all.
    """

    def __init__(self, room: int) -> None:
        self._room = room
        self._data = bytearray()

    def take(self, data: bytes) -> list[Any]:
        """
        Return the messages that are whole now.

        :raises ValueError: it has sent too much, or no JSON.
        """
        self._room -= len(data)
        if self._room < 0:
            raise ValueError("it sent too much")
        self._data += data
        found = []
        while len(self._data) >= _LENGTH.size:
            end = _LENGTH.size + _LENGTH.unpack_from(self._data)[0]
            if len(self._data) < end:
                break
            found.append(read_json(bytes(self._data[_LENGTH.size : end])))
            del self._data[:end]
        return found

    @property
    def is_whole(self) -> bool:
        """Whether nothing of a further message has come."""
        return not self._data


class Caller:
    """The end of a channel that is in the process of a trial; its threads may share it."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._lock = threading.Lock()

    def tell(self, kind: str, value: Any = None) -> None:
        """Tell the session something."""
        with self._lock:
            self._tell(kind, value)

    def end(self, result: Any) -> None:
        """Tell the result; threads that are left say nothing after it."""
        self._lock.acquire()
        self._tell("result", result)

    def ask(self, kind: str, *values: Any) -> Any:
        """
        Ask the session for something.

        :raises EvalError: it refuses.
        """
        with self._lock:
            self._tell(kind, list(values))
            answer = json.loads(receive(self._channel))
        if "error" in answer:
            raise EvalError(answer["error"])
        return answer["value"]

    def _tell(self, kind: str, value: Any) -> None:
        send(self._channel, json.dumps([kind, value]).encode())
