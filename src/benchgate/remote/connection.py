"""The connection to a scheduler of Dask, and whether its workers are of the versions of this process."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import EvalError

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


class Gone(Exception):
    """Nobody is there who could run a trial."""


class Lost(Gone):
    """There is no way to the scheduler, nor will there be for a later trial."""


def check_connection(client: Any) -> None:
    """
    Once it is lost nothing waits for it: Dask forgets what a client that left has asked for.

    :raises Lost: it is.
    """
    if client.status != "running":
        raise Lost("the connection to the scheduler was lost")


def ask(client: Any, operation: str, full: type[OSError] | None = None, **fields: Any) -> Any:
    """Ask the scheduler by one of its operations; see :func:`steady`."""
    call = getattr(client.scheduler, operation)
    return steady(client, partial(client.sync, call, callback_timeout=ASK_SECONDS, **fields), full)


def steady(client: Any, call: Callable[[], Any], full: type[OSError] | None = None) -> Any:
    """
    Call, and again if the connection failed: that one request took too long does not mean that nobody is there.

    :param full: an error that is an answer.
    :raises Lost: the scheduler cannot be reached.
    """
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

    :param address: as ``dask://HOST:PORT``.
    :raises EvalError: Dask is not installed, or there is no scheduler or no worker.
    """
    try:
        from distributed import Client
    except ImportError as error:
        msg = f"executor {address} needs the extra 'dask': pip install 'pytest-benchgate[dask]' ({error})"
        raise EvalError(msg) from error
    try:
        tcp = address.replace("dask://", "tcp://")
        client = Client(tcp, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError) as error:
        raise EvalError(f"executor {address}: no scheduler answers: {error}") from error
    try:
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
    except TimeoutError:
        client.close()
        raise EvalError(f"executor {address}: no worker within {CONNECT_SECONDS:g} s") from None
    return client


def wrong_versions(client: Any) -> list[str]:
    """Return a line for the scheduler and each worker whose Python or benchgate is not that of this process."""
    answers = client.get_versions(packages=["pytest-benchgate"])
    places = {"the scheduler": answers["scheduler"]}
    places |= {f"worker {address}": versions for address, versions in answers["workers"].items()}
    here = answers["client"]["packages"]
    return [
        f"{place} has {name} {versions['packages'][name] or 'not installed'}, and {here[name]} is here"
        for place, versions in places.items()
        for name in ("python", "pytest-benchgate")
        if versions["packages"][name] != here[name]
    ]
