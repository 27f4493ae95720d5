"""Keys and tokens in the requests and answers that would be recorded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from benchgate.wire.secrets import found_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.http.exchange import HttpAnswer, HttpRequest

_PARAMETER: Final = re.compile(
    r"(?:.*[-_])?(?:api[-_]?)?(?:key|token|secret|sig|signature|password|credential)", re.IGNORECASE
)


def secret_in_request(asked: HttpRequest, secrets: Mapping[str, str]) -> str | None:
    """Return where a request has a key or token, and which; never the key."""
    for name, _ in asked.query:
        if _PARAMETER.fullmatch(name):
            return f"the query has the parameter {name}"
    query = " ".join(f"{name} {value}" for name, value in asked.query)
    parts = {"path": asked.path, "query": query, "body": asked.body or ""}
    return _first(parts | _named(asked.headers), secrets)


def secret_in_answer(answer: HttpAnswer, secrets: Mapping[str, str]) -> str | None:
    """Return where an answer has a key or token, and which; never the key."""
    body = answer.body.decode(errors="replace").replace("\\/", "/")  # a slash as JSON may write it
    return _first({"body": body, "error": answer.message} | _named(answer.headers), secrets)


def _named(headers: Mapping[str, str]) -> dict[str, str]:
    return {f"header {name}": value for name, value in headers.items()}


def _first(parts: Mapping[str, str], secrets: Mapping[str, str]) -> str | None:
    return next((f"the {part} has {why}" for part, why in found_in(parts, secrets)), None)
