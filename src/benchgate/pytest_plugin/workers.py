"""Tells the workers of pytest-xdist where rootdir and the run are, and when to stop."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any

import pytest

from benchgate.audit.chain import UNFINISHED

if TYPE_CHECKING:
    from benchgate.pytest_plugin.session import BenchSession


ADDOPTS = "PYTEST_ADDOPTS"


def restore_addopts(before: str | None) -> None:
    """Put the variable back that told workers rootdir; ``None`` is not set."""
    os.environ.pop(ADDOPTS, None)
    if before is not None:
        os.environ[ADDOPTS] = before


class Workers:
    """The workers of a session, as the controller knows them."""

    def __init__(self, session: BenchSession) -> None:
        self._session = session
        self._addopts: str | None = None
        self._nodes: list[Any] = []

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_setupnodes(self) -> None:
        """
        Tell workers rootdir and ini file.

        They look for these by the arguments. There pytest takes the second word of ``--bench-out DIR`` for a path, but
        only once DIR exists, so that they would find another rootdir than this process did.
        """
        config = self._session.config
        self._addopts = os.environ.get(ADDOPTS)
        given = [*shlex.split(self._addopts or ""), "--rootdir", str(config.rootpath)]
        if config.inipath is not None:
            given += ["-c", str(config.inipath)]
        os.environ[ADDOPTS] = shlex.join(given)
        config.add_cleanup(lambda: restore_addopts(self._addopts))

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker where finished trials are kept, and the environment that its systems are to see."""
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
            # There is no public way to ask; without it, it takes the five seconds.
            process = getattr(getattr(node.gateway, "_io", None), "popen", None)
            if process is not None:
                process.terminate()
