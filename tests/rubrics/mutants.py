"""What became of mutants: read from cosmic-ray's session, and told as a table with every survivor."""

from __future__ import annotations

import ast
import json
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import operators
from cosmic_ray.mutating import MutationVisitor
from cosmic_ray.operators.provider import OperatorProvider

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

NO_PYTHON = "no Python"
"""No mutant at all: any test would kill it, so it would flatter the figures."""

IN_ANNOTATION = "survived in an annotation"
"""Of a function, where ``from __future__ import annotations`` keeps everything from being evaluated."""


@dataclass(frozen=True)
class Mutant:
    module: str
    line: int
    operator: str
    outcome: str
    diff: str


def read(dumped: str, tree: Path) -> list[Mutant]:
    """Return the mutants of a ``cosmic-ray dump``; ``tree`` holds the sources without a mutant."""
    return [_mutant(*json.loads(line), tree) for line in dumped.splitlines()]


def _mutant(item: dict[str, Any], result: dict[str, Any] | None, tree: Path) -> Mutant:
    change = item["mutations"][0]
    diff = ((result or {}).get("diff") or "").splitlines()
    return Mutant(
        module=Path(change["module_path"]).name,
        line=change["start_pos"][0],
        operator=change["operator_name"].partition("/")[2],
        outcome=_outcome(change, result, tree),
        diff="\n".join(
            one for one in diff if one[:1] in ("+", "-") and one[:3] not in ("+++", "---")
        ),
    )


def _outcome(change: dict[str, Any], result: dict[str, Any] | None, tree: Path) -> str:
    source = (tree / change["module_path"]).read_text(encoding="utf-8")
    changed = _changed(source, change)
    with warnings.catch_warnings(action="ignore"):
        try:
            compile(changed, "mutant", "exec")
        except SyntaxError:
            return NO_PYTHON
        found = (result or {}).get("test_outcome") or "not run"
        if found == "survived" and _bare(changed) == _bare(source):
            return IN_ANNOTATION
    return str(found)


def _changed(source: str, change: dict[str, Any]) -> str:
    provider, _, name = change["operator_name"].partition("/")
    known = operators.Provider() if provider == operators.PROVIDER else OperatorProvider()
    operator = known[name](**change["operator_args"])
    return MutationVisitor.mutate_code(source, operator, change["occurrence"]) or ""


def _bare(source: str) -> str:
    """Return the syntax of a source without the annotations of its functions."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
    return ast.dump(tree)


def percent(mutants: Iterable[Mutant]) -> float:
    """Return how many in a hundred were killed; none at all is 0."""
    counts = Counter(mutant.outcome for mutant in mutants if mutant.outcome != NO_PYTHON)
    return 100.0 * counts["killed"] / counts.total() if counts else 0.0


def report(mutants: list[Mutant]) -> Iterator[str]:
    """Yield the lines of a class: its table, then what survived and where."""
    yield "| module | mutants | killed | survived | of these in annotations | killed % |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for module in sorted({mutant.module for mutant in mutants}):
        yield _row(module, [mutant for mutant in mutants if mutant.module == module])
    yield _row("**all**", mutants)
    for mutant in sorted(mutants, key=lambda one: (one.module, one.line, one.operator)):
        if mutant.outcome not in ("killed", NO_PYTHON, IN_ANNOTATION):
            yield f"\n{mutant.module}:{mutant.line}: {mutant.operator}: {mutant.outcome}"
            yield mutant.diff


def _row(title: str, mutants: list[Mutant]) -> str:
    counts = Counter(mutant.outcome for mutant in mutants if mutant.outcome != NO_PYTHON)
    made, killed = counts.total(), counts["killed"]
    cells = [title, made, killed, made - killed, counts[IN_ANNOTATION], f"{percent(mutants):.1f}"]
    return f"| {' | '.join(map(str, cells))} |"
