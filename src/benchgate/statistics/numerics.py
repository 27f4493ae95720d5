"""numpy and scipy.special, each imported by the first figure that needs it: most runs need one of them or none."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["np", "special"]


class _Lazy:
    """Stands for a module, and imports it when the first of its names is asked for."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self._module), name)
        setattr(self, name, value)
        return value


if TYPE_CHECKING:
    import numpy as np
    from scipy import special
else:
    np = _Lazy("numpy")
    special = _Lazy("scipy.special")
