"""
Build and run answers with BuildKit, and record what was seen.

    python bench/migration-chainguard-distroless/tools/build_judge.py \
        --host unix:///run/judge.sock --debian DIR --python PREFIX

It takes a Docker daemon of its own, as root on Linux, which needs no network: Debian's ``docker.io``, ``containerd``,
``runc`` and ``docker-buildx``, unpacked with ``dpkg -x``, and started by

    dockerd --iptables=false --bridge=none -H unix:///run/judge.sock --data-root DIR --exec-root DIR --pidfile FILE

``--debian`` is a folder with ``busybox-static``, ``tini``, ``nginx`` and the libraries of ``nginx``, unpacked in the
same way. The images are stand-ins (``judge/images.py``); what they cannot show is in the class's README. The record is
``tests/builds.json``.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchgate.loader.imports import bench_package

if TYPE_CHECKING:
    from collections.abc import Iterator

CLASS: Final = Path(__file__).resolve().parent.parent
RECORD: Final = CLASS / "tests" / "builds.json"


def main() -> int:
    """Load the stand-ins, judge the answers, write the record."""
    asked = _arguments()
    with bench_package(CLASS.parent), tempfile.TemporaryDirectory(prefix="judge-") as work:
        # Written each time: a build takes seconds, and what ends a run loses none of those before.
        for record in judge(asked, Path(work)):
            text = json.dumps(record, indent=1, sort_keys=True)
            asked.record.write_text(f"{text}\n", encoding="utf-8")
    return 0


def judge(asked: argparse.Namespace, work: Path) -> Iterator[dict[str, Any]]:
    """Yield what was seen of each answer until then, by its name."""
    from _benchgate_bench.migration_chainguard_distroless.tools.judge.answers import answers
    from _benchgate_bench.migration_chainguard_distroless.tools.judge.images import Sources
    from _benchgate_bench.migration_chainguard_distroless.tools.judge.observe import observe
    from _benchgate_bench.migration_chainguard_distroless.tools.judge.stock import load_all

    docker = ["docker", "--host", asked.host]
    if not asked.keep_images:
        load_all(docker, Sources(asked.debian, asked.python, asked.node, work))
    known = asked.only and asked.record.exists()
    record: dict[str, Any] = json.loads(asked.record.read_text("utf-8")) if known else {}
    for name, case, files in answers():
        if not asked.only or name.startswith(tuple(asked.only)):
            seen = observe(docker, files, Path(tempfile.mkdtemp(dir=work)), case)
            record[name] = seen.as_json()
            built = "built" if seen.built else "not built"
            sys.stdout.write(f"{name}: {built} {seen.exit} {seen.error}\n")
            sys.stdout.flush()
            yield record


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Builds and runs answers, records what was seen.")
    parser.add_argument("--host", required=True, help="the socket of the daemon")
    parser.add_argument(
        "--debian", type=Path, required=True, help="where Debian's packages were unpacked"
    )
    parser.add_argument("--python", type=Path, required=True, help="the prefix of a Python")
    parser.add_argument("--node", type=Path, default=Path("/usr/bin/node"))
    parser.add_argument("--keep-images", action="store_true", help="stand-ins are loaded already")
    parser.add_argument(
        "--only", nargs="*", default=(), help="beginnings of names; the others keep their record"
    )
    parser.add_argument("--record", type=Path, default=RECORD, help="where to write what was seen")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
