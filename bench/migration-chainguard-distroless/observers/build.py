"""
Observes an answer: what is seen when its image is built and started.

An answer that is in ``observations/`` is not built again. Any other is built by ``BENCHGATE_BUILDER``; without it
nothing is known of the answer, and its trial is unavailable.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from _benchgate_bench.migration_chainguard_distroless import project
from _benchgate_bench.migration_chainguard_distroless.dockerfile.instruction import Refused
from _benchgate_bench.migration_chainguard_distroless.dockerfile.parser import (
    foreign_frontend,
    parse,
)
from _benchgate_bench.migration_chainguard_distroless.dockerfile.reference import Reference
from _benchgate_bench.migration_chainguard_distroless.expected import Expected, read_expected
from _benchgate_bench.migration_chainguard_distroless.forms import ANY

from .builder import BUILDERS, Builder, Unavailable
from .standins.facts import facts_of
from .store import key_of, stored

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate import BenchCase

BUILDER: Final = "BENCHGATE_BUILDER"
IMAGES: Final = "BENCHGATE_IMAGES"
SOURCES: Final = ("stand-in", "cgr.dev")
"""Where base images come from: stand-ins made from Debian's packages, or Chainguard's registry."""

_OWN: Final = {"apk": "usr/bin/apk", "bash": "bin/bash", "busybox": "bin/ash bin/busybox bin/sh"}
"""What an image that the case accepts in full may have of shells and package managers, by its packages."""


def images() -> str:
    """Return the source of base images that is asked for."""
    chosen = os.environ.get(IMAGES) or SOURCES[0]
    if chosen not in SOURCES:
        msg = f"{IMAGES} is {chosen!r}; it is one of {', '.join(SOURCES)}"
        raise ValueError(msg)
    return chosen


def source() -> str:
    """Return the source of base images, and the builder if it is not the one that built what is shipped."""
    program = os.environ.get(BUILDER)
    return f"{images()}-{program}" if program in BUILDERS[1:] else images()


class Build:
    """Observes the image of an answer; :attr:`name` and :meth:`digest` are in each record."""

    name = "build"
    digest = staticmethod(source)
    """What observations are of: what was seen of one thing is not compared with another."""

    def __call__(self, case: BenchCase, output: Mapping[str, Any]) -> dict[str, Any]:
        """
        Return what is seen of an answer.

        :raises Unavailable: it is not in the store, and there is no builder or no image to build it from.
        """
        if case.disposition == "negative" or case.expected_path is None:
            return {"asked": False}
        try:
            files = project.read_output(project.read_input(case.input_path), output)
            parse(files[project.DOCKERFILE])
        except Refused as refused:
            return {"built": False, "error": refused.code}
        if foreign_frontend(files[project.DOCKERFILE]):
            return {"built": False, "error": "another program than Docker's own reads it"}
        wanted = asked(read_expected(case.expected_path))
        found = stored(source()).get(key_of(wanted, files))
        return dict(found) if found is not None else built(files, wanted)


def asked(expected: Expected) -> dict[str, Any]:
    """Return what is looked at, as JSON; an observation is of this and of the answer's files, and of nothing else."""
    # What a case seldom has is left out where it has it not: a key is what it was before there was such a thing.
    seldom = {"args": dict(sorted(expected.build_args.items())), "modes": dict(expected.modes)}
    rules = (*expected.port_rules, *expected.file_rules)
    accepted = expected.final_images.items()
    full = (facts_of(Reference.read(image)) for image, credit in accepted if credit == 1)
    own = {name for facts in full if facts for name in (*facts.shells, "apk" * facts.apk)}
    shells = sorted(path for name in own for path in _OWN.get(name, "").split())
    return {
        **{key: held for key, held in seldom.items() if held},
        "target": expected.target,
        "files": sorted(map(expected.places, expected.files), key=str),
        "needs": [[sorted(one.any_of), sorted(one.files)] for one in expected.packages],
        "allowed": ANY if expected.packages_allowed == ANY else sorted(expected.packages_allowed),
        "rules": [
            {**one.model_dump(mode="json"), "path": expected.places(one.path)} for one in rules
        ],
        "env": {
            name: held if isinstance(held, str) else sorted(held)
            for name, held in expected.env.items()
        },
        "unneeded": sorted(expected.unneeded),
        "shells": [] if expected.shell_needed else shells,
        "shell_needed": expected.shell_needed,
    }


def built(files: Mapping[str, str], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """
    Build and start an answer, and return what is seen.

    :raises Unavailable: there is no builder that can.
    """
    program = os.environ.get(BUILDER, "")
    if program not in BUILDERS:
        raise Unavailable(f"set {BUILDER}={'|'.join(BUILDERS)}")
    builder = Builder(program, stands_in=images() == SOURCES[0])
    builder.ready()
    with tempfile.TemporaryDirectory(prefix="build-") as work:
        return builder.observe(files, Path(work, "context"), wanted)


build = Build()
