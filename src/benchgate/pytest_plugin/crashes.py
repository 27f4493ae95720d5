"""Cases whose worker died while it ran them; only xdist goes on after that."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from benchgate.models import BenchCase
from benchgate.pytest_plugin.layout import is_case_file, trial_key

if TYPE_CHECKING:
    from benchgate.pytest_plugin.controller import Controller


class Crashes:
    """Files a case whose worker died: as a timeout if it was over its limit by then, else as not run."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller
        self._started: dict[str, float] = {}

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Note when an item began."""
        self._started[nodeid] = time.monotonic()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Forget an item that ended."""
        self._started.pop(nodeid, None)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """File the item of xdist's report about a worker that died."""
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
        key = trial_key(case_file, name)
        case = session.load(case_file)
        if isinstance(case, BenchCase) and after >= (limit := session.limit(case)):
            self._controller.file(run, report, run.ledger.ended(key, limit, after))
        else:
            run.ledger.not_run(key, str(report.longrepr))
