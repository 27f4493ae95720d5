"""Lets the tests of a bench import its rubric in a session that runs no case."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from benchgate.loader.imports import bench_package

if TYPE_CHECKING:
    from pathlib import Path


class BenchImports:
    """Keeps ``_benchgate_bench`` importable while the session lasts."""

    def __init__(self, bench_root: Path) -> None:
        self._exit = ExitStack()
        self._exit.enter_context(bench_package(bench_root))

    def pytest_unconfigure(self) -> None:
        """Forget the modules of the bench."""
        self._exit.close()
