"""The clock, in one place. Times are recorded in artifacts, but are never part of an id."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> datetime:
    """Return the current time in UTC, without fractions of a second."""
    return datetime.now(UTC).replace(microsecond=0)
