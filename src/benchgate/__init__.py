"""
Gate agent promotions with a pytest bench: run its cases, compare with a baseline, decide.

The names in ``__all__`` and the modules that docs/reference/api.md names are the public API; everything else may change
without notice. The names are imported on first use, so that an unused plugin does not slow down a pytest run.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchgate.errors import (
        ArtifactError,
        BenchCaseLoadError,
        CassetteNotFound,
        ClassLoadError,
        EvalError,
        LocatedError,
        PolicyError,
        PromotionGateError,
        PromotionMustBeHumanAuthorized,
        RegistrationError,
        RubricViolation,
        SampleError,
        SystemNotFound,
        SystemUnavailable,
        TaskClassAlreadyRegistered,
        TaskClassNotFound,
        TierFileError,
        Unreadable,
    )
    from benchgate.gates.decision import CheckpointPromotionDecision
    from benchgate.looks.accept import accept
    from benchgate.looks.acceptor import Acceptor
    from benchgate.looks.ledger import LookLedger
    from benchgate.models import (
        BenchCase,
        BenchRunReport,
        BenchScore,
        FailureMode,
        TrialResult,
        Usage,
    )
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
    "gates.decision": ("CheckpointPromotionDecision",),
    "looks.accept": ("accept",),
    "looks.acceptor": ("Acceptor",),
    "looks.ledger": ("LookLedger",),
    "models": ("BenchCase", "BenchRunReport", "BenchScore", "FailureMode", "TrialResult", "Usage"),
    "promotion.verdict": ("PromotionVerdict",),
    "registry": ("TaskClass", "TaskClassRegistry", "default_registry", "register_task_class"),
    "rubric": ("Rubric",),
    "runner.run": ("run_eval",),
}
"""The modules of all names but the errors."""

__all__ = [
    "Acceptor",
    "ArtifactError",
    "BenchCase",
    "BenchCaseLoadError",
    "BenchRunReport",
    "BenchScore",
    "CassetteNotFound",
    "CheckpointPromotionDecision",
    "ClassLoadError",
    "EvalError",
    "FailureMode",
    "LocatedError",
    "LookLedger",
    "PolicyError",
    "PromotionGateError",
    "PromotionMustBeHumanAuthorized",
    "PromotionVerdict",
    "RegistrationError",
    "Rubric",
    "RubricViolation",
    "SampleError",
    "SystemNotFound",
    "SystemUnavailable",
    "TaskClass",
    "TaskClassAlreadyRegistered",
    "TaskClassNotFound",
    "TaskClassRegistry",
    "TierFileError",
    "TrialResult",
    "Unreadable",
    "Usage",
    "accept",
    "default_registry",
    "register_task_class",
    "run_eval",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("pytest-benchgate")
    if name not in __all__:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    home = next((module for module, names in _HOMES.items() if name in names), "errors")
    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
