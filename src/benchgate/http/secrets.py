"""Keys and tokens in what would be recorded: a recording is committed beside the cases, so it must have none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from benchgate.http.exchange import HttpAnswer, HttpRequest

SHORTEST: Final = 8
"""Characters; what is shorter is no key, and is found in any text."""

_HEADER: Final = re.compile(r"auth|key|token|secret|cookie", re.IGNORECASE)
_VARIABLE: Final = re.compile(r"_(?:KEY|TOKEN|SECRET|PASSWORD)$", re.IGNORECASE)
_PARAMETER: Final = re.compile(
    r"(?:api[-_]?)?key|(?:(?:access|auth|id)[-_]?)?token|(?:client[-_]?)?secret|sig(?:nature)?"
    r"|password|x-amz-(?:credential|security-token|signature)",
    re.IGNORECASE,
)
_SHAPE: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:sk-[A-Za-z0-9_-]{20,}|gh[a-z]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{22,}|glpat-[\w-]{20}"
    r"|AKIA[0-9A-Z]{16}|AIza[\w-]{35}|xox[a-z]-[\w-]{10,}|hf_[A-Za-z0-9]{30,}"
    r"|eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,})|-----BEGIN [A-Z ]*PRIVATE KEY-----"
)
"""Keys as OpenAI, Anthropic, GitHub, GitLab, AWS, Google, Slack and Hugging Face issue them; JWT; private keys."""


def secrets_of(
    headers: Iterable[tuple[str, str]], environment: Mapping[str, str]
) -> dict[str, str]:
    """
    Return what must not be recorded, with a name for each value.

    :param headers: of the request; those that carry a key are not recorded, and their values must not be elsewhere.
    """
    found = {
        part: f"the value of the request header {name}"
        for name, value in headers
        if _HEADER.search(name)
        for part in re.split(r"[\s,;=]+", value)
    }
    found |= {
        value: f"the value of the environment variable {name}"
        for name, value in environment.items()
        if _VARIABLE.search(name)
    }
    return {value: name for value, name in found.items() if len(value) >= SHORTEST}


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
    return next(_found(parts, secrets), None)


def _found(parts: Mapping[str, str], secrets: Mapping[str, str]) -> Iterator[str]:
    for part, text in parts.items():
        for value, name in secrets.items():
            if value in text:
                yield f"the {part} has {name}"
        if _SHAPE.search(text):
            yield f"the {part} has what looks like a key"
