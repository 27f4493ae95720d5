"""Stops a run once its results say that no result of the rest could lead to promote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.aggregate import STOP, irregular
from benchgate.errors import ArtifactError
from benchgate.gates.baseline import arm
from benchgate.gates.blockers import baseline_blockers
from benchgate.gates.looks import judged_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.gates.baseline import Baseline
    from benchgate.models import BenchRunReport
    from benchgate.runner.settings import RunRequest
    from benchgate.trials.planned import PlannedTrials


def check_stop(request: RunRequest) -> None:
    """
    Check that it can be known when a run is decided, if it is to stop then.

    :raises ArtifactError: it cannot.
    """
    from benchgate.gates.certificate import obstacle

    given, why = request.settings, obstacle(request.bench.policy)
    if "baseline" in request.systems:
        why = "both sides are run case by case; pin the baseline, or name its file"
    elif given.shard is not None:
        why = "a shard does not see the results of the others"
    elif given.executor is not None:
        why = "it is for runs in one process"
    if why and given.stop == "decided":
        raise ArtifactError("stop = 'decided'", why)


class Stopping:
    """
    Watches the trials of a run, and stops them.

    :param count: returns the number of the look that the run is going to be.
    """

    def __init__(
        self,
        trials: PlannedTrials,
        baseline: Baseline,
        count: Callable[[BenchRunReport, BenchRunReport], int | None],
    ) -> None:
        from benchgate.gates.certificate import ordered

        self._trials, self._baseline, self._count = trials, baseline, count
        self._report: BenchRunReport | None = None
        self._policy = trials.bench.policy
        trials.order = ordered(arm(baseline.report)) if baseline.report else ()

    def check(self) -> None:
        """Stop after the first trials of the order that decide it, each with a result that stays."""
        from benchgate.gates.certificate import certificate, partial_of

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
