"""
Build the answers that ship with the class, and keep what was seen in ``observations/``.

    python bench/migration-chainguard-distroless/tools/record_observations.py --load DEBIAN [--python PREFIX ...]
    BENCHGATE_BUILDER=docker python bench/migration-chainguard-distroless/tools/record_observations.py

The first makes the stand-ins and loads them; ``--projects`` names further folders whose packages of Python they must
have, ``--real`` lays real tools over them (``real_tools.py``). The second builds what is not in the store, and drops
what no answer needs any more.

A daemon that needs no network can be had from Debian's ``docker.io``, ``docker-cli``, ``docker-buildx``, ``containerd``
and ``runc``, unpacked with ``dpkg -x`` and started as root by

    dockerd --iptables=false --ip6tables=false --bridge=none --userland-proxy=false -H unix:///run/judge.sock \
        --data-root DIR --exec-root DIR --pidfile FILE

with ``DOCKER_HOST`` set to that socket; the client looks for ``docker-buildx`` in ``$DOCKER_CONFIG/cli-plugins``.
``DEBIAN`` is a folder with the packages of :data:`UNPACKED`, unpacked in the same way; it is named from ``/`` on.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from benchgate.loader.imports import bench_package

CLASS: Final = Path(__file__).resolve().parent.parent
UNPACKED: Final = {
    "busybox-static": "bin/busybox",
    "tini": "usr/bin/tini-static",
    "nginx": "usr/sbin/nginx",
    "nginx-common": "etc/nginx/mime.types",
    "make": "usr/bin/make",
    "libpcre2-8-0": "usr/lib/x86_64-linux-gnu/libpcre2-8.so.0",
}
"""Packages of Debian that the stand-ins are made of, each with a file of it."""

EACH: Final = 10
"""Answers after which the store is written: what ends a run loses none of those before."""


def main() -> int:
    """Load the stand-ins, or build the answers."""
    parser = argparse.ArgumentParser(description="Builds answers and keeps what was seen.")
    parser.add_argument(
        "--load", type=debian, help="make stand-ins of a folder of Debian's packages"
    )
    parser.add_argument("--python", type=place, nargs="+", default=[Path(sys.base_prefix)])
    parser.add_argument("--node", type=place, default=Path("/usr/bin/node"))
    parser.add_argument("--program", default="docker", help="what loads the stand-ins")
    parser.add_argument("--projects", type=place, nargs="*", default=[])
    parser.add_argument("--real", action="store_true", help="with real tools over the stand-ins")
    parser.add_argument("--jobs", type=int, default=2, help="answers that are built at once")
    parser.add_argument("--again", action="store_true", help="build those in the store as well")
    asked = parser.parse_args()
    with bench_package(CLASS.parent), tempfile.TemporaryDirectory(prefix="stand-ins-") as work:
        if not asked.load:
            return record(asked.jobs, again=asked.again)
        from _benchgate_bench.migration_chainguard_distroless.observers.standins import images
        from _benchgate_bench.migration_chainguard_distroless.tools import real_tools

        projects, docker = [CLASS / "cases", *asked.projects], [asked.program]
        for package, modules in images.unknown_modules(projects).items():
            said = f"{package} may bring {', '.join(sorted(modules))}: no package is known to (brings.py)"
            sys.stdout.write(f"{said}\n")
        made = images.StandIns(asked.load, asked.python[0], asked.node, Path(work), projects)
        if asked.real:
            real_tools.load_all(docker, made, asked.python, asked.projects)
        else:
            made.load_all(docker)
        return 0


def place(text: str) -> Path:
    """
    Read a path of the command line.

    :raises ArgumentTypeError: it is relative, or nothing is there. ``ldd`` finds no libraries below a relative path.
    """
    path = Path(text)
    if not path.is_absolute():
        msg = f"{text} is a relative path; write {path.resolve()}"
        raise argparse.ArgumentTypeError(msg)
    if not path.exists():
        msg = f"there is no {text}"
        raise argparse.ArgumentTypeError(msg)
    return path


def debian(text: str) -> Path:
    """Read the folder of Debian's packages; :raises ArgumentTypeError: it lacks one."""
    path = place(text)
    if missing := [name for name, file in UNPACKED.items() if not (path / file).exists()]:
        msg = f"{text} lacks {', '.join(missing)}: apt-get download them, and dpkg -x each there"
        raise argparse.ArgumentTypeError(msg)
    return path


def record(jobs: int, *, again: bool) -> int:
    """Build what is not in the store; return 1 if something could not be."""
    from _benchgate_bench.migration_chainguard_distroless.observers import build, store
    from _benchgate_bench.migration_chainguard_distroless.tools.answers import answers, task

    images = build.source()
    known = store.stored(images)
    needed: dict[str, Any] = {}
    for name, case, files in answers():
        key, *more = task(case, files)
        needed.setdefault(key, (name, *more))
    kept = {} if again else {key: known[key] for key in needed.keys() & known.keys()}
    waiting = {key: one for key, one in needed.items() if key not in kept}
    failed = 0
    with ThreadPoolExecutor(jobs) as pool:
        futures = {key: pool.submit(build.built, *one[1:]) for key, one in waiting.items()}
        for at, (key, future) in enumerate(futures.items()):
            try:
                kept[key] = future.result()
                said = kept[key].get("error", "") or "started"
            except Exception as error:
                failed, said = failed + 1, str(error)
            sys.stdout.write(f"{waiting[key][0]}: {said}\n")
            sys.stdout.flush()
            if at % EACH == 0:
                store.store(images, {**known, **kept})
    store.store(images, {**known, **kept} if failed else kept)
    sys.stdout.write(f"{len(kept)} observations, {failed} answers could not be built\n")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
