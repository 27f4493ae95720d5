"""The observations that are shipped, by a digest of what was asked and of the answer: a file for each image source."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchgate.wire.canonical import digest

if TYPE_CHECKING:
    from collections.abc import Mapping

SHELF: Final = Path(__file__).resolve().parent.parent / "observations"
"""Beside ``observers/``: one observation more makes no other observer."""

MAX_BYTES: Final = 400
"""Of one observation, as JSON."""


def key_of(wanted: Mapping[str, Any], files: Mapping[str, str]) -> str:
    """Return the key of an observation: what was asked, and every file of the answer."""
    return digest({"asked": wanted, "files": dict(files)})[:32]


def compact(seen: Mapping[str, Any]) -> str:
    """Return an observation as JSON."""
    return json.dumps(seen, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


@cache
def stored(images: str) -> dict[str, Any]:
    """Return the observations of a source of images, by their key; empty if nobody made any."""
    path = SHELF / f"{images}.json.gz"
    return json.loads(gzip.decompress(path.read_bytes())) if path.is_file() else {}


def store(images: str, observations: Mapping[str, Any]) -> None:
    """Write the observations of a source of images, the same bytes for the same ones."""
    lines = [f'"{key}":{compact(observations[key])}' for key in sorted(observations)]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    SHELF.mkdir(exist_ok=True)
    (SHELF / f"{images}.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    stored.cache_clear()
