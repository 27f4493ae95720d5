"""Tells on a long session how far it is, beside what pytest prints."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from benchgate.runner.progress import Progress, told_each_minute

if TYPE_CHECKING:
    from collections.abc import Generator

    from benchgate.models import TrialResult
    from benchgate.pytest_plugin.controller import Controller


class SessionProgress:
    """Counts the trials that end, and tells on stderr."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller
        self._progress = Progress()

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Tell while items run."""
        config = session.config
        # There is no verbosity with -p no:terminal.
        if config.option.collectonly or config.getoption("verbose", 0) < -1:
            return (yield)
        self._progress = Progress()
        # A copy: pytest exchanges what is behind the number while an item runs.
        with (
            os.fdopen(os.dup(2), "wb") as stderr,
            told_each_minute(self._line, stderr.fileno(), before="\n"),
        ):
            return (yield)

    def _line(self) -> str:
        runs = [*self._controller.runs.values()]
        self._progress.plan(sum(len(run.candidate.keys) for run in runs))
        return self._progress.line()

    def pytest_bench_case_finished(self, result: TrialResult) -> None:
        """Count a trial."""
        self._progress.add(result)
