"""Loads the stand-ins of all images that the answers may use into a daemon."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from _benchgate_bench.migration_chainguard_distroless.dockerfile.reference import Reference

from .facts import EMPTY, facts_of
from .images import StandIns, load, load_helper

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .images import Sources

NAMES: Final = (
    "aspnet-runtime", "bash", "busybox", "chainguard-base", "dotnet-sdk", "gcc-glibc", "glibc-dynamic", "go", "jdk",
    "jre", "maven", "nginx", "node", "php", "postgres", "python", "ruby", "rust", "static", "wolfi-base",
)  # fmt: skip
PAID: Final = (
    "jre:openjdk-17", "jdk:openjdk-17", "maven:3.9-openjdk-17-dev", "maven:3.9-dev", "maven:latest-dev", "jre:latest",
)  # fmt: skip
"""Images of the organisation that pays, with their tags."""

HELPERS: Final = (
    ("ghcr.io/astral-sh/uv:0.9", "/uv", "uv"),
    ("ghcr.io/astral-sh/uv:latest", "/uv", "uv"),
    ("composer:2", "/usr/bin/composer", "composer"),
    ("composer:latest", "/usr/bin/composer", "composer"),
)
"""Images of others with one program: their tag, its path, and the script that stands in for it."""


HERE: Final = Path(__file__).resolve().parent
_PINNED: Final = re.compile(
    r"""(?m)([A-Za-z][\w.-]*)(?:\[[\w,]+\])?\s*(?:(?:==|>=|~=|<=)|=\s*["']\^?(?=\d))\s*(\d[\w.]*)"""
)
_BARE: Final = re.compile(r"(?m)^([A-Za-z][\w.-]*)(?:\[[\w,]+\])?\s*(?:#.*)?$")


def wheels(projects: Iterable[Path]) -> dict[str, str]:
    """Return the packages of Python that projects ask for, each with a version that they accept."""
    found = {
        "uv": "0.9.0",
        "poetry": "2.2.1",
        "wheel": "0.45.0",
        "setuptools": "80.0.0",
        "hatchling": "1.27.0",
        "virtualenv": "20.35.0",
    }
    for project in projects:
        for path in sorted(project.rglob("*")):
            if path.name.startswith("requirements") or path.name == "pyproject.toml":
                text = path.read_text("utf-8")
                if path.suffix == ".txt":
                    found |= {name.lower(): "1.0" for name in _BARE.findall(text)}
                found |= {name.lower(): version for name, version in _PINNED.findall(text)}
    return found


def load_all(docker: Sequence[str], sources: Sources, projects: Iterable[Path]) -> None:
    """Make every stand-in and load it."""
    here = HERE
    made = StandIns(sources, wheels(projects), (here / "packages.txt").read_text("utf-8").split())
    for tag, path, script in HELPERS:
        load_helper(docker, tag, path, here / "scripts" / script, sources.work)
    for name in NAMES:
        for dev in (False, True):
            if not dev or not name.endswith("-base"):
                _load(docker, made, name, dev=dev)


def _load(docker: Sequence[str], made: StandIns, name: str, *, dev: bool) -> None:
    tag = "latest-dev" if dev else "latest"
    facts = facts_of(Reference(f"cgr.dev/chainguard/{name}", tag)) or EMPTY
    root = made.root(facts, name, dev=dev)
    tags = [f"cgr.dev/chainguard/{name}:{tag}"]
    tags += [
        f"cgr.dev/example.org/{paid}"
        for paid in PAID
        if paid.partition(":")[0] == name and paid.endswith("-dev") is dev
    ]
    for one in tags:
        load(docker, root, one, facts, made.sources.work)
