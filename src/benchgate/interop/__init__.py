"""Reads the logs of other harnesses, to be gated as the runs of a bench are."""

from benchgate.interop.rows import read
from benchgate.interop.samples import Sample, Samples

__all__ = ["Sample", "Samples", "read"]
