"""The connection to a scheduler of Dask, and whether its workers are of the versions of this process."""

from __future__ import annotations

from typing import Any, Final

from benchgate.errors import EvalError

CONNECT_SECONDS: Final = 60.0
"""How long is waited for the scheduler, and then for a first worker."""


class Gone(Exception):
    """Nobody is there who could run a trial."""


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
