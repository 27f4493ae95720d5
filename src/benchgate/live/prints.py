"""Sends what trials print, while many run at once, each to its own trial."""

from __future__ import annotations

import io
import sys
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator


MAX_PRINTED: Final = 1_000_000
"""Characters that are kept of what one trial prints."""

_PRINTED: ContextVar[io.StringIO | None] = ContextVar("printed", default=None)


class PrintRouter:
    """
    Makes ``write`` of the standard streams ask which trial is printing.

    The streams' own methods are replaced: pytest exchanges ``sys.stdout`` at every phase of every item, so that a
    stream put in its place would not stay there.
    """

    def __init__(self) -> None:
        self._routed: list[Any] = []

    def watch(self) -> None:
        """
        Route the streams that are standard streams now, if they are not routed yet.

        Of those, a system may have put a StringIO in place, which is its own.
        """
        for stream in (sys.__stdout__, sys.__stderr__, sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper) and "write" not in vars(stream):
                self._route(stream)

    def _route(self, stream: Any) -> None:
        write = stream.write

        def routed(text: str) -> int:
            printed = _PRINTED.get()
            if printed is None:
                return int(write(text))
            if printed.tell() < MAX_PRINTED:
                printed.write(text[: MAX_PRINTED - printed.tell()])
            return len(text)

        stream.write = routed
        self._routed.append(stream)

    def close(self) -> None:
        """Give the streams their own methods back."""
        for stream in self._routed:
            del stream.write
        self._routed.clear()


@contextmanager
def printing() -> Iterator[io.StringIO]:
    """Collect what is printed in this context, and in the coroutines that it awaits on another loop."""
    printed = io.StringIO()
    token = _PRINTED.set(printed)
    try:
        yield printed
    finally:
        _PRINTED.reset(token)
