"""Stops a run once its results say that no result of the rest could lead to promote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.aggregate import STOP, irregular
from benchgate.gates.baseline import arm
from benchgate.gates.blockers import baseline_blockers
from benchgate.gates.certificate import certificate, ordered, partial_of
from benchgate.gates.looks import judged_at

if TYPE_CHECKING:
    from benchgate.gates.baseline import Baseline
    from benchgate.gates.judge import Counter
    from benchgate.models import BenchRunReport
    from benchgate.trials.planned import PlannedTrials


class Stopping:
    """
    Watches the trials of a run, and stops them.

    :param count: returns the number of the look that the run is going to be.
    """

    def __init__(self, trials: PlannedTrials, baseline: Baseline, count: Counter) -> None:
        self._trials, self._baseline, self._count = trials, baseline, count
        self._report: BenchRunReport | None = None
        self._policy = trials.bench.policy
        trials.order = ordered(arm(baseline.report)) if baseline.report else ()

    def check(self) -> None:
        """Stop after the first trials of the order that decide it, each with a result that stays."""
        trials, before = self._trials, self._baseline.report
        results = dict(zip(trials.keys, trials.results(), strict=True))
        ran = [not irregular(results[key]) for key in trials.in_order]
        if before is None or ran != sorted(ran, reverse=True) or all(ran) or trials.stopped:
            return
        if self._report is None:
            self._report = trials.report(self._baseline.sha256)
            self._policy = judged_at(self._policy, self._count(before, self._report))
        report = self._report.model_copy(update={"per_case": tuple(results.values())})
        if not any(baseline_blockers(report, self._baseline)):
            side = arm(before)
            found = certificate(side, partial_of(report, side, self._policy), self._policy)
            trials.stopped = f"{STOP}{found}" if found else None
