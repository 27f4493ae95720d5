"""What a session leaves for people to look at: the page of ``--bench-html``, the summary of a CI job."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchgate.errors import EvalError, printable

if TYPE_CHECKING:
    from benchgate.pytest_plugin.session import BenchSession
    from benchgate.runner.class_run import ClassRun


class Pages:
    """Writes page and summary; the controller calls it once all runs of the session are recorded."""

    def __init__(self, session: BenchSession) -> None:
        self._publication = session.publication
        self._is_written = False

    def open(self) -> None:
        """
        Check at the start what would fail at the end.

        :raises pytest.UsageError: the page cannot be written.
        """
        try:
            self._publication.check()
        except EvalError as error:
            raise pytest.UsageError(f"--bench-html: {error}") from error

    def write(self, runs: list[ClassRun]) -> None:
        """Write; a page that fails is a problem of the run, for it was asked for; a summary is only warned of."""
        folders = [run.published.folder for run in runs if run.published is not None]
        problem = self._publication.write_page(folders)
        self._is_written = bool(self._publication.html) and problem is None
        warning = self._publication.append_summary(folders)
        for run in runs[-1:]:
            run.problems += [problem] if problem else []
            run.warnings += [warning] if warning else []

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say where the page is."""
        if self._is_written:
            terminalreporter.write_line(printable(f"page      {self._publication.html}"))
