"""Shows the shop's items."""

from collections.abc import Callable

import psycopg2


def application(_environ: object, start_response: Callable[..., object]) -> list[bytes]:
    """Answer every request with the version of the driver."""
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [psycopg2.__version__.encode()]
