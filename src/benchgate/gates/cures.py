"""
What to do about a run that is incomplete: each cause has its own cure.

Options are named as those of ``benchgate run``; other doors translate them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchgate.aggregate import INCOMPLETE, irregular, is_capped

if TYPE_CHECKING:
    from benchgate.models import BenchRunReport

RESUME: Final = "fix what kept trials from a result, then run only them: --resume"
HIGHER_CAP: Final = "run only the rest, with a higher cap: --resume --max-cost-usd=USD"
NO_RERUNS: Final = (
    "run it again without reruns of tests, as --reruns of pytest-rerunfailures makes them: the first result of a trial "
    "counts; for outages there is --retries=N"
)
OF_TESTS: Final = frozenset({"pytest", "junit", "ctrf", "pytest-json-report"})
"""What wrote the results of tests, in which no field numbers repetitions."""


def cure(report: BenchRunReport) -> str:
    """Return what makes an incomplete run complete the next time."""
    if report.source is not None:
        return _cure_of_log(report, report.source.tool)
    if any(result.reruns for result in report.per_case):
        return NO_RERUNS
    if any(map(is_capped, report.per_case)):
        return HIGHER_CAP
    return RESUME


def _cure_of_log(report: BenchRunReport, tool: str) -> str:
    if any(result.reruns for result in report.per_case):
        if tool in OF_TESTS:
            return "run the tests without reruns, each name once, and give that file"
        return "give one sample per case and repetition: --map trial=FIELD numbers repetitions"
    if any(result.outcome in INCOMPLETE for result in report.per_case):
        return "try each case equally often, then give the new log"
    if not any(map(irregular, report.per_case)):
        return "let the eval run to its end in its harness, then give the new log"
    return "give complete logs"
