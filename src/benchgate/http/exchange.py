"""What was asked and answered by HTTP in one trial, as it stands in the trial's ``.http.json``."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final, Self
from urllib.parse import parse_qsl

from pydantic import Field, model_validator

from benchgate.errors import Unreadable
from benchgate.wire.canonical import canonical_bytes, sha256_hex
from benchgate.wire.files import read_bytes
from benchgate.wire.model import DisplayText, Sha256, Text, TextsByName, WireModel, empty_mapping
from benchgate.wire.parsing import read_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchgate.models import Cassette

MAX_RECORDING_BYTES: Final = 64 * 2**20
"""Most of what is recorded of one trial, and of the file that is read."""

REQUEST_HEADERS: Final = frozenset({"accept", "content-type", "anthropic-version"})
RESPONSE_HEADERS: Final = frozenset(
    {"content-type", "location", "request-id", "retry-after", "retry-after-ms"}
    | {"x-request-id", "x-should-retry"}
)
"""The headers that are recorded. A client gets no others of a response, so that a replay is what was recorded."""

Headers = TextsByName[Mapping[str, Text]]
Pair = tuple[Text, Text]


def allowed(headers: Iterable[tuple[str, str]], names: frozenset[str]) -> dict[str, str]:
    """Return the headers with these names, in lower case."""
    return {name.lower(): value for name, value in headers if name.lower() in names}


class HttpRequest(WireModel):
    """
    A request, without its host: a recording is replayed wherever the service is.

    :param query: names and values, sorted.
    :param body: as canonical JSON; ``None`` for no body or another one.
    :param body_sha256: of a body that is not JSON.
    """

    method: Text
    path: Text
    query: tuple[Pair, ...] = ()
    headers: Headers = Field(default_factory=empty_mapping)
    body: Text | None = None
    body_sha256: Sha256 | None = None

    @classmethod
    def of(cls, request: Any, content: bytes) -> Self:
        """Return what a request of a client asks for."""
        body = _canonical(content)
        return cls(
            method=request.method,
            path=request.url.path,
            query=tuple(sorted(parse_qsl(request.url.query.decode(), keep_blank_values=True))),
            headers=allowed(request.headers.items(), REQUEST_HEADERS),
            body=body,
            body_sha256=sha256_hex(content) if content and body is None else None,
        )

    @property
    def key(self) -> tuple[object, ...]:
        """What two requests agree in that get the same answer."""
        return self.method, self.path, self.query, self.body, self.body_sha256


def _canonical(content: bytes) -> str | None:
    try:
        return canonical_bytes(read_json(content)).decode()
    except ValueError:  # not JSON, or not such as has a canonical form
        return None


class HttpAnswer(WireModel):
    """
    What came back: a response, or how the connection failed.

    :param text: the decoded body, if it is UTF-8; otherwise ``base64`` has it.
    :param error: name of the client library's exception, such as ``ConnectError``, with its ``message``.
    """

    status: Annotated[int, Field(ge=100, le=599)] | None = None
    headers: Headers = Field(default_factory=empty_mapping)
    text: Text | None = None
    base64: Text | None = None
    error: Text | None = None
    message: DisplayText = ""

    @model_validator(mode="after")
    def _is_one_of_both(self) -> Self:
        if (self.status is None) == (self.error is None):
            msg = "expected either a status or an error"
            raise ValueError(msg)
        _ = self.body  # raises ValueError
        return self

    @classmethod
    def of(cls, status: int, headers: Iterable[tuple[str, str]], body: bytes) -> Self:
        """Return what a response with a decoded body says."""
        kept = allowed(headers, RESPONSE_HEADERS)
        try:
            return cls(status=status, headers=kept, text=body.decode())
        except UnicodeDecodeError:
            return cls(status=status, headers=kept, base64=b64encode(body).decode())

    @property
    def body(self) -> bytes:
        """The decoded body."""
        if self.base64 is not None:
            return b64decode(self.base64, validate=True)
        return (self.text or "").encode()


class Exchange(WireModel):
    """One request and what came back."""

    request: HttpRequest
    answer: HttpAnswer


class HttpRecording(WireModel):
    """What one trial asked by HTTP, in the order of asking, and what it was answered: a trial's ``.http.json``."""

    schema_version: Annotated[int, Field(ge=1, le=1)] = 1  # no Literal, which accepts true as 1
    exchanges: tuple[Exchange, ...]

    @classmethod
    def read(cls, cassette: Cassette) -> Self:
        """
        Read a recording.

        :raises Unreadable: it cannot be read, is too large, is no recording, or was changed after it was recorded.
        """
        data = read_bytes(cassette.path, limit=MAX_RECORDING_BYTES)
        if sha256_hex(data) != cassette.sha256:
            raise Unreadable(cassette.path, "it was changed after it was recorded")
        return cls.parse(cassette.path, data, "recording of HTTP")
