"""Compiled programs: whether the final image has the loader that they need, and whether they are for its platform."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from .base_images import WITHOUT_LOADER
from .run_steps import ran

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .files import Files
    from .run_steps import Ran
    from .stages import Stage

_C_IN_GO: Final = re.compile(r'"(?:net(?:/\S*)?|os/user|plugin|C)"')
_OFF: Final = "0"


def link_problems(stage: Stage, files: Files) -> Iterator[str]:
    """Yield why a program that was compiled in another stage does not start in this one."""
    base = stage.root_base if stage.reference is None else stage.reference.image
    bare = base in WITHOUT_LOADER and not _loader_copied(stage)
    for owner in files.build.built:
        for step in owner.steps:
            for one in ran(step) if step.name == "RUN" else ():
                if bare and _dynamic(one, files.context):
                    tool = one.words[0]
                    yield f"the program of {tool} needs a loader that {base} does not have"
                if "BUILDPLATFORM" in owner.platform and _is_go(one) and not one.env.get("GOARCH"):
                    yield "the program of go is built for the builder's platform"


def _dynamic(one: Ran, context: Mapping[str, str]) -> bool:
    """Return whether a command makes a program that is linked dynamically."""
    if _is_go(one):
        return _dynamic_go(one, context)
    if one.words[0] == "cargo":
        return "build" in one.words and _dynamic_rust(one)
    return one.words[0] in ("gcc", "cc", "g++") and _dynamic_c(one)


def _is_go(one: Ran) -> bool:
    return one.words[:2] in (("go", "build"), ("go", "install"))


def _loader_copied(stage: Stage) -> bool:
    targets = [word for step in stage.all_steps if step.name == "COPY" for word in step.words]
    return any(
        "ld-linux" in word or "ld-musl" in word or word in ("/lib", "/lib64") for word in targets
    )


def _dynamic_go(one: Ran, context: Mapping[str, str]) -> bool:
    """Return whether ``go build`` links the C library: cgo is on, and the program has a package that uses it."""
    if one.env.get("CGO_ENABLED") == _OFF or "-static" in one.text:
        return False
    tags = re.search(r"-tags[= ](\S+)", one.text)
    if tags and {"netgo", "osusergo"} <= set(re.split(r"[,\s]", tags[1])):
        return False
    sources = [text for path, text in context.items() if path.endswith(".go")]
    return not sources or any(map(_C_IN_GO.search, sources))


def _dynamic_rust(one: Ran) -> bool:
    flags = one.env.get("RUSTFLAGS", "") + one.env.get("CARGO_BUILD_RUSTFLAGS", "")
    target = one.text + one.env.get("CARGO_BUILD_TARGET", "")
    return "musl" not in target and "+crt-static" not in flags


def _dynamic_c(one: Ran) -> bool:
    makes_program = "-o" in one.words and "-c" not in one.words
    return makes_program and "-static" not in one.words and "-shared" not in one.words
