"""The connection to a scheduler of Dask, and whether its workers are of the versions of this process."""

from __future__ import annotations

import sys
import time
from functools import partial
from importlib.metadata import packages_distributions
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import EvalError

if TYPE_CHECKING:
    from collections.abc import Callable

BENCHGATE: Final = "pytest-benchgate"

CONNECT_SECONDS: Final = 60.0
"""How long is waited for the scheduler, and then for a first worker."""

ASK_SECONDS: Final = 60.0
"""How long the scheduler may take to answer."""

ASKS: Final = 3
"""How often it is asked: one that is busy refuses a connection now and then."""

POLL: Final = 5.0
"""Seconds between two looks at a trial that runs, and at the workers."""


class Gone(Exception):
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
        msg = f"executor {address} needs the extra 'dask': pip install 'pytest-benchgate[dask]' ({error})"
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


def wrong_versions(client: Any) -> tuple[list[str], list[str]]:
    """Return lines on places with another Python or benchgate, and on workers that differ in what is imported here."""
    tops = {name.partition(".")[0] for name in sys.modules}
    imported = {p for top, found in packages_distributions().items() if top in tops for p in found}
    answers = client.get_versions(packages=[*imported, BENCHGATE])
    places = {"the scheduler": answers["scheduler"]}
    places |= {f"worker {address}": versions for address, versions in answers["workers"].items()}
    here = _facts(answers["client"], imported)
    wrong: list[str] = []
    mixed: list[str] = []
    for place, there in places.items():
        for name, version in _facts(there, imported).items():
            line = f"{place} has {name} {version or 'not installed'}, and {here[name]} is here"
            if version != here[name] and name in {"python", BENCHGATE}:
                wrong.append(line)
            # A package that is not there is named where the class is loaded, if it is needed.
            elif version not in {here[name], None} and place != "the scheduler":
                mixed.append(line)
    return wrong, mixed


def _facts(answer: Any, packages: set[str]) -> dict[str, str | None]:
    found = {"platform": " ".join(answer["host"][name] for name in ("OS", "machine"))}
    return found | {
        name: answer["packages"][name] for name in ("python", BENCHGATE, *sorted(packages))
    }
