"""Starts the helpers of a session, and another one where one died."""

from __future__ import annotations

import json
import pickle
import socket
import subprocess
import sys
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from benchgate.errors import EvalError
from benchgate.trials.trial import FailedElsewhere

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.isolation.job import Start

MOST_DEATHS: Final = 3
"""Helpers that died one after the other; then no further one is started."""


class Helper:
    """A process that has imported a system or a rubric, and starts the processes of trials."""

    def __init__(self, start: Start, environ: Mapping[str, str]) -> None:
        self._start = start
        self._environ = environ
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._deaths = 0
        self.is_late = False

    @property
    def pid(self) -> int | None:
        """The id of its process, while there is one."""
        return self._process.pid if self._process else None

    def launch(self) -> None:
        """Start it; :meth:`wait` waits until it has imported all."""
        own, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        code = (
            "import sys; sys.path[:] = sys.argv[2:]; from benchgate.isolation.helper import main; "
        )
        code += "main(int(sys.argv[1]))"
        with its:
            self._process = subprocess.Popen(  # noqa: S603 - this very Python
                [sys.executable, "-c", code, str(its.fileno()), *self._start.path],
                env=dict(self._environ),
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=sys.__stderr__.fileno() if sys.__stderr__ else None,
                pass_fds=[its.fileno()],
                start_new_session=True,
            )
        self._socket = own
        own.send(pickle.dumps(self._start))

    def wait(self) -> None:
        """
        Wait until it has imported all.

        :raises EvalError: it cannot.
        """
        assert self._socket is not None  # noqa: S101 - launch() comes first
        said = json.loads(
            self._socket.recv(2**20) or b'{"error": "its helper died while it was imported"}'
        )
        if "error" in said:
            self.close()
            raise EvalError(said["error"])
        if said["threads"]:
            self.close()
            self.is_late, self._start = True, replace(self._start, late=True)
            self.launch()
            self.wait()

    def start(self, descriptors: tuple[int, int, int]) -> None:
        """
        Have it start a trial.

        :raises FailedElsewhere: it died, and so did those before it.
        """
        with self._lock:
            while not self._sent(descriptors):
                self._renew()

    def _sent(self, descriptors: tuple[int, int, int]) -> bool:
        try:
            return self._socket is not None and bool(
                socket.send_fds(self._socket, [b"t"], descriptors)
            )
        except OSError:
            return False

    def _renew(self) -> None:
        self._deaths += 1
        self.close()
        if self._deaths > MOST_DEATHS:
            raise FailedElsewhere(
                "not_run", f"the helper of {self._start.target} died {MOST_DEATHS} times in a row"
            )
        try:
            self.launch()
            self.wait()
        except (EvalError, OSError) as error:
            raise FailedElsewhere("not_run", f"no new helper: {error}") from error

    def done(self) -> None:
        """Note that a trial of it came to an end."""
        self._deaths = 0

    def close(self) -> None:
        """End it; what it has started ends with its own trial."""
        if self._socket is not None:
            self._socket.close()
        if self._process is not None:
            try:
                self._process.wait(2)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._process = self._socket = None
