"""The seed of all rows, and the generator of each."""

from __future__ import annotations

from zlib import crc32

import numpy as np

SEED = 20_261_101


def stream(*key: object) -> np.random.Generator:
    """Return the generator of one cell."""
    return np.random.default_rng([SEED, *(crc32(str(part).encode()) for part in key)])
