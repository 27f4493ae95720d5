"""Replaces ports that only root may listen on, in every place that names them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from _benchgate_bench.migration_chainguard_distroless.dockerfile.instruction import Instruction

FIRST_FREE: Final = 1024
_KNOWN: Final = {80: 8080, 443: 8443}
_SPEAKS_OF_PORTS: Final = re.compile(r"PORT|URL|LISTEN|ADDR", re.IGNORECASE)


def moved(word: str) -> str:
    """Return an exposed port, replaced by one above 1023 if only root may listen on it."""
    number, slash, protocol = word.partition("/")
    if not re.fullmatch(r"[0-9]{1,5}", number) or int(number) >= FIRST_FREE:
        return word
    return f"{_KNOWN.get(int(number), int(number) + 8000)}{slash}{protocol}"


def exposed(one: Instruction) -> str:
    """Return the line of an ``EXPOSE`` with its ports replaced."""
    return f"EXPOSE {' '.join(map(moved, one.value))}\n"


def changes(words: Iterable[str]) -> dict[str, str]:
    """Return old port to new port, for those that are replaced."""
    bare = {word.partition("/")[0] for word in words}
    return {port: moved(port) for port in bare if moved(port) != port}


def in_variables(one: Instruction, source: str, ports: Mapping[str, str]) -> str:
    """Return an ``ENV`` with ports replaced, if a variable's name suggests one."""
    if not any(_SPEAKS_OF_PORTS.search(name) for name in one.value[::2]):
        return source
    for old, new in ports.items():
        source = re.sub(rf"(?<![\d.]){old}(?![\d.])", new, source)
    return source


def in_configuration(text: str, ports: Mapping[str, str]) -> str:
    """Return an nginx configuration with its ports replaced and without ``user``, which needs root."""
    for old, new in ports.items():
        text = re.sub(rf"(\blisten\s+(?:\S+:)?){old}(?=[\s;])", rf"\g<1>{new}", text)
    return re.sub(r"(?m)^user\s+[^;]*;\n", "", text)
