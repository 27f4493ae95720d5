"""
The statistics of the gate, as pure functions from samples to figures.

Use it without benchgate if you like: nothing here knows of pytest, files or policies. Results are
frozen dataclasses of builtin types; an undefined figure is None, never NaN. Wrong arguments raise
ValueError. numpy and scipy.special are loaded by the first figure that needs them.
"""

from benchgate.statistics.bands import (
    PrefixPoint,
    SampleSizeBand,
    SeedBand,
    sample_size_band,
    seed_band,
)
from benchgate.statistics.binary_power import (
    paired_binary_power,
    pass_fail_gains,
    sign_flip_and_t_gains,
    t_gains,
    welch_binary_power,
    welch_binary_region,
)
from benchgate.statistics.bounds import (
    DifferenceBounds,
    gaffke_lower,
    gaffke_upper,
    mover_gaffke,
    unseen_failure_ucb,
)
from benchgate.statistics.cluster_plan import clustered_detectable, constant_cases_needed
from benchgate.statistics.clusters import (
    clustered_gaffke_lower,
    clustered_gaffke_upper,
    clustered_mover_gaffke,
    clustered_paired_t,
    clustered_paired_test,
    clustered_welch_test,
    effective_cases,
    grouped,
    is_constant,
)
from benchgate.statistics.detectable import Detectable, paired_detectable, welch_detectable
from benchgate.statistics.effect import EffectSize, effect_size, hedges_correction
from benchgate.statistics.paired import (
    PairedT,
    PairedTest,
    paired_differences,
    paired_t,
    paired_test,
)
from benchgate.statistics.pass_fail import (
    PassFailTest,
    cases_for_margin,
    changes,
    pass_fail_p,
    pass_fail_test,
    smallest_margin,
)
from benchgate.statistics.safety import (
    clean_cases_needed,
    incident_pass_chance,
    penalty_rise_upper,
    safety_pass_chance,
)
from benchgate.statistics.sign_flip import SignFlip, sign_flip
from benchgate.statistics.studentized_range import studentized_range_quantile
from benchgate.statistics.summary import Summary, mean, summarize
from benchgate.statistics.welch import WelchTest, welch_from_summaries, welch_test

__all__ = [
    "Detectable",
    "DifferenceBounds",
    "EffectSize",
    "PairedT",
    "PairedTest",
    "PassFailTest",
    "PrefixPoint",
    "SampleSizeBand",
    "SeedBand",
    "SignFlip",
    "Summary",
    "WelchTest",
    "cases_for_margin",
    "changes",
    "clean_cases_needed",
    "clustered_detectable",
    "clustered_gaffke_lower",
    "clustered_gaffke_upper",
    "clustered_mover_gaffke",
    "clustered_paired_t",
    "clustered_paired_test",
    "clustered_welch_test",
    "constant_cases_needed",
    "effect_size",
    "effective_cases",
    "gaffke_lower",
    "gaffke_upper",
    "grouped",
    "hedges_correction",
    "incident_pass_chance",
    "is_constant",
    "mean",
    "mover_gaffke",
    "paired_binary_power",
    "paired_detectable",
    "paired_differences",
    "paired_t",
    "paired_test",
    "pass_fail_gains",
    "pass_fail_p",
    "pass_fail_test",
    "penalty_rise_upper",
    "safety_pass_chance",
    "sample_size_band",
    "seed_band",
    "sign_flip",
    "sign_flip_and_t_gains",
    "smallest_margin",
    "studentized_range_quantile",
    "summarize",
    "t_gains",
    "unseen_failure_ucb",
    "welch_binary_power",
    "welch_binary_region",
    "welch_detectable",
    "welch_from_summaries",
    "welch_test",
]
