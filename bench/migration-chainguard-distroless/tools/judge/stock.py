"""Loads the stand-ins of all images that the answers may use into a daemon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from _benchgate_bench.migration_chainguard_distroless.image.base_images import (
    EMPTY,
    Reference,
    facts_of,
)

from .answers import CLASS, wheels
from .images import StandIns, load, load_helper

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .images import Sources

NAMES: Final = (
    "aspnet-runtime", "chainguard-base", "dotnet-sdk", "glibc-dynamic", "go", "jdk", "jre", "maven", "nginx", "node",
    "php", "postgres", "python", "ruby", "rust", "static", "wolfi-base",
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


def load_all(docker: Sequence[str], sources: Sources) -> None:
    """Make every stand-in and load it."""
    here = CLASS / "tools" / "judge"
    made = StandIns(sources, wheels(), (here / "packages.txt").read_text("utf-8").split())
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
