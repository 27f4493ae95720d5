"""Converts a Dockerfile line by line, from tables: the way a mapping tool does it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .lines import (
    apk_add,
    image,
    is_chainguard,
    is_housekeeping,
    mapped,
    package_words,
    run_commands,
    user_command,
)
from .sources import sources_digest
from .workspace import Block, Task, answer, blocks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate import BenchCase


class TableConverter:
    """
    Replaces images, package installations and user tools in place.

    A stage with a ``RUN`` gets the ``-dev`` variant, and root if packages are installed. No stage is split, no
    entrypoint repaired, and no user restored after root.
    """

    name: Final = "table-converter"

    def digest(self) -> str:
        """Return the SHA-256 over the systems and what they share with the rubric."""
        return sources_digest()

    def __call__(self, case: BenchCase) -> Mapping[str, Any]:
        """Return the converted Dockerfile."""
        task = Task.read(case.input_path)
        head, found = blocks(task.text)
        return answer(head + "".join(_converted(stage, task, found) for stage in _stages(found)))


def _stages(found: list[Block]) -> list[list[Block]]:
    stages: list[list[Block]] = [[]]
    for block in found:
        if block.instruction.name == "FROM":
            stages.append([])
        stages[-1].append(block)
    return stages


def _converted(stage: list[Block], task: Task, everything: list[Block]) -> str:
    if not stage or stage[0].instruction.name != "FROM":
        return "".join(block.source for block in stage)
    lines = [converted_run(block) for block in stage[1:]]
    changed = any(line.startswith("RUN apk add") for line in lines)
    dev = any(block.instruction.name == "RUN" for block in stage)
    first = _from(stage[0], task, everything, dev=dev)
    rooted = first != stage[0].source and changed and "USER root\n" not in lines
    return first + ("USER root\n" if rooted else "") + "".join(lines)


def _from(block: Block, task: Task, everything: list[Block], *, dev: bool) -> str:
    words = block.instruction.value
    names = {one.instruction.value[2] for one in everything if len(one.instruction.value) == 3}
    kept = words[0] in (*names, "scratch") or words[0].startswith("$") or is_chainguard(words[0])
    if kept:
        return block.source
    new = image(words[0], task.organisation, free=task.free, dev=dev)
    end = "\n\n" if block.source.endswith("\n\n") else "\n"
    return " ".join(["FROM", *block.instruction.flags, new, *words[1:]]) + end


def converted_run(block: Block) -> str:
    """Return a ``RUN`` with one installation in front; any other instruction unchanged."""
    one = block.instruction
    if one.name != "RUN" or one.json or one.heredocs:
        return block.source
    commands = run_commands(one.value[0])
    installs = [found for command in commands if (found := package_words(command))]
    names = sorted({name for manager, words in installs for name in mapped(manager, words)})
    others = [
        user_command(command)
        for command in commands
        if package_words(command) is None and not is_housekeeping(command)
    ]
    new = [*([apk_add(names)] if names else []), *others]
    if new == commands:
        return block.source
    end = "\n\n" if block.source.endswith("\n\n") else "\n"
    flags = "".join(f"{flag} " for flag in one.flags)
    return f"RUN {flags}{' && '.join(new) or 'true'}{end}"
