"""
What to do about a run that is incomplete: each cause has its own cure.

Options are named as those of ``benchgate run``; other doors translate them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchgate.aggregate import INCOMPLETE, irregular, is_capped
from benchgate.sentences.says import says

if TYPE_CHECKING:
    from benchgate.models import BenchRunReport
    from benchgate.sentences.says import Says

OF_TESTS: Final = frozenset({"pytest", "junit", "ctrf", "pytest-json-report"})
"""What wrote the results of tests, in which no field numbers repetitions."""


def cure(report: BenchRunReport) -> Says:
    """Return what makes an incomplete run complete the next time."""
    if report.source is not None:
        return _cure_of_log(report, report.source.tool)
    if any(result.reruns for result in report.per_case):
        return says("cure.no_reruns")
    if any(map(is_capped, report.per_case)):
        return says("cure.higher_cap")
    return says("cure.resume")


def _cure_of_log(report: BenchRunReport, tool: str) -> Says:
    if any(result.reruns for result in report.per_case):
        if tool in OF_TESTS:
            return says("cure.tests_once")
        return says("cure.one_sample")
    if any(result.outcome in INCOMPLETE for result in report.per_case):
        return says("cure.equally_often")
    if not any(map(irregular, report.per_case)):
        return says("cure.whole_eval")
    return says("cure.complete_logs")
