"""One class whose trials a process runs: what runs them, where, and the files of those that are finished."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from benchgate.errors import EvalError
from benchgate.replay.player import Player
from benchgate.runner.trial_files import TrialFiles
from benchgate.trials.trial import TrialRunner
from benchgate.trials.trial_http import HttpTerms

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.isolation.isolated import Isolated
    from benchgate.models import Side
    from benchgate.runner.lane import Lane
    from benchgate.runner.settings import RunRequest
    from benchgate.trials.executor import RunsTrials, TrialExecutor
    from benchgate.trials.trial import Waiter


class ServedClass:
    """A class whose trials are run through a lane."""

    def __init__(self, run: RunRequest, lane: Lane, isolated: Isolated | None) -> None:
        self.run = run
        self.lane = lane
        self.runners: dict[Side, RunsTrials] = {}
        self.isolated = isolated

    @cached_property
    def files(self) -> TrialFiles | None:
        """The files of finished trials; ``None`` unless the whole class is run, and written."""
        folder = self.run.folder
        if folder is None or not folder.is_dir():
            return None
        return TrialFiles(folder, self.run.bench.name, self.run.scored_by()[1])

    def runner(
        self, side: Side, wait: Waiter, is_timeout: Callable[[BaseException], bool]
    ) -> RunsTrials:
        """Return what runs the trials of a system, or plays them."""
        if side not in self.runners:
            run, bench, system = self.run, self.run.bench, self.run.systems[side]
            out, recorder = run.settings.out, run.recorder
            drafts = recorder.drafts(out) if out and recorder else None
            runner = TrialRunner(
                task_class=bench.name,
                system=system.call,
                score=run.scored_by()[0],
                taxonomy=bench.taxonomy,
                wait=wait,
                alone=self.lane.executor is None,
                http=HttpTerms(system=system.name, class_path=bench.path, record=drafts),
                is_timeout=is_timeout,
            )
            if self.isolated is not None:
                runner = self.isolated.around(runner, system, run.settings.limit)
            self.runners[side] = Player(runner, run.recording) if run.recording else runner
        return self.runners[side]


def isolated_class(run: RunRequest, own: TrialExecutor | None) -> Isolated | None:
    """
    Start the processes that the trials of a class run in; ``None`` if they run here, or are not run but played.

    :raises EvalError: the level cannot be had.
    """
    level = run.settings.isolation
    if level == "none" or run.recording is not None:
        return None
    if own is not None:
        raise EvalError(f"isolation={level}: an executor of one's own runs trials as it does")
    from benchgate.isolation.isolated import Isolated

    isolated = Isolated(run.bench, run.systems, level)
    isolated.open()
    return isolated
