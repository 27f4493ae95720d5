"""The connection to a scheduler of Dask: what it answers, and which of its workers are silent."""

from __future__ import annotations

import math
import sys
import threading
import time
from functools import partial
from importlib.metadata import packages_distributions
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import EvalError
from benchgate.remote.attempt import BENCHGATE, versions

if TYPE_CHECKING:
    from collections.abc import Callable

CONNECT_SECONDS: Final = 60.0
"""How long is waited for the scheduler, and then for a first worker."""

ASK_SECONDS: Final = 60.0
"""How long the scheduler may take to answer."""

ASKS: Final = 3
"""How often it is asked: one that is busy refuses a connection now and then."""

POLL: Final = 5.0
"""Seconds between two looks at a trial that runs, and at the workers."""

NO_WORKER_SECONDS: Final = 60.0
"""How long a trial waits for a worker where there is none."""

SILENT_SECONDS: Final = 30.0
"""After so long without a sign of life a worker is given nothing more, and what it has not started goes to others."""


class Gone(EvalError):
    """Nobody is there who could run a trial."""


class Lost(Gone):
    """There is no way to the scheduler, nor will there be for a later trial."""


def check_connection(client: Any) -> None:
    """Raise :class:`Lost` once it is: Dask forgets what a client that left has asked for."""
    if client.status != "running":
        raise Lost("the connection to the scheduler was lost")


def ask(client: Any, operation: str, full: type[OSError] | None = None, **fields: Any) -> Any:
    """Ask the scheduler by one of its operations; see :func:`steady`."""
    call = getattr(client.scheduler, operation)
    return steady(client, partial(client.sync, call, callback_timeout=ASK_SECONDS, **fields), full)


def steady(client: Any, call: Callable[[], Any], full: type[OSError] | None = None) -> Any:
    """Call, and again if that failed, until the scheduler is :class:`Lost`; ``full`` is an error that is an answer."""
    asked = 0
    while True:
        check_connection(client)
        try:
            return call()
        # The second is what sync() of Dask raises for a request that was cancelled with its connection.
        except (OSError, UnboundLocalError) as error:
            if full is not None and isinstance(error, full):
                raise
            check_connection(client)
            asked += 1
            if asked == ASKS:
                raise Lost(f"the scheduler cannot be reached: {error}") from error
            time.sleep(asked)


def connect(address: str) -> Any:
    """
    Return a client.

    :param address: as ``dask://HOST:PORT``; or as ``tls://HOST:PORT``, with the certificates of Dask's configuration.
    :raises EvalError: Dask is not installed, or there is no scheduler or no worker.
    """
    try:
        from distributed import Client
    except ImportError as error:
        msg = f"executor {address} needs Dask: pip install distributed ({error})"
        raise EvalError(msg) from error
    try:
        tcp = address.replace("dask://", "tcp://")
        start = partial(Client, tcp, timeout=CONNECT_SECONDS, set_as_default=False)
        try:
            client = start()
        except AssertionError:  # Dask gives its thread 10 seconds to start; the machine stood still
            client = start()
    except (OSError, TypeError, RuntimeError, ValueError) as error:  # TLS without certificates
        raise EvalError(f"executor {address}: no scheduler answers: {error}") from error
    wanted = client.submit(int, pure=False)  # for a task an adaptive cluster starts a worker
    try:
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
    except TimeoutError:
        client.close()
        raise EvalError(f"executor {address}: no worker within {CONNECT_SECONDS:g} s") from None
    wanted.release()
    return client


def version_faults(client: Any) -> list[str]:
    """Return lines on who has another Python or benchgate: a worker ends on what it cannot read, if it is sent any."""
    answers = client.get_versions(packages=[BENCHGATE])
    here = versions()
    places = {"the scheduler": answers["scheduler"]}
    places |= {f"worker {address}": there for address, there in answers["workers"].items()}
    faults = []
    for place, there in places.items():
        for name, key in (("Python", "python"), (BENCHGATE, BENCHGATE)):
            found = there["packages"][key]
            if found != here[name]:
                shown = found or "not installed"
                faults.append(f"{place} has {name} {shown}, and {here[name]} is here")
    return faults


def imported_packages() -> list[str]:
    """Return the packages of which something is imported here."""
    tops = {name.partition(".")[0] for name in sys.modules}
    installed = packages_distributions().items()
    return sorted({package for top, found in installed if top in tops for package in found})


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
        if seen:
            self._alone_since = math.inf
        else:
            self._alone_since = min(self._alone_since, now)
        # By the scheduler's clock, which is not that of this machine.
        newest = max(seen.values(), default=0.0)
        self.silent = frozenset(a for a, then in seen.items() if newest - then > SILENT_SECONDS)
        given = {}
        if self.silent:
            given = ask(client, "processing")
        self._stuck = frozenset(key for worker in self.silent for key in given.get(worker, ()))
