"""The page on ``benchmarks/`` has a row for each script, and names no other file."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"
PAGE = (BENCHMARKS / "README.md").read_text("utf-8")
NAMED = set(re.findall(r"`([\w./-]+\.(?:py|json|md))`", PAGE))


def test_every_script_is_on_the_page():
    scripts = {path.relative_to(BENCHMARKS).as_posix() for path in BENCHMARKS.rglob("*.py")}
    assert len(scripts) > 20
    assert not [name for name in scripts if name not in PAGE]


def test_every_file_that_the_page_names_exists():
    assert not [
        name for name in NAMED if not any((at / name).exists() for at in (BENCHMARKS, ROOT))
    ]


def test_every_page_that_a_script_feeds_names_the_script():
    rows = re.findall(r"^\| `(\S+\.py)` \|.*`(docs/\S+)` \|$", PAGE, re.MULTILINE)
    assert len(rows) > 10
    assert not [
        (script, page)
        for script, page in rows
        if f"benchmarks/{script}" not in (ROOT / page).read_text("utf-8")
    ]
