"""
The statistics of the gate, as pure functions from samples to figures.

Use it without benchgate if you like: nothing here knows of pytest, files or policies. Results are
frozen dataclasses of builtin types; an undefined figure is None, never NaN. Wrong arguments raise
ValueError. numpy and scipy.special are loaded by the first figure that needs them.
"""

from benchgate.statistics.bounds import unseen_failure_ucb
from benchgate.statistics.detectable import Detectable, Goal, paired_detectable, welch_detectable
from benchgate.statistics.effect import effect_size
from benchgate.statistics.paired import PairedTest, paired_test
from benchgate.statistics.pass_fail import pass_fail_test
from benchgate.statistics.student import TTest
from benchgate.statistics.welch import welch_test

__all__ = [
    "Detectable",
    "Goal",
    "PairedTest",
    "TTest",
    "effect_size",
    "paired_detectable",
    "paired_test",
    "pass_fail_test",
    "unseen_failure_ucb",
    "welch_detectable",
    "welch_test",
]
