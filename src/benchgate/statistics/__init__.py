"""
The statistics of the gate, as pure functions from samples to figures.

Use it without benchgate if you like: nothing here knows of pytest, files or policies. Results are
frozen dataclasses of builtin types; an undefined figure is None, never NaN. Wrong arguments raise
ValueError. numpy and scipy.special are loaded by the first figure that needs them.
"""

from benchgate.statistics.bands import sample_size_band, seed_band
from benchgate.statistics.bounds import unseen_failure_ucb
from benchgate.statistics.clusters import (
    clustered_gaffke_lower,
    clustered_gaffke_upper,
    clustered_mover_gaffke,
    clustered_paired_t,
    clustered_paired_test,
    clustered_welch_test,
    effective_cases,
    is_constant,
)
from benchgate.statistics.constant_cases import constant_cases_needed
from benchgate.statistics.detectable import (
    Detectable,
    Goal,
    detectable,
    paired_detectable,
    welch_detectable,
)
from benchgate.statistics.effect import effect_size
from benchgate.statistics.paired import PairedTest, paired_differences
from benchgate.statistics.pass_fail import (
    cases_for_margin,
    changes,
    pass_fail_p,
    pass_fail_test,
    smallest_margin,
)
from benchgate.statistics.safety import safety_pass_chance
from benchgate.statistics.summary import grouped, mean, summarize
from benchgate.statistics.welch import WelchTest, welch_test

__all__ = [
    "Detectable",
    "Goal",
    "PairedTest",
    "WelchTest",
    "cases_for_margin",
    "changes",
    "clustered_gaffke_lower",
    "clustered_gaffke_upper",
    "clustered_mover_gaffke",
    "clustered_paired_t",
    "clustered_paired_test",
    "clustered_welch_test",
    "constant_cases_needed",
    "detectable",
    "effect_size",
    "effective_cases",
    "grouped",
    "is_constant",
    "mean",
    "paired_detectable",
    "paired_differences",
    "pass_fail_p",
    "pass_fail_test",
    "safety_pass_chance",
    "sample_size_band",
    "seed_band",
    "smallest_margin",
    "summarize",
    "unseen_failure_ucb",
    "welch_detectable",
    "welch_test",
]
