"""What the commands print about runs, files and other people's text; every line goes through here."""

from __future__ import annotations

import sys
from typing import TextIO

from benchgate.errors import EvalError, printable


def say(text: object, out: TextIO | None = None) -> None:
    """Print one line of an answer, on stdout if it is not given as ``out``."""
    print(printable(text), file=out)


def complain(text: object) -> None:
    """Print one line of what is wrong on stderr; an error of benchgate may have several."""
    print(text if isinstance(text, EvalError) else printable(text), file=sys.stderr)
