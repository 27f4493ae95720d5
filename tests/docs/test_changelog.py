"""The changelog stays a page that somebody reads: what the first version has, then one line a change."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CHANGELOG.md").read_text("utf-8")
SECTIONS = re.split(r"^(?=## )", TEXT, flags=re.MULTILINE)[1:]
"""The newest version comes first."""


def test_the_first_version_is_one_page():
    assert SECTIONS[-1].startswith("## 0.1.0, ")
    assert len(SECTIONS[-1].splitlines()) <= 80


def test_every_version_has_its_date():
    """The newest may wait for one; the workflow of a release takes its tag for this version only with a date."""
    dated = r"## \d+\.\d+\.\d+, \d{4}-\d{2}-\d{2}"
    headings = [section.splitlines()[0] for section in SECTIONS]
    assert re.fullmatch(rf"{dated}|## \d+\.\d+\.\d+ \(unreleased\)", headings[0])
    assert not [heading for heading in headings[1:] if not re.fullmatch(dated, heading)]


def test_a_later_change_is_one_line():
    for section in SECTIONS[:-1]:
        lines = [line for line in section.splitlines()[1:] if line]
        assert not [line for line in lines if not line.startswith(("- ", "### "))]


def test_every_page_that_is_linked_exists():
    linked = re.findall(r"\]\(([^):]+)\)", TEXT)
    assert len(linked) > 2
    assert not [page for page in linked if not (ROOT / page).exists()]
