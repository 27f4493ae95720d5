"""
The pytest plugin: hooks only.

This module is imported by every pytest run of its environment, so it imports nothing heavy; what a bench
needs is imported when one was asked for.
"""

from __future__ import annotations

import gc
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from benchgate.pytest_plugin.layout import BENCH, is_case_file, is_cases_folder
from benchgate.pytest_plugin.options import add_options
from benchgate.wire.parsing import collector_paused

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from benchgate.pytest_plugin.nodes import CaseFile, CasesDirectory


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare options and ini settings."""
    add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare the hooks of benchgate."""
    from benchgate.pytest_plugin import hookspecs

    pluginmanager.add_hookspecs(hookspecs)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None]:
    """Refuse paths into the data of a case while nothing is imported yet, and load the root conftest in any case."""
    from benchgate.pytest_plugin.selection import refuse_case_data, refuse_workers

    known = early_config.known_args_namespace
    given = known.file_or_dir
    refuse_case_data(early_config, given)
    refuse_workers(early_config)
    here = early_config.invocation_params.dir
    if known.bench_classes and not here.is_relative_to(early_config.rootpath):
        # With --rootdir from elsewhere, pytest would load it when it collects: too late for its pytest_plugins, and
        # never on the controller of xdist, which collects nothing and asks its gates.
        known.file_or_dir = [*(given or [str(here)]), str(early_config.rootpath / BENCH)]
    try:
        return (yield)
    finally:
        known.file_or_dir = given


def pytest_configure(config: pytest.Config) -> None:
    """Start a bench session if one was asked for."""
    config.addinivalue_line(
        "markers",
        "bench_case(difficulty, disposition, held_out, source): a case of a bench; set by benchgate.",
    )
    with collector_paused():  # modules are no garbage, and to look takes a tenth of the start
        from benchgate.pytest_plugin.selection import select

        selection = select(config, config.option.bench_classes)
        if selection is not None:
            from benchgate.pytest_plugin.start import start
    if selection is not None:
        start(config, selection)
        # Modules and plugins stay to the end. The collector would look at all of them again and again while there are
        # ever more cases, and pytest has it look twice when it ends: a tenth of the time of a single case.
        gc.freeze()
        config.add_cleanup(gc.unfreeze)
    elif (config.rootpath / BENCH).is_dir():
        # The tests of a bench import its rubric in a session that runs no case, too.
        from benchgate.loader.imports import bench_package

        modules = ExitStack()
        modules.enter_context(bench_package(config.rootpath / BENCH))
        config.add_cleanup(modules.close)


def pytest_collect_directory(path: Path, parent: pytest.Collector) -> CasesDirectory | None:
    """Collect the cases of a bench. Also if none are to run: else pytest would descend into their data."""
    if not is_cases_folder(path):
        return None
    from benchgate.pytest_plugin.nodes import CasesDirectory

    return CasesDirectory.from_parent(parent, path=path)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> CaseFile | None:
    """Collect a case file that no collected folder leads to: rootdir may be inside ``cases/``."""
    if not is_case_file(file_path):
        return None
    from benchgate.pytest_plugin.nodes import SESSION, CaseFile

    session = parent.config.stash.get(SESSION, None)
    if session is None or not session.selection.asks_for(file_path):
        return None
    return CaseFile.of(parent, file_path)
