"""Reads the logs of other harnesses, to be gated as the runs of a bench are."""

from benchgate.interop.rows import Sample
from benchgate.interop.samples import Samples, read

__all__ = ["Sample", "Samples", "read"]
