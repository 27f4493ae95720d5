"""Migrates a Dockerfile as a whole: a build stage, a runtime stage without build tools, a user other than root."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from _benchgate_bench.migration_chainguard_distroless.dockerfile.parser import parse
from _benchgate_bench.migration_chainguard_distroless.dockerfile.stages import resolve
from _benchgate_bench.migration_chainguard_distroless.project import IGNORE

from .final_stage import FinalStage
from .lines import apk_add, image, is_chainguard
from .origin import start_of
from .ports import changes, in_configuration
from .recipe import run_work, target_of, work_of
from .sources import sources_digest
from .workspace import Block, Task, answer, blocks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from _benchgate_bench.migration_chainguard_distroless.dockerfile.stages import Build, Stage

    from benchgate import BenchCase

_NOT_FOR_IMAGES: Final = ".dockerignore\n.env\n.git\nDockerfile\nnode_modules\n"


class StageAware:
    """
    Moves build steps into a stage of their own, uses a runtime image, and repairs entrypoint, user and ports.

    It drops health checks that need a shell, and does not touch commands that run code from the network.
    """

    name: Final = "stage-aware"

    def digest(self) -> str:
        """Return the SHA-256 over the systems and what they share with the rubric."""
        return sources_digest()

    def __call__(self, case: BenchCase) -> Mapping[str, Any]:
        """Return the migrated project."""
        task = Task.read(case.input_path)
        build = resolve(parse(task.text))
        if all(is_chainguard(stage.root_base) for stage in build.stages):
            return task.unchanged()
        return _Migration(task, build).answer()


@dataclass(frozen=True)
class _Migration:
    task: Task
    build: Build

    def answer(self) -> dict[str, Any]:
        head, found = blocks(self.task.text)
        before, stages = _cut(found)
        parts = [
            self._other(stage, own)
            for stage, own in zip(self.build.stages[:-1], stages, strict=False)
        ]
        final = self._final(stages[-1])
        kept = "".join(block.source for block in before if not self._names_an_image(block))
        return answer(f"{head}{kept}{''.join(parts)}{final}", self._files(stages))

    def _names_an_image(self, block: Block) -> bool:
        """Return whether a global argument is part of an image's name, which is now written out."""
        names = {word.partition("=")[0] for word in block.instruction.value}
        return any(
            f"${name}" in line or f"${{{name}" in line for name in names for line in self._froms
        )

    @property
    def _froms(self) -> list[str]:
        return [one.value[0] for one in parse(self.task.text) if one.name == "FROM"]

    def _image(self, stage: Stage, *, dev: bool) -> str:
        return image(stage.root_base, self.task.organisation, free=self.task.free, dev=dev)

    def _other(self, stage: Stage, own: list[Block]) -> str:
        """Return a stage other than the final one; its commands run as root."""
        runs = any(block.instruction.name == "RUN" for block in own)
        words = own[0].instruction.value
        base = words[0] if stage.parent else self._image(stage, dev=runs)
        first = " ".join(["FROM", *own[0].instruction.flags, base, *words[1:]]) + "\n"
        root = (
            "USER root\n"
            if runs and not stage.parent and not base.endswith("/go:latest-dev")
            else ""
        )
        return first + root + "".join(map(_run_line, own[1:])) + _gap(own[-1])

    def _final(self, own: list[Block]) -> str:
        final, work = self.build.final, work_of(own)
        package = json.loads(self.task.files.get("package.json", "{}"))
        start = start_of(final, package.get("scripts", {}))
        target = target_of(self.build, start, work.packages)
        stage = FinalStage(
            blocks=own,
            stage=final,
            start=start,
            target=target.name,
            image=self._target_image(target.name, target.tag, dev=False),
            dev_image=self._target_image(target.name, target.tag, dev=True),
            ports=self._ports,
        )
        return stage.text(work)

    def _target_image(self, name: str, tag: str, *, dev: bool) -> str:
        named = f"{name}:{tag}" if tag else name
        return image(named, self.task.organisation, free=self.task.free, dev=dev)

    @property
    def _ports(self) -> dict[str, str]:
        steps = self.build.final.all_steps
        return changes(word for step in steps if step.name == "EXPOSE" for word in step.words)

    def _files(self, stages: list[list[Block]]) -> dict[str, str]:
        """Return the other files that change."""
        found = {
            path: in_configuration(text, self._ports)
            for path, text in self.task.files.items()
            if path.endswith(".conf") and "nginx" in path
        }
        copies = [
            block.instruction for own in stages for block in own if block.instruction.name == "COPY"
        ]
        if IGNORE not in self.task.files and any("." in one.value[:-1] for one in copies):
            found[IGNORE] = _NOT_FOR_IMAGES
        return found


def _cut(found: list[Block]) -> tuple[list[Block], list[list[Block]]]:
    starts = [at for at, block in enumerate(found) if block.instruction.name == "FROM"]
    ends = [*starts[1:], len(found)]
    return found[: starts[0]], [found[a:b] for a, b in zip(starts, ends, strict=True)]


def _run_line(block: Block) -> str:
    work = run_work(block)
    if not work.packages or block.instruction.json or block.instruction.heredocs:
        return block.source
    return f"RUN {' && '.join([apk_add(work.packages), *work.commands])}\n"


def _gap(last: Block) -> str:
    return "" if last.source.endswith("\n\n") else "\n"
