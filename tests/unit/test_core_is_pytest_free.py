"""The core imports no pytest, the plugin costs nothing until used, and arrows point one way."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import benchgate

PACKAGE = Path(benchgate.__file__).parent
CORE = sorted(
    path
    for path in PACKAGE.rglob("*.py")
    if not {"pytest_plugin", "cli"} & set(path.relative_to(PACKAGE).parts)
)


def module_of(path):
    parts = ["benchgate", *path.relative_to(PACKAGE).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_every_core_module_imports_with_pytest_blocked():
    code = "import sys; sys.modules['pytest'] = sys.modules['_pytest'] = None\n"
    code += "\n".join(f"import {module_of(path)}" for path in CORE)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def imported(path):
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=module_of)
def test_imports_point_one_way(path):
    names = set(imported(path))
    assert not {name for name in names if name.partition(".")[0] == "_pytest"}
    parts = path.relative_to(PACKAGE).parts
    forbidden = {"pytest_plugin": ["benchgate.cli"], "cli": ["benchgate.pytest_plugin"]}
    others = forbidden.get(parts[0], ["benchgate.cli", "benchgate.pytest_plugin"])
    assert not {name for name in names if name.startswith(tuple(others))}


def test_the_public_names_are_all_there():
    for name in benchgate.__all__:
        assert getattr(benchgate, name) is not None
    assert set(benchgate.__all__) <= set(dir(benchgate))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = benchgate.nothing
    assert benchgate.__version__
