"""Shows on a long session how far it is, beside what pytest prints."""

from __future__ import annotations

import os
from contextlib import ExitStack, nullcontext
from typing import TYPE_CHECKING

import pytest

from benchgate.runner.progress import Progress, ProgressDisplay, is_terminal

if TYPE_CHECKING:
    from collections.abc import Generator

    from benchgate.models import TrialResult
    from benchgate.pytest_plugin.controller import Controller


class SessionProgress:
    """On a terminal a live line below pytest's own, which is taken away while pytest writes; else lines on stderr."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller
        self._progress = Progress()
        self._display: ProgressDisplay | None = None

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Show it while items run."""
        config = session.config
        if (
            config.option.collectonly or config.getoption("verbose", 0) < -1
        ):  # none with -p no:terminal
            return (yield)
        self._progress = Progress()
        is_live = self._is_live(config)
        with ExitStack() as stack:
            # A copy: pytest exchanges what is behind the number while an item runs.
            descriptor = os.dup(1 if is_live else 2)
            stack.callback(os.close, descriptor)
            display = ProgressDisplay(self._line, descriptor, is_live=is_live, before="\n")
            self._display = stack.enter_context(display)
            return (yield)

    @staticmethod
    def _is_live(config: pytest.Config) -> bool:
        # Another reporter than pytest's own may draw lines itself; with -s anything may be written at any time.
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        is_own = type(reporter) is pytest.TerminalReporter and config.option.capture != "no"
        return is_own and is_terminal(1)

    def _line(self) -> str:
        runs = self._controller.runs.values()
        self._progress.plan(sum(len(run.candidate.keys) for run in runs))
        return self._progress.line()

    def pytest_bench_case_finished(self, result: TrialResult) -> None:
        """Count a trial."""
        self._progress.add(result)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logstart(self) -> Generator[None]:
        """Make room for what pytest writes."""
        with self._display.hidden() if self._display else nullcontext():
            return (yield)

    pytest_runtest_logreport = pytest_runtest_logfinish = pytest_runtest_logstart
