"""The page of the package index serves people without a clone: whole links to files that are there, and an install."""

from __future__ import annotations

import re
import runpy
import shutil
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = runpy.run_path(str(ROOT / ".ci" / "index_page.py"))
URL = "https://git.example/somebody/benchgate"


@pytest.fixture
def project(tmp_path):
    """Return the metadata of a project of which the script has written the page, and the page."""
    shutil.copy(ROOT / "README.md", tmp_path)
    settings = '[project]\nname = "it"\nversion = "1.2.3"\nreadme = "README.md"\n'
    (tmp_path / "pyproject.toml").write_text(settings)
    SCRIPT["main"](tmp_path, URL)
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text("utf-8"))["project"]
    return project, (tmp_path / project["readme"]).read_text("utf-8")


def test_every_link_leads_to_a_file_of_the_tagged_version(project):
    links = re.findall(r"(!?)\[[^\]]*\]\(([^)]+)\)", project[1])
    assert len(links) > 10
    for image, link in links:
        kind = "raw" if image else "blob"
        before = f"{URL}/{kind}/v1.2.3/"
        assert link.startswith(before)
        path = link.removeprefix(before).partition("#")[0]
        assert (ROOT / path).exists(), link


def test_it_installs_from_the_index_and_says_nothing_else_than_the_readme(project):
    assert "pip install 'pytest-benchgate[xdist,report]'" in project[1]
    undone = re.sub(rf"{URL}/\w+/v[\d.]+/", "", project[1])
    undone = undone.replace(SCRIPT["FROM_THE_INDEX"], SCRIPT["FROM_A_CLONE"])
    assert undone == (ROOT / "README.md").read_text("utf-8")


def test_the_metadata_names_the_repository(project):
    assert project[0]["urls"]["Source"] == URL
    assert set(project[0]["urls"]) == {"Source", "Documentation", "Changelog", "Issues"}
