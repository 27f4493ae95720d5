"""
Which pairs of classes in ``src`` have many fields in common, so that one fact may have two shapes.

Counted are the names of annotated fields, own and inherited ones, but for the head that artifacts share. Where one
class inherits from the other they are one shape. A pair may be right: names can agree by chance.
"""

from __future__ import annotations

import argparse
import ast
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE = Path("src", "benchgate")
HEAD = frozenset(
    {"schema_version", "report_kind", "run_id", "generated_at", "benchmark_suite"}
)  # of every artifact


class Key(NamedTuple):
    """A class, by its name and by the file that has it: two files may have classes of one name."""

    name: str
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """
    A class as the source has it.

    :param own: the fields that it annotates itself.
    :param bases: names of the classes that it inherits from.
    """

    own: frozenset[str]
    bases: tuple[str, ...]


class Classes:
    """The classes of a source tree."""

    def __init__(self, root: Path) -> None:
        """Read all modules below ``root``."""
        self.found: dict[Key, Found] = {}
        for path in sorted(root.rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.ClassDef):
                    self.found[Key(node.name, str(path))] = found_in(node)

    def above(self, key: Key) -> Iterator[Key]:
        """Yield the classes of the tree that a class inherits from, directly or not."""
        for name in self.found[key].bases:
            base = self._called(name, key)
            if base is not None:
                yield base
                yield from self.above(base)

    def _called(self, name: str, user: Key) -> Key | None:
        """Return the class that a class means by a name: one of its own file before others."""
        named = [key for key in self.found if key.name == name and key != user]
        beside = [key for key in named if key.file == user.file]
        return next(iter(beside or named), None)

    def fields(self, key: Key) -> frozenset[str]:
        """Return the names of all fields of a class."""
        inherited = [self.found[base].own for base in self.above(key)]
        return self.found[key].own.union(*inherited) - HEAD

    def pairs(self, least: int) -> Iterator[tuple[int, Key, Key]]:
        """Yield the pairs with so many common fields or more, of which neither inherits from the other."""
        fields = {key: self.fields(key) for key in sorted(self.found)}
        many = [key for key, names in fields.items() if len(names) >= least]
        above = {key: set(self.above(key)) for key in many}
        for one, other in combinations(many, 2):
            common = len(fields[one] & fields[other])
            if common >= least and one not in above[other] and other not in above[one]:
                yield common, one, other


def found_in(node: ast.ClassDef) -> Found:
    """Return what the source says of a class; a base such as ``Tails[float]`` is ``Tails``."""
    own = {
        line.target.id
        for line in node.body
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name)
    }
    bases = []
    for base in node.bases:
        name = base.value if isinstance(base, ast.Subscript) else base
        if isinstance(name, ast.Name):
            bases.append(name.id)
    return Found(own=frozenset(own), bases=tuple(bases))


def main() -> None:
    """Print the pairs, those with the most common fields first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree", nargs="?", type=Path, default=Path(), help="default: this folder")
    parser.add_argument("least", nargs="?", type=int, default=5, help="fields; default: 5")
    asked = parser.parse_args()
    root = asked.tree / SOURCE
    pairs = sorted(Classes(root).pairs(asked.least), reverse=True)
    print(f"{len(pairs)} pairs share at least {asked.least} fields")
    for common, one, other in pairs:
        places = " and ".join(str(Path(key.file).relative_to(root)) for key in (one, other))
        print(f"{common} {one.name} {other.name}  ({places})")


if __name__ == "__main__":
    main()
