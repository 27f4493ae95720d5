"""The scripts that the tests import; in importlib mode a test cannot import what lies next to it."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
FOLDERS = (HERE, HERE.parents[1] / "bench")


@pytest.fixture(scope="session", autouse=True)
def scripts():
    """Make the scripts of this folder and of ``bench/`` importable, as they are to each other when run."""
    paths = [str(folder) for folder in FOLDERS]
    sys.path[:0] = paths
    yield
    for path in paths:
        sys.path.remove(path)
    files = {file.stem for folder in FOLDERS for file in folder.glob("*.py")}
    for name in files & set(sys.modules):
        del sys.modules[name]


@pytest.fixture(scope="session")
def scoring(scripts):
    return import_module("scoring")


@pytest.fixture(scope="session")
def tables(scripts):
    return import_module("tables")
