"""The observations that are shipped, by a digest of what was run."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from _benchgate_bench.vuln_remediation.project import LOCK, MANIFEST

from benchgate.wire.canonical import digest

if TYPE_CHECKING:
    from collections.abc import Mapping

SHELF: Final = Path(__file__).resolve().parent.parent / "observations"
"""Beside ``observers/``: one observation more makes no other observer."""

RECORDED: Final = "npm-test.json"


def key_of(files: Mapping[str, str]) -> str:
    """Return the key of an observation: all files that were tested, those of npm however they are laid out."""
    npms = {path: json.loads(files[path].removeprefix("\ufeff")) for path in (MANIFEST, LOCK)}
    return digest({**files, **npms})[:32]


@cache
def stored() -> dict[str, Any]:
    """Return the observations by their key; empty if nobody made any."""
    path = SHELF / RECORDED
    return json.loads(path.read_bytes()) if path.is_file() else {}


def store(observations: Mapping[str, Any]) -> None:
    """Write observations, one a line, the same bytes for the same ones."""
    lines = [
        f'"{key}": {json.dumps(observations[key], sort_keys=True, ensure_ascii=False)}'
        for key in sorted(observations)
    ]
    SHELF.mkdir(exist_ok=True)
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    (SHELF / RECORDED).write_text(text, encoding="utf-8")
    stored.cache_clear()
