"""Tells the workers of pytest-xdist where rootdir and the run are, and when to stop; files the trials of dead ones."""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from benchgate.audit.chain import UNFINISHED
from benchgate.models import BenchCase
from benchgate.pytest_plugin.layout import is_case_file, trial_key
from benchgate.pytest_plugin.reports import excuse
from benchgate.pytest_plugin.trials import TRACEBACK
from benchgate.trials.executor import TrialRecord

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.pytest_plugin.controller import Controller


ADDOPTS = "PYTEST_ADDOPTS"

GROUPING = frozenset({"loadfile", "loadgroup", "loadscope"})
"""Values of ``--dist`` with which pytest-xdist waits for ever, or fails, when a worker dies (xdist 784 and 1327)."""


def restore_addopts(before: str | None) -> None:
    """Put the variable back that told workers rootdir; ``None`` is not set."""
    os.environ.pop(ADDOPTS, None)
    if before is not None:
        os.environ[ADDOPTS] = before


class Workers:
    """The workers of a session, as the controller knows them."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller
        self._session = controller.session
        self._addopts: str | None = None
        self._nodes: list[Any] = []
        self._tracebacks = Path()

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_setupnodes(self) -> None:
        """
        Tell workers rootdir and ini file, and make the folder of their tracebacks.

        They look for these by the arguments. There pytest takes the second word of ``--bench-out DIR`` for a path, but
        only once DIR exists, so that they would find another rootdir than this process did.
        """
        config = self._session.config
        self._addopts = os.environ.get(ADDOPTS)
        words = [*shlex.split(self._addopts or ""), "--rootdir", str(config.rootpath)]
        if config.inipath is not None:
            words += ["-c", str(config.inipath)]
        os.environ[ADDOPTS] = shlex.join(words)
        config.add_cleanup(lambda: restore_addopts(self._addopts))
        self._tracebacks = Path(tempfile.mkdtemp(prefix="benchgate-"))
        config.add_cleanup(partial(shutil.rmtree, self._tracebacks, ignore_errors=True))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        """Hand out cases one by one, where xdist would hand out groups: no case depends on another."""
        if config.getoption("dist") not in GROUPING:
            return None
        from xdist.scheduler import LoadScheduling  # type: ignore[import-untyped]

        return LoadScheduling(config, log)

    @pytest.hookimpl(optionalhook=True, tryfirst=True)  # before anything is written
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """
        Refuse tests that may need their group beside cases.

        :raises pytest.UsageError: names one of them.
        """
        config = self._session.config
        dist = config.getoption("dist")
        if dist not in GROUPING:
            return
        for node_id in ids:
            if not is_case_file(config.rootpath / node_id.partition("::")[0]):
                why = f"cases and other tests in one session, such as {node_id}"
                risk = "a worker that dies would keep pytest-xdist waiting for ever"
                steps = "type --dist=load, or run the cases by themselves, with --bench=CLASS"
                raise pytest.UsageError(f"--dist={dist}: {why}: {risk}; {steps}")

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker where finished trials and its traceback go, and the environment that its systems are to see."""
        node.workerinput[TRACEBACK] = str(self._tracebacks / node.gateway.id)
        node.workerinput[ADDOPTS] = self._addopts
        node.workerinput[UNFINISHED] = self._session.unfinished
        self._nodes.append(node)

    def pytest_keyboard_interrupt(self) -> None:
        """
        Stop the workers on this machine.

        Ctrl-C reaches them by itself, but a signal may have been sent to this process alone. xdist would let them run
        on for five seconds, and only then have JUnit XML written: later than many a sender waits.
        """
        if not self._session.interrupts.came:
            return
        for node in self._nodes:
            # There is no public way to ask for the process of a worker on this machine.
            process = getattr(getattr(node.gateway, "_io", None), "popen", None)
            if process is not None:
                process.terminate()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """
        File the item of xdist's report about a worker that died: as a timeout if the backstop of its limit ended it.

        That it was the backstop is known by its traceback. Time alone does not tell: a trial may have waited for a
        retry, or have ended, when something else ended the worker. Then it counts as not run.
        """
        if report.when != "???":  # type: ignore[comparison-overlap]
            return
        session = self._session
        path, _, name = report.nodeid.partition("::")
        case_file = session.config.rootpath / path
        if not is_case_file(case_file):
            return
        run = self._controller.runs.get(case_file.parents[2].name)
        if run is None:
            return
        side, key = trial_key(case_file, name)
        trials = run.sides[side]
        case = session.load(run.name, case_file.parent.name)
        file = self._tracebacks / vars(report)["node"].gateway.id
        traceback = ""
        if file.is_file():
            traceback = file.read_text(errors="replace")
        is_over = "Timeout (" in traceback  # else what a system wrote into each descriptor
        if is_over:
            report.sections.append(("the process of the trial when it was ended", traceback))
        # Of trials side by side it is not known which one hung.
        if isinstance(case, BenchCase) and is_over and session.settings_of[run.name].jobs == 1:
            result = trials.ended(key, session.settings_of[run.name].limit(case))
            record = TrialRecord(result=result, output_json=None)
            self._controller.file(run, report, record, side)
        else:
            trials.not_run(key, str(report.longrepr))
        if side == "baseline":
            excuse(report)
