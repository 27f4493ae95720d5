"""
The package has rooms, and imports between them point one way: down the list in :data:`FLOORS`.

Its weight is what a reader has to learn: :data:`CONCEPTS`. ``benchmarks/weight.py`` shows how its code reads.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

import benchgate
from benchgate.artifacts.kinds import KINDS
from benchgate.cli import COMMANDS
from benchgate.gates.conditions import CONDITIONS
from benchgate.gates.policy import GatePolicy
from benchgate.pytest_plugin import pytest_addoption

PACKAGE = Path(benchgate.__file__).parent
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
DOORS = {"pytest_plugin", "cli"}
FLOORS = (
    {"errors", "statistics"},
    {"wire"},
    {"models", "training", "sentences", "options"},
    {"training_types", "ids", "taxonomy", "rubric"},
    {"registry", "aggregate", "cassettes", "http"},
    {"gates", "promotion"},
    {"wording", "loader", "artifacts"},
    {"trials", "check"},
    {"results"},
    {"audit"},
    {"live", "replay", "looks"},
    {"isolation"},
    {"remote"},
    {"runner", "verify", "report", "interop"},
    {"__init__", "testing"},
    DOORS,
)
"""Lowest first. A room imports from lower floors and from itself, never from its neighbours or from above."""

CONCEPTS = {
    "commands": 16,
    "arguments of commands": 131,
    "options of pytest": 27,
    "policy keys": 22,
    "conditions of the gate": 35,
    "notes": 32,
    "kinds of artifacts": 14,
    "public names": 35,
}
"""How many things there are to learn. Everybody who reads pays for each, so each is a visible diff with a reason."""

SHAPES = 18
"""
Pairs of classes that share five fields or more, by ``benchmarks/overlap.py``: one fact may have two shapes there. The
least that is left are heads of records that skip the results, files whose fields have an order of their own, and names
that agree by chance; a pair that comes is a visible diff with a reason.
"""

MOST = 500
"""Lines of a module. Split one where it has two subjects, never to meet this number."""

REASON_CODES = Path(__file__).parents[2] / "docs" / "reference" / "reason-codes.md"


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


def parsers_of_commands():
    """The parser of each command by its name: proof, significance, safety and evaluate share one."""
    commands = argparse.ArgumentParser().add_subparsers()
    for command in COMMANDS:
        command.add_parser(commands)
    return commands.choices


def arguments_of(parser):
    """What a command takes, positional or an option, without ``--help``; each of its parts, as in ``new case``, too."""
    for action in parser._actions:  # argparse has no public name for it
        if isinstance(action, argparse._SubParsersAction):
            for part in set(action.choices.values()):
                yield from arguments_of(part)
        elif not isinstance(action, argparse._HelpAction):
            yield action


def options_of_pytest():
    """The calls that declare one, ``--bench`` included; the ini setting and the variable of each are not counted."""
    parser = Mock()
    parser.getgroup.return_value = parser
    pytest_addoption(parser)
    return parser.addoption.mock_calls


def notes():
    """
    The codes in the table of notes in the reference.

    The code has no list of them. A test in ``tests/docs/test_reference.py`` compares the table with ``gates/*.py``,
    where most of them are.
    """
    table = REASON_CODES.read_text("utf-8").partition("## Notes")[2]
    cells = re.findall(r"^\| (`[^|]*) \|", table, re.MULTILINE)
    return [code for cell in cells for code in re.findall(r"`(\w+)`", cell)]


def test_no_concept_comes_or_goes_unseen():
    parsers = parsers_of_commands()
    # Once for each parser, not for each name of it.
    arguments = [argument for parser in set(parsers.values()) for argument in arguments_of(parser)]
    found = {
        "commands": len(parsers),
        "arguments of commands": len(arguments),
        "options of pytest": len(options_of_pytest()),
        "policy keys": len(GatePolicy.model_fields),
        "conditions of the gate": len(CONDITIONS),
        "notes": len(notes()),
        "kinds of artifacts": len(KINDS),
        "public names": len(benchgate.__all__),
    }
    assert found.keys() == CONCEPTS.keys()
    wrong = []
    for what, count in found.items():
        held = CONCEPTS[what]
        if count > held:
            wrong.append(
                f"{what}: {count}, CONCEPTS says {held}. Do without the new one; or write {count} there, and say in "
                f"the commit what it replaces, or why nothing that exists serves"
            )
        elif count < held:
            wrong.append(
                f"{what}: {count}, CONCEPTS says {held}. Write {count} there: it stays that low"
            )
    assert not wrong, "\n".join(wrong)


def test_no_module_is_longer_than_fits_a_reader():
    lines = {module: len(path.read_text().splitlines()) for module, path in MODULES.items()}
    over = [
        f"{module}: {count} lines, {MOST} allowed"
        for module, count in lines.items()
        if count > MOST
    ]
    assert not over, "\n".join(over)


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


def test_no_fact_gets_a_second_shape_unseen(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    from overlap import Classes

    pairs = [f"{one.name} {other.name}" for _, one, other in Classes(PACKAGE).pairs(5)]
    assert len(pairs) == SHAPES, pairs
