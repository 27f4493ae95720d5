"""Tells on a session how far it is: on a terminal in a line that moves, else beside what pytest prints."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from benchgate.errors import printable
from benchgate.runner.progress import Progress, told_each_minute

if TYPE_CHECKING:
    from collections.abc import Generator

    from benchgate.models import TrialResult
    from benchgate.pytest_plugin.controller import Controller

    Status = tuple[str, str, object]


class SessionProgress:
    """Counts the trials that end, and tells on stderr."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller
        self._progress = Progress()
        self._newest = ""
        self._room = 0
        self._moves = False

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Tell while items run."""
        config = session.config
        # There is no verbosity with -p no:terminal.
        if config.option.collectonly or config.getoption("verbose", 0) < -1:
            return (yield)
        self._moves = self._controller.session.selection.by_option and _is_free(config)
        if self._moves:
            config.pluginmanager.getplugin("terminalreporter").showfspath = False
            self._room = config.get_terminal_writer().fullwidth - 1
        line = self._short_line if self._moves else self._line
        # A copy: pytest exchanges what is behind the number while an item runs.
        with (
            os.fdopen(os.dup(2), "wb") as stderr,
            told_each_minute(line, stderr.fileno(), before="\n", moves=self._moves),
        ):
            try:
                return (yield)
            finally:
                self._moves = False  # pytest's summary asks for words again

    @pytest.hookimpl(wrapper=True)
    def pytest_report_teststatus(self) -> Generator[None, Status, Status]:
        """Have pytest print no letter where a line moves."""
        category, letter, word = yield
        if self._moves:
            return category, "", ""
        return category, letter, word

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Note what runs; the pace is that since the first item began."""
        if not self._newest:
            self._progress = Progress()
        self._newest = printable(nodeid.rpartition("::")[2])

    def _line(self) -> str:
        runs = [*self._controller.runs.values()]
        self._progress.plan(sum(len(run.candidate.keys) for run in runs))
        return self._progress.line()

    def _short_line(self) -> str:
        if not self._newest:
            return ""  # workers of pytest-xdist begin, and say so
        self._line()
        config = self._controller.session.config
        settings = self._controller.session.settings
        workers = len(config.getoption("tx", None) or ()) or 1
        text = f"{self._progress.counts(workers * settings.jobs)}: "
        name = self._newest
        half = (self._room - len(text) - 3) // 2
        if len(text) + len(name) > self._room and half > 0:
            name = f"{name[:half]}...{name[-half:]}"
        return f"{text}{name}"[: self._room]

    def pytest_bench_case_finished(self, result: TrialResult) -> None:
        """Count a trial."""
        self._progress.add(result)


def _is_free(config: pytest.Config) -> bool:
    """Whether a person sits at the terminal, and nothing but pytest as it comes writes there while items run."""
    reporter = config.pluginmanager.getplugin("terminalreporter")
    others = ("usepdb", "trace", "setupshow", "log_cli_level")
    return (
        type(reporter) is pytest.TerminalReporter
        and bool(reporter.isatty)
        and os.isatty(2)
        and "CI" not in os.environ
        and (config.option.verbose, config.option.capture) in ((0, "fd"), (0, "sys"))
        and config.getini("console_output_style") == "progress"
        and not (config.getini("log_cli") or any(config.getoption(o, None) for o in others))
    )
