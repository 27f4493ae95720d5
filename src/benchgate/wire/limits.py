"""The highest numbers that options, files and models take. Imports nothing, because every pytest run loads it."""

from __future__ import annotations

from typing import Final

MAX_SAFE_INTEGER: Final = 2**53 - 1
"""Above it, numbers in JSON are no longer exact everywhere."""

MAX_SECONDS: Final = 10_000_000
"""Longest time limit, about 116 days; much longer alarms overflow in the operating system."""

MAX_DOLLARS: Final = 1e9
"""Highest cap of costs."""
