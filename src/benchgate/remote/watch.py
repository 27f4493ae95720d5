"""Which workers of a cluster are silent, for all trials that wait for one."""

from __future__ import annotations

import math
import threading
import time
from typing import Any, Final

from benchgate.remote.connection import POLL, Gone, ask

NO_WORKER_SECONDS: Final = 60.0
"""How long a trial waits for a worker where there is none."""

SILENT_SECONDS: Final = 30.0
"""After so long without a sign of life a worker is given nothing more, and what it has not started goes to others."""


class Watch:
    """Looks at the workers at most once in :data:`POLL` seconds, however many trials ask."""

    def __init__(self) -> None:
        self.silent: frozenset[str] = frozenset()
        self._lock = threading.Lock()
        self._looked = -math.inf
        self._alone_since = math.inf
        self._stuck: frozenset[str] = frozenset()

    def look(self, client: Any) -> frozenset[str]:
        """Return the attempts that Dask gave to silent workers; where there is no worker, raise :class:`Gone`."""
        with self._lock:
            now = time.monotonic()
            if now - self._looked >= POLL:
                self._look(client, now)
                self._looked = time.monotonic()
            if now - self._alone_since > NO_WORKER_SECONDS:
                raise Gone(f"no worker for {NO_WORKER_SECONDS:g} s")
            return self._stuck

    def _look(self, client: Any, now: float) -> None:
        workers = ask(client, "identity")["workers"]
        seen = {address: worker["last_seen"] for address, worker in workers.items()}
        self._alone_since = min(self._alone_since, now) if not seen else math.inf
        # By the scheduler's clock, which is not that of this machine.
        newest = max(seen.values(), default=0.0)
        self.silent = frozenset(a for a, then in seen.items() if newest - then > SILENT_SECONDS)
        given = ask(client, "processing") if self.silent else {}
        self._stuck = frozenset(key for worker in self.silent for key in given.get(worker, ()))
