"""The transport that stands below a client: ``httpx.Client``, ``httpx.AsyncClient``, and the same of ``httpx2``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import EvalError, excerpt
from benchgate.http.exchange import MAX_RECORDING_BYTES, HttpAnswer, HttpRequest

if TYPE_CHECKING:
    from typing import Self

    from benchgate.http.conversation import Conversation

LIBRARIES: Final = ("httpx", "httpx2")


class Transport:
    """
    Answers the requests of a client from a recording, or sends and records them. For clients of both kinds, async too.

    A response is read as a whole before the client gets it, also a streamed one.

    :param inner: what sends; by default the library's own transport.
    """

    def __init__(self, conversation: Conversation, inner: Any = None) -> None:
        self._conversation = conversation
        self._inner = inner

    def handle_request(self, request: Any) -> Any:
        """Return the response to a request of ``httpx.Client``."""
        library = _library(request)
        asked = HttpRequest.of(request, request.read())
        turn = self._conversation.ask(asked, request.headers.items())
        if isinstance(turn, int):
            try:
                response = self._sender(library.HTTPTransport).handle_request(request)
                try:
                    parts = _Parts()
                    for part in response.iter_bytes():
                        if parts.full(part):
                            break
                finally:
                    response.close()
                answer = parts.answer(response)
            except library.RequestError as error:
                answer = _failed(error)
            self._conversation.answered(turn, answer)
            turn = answer
        return _given(turn, request, library)

    async def handle_async_request(self, request: Any) -> Any:
        """Return the response to a request of ``httpx.AsyncClient``."""
        library = _library(request)
        asked = HttpRequest.of(request, await request.aread())
        turn = self._conversation.ask(asked, request.headers.items())
        if isinstance(turn, int):
            try:
                sender = self._sender(library.AsyncHTTPTransport)
                response = await sender.handle_async_request(request)
                try:
                    parts = _Parts()
                    async for part in response.aiter_bytes():
                        if parts.full(part):
                            break
                finally:
                    await response.aclose()
                answer = parts.answer(response)
            except library.RequestError as error:
                answer = _failed(error)
            self._conversation.answered(turn, answer)
            turn = answer
        return _given(turn, request, library)

    def _sender(self, make: Any) -> Any:
        if self._inner is None:
            self._inner = make()
        return self._inner

    def close(self) -> None:
        """Close what sends."""
        if self._inner is not None:
            self._inner.close()

    async def aclose(self) -> None:
        """Close what sends."""
        if self._inner is not None:
            await self._inner.aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class _Parts:
    """The body of a response as it comes."""

    def __init__(self) -> None:
        self._body = bytearray()

    def full(self, part: bytes) -> bool:
        """Add a part; return whether that makes more than can be recorded."""
        self._body += part
        return len(self._body) > MAX_RECORDING_BYTES

    def answer(self, response: Any) -> HttpAnswer:
        return HttpAnswer.of(response.status_code, response.headers.items(), bytes(self._body))


def _failed(error: Exception) -> HttpAnswer:
    text = str(error).encode(errors="backslashreplace").decode()
    return HttpAnswer(error=type(error).__name__, message=excerpt(text))


def _library(request: Any) -> Any:
    name = type(request).__module__.partition(".")[0]
    if name not in LIBRARIES:
        msg = f"a request of {name!r}; expected one of {' or '.join(LIBRARIES)}"
        raise EvalError(msg)
    return sys.modules[name]


def _given(answer: HttpAnswer, request: Any, library: Any) -> Any:
    """Return a response of the client's own library, or raise its exception; when recording too, so that both agree."""
    if answer.error is None:
        stream = library.ByteStream(answer.body)
        return library.Response(answer.status, headers=dict(answer.headers), stream=stream)
    kind = getattr(library, answer.error, None)
    if not (isinstance(kind, type) and issubclass(kind, library.RequestError)):
        msg = f"{library.__name__} has no exception {excerpt(answer.error, 60)!r}"
        raise EvalError(msg)
    raise kind(answer.message, request=request)
