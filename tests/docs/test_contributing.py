"""CONTRIBUTING sends readers to files that have what it names, and says what each folder of tests is for."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "CONTRIBUTING.md").read_text("utf-8")
PROSE = re.sub(r"^```.*?^```$", "", PAGE, flags=re.DOTALL | re.MULTILINE)
SPANS = re.findall(r"`([^`\n]+)`", PROSE)
POINTERS = sorted({span for span in SPANS if re.fullmatch(r"[\w./-]+: [\w.-]+", span)})
"""The spans that are a path from the root of the repository and, after a colon, a name in that file."""


def names_in(body, prefix=""):
    """Yield what the statements of a module or class define: functions, classes and variables."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield prefix + node.name
        elif isinstance(node, ast.ClassDef):
            yield prefix + node.name
            yield from names_in(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                yield from (prefix + n.id for n in ast.walk(target) if isinstance(n, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield prefix + node.target.id


def keys_in(table, prefix=""):
    """Yield the keys of a TOML table, those of tables in it with the dotted name of their table."""
    for key, value in table.items():
        yield prefix + key
        if isinstance(value, dict):
            yield from keys_in(value, f"{prefix}{key}.")


def has(path, name):
    """Whether a file defines a name; of a file that is neither Python nor TOML, whether the word is in it."""
    text = path.read_text("utf-8")
    if path.suffix == ".py":
        return name in set(names_in(ast.parse(text).body))
    if path.suffix == ".toml":
        return name in set(keys_in(tomllib.loads(text)))
    return re.search(rf"\b{re.escape(name)}\b", text) is not None


@pytest.mark.parametrize("pointer", POINTERS)
def test_a_pointer_leads_to_what_it_names(pointer):
    file, name = pointer.split(": ")
    assert (ROOT / file).is_file(), file
    assert has(ROOT / file, name), f"{file} does not define {name}"


def test_every_pointer_into_the_source_has_a_name():
    assert len(POINTERS) > 30
    assert {span for span in SPANS if re.search(r"\.\w+: ", span)} == set(POINTERS)
    assert not [span for span in SPANS if re.fullmatch(r"src/\S+\.py", span)]


def test_every_command_names_files_that_exist():
    words = [word for span in SPANS if " " in span for word in span.replace(":", "").split()]
    files = {word for word in words if re.fullmatch(r"[\w.-]+(?:/[\w.-]+)+", word)}
    assert "tests/regenerate_schemas.py" in files
    assert not [name for name in files if not (ROOT / name).exists()]


def test_every_folder_of_tests_has_its_row():
    rows = set(re.findall(r"^\| `tests/([\w-]+)/` \|", PAGE, re.MULTILINE))
    folders = {
        path.relative_to(ROOT / "tests").parts[0] for path in ROOT.glob("tests/*/**/test_*.py")
    }
    assert len(folders) > 5
    assert folders <= rows


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("src/benchgate/options/places.py", "BY_KEY"),
        ("src/benchgate/gates/judge.py", "RunFacts"),
        ("src/benchgate/gates/decision.py", "report"),
        ("pyproject.toml", "bench"),
        (".ci/run", "runn"),
    ],
)
def test_a_name_that_is_only_imported_or_part_of_another_is_not_found(file, name):
    assert not has(ROOT / file, name)
