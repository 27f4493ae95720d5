"""Reads the logs of other harnesses, to be gated as the runs of a bench are."""

from benchgate.interop.samples import Sample, Samples, read

__all__ = ["Sample", "Samples", "read"]
