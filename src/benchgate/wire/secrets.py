"""Keys and tokens in what would be recorded: masked in what a trial says, and refused in a recording."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

SHORTEST: Final = 8
"""Characters; what is shorter is no key, and is found in any text."""

SHORTEST_MASKED: Final = 16
"""Characters of what is masked because of its variable's name: ``POSTGRES_PASSWORD=postgres`` must mask no word."""

MASK: Final = "[masked]"
"""The same for every key, so that outputs are equal wherever they were masked."""

CURRENT_TEST: Final = "PYTEST_CURRENT_TEST"
"""A variable that pytest sets and removes for each item; it is no secret, and no reason to look at all the others."""

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
    # At the beginning of a word; in a text as JSON, an escaped character may come before it.
    r"(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt])|(?<=\\u[0-9A-Fa-f]{4}))"
    r"(?:sk-[A-Za-z0-9_-]{20,}|gh[a-z]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{22,}|glpat-[\w-]{20}"
    r"|AKIA[0-9A-Z]{16}|AIza[\w-]{35}|xox[a-z]-[\w-]{10,}|hf_[A-Za-z0-9]{30,}"
    # Once for each run of these characters, else a text of many such beginnings would take for ever.
    r"|(?<![_-])eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?-----END [A-Z ]*PRIVATE KEY-----|.*)"
)
"""Keys as OpenAI, Anthropic, GitHub, GitLab, AWS, Google, Slack and Hugging Face issue them; JWT; private keys."""

_BEGINS: Final = re.compile(r"sk-|gh[a-z]_|github_|glpat-|AKIA|AIza|xox|hf_|eyJ|-----BEGIN ")
"""One of these is in each text that has such a key; to look for them takes a twentieth of the time."""


class Masker:
    """
    Masks keys and tokens in what the trials of a class say: it guards against accidents, and knows no encoded key.

    :param passed: variables that systems are given; their values are secret, whatever they are called.
    """

    def __init__(self, passed: Iterable[str] = ()) -> None:
        self._passed = frozenset(passed)
        self._count = 0
        self._named: dict[str, str] = {}
        self._secrets: tuple[str, ...] = ()

    def look(self) -> None:
        """
        Learn the values of secret variables: a system may have set some, or exchanged a token for a newer one.

        All are read only if there are more or fewer than before, or if one that is named like a secret has changed.
        """
        count = len(os.environ)
        if CURRENT_TEST in os.environ:
            count -= 1
        if count == self._count and not self._has_changed():
            return
        self._count = count
        self._named = {name: value for name, value in os.environ.items() if self._hides(name)}
        values = {
            value.strip() for name, value in self._named.items() if self._is_long(name, value)
        }
        escaped = {json.dumps(value)[1:-1] for value in values}
        found = {*self._secrets, *values, *escaped}
        # The longest first: one may begin with another.
        self._secrets = tuple(sorted(found, key=lambda value: (-len(value), value)))

    def _has_changed(self) -> bool:
        return any(os.environ.get(name) != value for name, value in self._named.items())

    def _hides(self, name: str) -> bool:
        return name in self._passed or bool(_VARIABLE.search(name))

    def _is_long(self, name: str, value: str) -> bool:
        shortest = SHORTEST_MASKED
        if name in self._passed:
            shortest = SHORTEST
        return len(value.strip()) >= shortest

    def text(self, text: str) -> str:
        """Return a text without keys."""
        for value in self._secrets:
            text = text.replace(value, MASK)
        if _BEGINS.search(text):
            text = _SHAPE.sub(MASK, text)
        return text

    def json(self, text: str) -> str:
        """Return a JSON text without keys."""
        if self.text(text) == text:
            return text
        return json.dumps(self._masked(json.loads(text)))

    def _masked(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self._masked(item) for item in value]
        if isinstance(value, dict):
            return {self.text(key): self._masked(item) for key, item in value.items()}
        # A key of digits may be a number.
        shown = json.dumps(value)
        if self.text(shown) == shown:
            return value
        return MASK


class Masked:
    """
    Masks keys in all that one trial says, and notes whether it ``has_any``.

    :param masker: of its class; ``None`` masks nothing: whoever reads what the trial says does so.
    """

    def __init__(self, masker: Masker | None) -> None:
        self._masker = masker
        self.has_any = False

    def text(self, text: str) -> str:
        """Return a text without keys."""
        if self._masker is None:
            return text
        return self._noted(text, self._masker.text(text))

    def json(self, text: str) -> str:
        """Return a JSON text without keys."""
        if self._masker is None:
            return text
        return self._noted(text, self._masker.json(text))

    def _noted(self, text: str, masked: str) -> str:
        self.has_any = self.has_any or masked != text
        return masked


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
