"""The faults of ``benchmarks/faults`` still apply to the source, so that they can be planted at any time."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FAULTS = ROOT / "benchmarks" / "faults"
PATCHES = sorted(FAULTS.glob("*.patch"))
FEWEST = 20
"""Areas of which each has a fault: fewer prove less."""
PATCH = """\
area: sums
what: Two and two are five.
found by: tests/test_sums.py

--- a/src/sums.py
+++ b/src/sums.py
@@ -1,3 +1,3 @@ def add(a, b):
     # What it says.
-    return a + b
+    return a + b + 1

"""


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(str(FAULTS))
    return importlib.import_module("plant")


@pytest.fixture
def tree(tmp_path):
    """A tree of a source, its test and the patch of a fault."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src/sums.py").write_text(
        "def add(a, b):\n    # What it says.\n    return a + b\n\n"
    )
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_sums.py").write_text(
        "from sums import add\n\ndef test_a_sum():\n    assert add(2, 2) == 4\n"
    )
    (tmp_path / "01-sums.patch").write_text(PATCH)
    return tmp_path


@pytest.mark.parametrize("patch", PATCHES, ids=lambda path: path.stem)
def test_a_fault_applies_and_its_tests_are_there(script, patch):
    fault = script.read_fault(patch)
    assert fault.planted(ROOT) != (ROOT / fault.file).read_text("utf-8")


def test_each_area_has_one_fault_and_each_fault_a_number(script):
    areas = [path.stem.partition("-")[2] for path in PATCHES]
    assert len(areas) >= FEWEST
    assert len(set(areas)) == len(areas)
    assert len({path.name[:2] for path in PATCHES}) == len(areas)


def test_a_fault_is_planted_wherever_its_lines_are(script, tree):
    fault = script.read_fault(tree / "01-sums.patch")
    source = tree / "src/sums.py"
    moved = "import math\n\n\n" + source.read_text()
    source.write_text(moved)
    assert fault.planted(tree) == moved.replace("a + b", "a + b + 1")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("src/sums.py", "def add(a, b):\n    return sum((a, b))\n"),
        ("src/sums.py", "    # What it says.\n    return a + b\n\n" * 2),
        ("src/sums.py", None),
        ("tests/test_sums.py", None),
    ],
    ids=["other code", "twice", "no source", "no test"],
)
def test_a_fault_that_does_not_apply_says_so(script, tree, name, text):
    path = tree / name
    if text is None:
        path.unlink()
    else:
        path.write_text(text)
    fault = script.read_fault(tree / "01-sums.patch")
    with pytest.raises(script.DoesNotApplyError, match=path.name):
        fault.planted(tree)


@pytest.mark.parametrize(
    ("without", "planted", "said"),
    [
        (
            (0, ""),
            (1, "FAILED tests/test_sums.py::test_a_sum - 5"),
            "found by tests/test_sums.py::test_a_sum",
        ),
        ((0, ""), (0, ""), "NOT FOUND (exit status 0): Two and two are five."),
        ((0, ""), (2, "ERROR tests/test_sums.py"), "NOT FOUND (exit status 2)"),
        ((0, ""), (None, ""), "NOT FOUND (hangs)"),
        (
            (1, "FAILED tests/test_sums.py::test_a_sum - 5"),
            None,
            "NOT FOUND: tests/test_sums.py do not pass without it",
        ),
    ],
    ids=["found", "no test fails", "no test runs", "a test hangs", "a test always fails"],
)
def test_a_fault_is_found_if_a_test_fails_that_passes_without_it(
    script, tree, without, planted, said
):
    ends = iter([without, planted])
    source = tree / "src/sums.py"
    seen = []

    class Copy(script.Copy):
        def __init__(self):
            self.folder = tree

        def pytest(self, fault):
            assert fault.tests == ("tests/test_sums.py",)
            seen.append("a + b + 1" in source.read_text())
            return next(ends)

    found, text = script.Planter(Copy()).try_one(script.read_fault(tree / "01-sums.patch"))
    assert text.startswith(said)
    assert found is said.startswith("found")
    assert seen == [False] + [True] * (planted is not None)
    assert "a + b + 1" not in source.read_text()
