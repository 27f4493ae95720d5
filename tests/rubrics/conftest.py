"""The modules beside the tests; in importlib mode a test cannot import what lies next to it."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="session", autouse=True)
def scripts():
    """Make the scripts of this folder importable, as they are to each other when run."""
    sys.path.insert(0, str(HERE))
    yield
    sys.path.remove(str(HERE))
    for name in [name for name in sys.modules if (HERE / f"{name}.py").is_file()]:
        del sys.modules[name]


@pytest.fixture(scope="session")
def scoring(scripts):
    return import_module("scoring")


@pytest.fixture(scope="session")
def discrimination(scripts):
    return import_module("discrimination")
