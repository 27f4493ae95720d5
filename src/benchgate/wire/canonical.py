"""Canonical JSON (RFC 8785) and SHA-256 digests over it; equal values give equal digests everywhere."""

from __future__ import annotations

import hashlib
from typing import Any

import rfc8785


def canonical_bytes(value: Any) -> bytes:
    """
    Return the RFC 8785 form of a JSON value.

    :raises ValueError: NaN, infinity, an integer of 2**53 or more, a lone surrogate, or not a JSON value.
    """
    return rfc8785.dumps(value)


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of some bytes in lower-case hex."""
    return hashlib.sha256(data).hexdigest()


def digest(value: Any) -> str:
    """Return the SHA-256 of the canonical bytes of a JSON value."""
    return sha256_hex(canonical_bytes(value))
