"""What a record says of a case besides its results, so that it can be read where the bench is not."""

from __future__ import annotations

import codecs
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchgate.artifacts.run_kinds import AboutCase
from benchgate.wire.files import open_regular

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.models import BenchCase


MAX_INPUT: Final = 2048
"""Most bytes of a case's input that a record has."""


def about(case: BenchCase) -> AboutCase:
    """Describe a case; of its input, as far as it is text, the beginning."""
    return AboutCase(
        disposition=case.disposition,
        difficulty=case.difficulty,
        tags=case.tags,
        input=dict(_texts(case.input_path)),
    )


def _texts(folder: Path) -> Iterator[tuple[str, str]]:
    room = MAX_INPUT
    # Not rglob, which lists each folder twice.
    for path in sorted(Path(top, name) for top, _, names in os.walk(folder) for name in names):
        if room <= 0:
            return
        text = _beginning(path, room)
        if text:
            room -= len(text.encode())
            yield path.relative_to(folder).as_posix(), text


def _beginning(path: Path, size: int) -> str:
    """Return the beginning of a text file; nothing of any other file, or of one that cannot be read."""
    try:
        with open_regular(path) as file:
            # Not final: the last character may be cut.
            text = codecs.getincrementaldecoder("utf-8")().decode(file.read(size))
    except (OSError, ValueError):
        return ""
    return "" if "\0" in text else text
