"""Uniform numbers that are the same in every version of numpy, for figures that need a few draws."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

from benchgate.statistics.numerics import np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def uniforms(count: int, stream: str) -> NDArray[np.float64]:
    """Return numbers in (0, 1), made from the bits of PCG64, which numpy keeps stable."""
    generator = np.random.PCG64(np.random.SeedSequence([crc32(stream.encode())]))
    whole = np.asarray(generator.random_raw(count), dtype=np.uint64) >> np.uint64(12)
    return whole.astype(np.float64) * 2.0**-52 + 2.0**-53
