"""Cases whose worker died while it ran them; only xdist goes on after that."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import pytest

from benchgate.models import BenchCase
from benchgate.pytest_plugin.layout import is_case_file, trial_key
from benchgate.pytest_plugin.reports import excuse
from benchgate.trials.time_limit import ends_after

if TYPE_CHECKING:
    from benchgate.pytest_plugin.controller import Controller


ENOUGH: Final = 0.9
"""The controller hears of the beginning and of the end of a trial a little late."""


class Crashes:
    """Files a case whose worker died: as a timeout if the backstop of its limit ended it, else as not run."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller
        self._started: dict[str, float] = {}

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Forget an item that ended."""
        self._started.pop(nodeid, None)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note when a trial began, and file the item of xdist's report about a worker that died."""
        if report.when == "setup":  # before it only other plugins ran, which no limit is on
            self._started[report.nodeid] = time.monotonic()
        if report.when != "???":  # type: ignore[comparison-overlap]
            return
        now = time.monotonic()
        after = now - self._started.pop(report.nodeid, now)
        session = self._controller.session
        path, _, name = report.nodeid.partition("::")
        case_file = session.config.rootpath / path
        run = (
            self._controller.runs.get(case_file.parents[2].name)
            if is_case_file(case_file)
            else None
        )
        if run is None:
            return
        side, key = trial_key(case_file, name)
        ledger = run.ledgers[side]
        case = session.load(case_file)
        # Only what the backstop ends is surely a timeout. Whatever else ends a worker says nothing about the system.
        if (
            isinstance(case, BenchCase)
            and session.trials.in_turn
            and after >= ENOUGH * ends_after(limit := session.limit(case))
        ):
            self._controller.file(run, report, ledger.ended(key, limit, after), {"side": side})
        else:
            ledger.not_run(key, str(report.longrepr))
        if side == "baseline":
            excuse(report)
