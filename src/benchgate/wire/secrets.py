"""Keys and tokens in what would be recorded: a recording is committed beside the cases, so it must have none."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

SHORTEST: Final = 8
"""Characters; what is shorter is no key, and is found in any text."""

_HEADER: Final = re.compile(r"auth|key|token|secret|cookie", re.IGNORECASE)
_VARIABLE: Final = re.compile(r"_(?:KEY|TOKEN|SECRET|PASSWORD)$", re.IGNORECASE)
_FIELD: Final = re.compile(
    r"(?:[?&]|\\?\")(?:(?:x-)?api[-_]?key|(?:access|refresh|auth|id|security)[-_]?token|client[-_]?secret"
    r"|private[-_]?key|password|x-amz-(?:credential|security-token|signature))(?:=|\\?\"\s*:\s*\\?\")"
    r"[^&\s\"\\]{8}",
    re.IGNORECASE,
)
"""A parameter of an address, or a field of a JSON body, by names that only keys and tokens have."""
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
    secrets = {
        part: f"the value of the request header {name}"
        for name, value in headers
        if _HEADER.search(name)
        for part in re.split(r"[\s,;=]+", value)
    }
    secrets |= {
        value.strip(): f"the value of the environment variable {name}"
        for name, value in environment.items()
        if _VARIABLE.search(name)
    }
    return {value: name for value, name in secrets.items() if len(value) >= SHORTEST}


def secret_in_text(text: str, environment: Mapping[str, str]) -> str | None:
    """Return which key or token a text has, if it has one; never the key."""
    return next((why for _, why in found_in({"": text}, secrets_of((), environment))), None)


def found_in(parts: Mapping[str, str], secrets: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the name of a part and which key or token it has."""
    for part, text in parts.items():
        for value, name in secrets.items():
            if value in text or json.dumps(value)[1:-1] in text:
                yield part, name
        if _SHAPE.search(text) or _FIELD.search(text):
            yield part, "what looks like a key"
