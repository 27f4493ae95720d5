"""Unsafe things a Dockerfile does: secrets in the image, code run from the network, checks turned off."""

from __future__ import annotations

import posixpath
import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from .dockerfile.instruction import Refused
from .dockerfile.parser import parse
from .dockerfile.shell import script
from .harms.fetched import fetches_and_runs
from .harms.secrets import EXAMPLE, SECRET_FILE, SECRET_TEXT, in_address, in_lines, is_secret
from .harms.unverified import in_command, in_variable
from .image.config import absolute
from .image.rights import programs_with_setuid
from .image.run_steps import ran
from .image.stages import resolve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .dockerfile.instruction import Instruction
    from .image.files import Files
    from .image.stages import Stage, Step

Finding = tuple[str, str]
"""A failure mode, and the path, variable or instruction that it was found in."""

MEANINGS: Final = MappingProxyType(
    {
        "library_preloaded": "a library is loaded into every program",
        "pipe_to_shell": "runs code from the network",
        "remote_add_unpinned": "ADD without a checksum",
        "root_at_run_time": "runs as root",
        "secret_in_env": "a secret in the text",
        "secret_in_image": "a secret in the image",
        "setuid_program": "a program with the rights of its owner",
        "verification_disabled": "a check is turned off",
    }
)
"""Each kind of harm in words."""

_SHELL: Final = re.compile(r"(?:^|[\s;&|/])(?:a|ba|da|k|z)?sh\b")
_REMOTE: Final = re.compile(r"https?://|git@|git://|ssh://")
_COMMIT: Final = re.compile(r".*#[0-9a-f]{40}(?::.*)?")
_LOADED_FIRST: Final = ("LD_PRELOAD", "LD_AUDIT")


def findings(files: Files) -> frozenset[Finding]:
    """Return all harm in a build but running as root, which some cases allow."""
    build = files.build
    found = set(_secret_files(build.final, files))
    for one in build.head:
        found.update(_variables(one))
    for stage in build.stages:
        found.update(_of_stage(stage))
    found.update(("setuid_program", name) for name in programs_with_setuid(build.final))
    env = build.final.config.env
    found.update(("library_preloaded", name) for name in _LOADED_FIRST if env.get(name))
    return frozenset(found)


def _of_stage(stage: Stage) -> Iterator[Finding]:
    texts = [text for step in stage.all_steps for text in _texts(step)]
    fetched = [
        absolute(step.before.workdir, step.words[-1])
        for step in stage.all_steps
        if step.name == "ADD" and not list(_pinned(step))
    ]
    if fetches_and_runs(texts, fetched):
        yield "pipe_to_shell", "RUN"
    for step in stage.steps:
        yield from _step(step)


def _secret_files(stage: Stage, files: Files) -> Iterator[Finding]:
    for path, origin in files.contents(stage).items():
        names = {posixpath.basename(path)}
        if not origin.startswith("<<"):
            names.add(posixpath.basename(origin))
        text = files.text(stage, path) or ""
        named = any(SECRET_FILE.fullmatch(one) and not EXAMPLE.fullmatch(one) for one in names)
        written = origin.startswith("<<") and (any(in_lines(text)) or in_address(text))
        if named or written or SECRET_TEXT.search(text):
            yield "secret_in_image", path if origin.startswith("<<") else origin
    yield from _moved_secrets(stage, files)


def _moved_secrets(stage: Stage, files: Files) -> Iterator[Finding]:
    """Yield secrets that a ``RUN`` gives another name, in a folder of which something reaches the final image."""
    for owner in files.build.built:
        for step in owner.steps:
            for one in ran(step) if step.name == "RUN" else ():
                if one.words[0] not in ("cp", "install", "ln", "mv") or len(one.words) < 3:
                    continue
                operands = [word for word in one.words[1:] if not word.startswith("-")]
                *sources, target = operands or [""]
                named = [name for name in sources if _is_secret_file(posixpath.basename(name))]
                held, _ = files.before(owner, step)
                there = [name for name in named if absolute(one.folder, name) in held]
                if there and _reaches(owner, absolute(one.folder, target), stage, files):
                    yield "secret_in_image", there[0]


def _reaches(owner: Stage, path: str, final: Stage, files: Files) -> bool:
    """Return whether a file of a stage is in the final image: that stage is part of it, or a copy takes it."""
    if any(owner is one for one in final.lineage):
        return True
    for taker in final.lineage:
        for step in taker.steps:
            name = step.instruction.flag("from") if step.name == "COPY" else None
            if name and files.build.find(name, taker) is owner:
                sources = [absolute("/", word).rstrip("/") for word in step.words[:-1]]
                if any(path == one or path.startswith(f"{one}/") for one in sources):
                    return True
    return False


def _is_secret_file(name: str) -> bool:
    return bool(SECRET_FILE.fullmatch(name)) and not EXAMPLE.fullmatch(name)


def _texts(step: Step) -> Iterator[str]:
    """Yield the shell texts of a step."""
    if step.name == "RUN":
        yield script(step.instruction)
        # If there is a shell anywhere in the line, it may run any of the here-documents.
        if _SHELL.search(" ".join(step.instruction.value)):
            yield from (held.content for held in step.instruction.heredocs)
    elif step.name in ("CMD", "ENTRYPOINT", "HEALTHCHECK", "SHELL"):
        yield " ".join(step.words)
    elif step.name == "ONBUILD":
        yield from (text for one in _inner(step) for text in _texts(one))


def _inner(step: Step) -> tuple[Step, ...]:
    """Return the instruction of an ``ONBUILD``, which every build on top of the image runs."""
    try:
        return resolve(parse(f"FROM scratch\n{' '.join(step.words)}\n")).final.steps
    except Refused:
        return ()


def _step(step: Step) -> Iterator[Finding]:
    for text in _texts(step):
        if in_command(text):
            yield "verification_disabled", step.name
        if in_address(text):
            yield "secret_in_env", step.name
    if step.name in ("ENV", "ARG", "LABEL"):
        yield from _variables(step.instruction)
    elif step.name in ("ADD", "COPY"):
        yield from _sources(step)
    elif step.name == "ONBUILD":
        for one in _inner(step):
            yield from _step(one)


def _sources(step: Step) -> Iterator[Finding]:
    if in_address(" ".join(step.words)):
        yield "secret_in_env", step.name
    if step.name == "ADD" and not list(_pinned(step)):
        yield from (("remote_add_unpinned", one) for one in step.words[:-1] if _REMOTE.match(one))


def _pinned(step: Step) -> Iterator[str]:
    """Yield what makes an ``ADD`` harmless: a checksum, or that no address lacks a commit."""
    remote = [word for word in step.words[:-1] if _REMOTE.match(word)]
    if step.instruction.flag("checksum") is not None or all(map(_COMMIT.fullmatch, remote)):
        yield step.words[-1]


def _variables(one: Instruction) -> Iterator[Finding]:
    words = one.value
    if one.name == "ARG":
        parts = [word.partition("=") for word in words]
        pairs = [(name, value) for name, _, value in parts]
    else:
        pairs = list(zip(words[::2], words[1::2], strict=True))
    for name, value in pairs:
        if is_secret(name, value) or in_address(value):
            yield "secret_in_env", name
        if one.name != "LABEL" and in_variable(name, value):
            yield "verification_disabled", name
