"""The package has rooms, and imports between them point one way: down the list in :data:`FLOORS`."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
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
    {"remote", "isolation"},
    {"runner", "verify", "report", "interop"},
    {"__init__", "testing"},
    DOORS,
)
"""Lowest first. A room imports from lower floors and from itself, never from its neighbours or from above."""

BUDGETS = {
    "__init__": 125,
    "aggregate": 250,
    "artifacts": 1750,
    "audit": 1125,
    "cassettes": 325,
    "check": 775,
    "cli": 2450,
    "errors": 300,
    "gates": 4350,
    "http": 525,
    "ids": 150,
    "interop": 2075,
    "isolation": 850,
    "live": 500,
    "loader": 1425,
    "looks": 850,
    "models": 525,
    "promotion": 300,
    "pytest_plugin": 2525,
    "registry": 250,
    "remote": 1075,
    "replay": 225,
    "report": 1475,
    "rubric": 50,
    "runner": 1875,
    "statistics": 2225,
    "taxonomy": 75,
    "testing": 100,
    "training": 875,
    "training_types": 100,
    "trials": 1775,
    "verify": 1425,
    "wire": 2025,
    "wording": 925,
}
"""Lines of Python of each room, rounded up to 25. To raise one is a visible diff, to be argued for where it is made."""

TOTAL = 34973
"""Lines of the package, rounded up to 100: not every room can grow to its budget."""

MOST = 300
LONGER: dict[str, int] = {}
"""Modules of more than :data:`MOST` lines, with their lines: they may only shrink."""


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


def lines_of(path):
    return len(path.read_text().splitlines())


def test_no_room_grows_beyond_its_budget():
    rooms = Counter()
    for module, path in MODULES.items():
        rooms[room_of(module)] += lines_of(path)
    assert BUDGETS.keys() == rooms.keys()
    allowed = {**BUDGETS, "the package": TOTAL}
    over = [
        f"{room}: {lines} lines, {allowed[room]} allowed; delete, or raise the budget, which is a visible diff"
        for room, lines in [*sorted(rooms.items()), ("the package", rooms.total())]
        if lines > allowed[room]
    ]
    assert not over, "\n".join(over)


def test_no_module_is_longer_than_fits_a_reader():
    long = {name: lines for name, path in MODULES.items() if (lines := lines_of(path)) > MOST}
    over = [
        f"{name}: {lines} lines, {LONGER.get(name, MOST)} allowed"
        for name, lines in long.items()
        if lines > LONGER.get(name, MOST)
    ]
    assert not over, "\n".join(over)
    short = LONGER.keys() - long.keys()
    assert not short, f"no longer than {MOST} lines now: take it out of LONGER: {sorted(short)}"


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
