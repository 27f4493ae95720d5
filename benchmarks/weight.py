"""
How the code reads: idioms that are hard to read, counted, beside the goals.

    python benchmarks/weight.py [NAME=FOLDER ...]

Without arguments, it counts each room of the package that is installed, and the package. Given folders, it counts each
of them beside the package: another project, or an older checkout.

The package once had budgets of lines. To stay below them, code was compressed: branches moved from statements into
expressions, where ruff's C901 does not see them, and two assignments into one line. No rule of ruff finds these idioms,
so they are counted here.

Per 1,000 lines of code, which are neither blank nor a comment nor part of a docstring:

* conditional expressions: ``x if y else z``;
* tuple assignments: ``a, b = x, y``, where both sides are written out;
* walruses: ``(a := b)``.

A function has one branch, and one more for each ``if``, ``elif``, loop, ``except``, ``case`` and comprehension. Hidden
are those inside of expressions: each conditional expression, the second and every further operand of ``and`` and
``or``, and each condition in a comprehension. Their share of all branches is the hidden share. Functions with more than
12 branches, hidden ones included, are named below the table, worst first. A function includes those defined in it.

Comments are counted per 100 lines of the file, blank lines and docstrings included; one behind code counts too.

Tests and vendored packages are left out.
"""

from __future__ import annotations

import argparse
import ast
import sys
import tokenize
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import benchgate

PACKAGE = Path(benchgate.__file__).parent
MOST_BRANCHES = 12
GOAL = ("20", "3", "3", "23 %")
"""Conditional expressions, tuple assignments, walruses and the hidden share."""

HEADINGS = ("code", "cond. expr.", "tuple assign.", "walruses", "hidden", "comments")
LEFT_OUT = {"tests", "_vendor", "vendor"}
BRANCHES = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.ExceptHandler,
    ast.match_case,
    ast.comprehension,
)
"""What is a branch in the open; an ``elif`` is an ``if`` too, and a comprehension is read as the loop that it is."""


@dataclass(frozen=True)
class Function:
    """
    The branches of one function.

    :param place: its file, below the folder that is counted, with its line.
    :param visible: branches in the open.
    :param hidden: branches inside of expressions.
    """

    name: str
    place: str
    visible: int
    hidden: int

    @property
    def branches(self) -> int:
        """All of them."""
        return self.visible + self.hidden


@dataclass(frozen=True)
class Source:
    """
    What is counted in one file.

    :param path: relative to the folder that is counted.
    :param lines: all lines of the file.
    :param code: lines of code.
    """

    path: Path
    lines: int
    code: int
    comments: int
    conditionals: int
    tuple_assignments: int
    walruses: int
    functions: tuple[Function, ...]

    @property
    def room(self) -> str:
        """The module or package at the top of the folder that the file is, or is in."""
        return self.path.parts[0].removesuffix(".py")


def read(folder: Path) -> list[Source]:
    """Count every file of Python in a folder."""
    sources = []
    for path in sorted(folder.rglob("*.py")):
        relative = path.relative_to(folder)
        if LEFT_OUT.intersection(relative.parts) or path.name.startswith("test_"):
            continue
        try:
            source = read_source(path, relative)
        except SyntaxError as error:  # a template, or for another version of Python
            print(f"left out: {path}: {error}", file=sys.stderr)
            continue
        sources.append(source)
    return sources


def read_source(path: Path, relative: Path) -> Source:
    """
    Count one file.

    :raises SyntaxError: this Python cannot parse it.
    """
    text = path.read_text("utf-8", errors="replace")
    nodes = list(ast.walk(ast.parse(text)))
    return Source(
        path=relative,
        lines=len(text.splitlines()),
        code=count_code(text, nodes),
        comments=count_comments(text),
        conditionals=sum(isinstance(node, ast.IfExp) for node in nodes),
        tuple_assignments=sum(is_tuple_assignment(node) for node in nodes),
        walruses=sum(isinstance(node, ast.NamedExpr) for node in nodes),
        functions=tuple(
            read_function(node, relative)
            for node in nodes
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ),
    )


