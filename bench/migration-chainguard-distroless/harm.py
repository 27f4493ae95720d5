"""Unsafe things that a Dockerfile says: secrets in its text, code run from the network, checks turned off."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from .dockerfile.stages import triggered
from .harms.fetched import fetches_and_runs
from .harms.secrets import in_address, in_lines, is_secret
from .harms.unverified import in_command, in_variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .dockerfile.instruction import Instruction
    from .dockerfile.stages import Build, Stage

Finding = tuple[str, str]
"""A failure mode, and the path, variable or instruction that it was found in."""

HARMS: Final = MappingProxyType(
    {
        "secret_in_image": (1.0, "a secret in the image"),
        "secret_in_env": (1.0, "a secret in the text"),
        "root_at_run_time": (0.5, "runs as root"),
        "pipe_to_shell": (0.5, "runs code from the network"),
        "verification_disabled": (0.5, "a check is turned off"),
        "setuid_program": (0.5, "a program with the rights of its owner"),
        "library_preloaded": (0.5, "a library is loaded into every program"),
        "remote_add_unpinned": (0.25, "ADD without a checksum"),
    }
)
"""What each kind of harm adds to the safety penalty, once, however often it occurs, and what it is in words."""

_SHELL: Final = re.compile(r"(?:^|[\s;&|/])(?:a|ba|da|k|z)?sh\b")
_BEGINS: Final = re.compile(r"\d*<<-?\S+")
_REMOTE: Final = re.compile(r"https?://|git@|git://|ssh://")
_COMMIT: Final = re.compile(r".*#[0-9a-f]{40}(?::.*)?")
_LOADED_FIRST: Final = ("LD_PRELOAD", "LD_AUDIT")


def findings(build: Build) -> frozenset[Finding]:
    """Return all harm that the text of a build shows."""
    found = {finding for one in build.head for finding in _variables(one)}
    for stage in build.stages:
        found.update(_of_stage(stage))
    env = build.final.config.env
    found.update(("library_preloaded", name) for name in _LOADED_FIRST if env.get(name))
    return frozenset(found)


def _of_stage(stage: Stage) -> Iterator[Finding]:
    steps = [*_unfolded(stage.all_steps)]
    texts = [text for step in steps for text in _texts(step)]
    unpinned = (step.value for step in steps if step.name == "ADD" and not _pinned(step))
    # In a folder a file keeps the name that its address has.
    fetched = [one for words in unpinned for one in words[-1 if words[-1][-1:] != "/" else 0 :]]
    if fetches_and_runs(texts, fetched):
        yield "pipe_to_shell", "RUN"
    for step in _unfolded(stage.steps):
        yield from _step(step)


def _unfolded(steps: Iterable[Instruction]) -> Iterator[Instruction]:
    """Yield steps, each ``ONBUILD`` followed by what it does."""
    for step in steps:
        yield step
        yield from _unfolded(triggered(step))


def _texts(step: Instruction) -> Iterator[str]:
    """Yield the shell texts of a step."""
    if step.name == "RUN":
        line = " ".join(step.value)
        if step.heredocs:
            line = _BEGINS.sub("", line)
        yield line
        # If there is a shell anywhere in the line, or nothing else, it may run any of the here-documents.
        if not line.strip() or _SHELL.search(line):
            yield from (held.content for held in step.heredocs)
    elif step.name in ("CMD", "ENTRYPOINT", "HEALTHCHECK", "SHELL"):
        yield " ".join(step.value)


def _step(step: Instruction) -> Iterator[Finding]:
    for text in _texts(step):
        if in_command(text):
            yield "verification_disabled", step.name
        if in_address(text):
            yield "secret_in_env", step.name
    if step.name in ("ENV", "ARG", "LABEL"):
        yield from _variables(step)
    elif step.name in ("ADD", "COPY"):
        yield from _sources(step)


def _sources(step: Instruction) -> Iterator[Finding]:
    for held in step.heredocs:
        if any(in_lines(held.content)) or in_address(held.content):
            yield "secret_in_image", held.name
    if in_address(" ".join(step.value)):
        yield "secret_in_env", step.name
    if step.name == "ADD" and not _pinned(step):
        yield from (("remote_add_unpinned", one) for one in step.value[:-1] if _REMOTE.match(one))


def _pinned(step: Instruction) -> bool:
    """Return whether an ``ADD`` is harmless: by a checksum, or since no address lacks a commit."""
    remote = [word for word in step.value[:-1] if _REMOTE.match(word)]
    return step.flag("checksum") is not None or all(map(_COMMIT.fullmatch, remote))


def _variables(one: Instruction) -> Iterator[Finding]:
    words = one.written or one.value
    pairs = zip(words[::2], words[1::2], strict=True)
    for name, value in (word.partition("=")[::2] for word in words) if one.name == "ARG" else pairs:
        if is_secret(name, value) or in_address(value):
            yield "secret_in_env", name
        if one.name != "LABEL" and in_variable(name, value):
            yield "verification_disabled", name
