"""What the commands print about runs, files and other people's text; every line goes through here."""

from __future__ import annotations

import sys

from benchgate.errors import EvalError, printable


def say(text: object) -> None:
    """Print one line of an answer."""
    print(printable(text))


def complain(text: object) -> None:
    """Print one line of what is wrong on stderr; an error of benchgate may have several."""
    print(text if isinstance(text, EvalError) else printable(text), file=sys.stderr)
