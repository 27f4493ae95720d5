"""Stops a run whose results so far say that no result of the rest could lead to promote."""

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
    from benchgate.gates.policy import GatePolicy
    from benchgate.models import BenchRunReport
    from benchgate.runner.settings import RunRequest
    from benchgate.trials.planned import PlannedTrials


class Stopping:
    """
    Watches the trials of a run.

    :param count: returns the number of the look that the run is going to be.
    """

    def __init__(
        self,
        trials: PlannedTrials,
        baseline: Baseline,
        policy: GatePolicy,
        count: Callable[[BenchRunReport, BenchRunReport], int | None],
    ) -> None:
        from benchgate.gates.certificate import ordered

        self._trials, self._baseline, self._policy, self._count = trials, baseline, policy, count
        self._report: BenchRunReport | None = None
        self._before = arm(baseline.report) if baseline.report else None
        trials.order = ordered(self._before) if self._before else ()

    def check(self) -> None:
        """Stop once it is decided: at the first trials of the order alone, each with a result that stays."""
        from benchgate.gates.certificate import certificate, partial_of

        trials, before = self._trials, self._baseline.report
        rows = dict(zip(trials.keys, trials.results(), strict=True))
        results = [rows[key] for key in trials.in_order]
        ran = [not irregular(result) for result in results]
        if self._before is None or before is None or ran != sorted(ran, reverse=True) or all(ran):
            return
        if self._report is None:
            self._report = trials.report(self._baseline.sha256)
            if any(baseline_blockers(self._report, self._baseline)):
                self._before = None
                return
            self._policy = judged_at(self._policy, self._count(before, self._report))
        report = self._report.model_copy(update={"per_case": tuple(results)})
        found = certificate(
            self._before, partial_of(report, self._before, self._policy), self._policy
        )
        if found is not None:
            trials.stopped = f"{STOP}{found}"


def stopping(
    request: RunRequest,
    trials: PlannedTrials,
    baseline: Baseline | None,
    count: Callable[[BenchRunReport, BenchRunReport], int | None],
) -> Stopping | None:
    """
    Return what may stop a run; ``None`` where nothing may, as there is nothing to be better than.

    :raises ArtifactError: it is asked for where nobody could know that a run is decided.
    """
    given, policy = request.settings, request.bench.policy
    if given.stop != "decided":
        return None
    from benchgate.gates.certificate import obstacle

    why = obstacle(policy)
    if "baseline" in request.systems:
        why = "both sides are run case by case; pin the baseline, or name its file"
    elif given.shard is not None:
        why = "a shard does not see the results of the others"
    elif given.executor is not None:
        why = "it is for runs in one process"
    if why:
        raise ArtifactError("stop = 'decided'", why)
    usable = baseline is not None and not baseline.problems and trials.scope == "full"
    return Stopping(trials, baseline, policy, count) if usable and baseline else None
