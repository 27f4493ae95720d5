"""What many trials at once need in one process: threads, one event loop, and prints that are kept apart."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from benchgate.live.executor import LiveExecutor
from benchgate.live.prints import PrintRouter, printing

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from benchgate.trials.executor import RunsTrials, TrialRecord, TrialRequest
    from benchgate.trials.pacing import Pacing, Pause


class SideBySide:
    """
    Runs trials at once, each with its own prints.

    :param runner_of: returns what runs a trial.
    """

    def __init__(
        self, runner_of: Callable[[TrialRequest], RunsTrials], pacing: Pacing, jobs: int
    ) -> None:
        self._runner_of = runner_of
        self._pacing = pacing
        self._prints = PrintRouter()
        self._executor = LiveExecutor(self._run, jobs)
        self._exit = ExitStack()
        self._exit.callback(self._prints.close)
        self._exit.callback(self._executor.close)

    def submit(self, request: TrialRequest) -> Future[TrialRecord]:
        """Run a trial once there is room for it."""
        self._prints.watch()
        return self._executor.submit(request)

    def close(self) -> None:
        """End what runs and drop what waits."""
        self._exit.close()

    def _run(self, request: TrialRequest, pause: Pause) -> TrialRecord:
        with printing() as printed:
            record = self._pacing.run(self._runner_of(request).run, request, pause)
        return replace(record, printed=printed.getvalue())
