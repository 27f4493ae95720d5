"""
Write the facts about all of Chainguard's images from their locked configurations.

    python bench/migration-chainguard-distroless/tools/write_facts.py CLONE

``CLONE`` is a git folder of github.com/chainguard-images/images that has the commit :data:`COMMIT`.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchgate.loader.imports import bench_package

if TYPE_CHECKING:
    from collections.abc import Callable

COMMIT: Final = "cd7edd236bf1738260cf528cd8886f5353c3a3b8"
CLASS: Final = Path(__file__).resolve().parent.parent
FACTS: Final = CLASS / "observers/standins/facts.json"
SHELLS: Final = ("bash", "bash-binsh", "busybox", "dash", "dash-binsh", "zsh")
HELD: Final = ("ca-certificates-bundle", "dumb-init", "pnpm", "tini", "tzdata")
"""The packages that a stand-in has, or that a case may ask for, beside those whose programs or libraries are known."""

ASSUMED: Final = {"chainguard-base": "wolfi-base"}
"""Images that the commit does not have, and the one that each is assumed to equal."""


def main() -> None:
    """Write the facts."""
    with bench_package(CLASS.parent):
        from _benchgate_bench.migration_chainguard_distroless.observers.standins import brings

        write(sys.argv[1], brings)


def write(clone: str, brings: Any) -> None:
    """Write the facts about the images of a clone, with the packages that the tables have."""
    names = _git(clone, "ls-tree", "-r", "--name-only", COMMIT, "images/").splitlines()
    found: dict[str, Any] = {}
    for path in (one for one in names if one.endswith("/locked_config.json")):
        held = json.loads(_git(clone, "show", f"{COMMIT}:{path}"))
        for repository, locks in held["repoTags"].items():
            for lock in (name for name, tags in locks.items() if "latest" in tags):
                found[repository.rpartition("/")[2]] = facts(held["imageLocks"][lock], brings)
    found |= {name: found[like] for name, like in ASSUMED.items() if name not in found}
    lines = [f'"{name}": {json.dumps(found[name])}' for name in sorted(found)]
    FACTS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def facts(lock: dict[str, Any], brings: Any) -> dict[str, Any]:
    """Return what a lock says of its image; what is as usual is left out."""
    config, dev = _config(lock, "configs"), _config(lock, "devConfigs")
    held = {*HELD, *brings.PROGRAMS, *brings.LIBRARIES}
    packages, accounts = _packages(config, brings.plain), config["accounts"]
    more = _packages(dev, brings.plain) & {*SHELLS, *held} - packages if dev else ()
    found = {
        "entrypoint": shlex.split(config["entrypoint"]["command"]),
        "cmd": shlex.split(config["cmd"]),
        "user": accounts["run-as"] or "0",
        "users": [one["username"] for one in accounts["users"] or ()],
        "workdir": config["work-dir"] or "/",
        "shells": sorted(packages & set(SHELLS)),
        "apk": "apk-tools" in packages,
        "holds": sorted(packages & held),
        "env": dict(sorted((config["environment"] or {}).items())),
        "dev": sorted(more),
    }
    usual = {"user": "65532", "users": ["nonroot"], "workdir": "/", "apk": False, "env": {}}
    return {key: held for key, held in found.items() if held != usual.get(key, [])}


def _config(lock: dict[str, Any], kind: str) -> Any:
    held = lock.get(kind) or {}
    text = held.get("amd64") or next(iter(held.values()), "")
    return json.loads(text)["config"] if text else {}


def _packages(config: dict[str, Any], plain: Callable[[str], str]) -> set[str]:
    names = {text.partition("=")[0] for text in config["contents"]["packages"]}
    return names | {plain(name) for name in names}


def _git(clone: str, *words: str) -> str:
    command = ["git", "-C", clone, *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603


if __name__ == "__main__":
    main()
