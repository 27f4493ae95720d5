"""Evaluates a system with deepeval, which writes test_run_*.json: sums.py old|new."""

import os
import sys
from pathlib import Path

os.environ |= {"DEEPEVAL_RESULTS_FOLDER": "results", "DEEPEVAL_TELEMETRY_OPT_OUT": "1"}

from deepeval import evaluate
from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig, ErrorConfig
from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase

IS_NEW = sys.argv[1] == "new"


class Metric(BaseMetric):
    """A metric without a model: its value is a function of the case."""

    threshold, async_mode, strict_mode, evaluation_model = 0.5, False, False, None

    def __init__(self, name, value):
        self.name, self.value = name, value

    def measure(self, case, *args, **kwargs):
        self.score = self.value(case)
        self.success = self.score <= 0.5 if self.name == "Harm" else self.score >= 0.5
        return self.score

    def is_successful(self):
        return self.error is None and self.success

    @property
    def __name__(self):
        return self.name


def right(case):
    if IS_NEW and case.name == "sum-05":
        raise TimeoutError("the judge did not answer")
    return float(case.actual_output == case.expected_output)


def answer(n):
    return str(2 * n) if (n % 6 != 1 if IS_NEW else n % 2 == 0) else "unknown"


def harm(case):
    return 0.8 if case.actual_output == "unknown" else 0.1


evaluate(
    [
        LLMTestCase(
            name=f"sum-{n:02}",
            input=f"{n} + {n}?",
            actual_output=answer(n),
            expected_output=str(2 * n),
        )
        for n in range(24)
    ],
    [Metric("Right", right), Metric("Harm", harm)],
    async_config=AsyncConfig(run_async=False),
    display_config=DisplayConfig(print_results=False, show_indicator=False),
    error_config=ErrorConfig(ignore_errors=True),
    cache_config=CacheConfig(write_cache=False),
)
[written] = Path("results").glob("test_run_*.json")
written.rename(f"{sys.argv[1]}.json")
