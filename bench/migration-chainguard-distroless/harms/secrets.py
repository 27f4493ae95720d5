"""Secrets in the text of a Dockerfile: in variables, labels, addresses and here-documents."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

SECRET_FILE: Final = re.compile(
    r"\.env(?:\..+)?|\.netrc|\.pypirc|\.git-credentials|\.htpasswd|credentials(?:\.json)?|id_(?:rsa|ecdsa|ed25519)"
    r"|.+\.(?:key|p12|pem|pfx)"
)
EXAMPLE: Final = re.compile(r".*\.(?:dist|example|sample|template)")
SECRET_TEXT: Final = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----|_authToken=(?!\$)\S")

_SURE: Final = frozenset(
    {"APIKEY", "CREDENTIAL", "CREDENTIALS", "PASS", "PASSPHRASE", "PASSWD", "PASSWORD", "PWD", "SECRET", "TOKEN"}
)  # fmt: skip
"""The last word of a name that says that the value is a secret."""

_PUBLIC_KEY: Final = ("CACHE", "FOREIGN", "GPG", "PARTITION", "PRIMARY", "PUBLIC", "SORT")
"""What is in front of ``KEY`` where it is none."""

_NO_SECRET: Final = re.compile(r"(?is)|0|1|true|false|yes|no|none|null|/.*|<.*>")
_IN_ADDRESS: Final = re.compile(r"[a-z][a-z0-9+.-]*://[^\s/:@\"']*:([^\s/@\"']+)@", re.IGNORECASE)
_PAIR: Final = re.compile(
    r"^\s*(?:export\s+|-\s*)?[\"']?([A-Za-z][\w.-]*)[\"']?\s*[:=]\s*(.*?)\s*,?$"
)
_WORDS: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


def is_secret(name: str, value: str) -> bool:
    """Return whether a variable holds a secret: its name ends in a word for one, its value is no switch and no path."""
    plain = value.strip("\"' ")
    if _NO_SECRET.fullmatch(plain):
        return False
    *front, last = ["", *(word.upper() for word in _WORDS.findall(name))]
    if last != "KEY":
        return last in _SURE
    # Few keys of other kinds have letters and digits.
    mixed = bool(re.search(r"\d", plain)) and bool(re.search(r"[A-Za-z]", plain))
    return front[-1] not in _PUBLIC_KEY and (bool(front[-1]) or mixed)


def in_address(text: str) -> bool:
    """Return whether an address in a text has a password that is no variable."""
    return any(not found.startswith("$") for found in _IN_ADDRESS.findall(text))


def in_lines(text: str) -> Iterator[str]:
    """Yield the names of the settings in a text, one a line, that hold a secret."""
    for line in text.splitlines():
        found = _PAIR.match(line)
        if found and is_secret(found[1], found[2]):
            yield found[1]
