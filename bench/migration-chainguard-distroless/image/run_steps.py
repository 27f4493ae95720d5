"""What the ``RUN`` steps of a stage do, as far as their text tells: commands, packages installed, users made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from _benchgate_bench.migration_chainguard_distroless.dockerfile.shell import (
    commands,
    packages_added,
    packages_deleted,
)

if TYPE_CHECKING:
    from .stages import Stage, Step


def step_commands(stage: Stage) -> list[tuple[Step, tuple[str, ...]]]:
    """Return the commands of a stage's ``RUN`` steps, each with its step, those of its parents first."""
    runs = (step for step in stage.all_steps if step.name == "RUN")
    return [(step, words) for step in runs for words in commands(step.instruction)]


def installed(stage: Stage) -> frozenset[str]:
    """Return the packages that ``apk`` added to a stage and did not delete again."""
    held: set[str] = set()
    for _, words in step_commands(stage):
        held |= set(packages_added(words))
        held -= set(packages_deleted(words))
    return frozenset(held)


def users_made(stage: Stage) -> frozenset[str]:
    """Return the names of the users that a stage created."""
    makers = ("adduser", "useradd")
    made = (words for _, words in step_commands(stage) if words[0] in makers)
    return frozenset(words[-1] for words in made)


def held_packages(stage: Stage) -> frozenset[str]:
    """Return the known system packages of a stage: those of its base image and those installed."""
    return installed(stage) | set(stage.facts.holds if stage.facts else ())
