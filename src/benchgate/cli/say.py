"""What the commands print about runs, files and other people's text; every line goes through here."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING, Final, TextIO

from benchgate.errors import EvalError, printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchgate.wording.lines import Line

SGR: Final = {"good": "32", "caution": "33", "bad": "31", "quiet": "2"}


def say(text: object, out: TextIO | None = None) -> None:
    """Print one line of an answer, on stdout if it is not given as ``out``."""
    print(printable(text), file=out)


def complain(text: object) -> None:
    """Print one line of what is wrong on stderr; an error of benchgate may have several."""
    if not isinstance(text, EvalError):  # which escapes what it quotes
        text = printable(text)
    print(text, file=sys.stderr)


def show(lines: Iterable[Line], out: TextIO | None = None) -> None:
    """Print lines of a result, on stdout if it is not given as ``out``; with colours on a terminal that has some."""
    from benchgate.wording.lines import laid_out

    stream = out or sys.stdout
    is_coloured = (
        stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )
    for text, line in laid_out(lines, shutil.get_terminal_size().columns):
        codes = [code for code in (SGR.get(line.tone), "1" if line.strong else None) if code]
        painted = f"\x1b[{';'.join(codes)}m{text}\x1b[0m" if is_coloured and codes else text
        print(painted, file=stream)
