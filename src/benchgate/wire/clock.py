"""The time of day, in one place: it stands beside facts and never inside what is hashed."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> datetime:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).replace(microsecond=0)
