"""Canonical bytes (RFC 8785) and the digests and ids that are made of them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import rfc8785

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchgate.models import TrialResult


def canonical_bytes(value: Any) -> bytes:
    """
    Return the RFC 8785 form of a JSON value.

    :raises ValueError: NaN, infinity, an integer of 2**53 or more, a lone surrogate, or no JSON value.
    """
    return rfc8785.dumps(value)


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of some bytes in lower-case hex."""
    return hashlib.sha256(data).hexdigest()


def digest(value: Any) -> str:
    """Return the SHA-256 of the canonical bytes of a JSON value."""
    return sha256_hex(canonical_bytes(value))


def run_id(task_class: str, results: Iterable[TrialResult]) -> str:
    """
    Return the id of a run: the same results have the same id.

    It covers, for each trial, case id, trial number, outcome, the fields of the score and the failure codes;
    no times, no paths, no details.
    """
    rows = [
        [
            result.case_id,
            result.trial,
            result.outcome,
            result.score.model_dump(mode="json") if result.score else None,
            [mode.code for mode in result.failure_modes],
        ]
        for result in sorted(results, key=lambda result: (result.case_id, result.trial))
    ]
    return digest({"task_class": task_class, "results": rows})


def trial_seed(task_class: str, case_id: str, trial: int, bench_seed: int) -> int:
    """Return the seed of a trial: 48 bits of SHA-256 over class, case, trial and the session's seed."""
    text = f"{task_class}|{case_id}|{trial}|{bench_seed}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")
