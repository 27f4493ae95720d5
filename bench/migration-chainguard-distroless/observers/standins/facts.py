"""
Base images: frozen facts about Chainguard's, of which stand-ins are made.

The facts are those of the free ``latest`` image: entrypoint, command, user, working folder, shells, variables. Source:
github.com/chainguard-images/images, Apache-2.0, ``images/*/locked_config.json``; ``tools/write_facts.py`` writes them.
They are part of the observer's digest: what was observed under other facts is not compared with what is under these.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, TypeAdapter

if TYPE_CHECKING:
    from _benchgate_bench.migration_chainguard_distroless.dockerfile.reference import Reference


class Facts(BaseModel, frozen=True, extra="forbid"):
    """
    What an image contains and how it is configured.

    :param user: the default user.
    :param users: the names of users that exist.
    :param shells: its packages that are shells.
    :param apk: it has the package manager.
    :param holds: its other packages, those that a stand-in has or that a case asks for.
    :param env: its variables.
    :param dev: what its ``-dev`` variant has besides, of shells and such packages.
    """

    entrypoint: tuple[str, ...] = ()
    cmd: tuple[str, ...] = ()
    user: str = "65532"
    users: tuple[str, ...] = ("nonroot",)
    workdir: str = "/"
    shells: tuple[str, ...] = ()
    apk: bool = False
    holds: tuple[str, ...] = ()
    env: dict[str, str] = {}
    dev: tuple[str, ...] = ()


FACTS: Final = TypeAdapter(dict[str, Facts]).validate_json(
    Path(__file__).with_name("facts.json").read_bytes()
)
"""Facts by the name under which an image is pulled: every image of the snapshot with a tag ``latest``."""


def facts_of(reference: Reference | None) -> Facts | None:
    """
    Return what is known about a Chainguard image, None for one that is not in the table and for those of others.

    A ``-dev`` variant has busybox and apk, and more.
    """
    facts = FACTS.get(reference.image) if reference and reference.chainguard else None
    if not (facts and reference and reference.tag.endswith("-dev")):
        return facts
    shells = sorted({*facts.shells, "busybox", *(set(facts.dev) & {"bash", "zsh"})})
    more = {"shells": tuple(shells), "holds": (*facts.holds, *facts.dev), "apk": True}
    return facts.model_copy(update=more)
