"""What each threshold of the gate means, as ``--help`` says it; docs/reference/policy.md says more."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

POLICY_HELP: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "claim": (
            "CLAIM",
            "what a promotion states of the candidate: better, not_worse or no_regression (default: better)",
        ),
        "margin": ("LOSS", "of not_worse, which needs it: the loss of mean score to be excluded"),
        "tolerance": ("LOSS", "of no_regression: what a single case may lose (default: 0)"),
        "max_newly_failing": ("N", "of no_regression: cases that may newly fail (default: 0)"),
        "max_cost_increase": (
            "SHARE",
            "by how much the mean cost of a case may rise, 0.1 for 10 %% (default: no limit)",
        ),
        "max_duration_increase": (
            "SHARE",
            "by how much the mean duration of a case may rise (default: no limit)",
        ),
        "alpha": ("LEVEL", "two-sided level of the test: p must be at most this (default: 0.05)"),
        "test": (
            "TEST",
            "the test that decides: welch, or paired and auto, which compare case by case (default: welch)",
        ),
        "min_delta": ("GAIN", "of better: the difference of means to be exceeded (default: 0)"),
        "min_cases": ("N", "fewest cases of each side, at least 2; of clustered cases, clusters"),
        "max_safety_regression": (
            "RISE",
            "by how much the mean safety penalty may rise (default: 0.05)",
        ),
        "safety": (
            "RULE",
            "required: every case needs a measured penalty; optional: a comparison without any penalty passes too",
        ),
        "safety_confidence": (
            "LEVEL",
            "an upper bound of that level on the rise must keep the limit too; needs a penalty range (default: none)",
        ),
        "bands": ("KIND", "limits of the two bands that parts of a run must keep; only scaled"),
        "target_effect": ("DELTA", "difference of means worth finding (default: 0.1)"),
        "power": (
            "CHANCE",
            "with which the difference reported as detectable is found (default: 0.8)",
        ),
        "evidence": (
            "KIND",
            "standard, or exact: the lower bound for any bounded scores must exceed min_delta too (default: standard)",
        ),
        "band_level": ("LEVEL", "chance of a sound candidate to keep a band (default: 0.99)"),
        "n_resamples": (
            "N",
            "random sign patterns where the sign-flip test is not exact (default: 9999)",
        ),
        "seed": ("N", "seed of these patterns (default: 0)"),
        "looks": (
            "RULE",
            "looks at a baseline: count them, or spend alpha on them, which needs --ledger (default: count)",
        ),
        "missing": (
            "RULE",
            "cases that one side lacks: hold, or worst to count them as the worst score (default: hold)",
        ),
    }
)
"""Metavar and help of the option for each key."""

RANGE_HELP: Final[Mapping[str, str]] = MappingProxyType(
    {
        "score_range": "lowest and highest possible score",
        "penalty_range": "lowest and highest possible penalty",
    }
)
"""Help of the options with two numbers."""
