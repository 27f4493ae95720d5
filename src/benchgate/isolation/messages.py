"""What the session and the processes of a class tell each other."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from pydantic import TypeAdapter

from benchgate.trials.calls import Told

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping

RUBRIC, OBSERVER = "its rubric", "its observer"
"""The names of those who judge, beside the names of systems."""

IMPORT: Final = "import"
"""Name of the folder in which a system is imported, beside those of its calls."""

MOST_BYTES: Final = 60_000
"""Bytes of a message."""

TOLD: Final = TypeAdapter(Told)
"""Writes and reads what came of a call as JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """
    What a system reaches at level ``sandbox``.

    :param reads: files and folders that it may read besides the machine's programs and libraries.
    :param hidden: files and folders that must be hidden from it.
    :param network: whether it may make sockets of IP.
    """

    reads: tuple[str, ...]
    hidden: tuple[str, ...]
    network: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """
    What a process imports, once.

    :param name: of the system, or :data:`RUBRIC` or :data:`OBSERVER`.
    :param call: ``module:attr``; the module has its full name.
    :param socket: descriptor of the socket by which the session asks it.
    :param folder: in which a system lives, with a folder for each of its trials.
    :param path: where modules are looked for.
    :param first: where they are looked for before that.
    :param observer: what the session found an observer to be.
    :param digests: SHA-256 of the files of the rubric, by their paths.
    :param jobs: calls of a judge that may run at once.
    :param layer: what a system reaches; ``None``: everything, as in no sandbox.
    :param limit: seconds that the import may take.
    :param limits: of each process: ``memory`` in bytes and ``processes``; of the folder of a trial: ``disk`` in bytes.
    """

    bench: str
    name: str
    call: str
    socket: int
    folder: str = ""
    path: tuple[str, ...] = ()
    first: str = ""
    observer: Mapping[str, Any] | None = None
    digests: Mapping[str, str] | None = None
    jobs: int = 1
    layer: Layer | None = None
    limit: float = 600.0
    limits: Mapping[str, int] | None = None

    @property
    def is_system(self) -> bool:
        """Whether it is that of a system, and of nobody who judges."""
        return self.name not in {RUBRIC, OBSERVER}

    def as_json(self) -> dict[str, Any]:
        """Return what :meth:`of_json` takes."""
        return {name: value for name, value in asdict(self).items() if name != "path"}

    @classmethod
    def of_json(cls, fields: dict[str, Any]) -> Start:
        """Return what was sent as JSON."""
        layer = fields.pop("layer")
        if layer is not None:
            layer = Layer(**{name: _as_tuple(value) for name, value in layer.items()})
        path = tuple(name for name in fields.pop("path") if name)
        return cls(**fields, layer=layer, path=path)


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """
    One call of a system, which lives in ``home`` of a folder, or of what observes an output, or scores it.

    :param case: as JSON, with the paths that the process may use.
    :param record: the folder in which HTTP is recorded, and the observation ``number``; 0 is that of the system.
    """

    case: str
    limit: float
    work: str
    system: str = ""
    folder: str | None = None
    output: str | None = None
    record: str | None = None
    number: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """
    How the process of a call ended, as whoever watches it says.

    :param status: its exit status, negative for a signal; ``None`` if that is not known.
    :param is_late: whether it was ended because of its time limit.
    :param fault: why it was ended otherwise.
    :param is_ready: whether another call can follow at once.
    """

    status: int | None = None
    is_late: bool = False
    fault: str = ""
    is_ready: bool = True

    @property
    def is_unexplained(self) -> bool:
        """Whether somebody else ended the process."""
        return not (self.is_late or self.fault) and (self.status is None or self.status < 0)


def send(to: socket.socket, message: Mapping[str, Any]) -> None:
    """Send a message; :raises OSError: nobody is there, or it is too long."""
    to.send(json.dumps(message).encode())


def receive(source: socket.socket) -> dict[str, Any]:
    """Return the next message; empty if nobody is there any more."""
    data = source.recv(MOST_BYTES)
    return json.loads(data) if data else {}
