"""Reads the logs of other harnesses, to be gated as the runs of a bench are."""

from benchgate.interop.log import Sample, Samples
from benchgate.interop.rows import read

__all__ = ["Sample", "Samples", "read"]
