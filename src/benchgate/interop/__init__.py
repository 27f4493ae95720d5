"""
Reads the logs of other harnesses, to be gated as the runs of a bench are.

The readers are imported on first use, because the command line loads the light module :mod:`.roles` in every command.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchgate.interop.log import Sample, Samples
    from benchgate.interop.rows import read

_HOMES = {"Sample": "log", "Samples": "log", "read": "rows"}

__all__ = ["Sample", "Samples", "read"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
