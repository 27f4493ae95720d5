"""
Two mutation operators that cosmic-ray has not: codes, keys and file names are half of what a rubric says.

``mutate.py`` puts them beside cosmic-ray's own, all of which stay in use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import parso
from cosmic_ray.operators.operator import Operator

if TYPE_CHECKING:
    from pathlib import Path

PROVIDER = "rubrics"


def announce(folder: Path) -> None:
    """Make a folder that, on the Python path, tells cosmic-ray of the operators in this module."""
    announced = folder / "rubric_operators-1.dist-info"
    announced.mkdir(parents=True)
    (announced / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: rubric-operators\nVersion: 1\n"
    )
    (announced / "entry_points.txt").write_text(
        f"[cosmic_ray.operator_providers]\n{PROVIDER} = {__name__}:Provider\n"
    )


class StringReplacer(Operator):
    """Writes another text; docstrings and f-strings are left alone."""

    def mutation_positions(self, node):
        if node.type == "string" and node.parent.type != "simple_stmt":
            yield node.start_pos, node.end_pos

    def mutate(self, node, index):  # noqa: ARG002 - the signature is cosmic-ray's
        quote = next(at for at, sign in enumerate(node.value) if sign in "\"'")
        node.value = f"{node.value[: quote + 1]}XX{node.value[quote + 1 :]}"
        return node

    @classmethod
    def examples(cls):
        return ()


class StatementRemover(Operator):
    """Leaves out what is done for its effect: a raise, a yield, a call, an addition in place."""

    def mutation_positions(self, node):
        if node.type == "simple_stmt" and self._removable(node.children[0]):
            yield node.start_pos, node.end_pos

    @staticmethod
    def _removable(statement) -> bool:
        if statement.type == "expr_stmt":
            return getattr(statement.children[1], "value", "=") != "="
        return statement.type in ("raise_stmt", "yield_expr", "atom_expr")

    def mutate(self, node, index):  # noqa: ARG002 - the signature is cosmic-ray's
        nothing = parso.parse("pass").children[0]
        nothing.prefix = node.get_first_leaf().prefix
        node.children[0] = nothing
        return node

    @classmethod
    def examples(cls):
        return ()


class Provider:
    """What the entry point names."""

    operators: ClassVar = {one.__name__: one for one in (StringReplacer, StatementRemover)}

    def __iter__(self):
        return iter(self.operators)

    def __getitem__(self, name):
        return self.operators[name]
