"""Starts a bench session: registers the parts that this process needs, each as a plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchgate.pytest_plugin.controller import Controller
from benchgate.pytest_plugin.nodes import SESSION
from benchgate.pytest_plugin.other_reports import OtherReports
from benchgate.pytest_plugin.progress import SessionProgress
from benchgate.pytest_plugin.reports import Reports
from benchgate.pytest_plugin.session import BenchSession
from benchgate.pytest_plugin.terminal import Terminal
from benchgate.pytest_plugin.workers import ADDOPTS, Workers, restore_addopts

if TYPE_CHECKING:
    from benchgate.pytest_plugin.selection import Selection


def start(config: pytest.Config, selection: Selection) -> None:
    """
    Load the selected classes and register the plugins of this process.

    :raises pytest.UsageError: an option, a class, the policy, the baseline or the output folder is unusable.
    """
    # Not hasplugin("timeout"): with autoload off the plugin goes by its module's name.
    if not hasattr(config.hook, "pytest_timeout_set_timer"):
        msg = "benchgate enforces time limits with pytest-timeout, which is switched off: drop -p no:timeout"
        raise pytest.UsageError(msg)
    if getattr(config.option, "dist", "no") == "each":
        msg = "--dist=each would run each case once in every worker: type --dist=load; --bench-trials=N repeats cases"
        raise pytest.UsageError(msg)
    session = BenchSession(config, selection)
    session.open()
    config.pluginmanager.register(session, "benchgate-session")
    config.pluginmanager.register(Reports(session), "benchgate-reports")
    config.stash[SESSION] = session
    if selection.by_option:
        # Workers parse the command line themselves, so each of them does this too.
        config.args = [str(selection.root / name / "cases") for name in selection.classes]
    if hasattr(config, "workerinput"):
        restore_addopts(config.workerinput.get(ADDOPTS))
        return
    controller = Controller(session)
    controller.open()
    config.pluginmanager.register(controller, "benchgate-controller")
    if getattr(config.option, "dist", "no") != "no":
        config.pluginmanager.register(Workers(controller), "benchgate-workers")
    config.pluginmanager.register(SessionProgress(controller), "benchgate-progress")
    config.pluginmanager.register(Terminal(controller), "benchgate-terminal")
    config.pluginmanager.register(OtherReports(controller), "benchgate-other-reports")
