"""Resolves instructions into stages: the base image, the steps and the inherited configuration of each."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from .instruction import Refused
from .parser import parse
from .reference import Reference
from .words import expand

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .instruction import Instruction

    Variables = Mapping[str, str]

SCRATCH: Final = "scratch"
PLATFORM: Final = MappingProxyType(
    {
        "BUILDPLATFORM": "linux/amd64", "BUILDOS": "linux", "BUILDARCH": "amd64", "BUILDVARIANT": "",
        "TARGETPLATFORM": "linux/amd64", "TARGETOS": "linux", "TARGETARCH": "amd64", "TARGETVARIANT": "",
    }
)  # fmt: skip
"""The arguments that a builder sets itself; a stage sees those that it declares."""

_AS_WRITTEN: Final = ("CMD", "ENTRYPOINT", "HEALTHCHECK", "ONBUILD", "RUN", "SHELL")
_MOUNTED: Final = re.compile(r"(?:\A--mount=|,)from=([^,]+)")


@dataclass(frozen=True, slots=True)
class Config:
    """
    What the text of a stage says of its image's configuration; command, ports and check of an image are observed.

    :param workdir: empty if no instruction sets it.
    """

    user: str = ""
    workdir: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    args: Mapping[str, str] = field(default_factory=dict)


def is_root(text: str) -> bool:
    """Return whether a ``USER`` value is root; without a name it is."""
    return bool(re.fullmatch(r"(?:root|[+-]?0+)?(?::.*)?", text, re.DOTALL))


@dataclass(frozen=True, slots=True)
class Stage:
    """
    One stage.

    :param base: the image as written, with variables substituted; empty if it starts from another stage.
    :param parent: the stage it starts from.
    :param platform: ``--platform`` as written.
    :param steps: its instructions, with variables filled in where Docker does so.
    """

    index: int
    name: str
    base: str
    parent: Stage | None
    platform: str
    steps: tuple[Instruction, ...]
    config: Config

    @property
    def lineage(self) -> tuple[Stage, ...]:
        """The stages whose layers are in this one, from the first."""
        return (*(self.parent.lineage if self.parent else ()), self)

    @property
    def all_steps(self) -> tuple[Instruction, ...]:
        """The steps that made this stage, those of its parents first."""
        return tuple(step for stage in self.lineage for step in stage.steps)

    @property
    def root_base(self) -> str:
        """The image at the bottom."""
        return self.lineage[0].base

    @property
    def reference(self) -> Reference | None:
        """The reference of the image at the bottom; None for ``scratch`` and for text that is no reference."""
        return None if self.root_base == SCRATCH else Reference.read(self.root_base)


@dataclass(frozen=True, slots=True)
class Build:
    """
    A Dockerfile, resolved.

    :param head: the instructions before the first ``FROM``.
    :param target: the name of the stage that becomes the image; without it the last does.
    """

    stages: tuple[Stage, ...]
    head: tuple[Instruction, ...] = ()
    target: str = ""

    @property
    def final(self) -> Stage:
        """The stage that becomes the image."""
        return _find(self.stages, self.target) or self.stages[-1]

    def find(self, name: str, before: Stage) -> Stage | None:
        """Return the earlier stage of a name or a number, None if it means an image."""
        return _find(self.stages[: before.index], name)

    @property
    def built(self) -> tuple[Stage, ...]:
        """The stages that building the final one needs, in their order."""
        needed, open_ones = set(), [self.final]
        while open_ones:
            stage = open_ones.pop()
            if stage.index not in needed:
                needed.add(stage.index)
                sources = (self.find(name, stage) for name in borrowed(stage))
                open_ones += [one for one in (stage.parent, *sources) if one]
        return tuple(stage for stage in self.stages if stage.index in needed)


def borrowed(stage: Stage) -> tuple[str, ...]:
    """Return the names of the stages and images that a stage copies or mounts files from."""
    names: list[str] = []
    for one in stage.steps:
        if one.name in ("COPY", "ADD"):
            names.append(one.flag("from") or "")
        if one.name == "RUN":
            names += [name for flag in one.flags for name in _MOUNTED.findall(flag)]
    return tuple(filter(None, names))


def resolve(
    instructions: Iterable[Instruction], target: str = "", given: Variables | None = None
) -> Build:
    """
    Return the stages of a parsed Dockerfile.

    :param target: the stage to build, as ``docker build --target``.
    :param given: the values of arguments, as ``docker build --build-arg``.
    :raises Refused: it has no stage of that name.
    """
    stages: list[Stage] = []
    head: list[Instruction] = []
    given, outer = given or {}, dict(PLATFORM)
    for one in instructions:
        if one.name == "FROM":
            stages.append(_begin(one, stages, outer))
            above = stages[-1].parent.steps if stages[-1].parent else ()
            following = [trigger for step in above for trigger in triggered(step)]
        elif not stages:
            head.append(one)
            outer |= _declared(one, outer, {}, given)
            continue
        else:
            following = [one]
        for step in following:
            stages[-1] = _go_on(stages[-1], step, outer, given)
    if target and _find(stages, target) is None:
        raise Refused("target_missing")
    return Build(tuple(stages), tuple(head), target)


def triggered(step: Instruction) -> tuple[Instruction, ...]:
    """Return what an ``ONBUILD`` does to a stage that starts from its own; nothing for any other step."""
    try:
        return parse(f"FROM scratch\n{step.value[0]}\n")[1:] if step.name == "ONBUILD" else ()
    except Refused:
        return ()


def _find(stages: Sequence[Stage], name: str) -> Stage | None:
    meant = (one for one in reversed(stages) if name == str(one.index) or name.lower() == one.name)
    return next(meant, None) if name else None


def _begin(one: Instruction, stages: list[Stage], outer: Variables) -> Stage:
    base = expand(one.value[0], outer)
    parent = next((stage for stage in reversed(stages) if stage.name == base.lower() != ""), None)
    reference = Reference.read(base)
    # Most of Chainguard's images run as 65532, others as root.
    initial = Config(user="65532" if reference and reference.chainguard else "")
    return Stage(
        index=len(stages),
        name=one.value[2].lower() if len(one.value) > 1 else "",
        base="" if parent else base,
        parent=parent,
        platform=one.flag("platform") or "",
        steps=(),
        config=replace(parent.config, args={}) if parent else initial,
    )


def _go_on(stage: Stage, one: Instruction, outer: Variables, given: Variables) -> Stage:
    config, words = stage.config, one.value
    variables = {**config.args, **config.env}
    if one.name not in _AS_WRITTEN:
        words = tuple(expand(word, variables) for word in words)
    if one.name == "ARG":
        args = {**config.args, **_declared(one, variables, outer, given)}
        config = replace(config, args=args)
    elif one.name == "ENV":
        env = {**config.env, **dict(zip(words[::2], words[1::2], strict=True))}
        config = replace(config, env=env)
    elif one.name == "USER":
        config = replace(config, user=words[0])
    elif one.name == "WORKDIR":
        path = posixpath.normpath(posixpath.join("/", config.workdir, words[0]))
        config = replace(config, workdir="/" + path.lstrip("/"))
    step = replace(one, value=words, written=one.value)
    return replace(stage, steps=(*stage.steps, step), config=config)


def _declared(
    one: Instruction, variables: Variables, outer: Variables, given: Variables
) -> dict[str, str]:
    """Return the arguments that an ``ARG`` sets: as given, or to its default, or without one to the global value."""
    found: dict[str, str] = {}
    for word in one.value:
        name, assigned, default = word.partition("=")
        if name in given:
            found[name] = given[name]
        elif assigned:
            found[name] = expand(default, {**variables, **found})
        elif name in outer:
            found[name] = outer[name]
    return found