def count_code(text: str, nodes: list[ast.AST]) -> int:
    """Return how many lines are neither blank nor a comment nor part of a docstring."""
    in_docstrings: set[int] = set()
    for node in nodes:
        # A text below a name is one too: it stands as a statement of its own.
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            last = node.end_lineno or node.lineno
            in_docstrings.update(range(node.lineno, last + 1))
    count = 0
    # Not splitlines(), which also splits at characters that Python takes for a part of the line, such as form feeds.
    for number, line in enumerate(text.split("\n"), 1):
        words = line.strip()
        if words and not words.startswith("#") and number not in in_docstrings:
            count += 1
    return count


def count_comments(text: str) -> int:
    """Return how many lines have a comment, on its own or behind code."""
    tokens = tokenize.generate_tokens(StringIO(text).readline)
    return sum(token.type == tokenize.COMMENT for token in tokens)


def is_tuple_assignment(node: ast.AST) -> bool:
    """Return whether several values are written out and assigned to several names in one line."""
    return (
        isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Tuple)
        and isinstance(node.value, ast.Tuple)
        and len(node.value.elts) > 1
    )


def read_function(node: ast.FunctionDef | ast.AsyncFunctionDef, path: Path) -> Function:
    """Count the branches of a function."""
    visible = 1
    hidden = 0
    for part in ast.walk(node):
        if isinstance(part, BRANCHES):
            visible += 1
        if isinstance(part, ast.IfExp):
            hidden += 1
        if isinstance(part, ast.BoolOp):
            hidden += len(part.values) - 1
        if isinstance(part, ast.comprehension):
            hidden += len(part.ifs)
    return Function(node.name, f"{path}:{node.lineno}", visible, hidden)


def row(name: str, sources: list[Source]) -> str:
    """Return a line of the table: the figures of some files together."""
    code = sum(source.code for source in sources)
    lines = sum(source.lines for source in sources)
    functions = [function for source in sources for function in source.functions]
    branches = sum(function.branches for function in functions)
    hidden = sum(function.hidden for function in functions)
    return written(
        name,
        f"{code:,}",
        rate(sum(source.conditionals for source in sources), code, 1000),
        rate(sum(source.tuple_assignments for source in sources), code, 1000),
        rate(sum(source.walruses for source in sources), code, 1000),
        share(hidden, branches, digits=0),
        rate(sum(source.comments for source in sources), lines, 100),
    )


def rate(count: int, whole: int, unit: int) -> str:
    """Return how many there are in a unit of the whole; "-" if there is no whole."""
    if not whole:
        return "-"
    return f"{unit * count / whole:.1f}"


def share(part: int, whole: int, digits: int) -> str:
    """Return a part of the whole in per cent; "-" if there is no whole."""
    if not whole:
        return "-"
    return f"{100 * part / whole:.{digits}f} %"


def written(name: str, *figures: str) -> str:
    """Return the cells of a line of the table in their columns."""
    return f"{name:20}" + "".join(f"{figure:>15}" for figure in figures)


def worst(sources: list[Source]) -> list[str]:
    """Return a line for each function with too many branches, worst first."""
    functions = [function for source in sources for function in source.functions]
    many = [function for function in functions if function.branches > MOST_BRANCHES]
    many.sort(key=lambda function: (-function.branches, function.place))
    lines = [f"{function.branches:4} {function.place} {function.name}" for function in many]
    of_all = share(len(many), len(functions), digits=1)
    return [f"{len(many)} functions have more than {MOST_BRANCHES} branches ({of_all}):", *lines]


def show(folders: dict[str, Path]) -> None:
    """
    Print the table, and the functions with too many branches.

    :param folders: what is counted beside the package, by name; if nothing is, the rooms of the package are shown.
    """
    package = read(PACKAGE)
    others = {name: read(folder) for name, folder in folders.items()}
    print(written("", *HEADINGS))
    if not others:
        for room in sorted({source.room for source in package}):
            print(row(room, [source for source in package if source.room == room]))
    print(row("benchgate", package))
    for name, sources in others.items():
        print(row(name, sources))
    print(written("goal", "", *GOAL))
    for name, sources in {"benchgate": package, **others}.items():
        print()
        print(name, *worst(sources), sep="\n")


def main() -> None:
    """Read the arguments of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="*", metavar="NAME=FOLDER", help="what to count beside it")
    folders = {}
    for argument in parser.parse_args().folders:
        name, _, folder = argument.partition("=")
        if not folder or not Path(folder).is_dir():
            parser.error(f"{argument}: expected NAME=FOLDER, the folder of a package")
        folders[name] = Path(folder)
    show(folders)


if __name__ == "__main__":
    main()
