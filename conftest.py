"""Wiring of this repository's own tests; a user of benchgate needs none."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

    from xdist.remote import Producer

pytest_plugins = ["pytester"]
LEFT_OUT = "not slow and not nightly"
"""The ``-m`` of ``addopts``, in pyproject.toml."""
TRACED = tuple(Path(__file__).parent / "tests" / folder for folder in ("unit", "engine", "e2e"))
"""The tests that coverage measures where it runs: they reach its floor, and tracing sessions of pytest takes long."""


def pytest_configure(config: pytest.Config) -> None:
    """Run a test whose own id is given, slow or not: what ``addopts`` leaves out, it leaves out of runs of many."""
    if config.option.markexpr == LEFT_OUT and all("::" in given for given in config.args):
        config.option.markexpr = ""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> object:
    """Begin each worker with whole modules, which make once what their tests share; a bench is run as its user says."""
    if config.option.dist != "load" or config.getoption("--bench", None):
        return None
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Say that tests are left out: with workers pytest itself does not. A bench has none to leave out."""
    tests = any("tests" in Path(given).parts for given in config.args)
    if config.option.markexpr != LEFT_OUT or not tests or config.getoption("--bench", None):
        return []
    return ["left out: what is marked slow or nightly; run it with -m slow, or all with -m ''"]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Stop coverage, if it runs, for a test that is not among those it measures."""
    coverage = sys.modules.get("coverage")
    tracer = coverage.Coverage.current() if coverage else None
    if tracer is None or any(item.path.is_relative_to(folder) for folder in TRACED):
        return (yield)
    tracer.stop()
    try:
        return (yield)
    finally:
        tracer.start()
