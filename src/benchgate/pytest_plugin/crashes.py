"""Cases whose worker died while it ran them; only xdist goes on after that."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from benchgate.models import BenchCase
from benchgate.pytest_plugin.layout import is_case_file, trial_key
from benchgate.pytest_plugin.reports import excuse
from benchgate.pytest_plugin.trials import TRACEBACK

if TYPE_CHECKING:
    from benchgate.pytest_plugin.controller import Controller


class Crashes:
    """
    Files a case whose worker died: as a timeout if the backstop of its limit ended it, else as not run.

    That it was the backstop is known by its traceback. Time alone does not tell: a trial may have waited for a retry,
    or have ended, when something else ended the worker.
    """

    def __init__(self, controller: Controller) -> None:
        self._controller = controller
        self._folder: Path | None = None

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Give a worker its file."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="benchgate-"))
            config = self._controller.session.config
            config.add_cleanup(lambda: shutil.rmtree(str(self._folder), ignore_errors=True))
        node.workerinput[TRACEBACK] = str(self._folder / node.gateway.id)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """File the item of xdist's report about a worker that died."""
        if report.when != "???":  # type: ignore[comparison-overlap]
            return
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
        trials = run.sides[side]
        case, traceback = session.load(case_file), self._traceback(report)
        if isinstance(case, BenchCase) and traceback:
            report.sections.append(("the process of the trial when it was ended", traceback))
            result = trials.ended(key, session.settings_of[run.name].limit(case))
            self._controller.file(run, report, result, {"side": side})
        else:
            trials.not_run(key, str(report.longrepr))
        if side == "baseline":
            excuse(report)

    def _traceback(self, report: pytest.TestReport) -> str:
        node = getattr(report, "node", None)
        if self._folder is None or node is None:
            return ""
        file = self._folder / node.gateway.id
        return file.read_text(errors="replace") if file.is_file() else ""
