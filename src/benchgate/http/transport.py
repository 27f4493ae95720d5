"""The transport that stands below a client: ``httpx.Client``, ``httpx.AsyncClient``, and the same of ``httpx2``."""

from __future__ import annotations

import sys
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import EvalError, excerpt
from benchgate.http.conversation import Replay
from benchgate.http.exchange import MAX_RECORDING_BYTES, HttpAnswer, HttpRequest

if TYPE_CHECKING:
    from benchgate.http.conversation import Conversation

LIBRARIES: Final = ("httpx", "httpx2")


class Transport(AbstractContextManager[Any], AbstractAsyncContextManager[Any]):
    """
    Answers the requests of a client from a recording, or sends and records them. For clients of both kinds, async too.

    A response is read as a whole before the client gets it, also a streamed one, or until it is too large.

    :param inner: what sends; by default the library's own transport.
    """

    def __init__(self, conversation: Conversation, inner: Any = None) -> None:
        self._conversation = conversation
        self._inner = inner

    def handle_request(self, request: Any) -> Any:
        """Return the response to a request of ``httpx.Client``."""
        library, conversation = _library(request), self._conversation
        asked = HttpRequest.of(request, request.read())
        if isinstance(conversation, Replay):
            return _response(conversation.ask(asked), request, library)
        number = conversation.ask(asked, request.headers.items())
        try:
            response = self._sender(library.HTTPTransport).handle_request(request)
            try:
                body = bytearray()
                for part in response.iter_bytes():
                    body += part
                    if len(body) > MAX_RECORDING_BYTES:
                        break
            finally:
                response.close()
            answer = _answer(response, body)
        except library.RequestError as error:
            answer = _failed(error)
        return _response(conversation.answered(number, answer), request, library)

    async def handle_async_request(self, request: Any) -> Any:
        """Return the response to a request of ``httpx.AsyncClient``."""
        library, conversation = _library(request), self._conversation
        asked = HttpRequest.of(request, await request.aread())
        if isinstance(conversation, Replay):
            return _response(conversation.ask(asked), request, library)
        number = conversation.ask(asked, request.headers.items())
        try:
            sender = self._sender(library.AsyncHTTPTransport)
            response = await sender.handle_async_request(request)
            try:
                body = bytearray()
                async for part in response.aiter_bytes():
                    body += part
                    if len(body) > MAX_RECORDING_BYTES:
                        break
            finally:
                await response.aclose()
            answer = _answer(response, body)
        except library.RequestError as error:
            answer = _failed(error)
        return _response(conversation.answered(number, answer), request, library)

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

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def _answer(response: Any, body: bytearray) -> HttpAnswer:
    return HttpAnswer.of(response.status_code, response.headers.items(), bytes(body))


def _failed(error: Exception) -> HttpAnswer:
    return HttpAnswer(error=type(error).__name__, message=str(error))


def _library(request: Any) -> Any:
    name = type(request).__module__.partition(".")[0]
    if name not in LIBRARIES:
        msg = f"a request of {name!r}; expected one of {' or '.join(LIBRARIES)}"
        raise EvalError(msg)
    return sys.modules[name]


def _response(answer: HttpAnswer, request: Any, library: Any) -> Any:
    """Return a response of the client's own library, or raise its exception; when recording too, so that both agree."""
    if answer.error is None:
        stream = library.ByteStream(answer.body)
        return library.Response(answer.status, headers=dict(answer.headers), stream=stream)
    kind = getattr(library, answer.error, None)
    if not (isinstance(kind, type) and issubclass(kind, library.RequestError)):
        msg = f"{library.__name__} has no exception {excerpt(answer.error, 60)!r}"
        raise EvalError(msg)
    raise kind(answer.message, request=request)
