"""
Gate agent promotions with a pytest bench: cases in, a decision with proof out.

The names below are the public API. They are loaded on first use, so that an installed but unused plugin
costs a pytest run nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchgate.models import BenchCase, BenchRunReport, BenchScore
    from benchgate.promotion.verdict import PromotionVerdict
    from benchgate.registry import (
        TaskClass,
        TaskClassRegistry,
        default_registry,
        register_task_class,
    )
    from benchgate.rubric import Rubric
    from benchgate.runner.run import run_eval

_HOMES = {
    "BenchCase": "models",
    "BenchRunReport": "models",
    "BenchScore": "models",
    "PromotionVerdict": "promotion",
    "Rubric": "rubric",
    "TaskClass": "registry",
    "TaskClassRegistry": "registry",
    "default_registry": "registry",
    "register_task_class": "registry",
    "run_eval": "runner",
}

__all__ = [
    "BenchCase",
    "BenchRunReport",
    "BenchScore",
    "PromotionVerdict",
    "Rubric",
    "TaskClass",
    "TaskClassRegistry",
    "default_registry",
    "register_task_class",
    "run_eval",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("pytest-benchgate")
    if name not in _HOMES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
