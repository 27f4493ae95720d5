"""
What src weighs: lines, commands, arguments, options, keys, and whatever is larger than one sitting.

    python benchmarks/weight.py

Reads the source of the package that is installed, and asks its parsers for what they take. The names of one parser,
such as proof and significance, are commands each, and their arguments count once. A class counts as large above 200
lines or 15 attributes; models of files (subclasses of WireModel) and classes without a method are left out.
"""

from __future__ import annotations

import argparse
import ast
import statistics
import subprocess
import sys
from pathlib import Path

import benchgate
from benchgate.cli import main
from benchgate.gates.policy import GatePolicy

MAX_MODULE = 300
MAX_CLASS = 200
MAX_ATTRIBUTES = 15
PACKAGE = Path(benchgate.__file__).parent
Function = ast.FunctionDef | ast.AsyncFunctionDef


def code_lines(tree: ast.Module, text: str) -> int:
    """Return the lines that are neither blank, nor in a docstring, nor in an import."""
    lines = {number for number, line in enumerate(text.splitlines(), 1) if line.strip()}
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        is_docstring = is_text and isinstance(node.value.value, str)  # type: ignore[attr-defined]
        if is_docstring or isinstance(node, (ast.Import, ast.ImportFrom)):
            lines -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def length(node: ast.AST) -> int:
    """Return how many lines a function or class has."""
    return int(node.end_lineno - node.lineno + 1)  # type: ignore[attr-defined]


def attributes(node: ast.ClassDef) -> int:
    """Return how many attributes the instances of a class have: those declared, and those that a method sets."""
    names = {one.target.id for one in node.body if isinstance(one, ast.AnnAssign)}  # type: ignore[union-attr]
    for one in ast.walk(node):
        is_set = isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store)
        if is_set and isinstance(one.value, ast.Name) and one.value.id == "self":  # type: ignore[attr-defined]
            names.add(one.attr)  # type: ignore[attr-defined]
    return len(names)


def wire_models(classes: dict[str, ast.ClassDef]) -> set[str]:
    """Return the names of the models of files, by the names of their bases."""
    models = {"WireModel", "BaseModel"}
    while found := {
        name
        for name, node in classes.items()
        if name not in models
        and any(isinstance(base, ast.Name) and base.id in models for base in node.bases)
    }:
        models |= found
    return models


def parsers() -> dict[str, argparse.ArgumentParser]:
    """Return the parser of each command, and of each command below one."""
    caught: list[argparse.ArgumentParser] = []

    def parse_args(self: argparse.ArgumentParser, *_: object) -> None:
        caught.append(self)
        raise KeyboardInterrupt

    original = argparse.ArgumentParser.parse_args
    argparse.ArgumentParser.parse_args = parse_args  # type: ignore[assignment,method-assign]
    try:
        main([])
    except KeyboardInterrupt:
        pass
    finally:
        argparse.ArgumentParser.parse_args = original  # type: ignore[method-assign]
    return dict(_below("", caught[0]))


def _below(prefix: str, parser: argparse.ArgumentParser):  # type: ignore[no-untyped-def]  # noqa: ANN202
    groups = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]  # noqa: SLF001
    for group in groups:
        for name, one in group.choices.items():
            yield from _below(f"{prefix}{name} ", one)
    if not groups:
        yield prefix.strip(), parser


def count_arguments(parser: argparse.ArgumentParser) -> int:
    """Return how many arguments a command takes, ``--help`` left out."""
    return sum(not isinstance(a, argparse._HelpAction) for a in parser._actions)  # noqa: SLF001


def pytest_options() -> int:
    """Return how many options the plugin adds to pytest."""
    shown = subprocess.run(
        [sys.executable, "-m", "pytest", "--help"], capture_output=True, text=True, check=True
    )
    return sum(line.strip().startswith("--bench") for line in shown.stdout.splitlines())


def show() -> None:
    """Print every figure."""
    texts = {path: path.read_text() for path in sorted(PACKAGE.rglob("*.py"))}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    sizes = {path: text.count("\n") for path, text in texts.items()}
    nodes = [node for tree in trees.values() for node in ast.walk(tree)]
    functions = sorted(length(node) for node in nodes if isinstance(node, Function))
    classes = {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}
    models = wire_models(classes)
    commands = parsers()
    first_words = {name.split()[0] for name in commands}
    one_each = {id(parser): name for name, parser in reversed(commands.items())}
    per_command = {name: count_arguments(commands[name]) for name in reversed(one_each.values())}
    print(f"lines of Python            {sum(sizes.values()):6,}  in {len(sizes)} modules")
    print(f"without blank, docs, imports {sum(code_lines(trees[p], texts[p]) for p in texts):,}")
    print(
        f"functions: median, p95     {statistics.median(functions):6.0f} {functions[int(len(functions) * 0.95)]:4}"
    )
    print(f"commands                   {len(first_words):6}")
    print(f"their arguments            {sum(per_command.values()):6}  {per_command}")
    print(f"policy keys                {len(GatePolicy.model_fields):6}")
    print(f"options of pytest          {pytest_options():6}")
    for path, size in sizes.items():
        if size > MAX_MODULE:
            print(f"module above {MAX_MODULE} lines: {path.relative_to(PACKAGE)} {size}")
    for name, node in sorted(classes.items()):
        acts = any(isinstance(one, Function) for one in node.body)
        if name in models or not acts:
            continue
        if length(node) > MAX_CLASS or attributes(node) > MAX_ATTRIBUTES:
            print(
                f"class that is large: {name}, {length(node)} lines, {attributes(node)} attributes"
            )
    rooms: dict[str, int] = {}
    for path, size in sizes.items():
        room = path.relative_to(PACKAGE).parts[0]
        rooms[room] = rooms.get(room, 0) + size
    print(
        "rooms:",
        ", ".join(
            f"{room} {rooms[room]:,}" for room in sorted(rooms, key=rooms.__getitem__, reverse=True)
        ),
    )


if __name__ == "__main__":
    show()
