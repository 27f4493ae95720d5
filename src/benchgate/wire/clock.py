"""The clock, in one place. Times are recorded in artifacts, but are never part of an id."""

from __future__ import annotations

import os
from datetime import UTC, datetime


def now() -> datetime:
    """Return the current time in UTC, without fractions of a second."""
    return datetime.now(UTC).replace(microsecond=0)


def stamp() -> datetime:
    """
    Return when a file says that it was made: ``SOURCE_DATE_EPOCH`` of the environment, in seconds, else now.

    :raises ValueError: the variable has something else.
    """
    text = os.environ.get("SOURCE_DATE_EPOCH")
    if not text:
        return now()
    try:
        return datetime.fromtimestamp(int(text), UTC)
    except (ValueError, OverflowError, OSError):
        msg = f"SOURCE_DATE_EPOCH is {text[:80]!r}; expected seconds since 1970"
        raise ValueError(msg) from None
