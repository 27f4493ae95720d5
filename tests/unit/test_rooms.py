"""The package has rooms, and imports between them point one way: down the list in :data:`FLOORS`."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import benchgate

PACKAGE = Path(benchgate.__file__).parent
DOORS = {"pytest_plugin", "cli"}
FLOORS = (
    {"errors", "statistics"},
    {"wire"},
    {"models", "training"},
    {"training_types", "ids", "taxonomy", "rubric"},
    {"registry", "aggregate", "cassettes", "http"},
    {"gates", "promotion"},
    {"wording", "loader", "artifacts"},
    {"trials", "check", "audit"},
    {"live", "replay", "looks"},
    {"remote"},
    {"runner", "verify", "report", "interop"},
    {"__init__", "testing"},
    DOORS,
)
"""Lowest first. A room imports from lower floors and from itself, never from its neighbours or from above."""


def name_of(path):
    parts = ["benchgate", *path.relative_to(PACKAGE).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def room_of(module):
    room = module.split(".")[1] if "." in module else "__init__"
    return "cli" if room == "__main__" else room  # another way into the same door


def imported(path):
    """Every dotted name that a file imports, for type checking too: a circle of names confuses as much."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: relative imports are not followed here"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def module_of(name):
    """The module that a dotted name is, or is in; ``None`` outside the package."""
    while name and name not in MODULES:
        name = name.rpartition(".")[0]
    return name or None


@pytest.fixture(scope="module")
def imports():
    """The modules of the package that each of them imports."""
    return {
        module: {found for name in imported(path) if (found := module_of(name))} - {module}
        for module, path in MODULES.items()
    }


def test_every_room_is_on_a_floor():
    assert {room_of(module) for module in MODULES} == set().union(*FLOORS)
    assert sum(map(len, FLOORS)) == len(set().union(*FLOORS))


def test_arrows_point_down(imports):
    floor = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
    wrong = sorted(
        f"{module} imports {other}"
        for module, others in imports.items()
        for other in others
        if (here := room_of(module)) != (there := room_of(other)) and floor[here] <= floor[there]
    )
    assert not wrong, "\n".join(wrong)


def test_no_modules_import_each_other_in_a_circle(imports):
    left = dict(imports)
    while free := {module for module, others in left.items() if not others & left.keys()}:
        left = {module: others for module, others in left.items() if module not in free}
    assert not left, "\n".join(sorted(left))


def test_nothing_private_of_pytest_is_imported():
    wrong = [
        str(path) for path in MODULES.values() for n in imported(path) if n.startswith("_pytest")
    ]
    assert not wrong, "\n".join(wrong)


def test_every_core_module_imports_with_pytest_blocked():
    core = [module for module in MODULES if room_of(module) not in DOORS]
    code = "import sys; sys.modules['pytest'] = sys.modules['_pytest'] = None\n"
    code += "\n".join(f"import {module}" for module in core)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_public_names_are_all_there():
    for name in benchgate.__all__:
        assert getattr(benchgate, name) is not None
    assert set(benchgate.__all__) <= set(dir(benchgate))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = benchgate.nothing
    assert benchgate.__version__
