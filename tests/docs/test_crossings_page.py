"""The table of options together names options and tests that exist, and every hook has its row."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from benchgate.options.table import PYTEST_OPTIONS, RUN_OPTIONS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "crossings.md").read_text("utf-8")
HOOKS = ROOT / "src" / "benchgate" / "pytest_plugin" / "hookspecs.py"
TOLD, _, TESTS = PAGE.partition("\n## Tests\n")
FILES = dict(re.findall(r"^\| `(tests/[^`]+)` \| (.+) \|$", TESTS, re.MULTILINE))
LEGEND = {
    name: f"{file}::{test}"
    for file, tests in FILES.items()
    for name, test in re.findall(r"([\w-]+) `(\w+)`", tests)
}
ROWS = [row[1:-1].split("|")[0].strip() for row in re.findall(r"^\|.*\|$", TOLD, re.MULTILINE)][2:]


def functions(path):
    """The functions that a file defines at its top, without importing it."""
    return {node.name for node in ast.parse(path.read_text("utf-8")).body if hasattr(node, "name")}


def test_every_row_is_of_an_option_that_exists():
    options = {f"--bench-{option.name}" for option in (*RUN_OPTIONS, *PYTEST_OPTIONS)}
    named = {name for row in ROWS for name in re.findall(r"`(--bench-[\w-]+)`", row)}
    assert named
    assert named <= options
    assert len(ROWS) == len(set(ROWS))


def test_every_hook_has_its_row():
    named = {name for row in ROWS for name in re.findall(r"`(pytest_bench_\w+)`", row)}
    assert named == functions(HOOKS)


def test_every_name_is_of_a_test_and_every_test_is_named():
    named = set(re.findall(r"(?<!\*)\*([\w-]+)\*(?!\*)", TOLD))
    assert LEGEND
    assert named == set(LEGEND)
    assert len(LEGEND) == sum(tests.count("`") // 2 for tests in FILES.values())


@pytest.mark.parametrize("file", sorted({test.partition("::")[0] for test in LEGEND.values()}))
def test_every_test_that_is_named_exists(file):
    named = {name for path, _, name in (t.partition("::") for t in LEGEND.values()) if path == file}
    assert named <= functions(ROOT / file)
