"""Wiring of this repository's own tests; a user of benchgate needs none."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

pytest_plugins = ["pytester"]


def pytest_configure(config: pytest.Config) -> None:
    """Run a slow test whose own id is given: what ``addopts`` leaves out, it leaves out of runs of many."""
    if config.option.markexpr == "not slow" and all("::" in given for given in config.args):
        config.option.markexpr = ""
