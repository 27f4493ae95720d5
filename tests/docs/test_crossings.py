"""The table of options together names tests that exist, and every option has its row."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from benchgate.wire.arguments import PYTEST_OPTIONS, RUN_OPTIONS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "crossings.md").read_text("utf-8")
HOOKS = ROOT / "src" / "benchgate" / "pytest_plugin" / "hookspecs.py"
LEGEND = dict(
    re.findall(r"^\(t-([\w-]+)\)=\n\*\*\1\*\*: `([^`]+)`$", PAGE, re.MULTILINE),
)
LINKS = re.findall(r"\]\(#t-([\w-]+)\)", PAGE)


def tables():
    """The cells of each table: heading first, without the line of dashes."""
    for block in re.findall(r"(?:^\|.*\|\n)+", PAGE, re.MULTILINE):
        rows = [[cell.strip() for cell in row[1:-1].split("|")] for row in block.splitlines()]
        yield [rows[0], *rows[2:]]


def functions(path):
    """The functions that a file defines at its top, without importing it."""
    return {node.name for node in ast.parse(path.read_text("utf-8")).body if hasattr(node, "name")}


def test_every_table_is_full():
    found = list(tables())
    assert len(found) == 6
    for heading, *rows in found:
        assert not [row for row in rows if len(row) != len(heading) or not all(row)]


def test_tables_of_a_group_have_the_same_rows():
    names = [[row[0] for row in table[1:]] for table in tables()]
    assert names[::2] == names[1::2]


def test_every_option_has_its_rows():
    options = [f"`--bench-{option.name}`" for option in (*RUN_OPTIONS, *PYTEST_OPTIONS)]
    for table in list(tables())[:2]:
        rows = [row[0] for row in table[1:]]
        own = [f"`--{name}` of `benchgate run`" for name in ("cases", "pythonpath")]
        assert rows == ["`--bench`", *own, *options]


def test_every_hook_has_its_row():
    rows = {row[0] for table in tables() for row in table}
    named = {name for row in rows for name in re.findall(r"`(pytest_bench_\w+)`", row)}
    assert named == functions(HOOKS)


def test_every_link_leads_to_a_test_and_every_test_is_linked_to():
    assert LEGEND
    assert set(LINKS) == set(LEGEND)


@pytest.mark.parametrize("file", sorted({test.partition("::")[0] for test in LEGEND.values()}))
def test_every_test_that_is_named_exists(file):
    named = {name for path, _, name in (t.partition("::") for t in LEGEND.values()) if path == file}
    assert named <= functions(ROOT / file)
