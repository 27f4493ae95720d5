"""The requests of one trial, recorded as they are answered or answered from a recording."""

from __future__ import annotations

import json
import os
import re
import threading
from collections import defaultdict, deque
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import EvalError
from benchgate.http.exchange import MAX_RECORDING_BYTES, Exchange, HttpRecording
from benchgate.wire.secrets import found_in, secrets_of
from benchgate.wire.writing import model_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from benchgate.http.exchange import HttpAnswer, HttpRequest

TOO_LARGE: Final = f"more than {MAX_RECORDING_BYTES} bytes in all"
_PARAMETER: Final = re.compile(
    r"(?!(?:.*[-_])?(?:page|next|continuation|sort|partition|idempotency)[-_](?:key|token)$)"
    r"(?:.*[-_])?(?:api[-_]?)?(?:key|token|secret|sig|signature|password|credential)",
    re.IGNORECASE,
)
"""Names of parameters that carry a key, but not those by which pages are asked for."""


class _Conversation:
    """
    What a transport speaks to, from several threads.

    The first problem is kept, and everything after it refused for the same reason: clients try again, and turn every
    error into one of their own.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._problem: str | None = None

    def _refused(self, problem: str) -> EvalError:
        self._problem = self._problem or problem
        return EvalError(self._problem)

    def _check(self) -> None:
        if self._problem is not None:
            raise EvalError(self._problem)


class Recording(_Conversation):
    """Requests that are sent, and what comes back."""

    def __init__(self) -> None:
        super().__init__()
        self._asked: list[tuple[HttpRequest, dict[str, str]]] = []
        self._answers: dict[int, HttpAnswer] = {}
        self._room = MAX_RECORDING_BYTES

    def ask(self, request: HttpRequest, headers: Iterable[tuple[str, str]]) -> int:
        """Return the number under which a request is to be sent; :raises EvalError: it must not be."""
        secrets = secrets_of(headers, os.environ)
        with self._lock:
            self._check()
            self._asked.append((request, secrets))
            number = len(self._asked)
            self._take(number, len(request.body or ""))
            self._search(number, secrets)
        return number

    def answered(self, number: int, answer: HttpAnswer) -> HttpAnswer:
        """Take what came back, and return it; :raises EvalError: it cannot be recorded."""
        with self._lock:
            self._check()
            self._take(number, len(answer.text or answer.base64 or ""))
            self._search(number, self._asked[number - 1][1], answer)
            self._answers[number] = answer
        return answer

    def end(self, *, scored: bool) -> str:
        """
        Return what was recorded, as the text of its file.

        :param scored: the trial ended well.
        :raises EvalError: what was asked and answered cannot be recorded.
        """
        with self._lock:
            self._check()
            for number in range(1, len(self._asked) + 1):
                if number not in self._answers and scored:
                    raise self._unfit(number, "it was given up before it was answered")
            # Once more with all: a login's answer has the token that the next request carries.
            every = {value: name for _, secrets in self._asked for value, name in secrets.items()}
            for number, answer in self._answers.items():
                self._search(number, every, answer)
            recording = HttpRecording(
                exchanges=tuple(
                    Exchange(request=request, answer=self._answers[number])
                    for number, (request, _) in enumerate(self._asked, 1)
                    if number in self._answers
                )
            )
            text = model_bytes(recording).decode()
            if len(text) > MAX_RECORDING_BYTES:  # escapes take more room than what they stand for
                raise self._unfit(len(self._asked), TOO_LARGE)
            return text

    def _search(
        self, number: int, secrets: Mapping[str, str], answer: HttpAnswer | None = None
    ) -> None:
        secret = _secret_in_request(self._asked[number - 1][0], secrets)
        if secret is not None:
            raise self._unfit(number, secret)
        if answer is None:
            return
        secret = _secret_in_answer(answer, secrets)
        if secret is not None:
            raise self._unfit(number, f"in its answer {secret}")

    def _take(self, number: int, size: int) -> None:
        self._room -= size
        if self._room < 0:
            raise self._unfit(number, TOO_LARGE)

    def _unfit(self, number: int, why: str) -> EvalError:
        # Without the path, which may be where the key is.
        method = self._asked[number - 1][0].method
        return self._refused(f"request {number} ({method}) cannot be recorded: {why}")


class Replay(_Conversation):
    """Requests that are answered from a recording of some name: equal ones in their order, others in any order."""

    def __init__(self, name: str, recording: HttpRecording) -> None:
        super().__init__()
        self._name = name
        self._recorded = recording.exchanges
        self._waiting: dict[object, deque[Exchange]] = defaultdict(deque)
        for exchange in self._recorded:
            self._waiting[exchange.request.key].append(exchange)

    def ask(self, request: HttpRequest) -> HttpAnswer:
        """Return the recorded answer to a request; :raises EvalError: it has none."""
        with self._lock:
            self._check()
            waiting = self._waiting.get(request.key)
            if not waiting:
                raise self._refused(f"recording {self._name!r}: {self._missing(request)}")
            return waiting.popleft().answer

    def end(self, *, scored: bool) -> None:
        """Check that everything recorded was asked; :raises EvalError: it was not, though the trial ended well."""
        self._check()
        left = [e.request for waiting in self._waiting.values() for e in waiting]
        if left and scored:
            first = f"the first of them is {left[0].method} {left[0].path}"
            count = f"{len(left)} of {len(self._recorded)} recorded requests were not sent"
            raise self._refused(f"recording {self._name!r}: {count}; {first}")

    def _missing(self, request: HttpRequest) -> str:
        asked = f"{request.method} {request.path}"
        if not self._recorded:
            return f"{asked} was not recorded, nor was any other request"
        compared = [list(differences(e.request, request)) for e in self._recorded]
        number, differing = min(enumerate(compared, 1), key=lambda pair: _distance(pair[1]))
        if not differing:
            times = compared.count([])
            return f"{asked} was recorded {times} times, and is now sent once more"
        near = self._recorded[number - 1].request
        shown = ", ".join(differing[:3])
        if len(differing) > 3:
            shown += " and more"
        return (
            f"{asked} was not recorded; the nearest is request {number} of {len(compared)}, "
            f"{near.method} {near.path}, which differs in {shown}"
        )


Conversation = Recording | Replay


def _distance(differing: list[str]) -> tuple[bool, bool, int]:
    """Return how far apart two requests are: another path counts most, another method next."""
    return "path" in differing, "method" in differing, len(differing)


def differences(recorded: HttpRequest, asked: HttpRequest) -> Iterator[str]:
    """Yield in what two requests differ: ``method``, ``path``, ``query``, or the keys in their bodies."""
    for name in ("method", "path", "query", "body_sha256"):
        if getattr(recorded, name) != getattr(asked, name):
            yield name
    if recorded.body != asked.body:
        one = json.loads(recorded.body or "null")
        other = json.loads(asked.body or "null")
        yield from _differing("body", one, other)


def _differing(where: str, one: Any, other: Any) -> Iterator[str]:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() | other.keys()):
            if key not in one or key not in other:
                yield f"{where}.{key}"
            else:
                yield from _differing(f"{where}.{key}", one[key], other[key])
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, pair in enumerate(zip(one, other, strict=True)):
            yield from _differing(f"{where}[{number}]", *pair)
    elif one != other:
        yield where


def _secret_in_request(asked: HttpRequest, secrets: Mapping[str, str]) -> str | None:
    """Return where a request has a key or token, and which; never the key."""
    for name, _ in asked.query:
        if _PARAMETER.fullmatch(name):
            return f"the query has the parameter {name}"
    query = " ".join(f"{name} {value}" for name, value in asked.query)
    parts = {"path": asked.path, "query": query, "body": asked.body or ""}
    return _first(parts | _named(asked.headers), secrets)


def _secret_in_answer(answer: HttpAnswer, secrets: Mapping[str, str]) -> str | None:
    """Return where an answer has a key or token, and which; never the key."""
    body = answer.body.decode(errors="replace").replace("\\/", "/")  # a slash as JSON may write it
    return _first({"body": body, "error": answer.message} | _named(answer.headers), secrets)


def _named(headers: Mapping[str, str]) -> dict[str, str]:
    return {f"header {name}": value for name, value in headers.items()}


def _first(parts: Mapping[str, str], secrets: Mapping[str, str]) -> str | None:
    return next((f"the {part} has {why}" for part, why in found_in(parts, secrets)), None)
