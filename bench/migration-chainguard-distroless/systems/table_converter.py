"""Converts a Dockerfile line by line, from tables: the way a mapping tool does it."""

from __future__ import annotations

from _benchgate_bench.migration_chainguard_distroless.project import DOCKERFILE

from .lines import Work, image, is_chainguard, run_commands, run_work, user_command
from .workspace import Block, System, Task


class TableConverter(System):
    """
    Replaces images, package installations and user tools in place.

    A stage with a ``RUN`` gets the ``-dev`` variant, and root if packages are installed. No stage is split, no
    entrypoint repaired, and no user restored after root.
    """

    name = "table-converter"

    def changed(self, task: Task) -> dict[str, str]:
        """Return the converted Dockerfile."""
        head, before, stages = task.parts()
        values = [block.instruction.value for own in (before, *stages) for block in own]
        kept = ["scratch", *(words[2] for words in values if len(words) == 3)]
        converted = [_converted(stage, task, kept) for stage in stages]
        return {DOCKERFILE: "".join([head, *(block.source for block in before), *converted])}


def _converted(stage: list[Block], task: Task, kept: list[str]) -> str:
    """Return the text of a stage; images of a name that is kept stay as they are."""
    first, *others = stage
    base, *named = first.instruction.value
    lines = [_converted_run(block) for block in others]
    if base in kept or base.startswith("$") or is_chainguard(base):
        return first.source + "".join(lines)
    dev = any(block.name == "RUN" for block in others)
    installs = any(line.startswith("RUN apk add") for line in lines)
    root = "USER root\n" if installs and "USER root\n" not in lines else ""
    return first.on(image(base, task, dev=dev), *named) + first.gap + root + "".join(lines)


def _converted_run(block: Block) -> str:
    """Return a ``RUN`` with one installation in front; any other instruction unchanged."""
    one = block.instruction
    if one.name != "RUN" or one.json or one.heredocs:
        return block.source
    work = run_work(block, {})
    new = Work(work.packages, [*map(user_command, work.commands)]).line(one.flags)
    if new == Work([], run_commands(block)).line(one.flags):
        return block.source
    return (new or Work([], ["true"]).line(one.flags)) + block.gap
