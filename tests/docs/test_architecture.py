"""The architecture page names the rooms that there are, on the floors where they are, and files that exist."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "benchgate"
DOCS = ROOT / "docs"
ARCHITECTURE = DOCS / "explanation" / "architecture.md"
FLOORS = runpy.run_path(str(ROOT / "tests" / "unit" / "test_rooms.py"))["FLOORS"]
"""The list that imports are held against, lowest floor first."""


def test_the_table_has_each_room_on_its_floor():
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \| .", ARCHITECTURE.read_text("utf-8"), re.MULTILINE)
    floors = [{room for floor, room in rows if int(floor) == n} for n in range(1, len(FLOORS) + 1)]
    assert tuple(floors) == FLOORS
    assert len(rows) == sum(map(len, FLOORS))


def test_the_picture_has_each_room_on_its_floor():
    text = (DOCS / "pictures" / "architecture.svg").read_text("utf-8")
    rooms = re.findall(r'<text class="room" x="\d+" y="(\d+)"[^>]*>(\w+)<', text)
    heights = sorted({int(y) for y, _ in rooms}, reverse=True)
    floors = [{room for y, room in rooms if int(y) == height} for height in heights]
    assert tuple(floors) == FLOORS


@pytest.mark.parametrize("page", ["explanation/architecture.md", "CONTRIBUTING.md"])
def test_every_file_that_is_named_exists(page):
    named = re.findall(
        r"(?<!\})`([\w.-]+/[\w./-]*|[\w-]+\.(?:py|toml|md))`", (DOCS / page).read_text("utf-8")
    )
    assert len(named) > 20
    folders = (ROOT, PACKAGE, *(path for path in PACKAGE.iterdir() if path.is_dir()))
    # What is in every class folder stands for the one of a shipped class.
    examples = (*ROOT.glob("bench/*"), *ROOT.glob("bench/*/cases/*"))
    assert not [
        name for name in named if not any((at / name).exists() for at in (*folders, *examples))
    ]
