"""``.ci/nightly`` has the parts that ``.ci/nightly_parts.py`` lists, and a change is told which of them it touches."""

from __future__ import annotations

import re
import runpy
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NIGHTLY = ROOT / ".ci" / "nightly"
TABLE = runpy.run_path(str(ROOT / ".ci" / "nightly_parts.py"))
PARTS = TABLE["PARTS"]


def test_each_part_is_a_function_of_the_script():
    functions = re.findall(r"(?m)^(\w+)\(\) \{", NIGHTLY.read_text())
    assert sorted(functions) == sorted(PARTS)


@pytest.mark.parametrize("part", PARTS)
def test_the_paths_of_a_part_are_there(part):
    assert [path for path in PARTS[part][1] if not (ROOT / path).exists()] == []


@pytest.mark.parametrize(
    ("file", "parts"),
    [
        ("src/benchgate/gates/decide.py", {"examples", "searches", "calibration", "faults"}),
        ("src/benchgate/wire/files.py", {"examples", "searches", "faults"}),
        ("bench/gridworld-policy/rubric.py", {"searches", "mutation"}),
        ("docs/index.md", set()),
    ],
)
def test_a_change_touches_the_parts_of_its_paths(file, parts):
    assert set(TABLE["touched"]([file])) == parts


@pytest.mark.parametrize("part", ["nonsense", "--help", "ex.*"])
def test_a_part_that_is_not_there_is_refused_before_anything_is_installed(part):
    done = subprocess.run(["bash", NIGHTLY, part], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(f"{part}: no such part; there are: {' '.join(PARTS)}")
    assert done.stdout == ""
