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
    from collections.abc import Iterable, Iterator, Mapping

NO_PYTHON = "no Python"
"""No mutant at all: any test would kill it, so it would flatter the figures."""


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
    return str((result or {}).get("test_outcome") or "not run")


def _changed(source: str, change: dict[str, Any]) -> str:
    provider, _, name = change["operator_name"].partition("/")
    known = operators.Provider() if provider == operators.PROVIDER else OperatorProvider()
    operator = known[name](**change["operator_args"])
    return MutationVisitor.mutate_code(source, operator, change["occurrence"]) or ""


def in_annotation(source: str, line: int, column: int) -> bool:
    """
    Return whether a place is in an annotation of a function.

    ``from __future__ import annotations`` keeps those from being evaluated: whatever stands there, nothing changes.
    """
    held = [
        note
        for node in ast.walk(ast.parse(source))
        for note in (getattr(node, "returns", None), getattr(node, "annotation", None))
        if note is not None and not isinstance(node, ast.AnnAssign)
    ]
    return any(
        (one.lineno, one.col_offset) <= (line, column) < (one.end_lineno, one.end_col_offset)
        for one in held
    )


def percent(mutants: Iterable[Mutant]) -> float:
    """Return how many in a hundred were killed; none at all is 0."""
    counts = Counter(mutant.outcome for mutant in mutants if mutant.outcome != NO_PYTHON)
    return 100.0 * counts["killed"] / counts.total() if counts else 0.0


def _weighted(parts: list[tuple[list[Mutant], int]]) -> tuple[float, float]:
    """
    Return the share killed of all mutants, estimated from draws in each module, and half its 95 % interval; percent.

    The estimator of a stratified sample without replacement (Cochran, Sampling Techniques, 5.3); a share near 0 or 1
    is moved by (k + 1) / (n + 2) in the variance, so that a module in which all were killed adds to it as well.
    """
    total = share = variance = 0.0
    for part, made in parts:
        counts = Counter(mutant.outcome for mutant in part if mutant.outcome != NO_PYTHON)
        drawn = counts.total()
        if not drawn:
            continue
        size = made * drawn / len(part)
        guess = (counts["killed"] + 1) / (drawn + 2)
        total += size
        share += size * counts["killed"] / drawn
        variance += size**2 * (1 - drawn / size) * guess * (1 - guess) / drawn
    return (100 * share / total, 196 * variance**0.5 / total) if total else (0.0, 0.0)


def report(mutants: list[Mutant], made: Mapping[str, int]) -> Iterator[str]:
    """
    Yield the lines of a class: its table, then what survived and where.

    :param made: how many mutants each module has; of those that were drawn from them, the table has an interval.
    """
    yield "| module | mutants | run | killed | survived | killed % |"
    yield "| --- | --- | --- | --- | --- | --- |"
    parts = {
        module: [mutant for mutant in mutants if mutant.module == module]
        for module in sorted({mutant.module for mutant in mutants})
    }
    for module, part in parts.items():
        yield _row(module, part, made[module])
    yield _row("**all**", mutants, sum(made.values()))
    if len(mutants) < sum(made.values()):
        share, margin = _weighted([(part, made[module]) for module, part in parts.items()])
        yield f"\n{len(mutants)} drawn from {sum(made.values())}; weighted {share:.1f} % ± {margin:.1f}"
    for mutant in sorted(mutants, key=lambda one: (one.module, one.line, one.operator)):
        if mutant.outcome not in ("killed", NO_PYTHON):
            yield f"\n{mutant.module}:{mutant.line}: {mutant.operator}: {mutant.outcome}"
            yield mutant.diff


def _row(title: str, mutants: list[Mutant], made: int) -> str:
    counts = Counter(mutant.outcome for mutant in mutants if mutant.outcome != NO_PYTHON)
    run, killed = counts.total(), counts["killed"]
    cells = [title, made, run, killed, run - killed, f"{percent(mutants):.1f}"]
    return f"| {' | '.join(map(str, cells))} |"
