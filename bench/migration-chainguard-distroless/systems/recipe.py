"""What the final stage starts, and the image that it needs for this."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Final

from _benchgate_bench.migration_chainguard_distroless.dockerfile.stages import borrowed, is_root
from _benchgate_bench.migration_chainguard_distroless.observers.standins.facts import FACTS

from .lines import BASE, name_and_tag

if TYPE_CHECKING:
    from collections.abc import Mapping

    from _benchgate_bench.migration_chainguard_distroless.dockerfile.instruction import Instruction
    from _benchgate_bench.migration_chainguard_distroless.dockerfile.stages import Build, Stage

Argv = tuple[str, ...] | None
"""What a container starts, in exec form: nothing if the image decides, None if it needs a shell."""

STATIC_HOLDS: Final = {"ca-certificates", "ca-certificates-bundle", "tzdata"}
_DISTROLESS: Final = re.compile(r".*distroless/(?P<kind>[a-z]+)(?P<major>\d*)(?=[-:@]|\Z)")
_KINDS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "base": ("glibc-dynamic", ()), "cc": ("glibc-dynamic", ()), "java": ("jre", ("java", "-jar")),
    "nodejs": ("node", ("node",)), "python": ("python", ("python",)), "static": ("static", ()),
}  # fmt: skip
"""Of Google's images: Chainguard's, and the entrypoint, which gets the command as arguments."""

_COMPILERS: Final = ("go", "rust", "gcc-glibc")
_SHELL_TEXT: Final = re.compile(r"[$&|;<>`*?(){}]")
_NPM_START: Final = (["npm", "start"], ["npm", "run", "start"], ["yarn", "start"])


def argv_of(final: Stage, scripts: Mapping[str, str]) -> Argv:
    """
    Return what a stage starts, without a shell and without npm where possible.

    :param scripts: the scripts of ``package.json``.
    """
    entrypoint, cmd = _configured(final)
    given = [one for one in (entrypoint, cmd) if one]
    argv = [word for one in given for word in one.value]
    text = next((one.value[0] for one in given if not one.json), "")
    if _SHELL_TEXT.search(text):
        return None
    if text:
        argv = shlex.split(text.removeprefix("exec "))
    if argv and entrypoint is None:
        argv = [*_distroless(final.root_base)[1], *argv]
    if argv in _NPM_START and "start" in scripts:
        argv = shlex.split(scripts["start"])
    return tuple(argv)


def _configured(final: Stage) -> tuple[Instruction | None, Instruction | None]:
    """Return the ``ENTRYPOINT`` and the ``CMD`` in effect, None for one that is missing or empty."""
    entrypoint = cmd = None
    for stage in final.lineage:
        here = False
        for one in stage.steps:
            if one.name == "CMD":
                cmd, here = one if one.value else None, True
            elif one.name == "ENTRYPOINT":
                # Docker drops a CMD of the base image: it was meant for the base's entrypoint.
                entrypoint, cmd = one if one.value else None, cmd if here else None
    return entrypoint, cmd


def _distroless(base: str) -> tuple[str, tuple[str, ...]]:
    """Return Chainguard's image in the place of Google's, and the entrypoint; nothing for any other image."""
    found = _DISTROLESS.match(base)
    if not found or found["kind"] not in _KINDS:
        return "", ()
    name, entrypoint = _KINDS[found["kind"]]
    return f"{name}:{found['major']}", entrypoint


def target_of(build: Build, argv: Argv, packages: set[str]) -> str:
    """Return the image for the final stage of a build, with the tag that the version is taken from."""
    base = build.final.root_base
    if distroless := _distroless(base)[0]:
        return distroless
    name, tag = name_and_tag(base)
    if name == "jdk" and argv and argv[0] == "java":
        name = "jre"
    if name == BASE and argv is not None and packages <= STATIC_HOLDS:
        return _binary_image(build, argv) or BASE
    return f"{name}:{tag}"


def _binary_image(build: Build, argv: tuple[str, ...]) -> str:
    """Return the image for a compiled program, empty if none is copied from a build stage."""
    sources = [build.find(name, build.final) for name in borrowed(build.final)]
    stages = [one for one in sources if one]
    compilers = [one for one in stages if name_and_tag(one.root_base)[0] in _COMPILERS]
    if not compilers or not argv or not argv[0].startswith("/"):
        return ""
    steps = (step for one in compilers for step in one.all_steps if step.name == "RUN")
    static = any("CGO_ENABLED=0" in str((step.value, step.heredocs)) for step in steps)
    static = static or any(one.config.env.get("CGO_ENABLED") == "0" for one in compilers)
    return "static" if static else "glibc-dynamic"


def user_in(image: str, user: str) -> bool:
    """
    Return whether an image can run as a user that nothing creates: a number other than root's, or a name that it has.

    One that starts as root and drops root itself needs no other.
    """
    name, facts = user.partition(":")[0], FACTS.get(image)
    if facts and facts.user == "0" and facts.entrypoint:
        return False
    is_number = bool(re.fullmatch(r"[+-]?[0-9]+", name))
    return (facts is not None and name in facts.users) or (is_number and not is_root(name))
