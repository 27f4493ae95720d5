"""An application without a framework."""

from collections.abc import Awaitable, Callable

import starlette


async def app(_scope: object, _receive: object, send: Callable[..., Awaitable[None]]) -> None:
    """Answer every request with the version."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": starlette.__version__.encode()})
