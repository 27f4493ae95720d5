"""What counts as a good answer to a case: sets and bounds, never one golden file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from pathlib import Path

FILE: Final = "expected.json"

FREE_TAGS: Final = ("latest", "latest-dev")
"""The tags that everybody can pull; others need an organisation of one's own."""


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Need(_Strict):
    """
    Something that has to be in the final image.

    :param any_of: packages, one of which is enough.
    :param files: or a copied file whose path has one of these in it.
    """

    any_of: tuple[str, ...]
    files: tuple[str, ...] = ()


class MadeFile(_Strict):
    """A file that a tool makes without naming it: the end of its path, and what a ``RUN`` says to make it."""

    path: str
    by: str


class FileRule(_Strict):
    """
    What a file of the final image must say.

    :param path: where it lies in the image.
    :param must: expressions that are found in it.
    :param must_not: expressions that are not.
    """

    path: str
    must: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()


class Expected(_Strict):
    """
    The bounds of a case.

    :param final_images: images to end with, each with its credit in (0, 1]; only one with 1 passes.
    :param build_images: names of images that other stages may start from, without tag.
    :param free_tags: other stages use the tags that everybody can pull.
    :param argv: what the container may start, entrypoint and command together.
    :param users: who may run; without it whoever exists and is not root.
    :param root_allowed: the image needs root to start.
    :param files: what the final image must hold.
    :param made: files that tools make without naming them.
    :param python_packages: what pip installs has to be in reach of the interpreter.
    :param packages: what the container needs at run time.
    :param packages_allowed: what else may be installed in the final stage.
    :param not_packages: names that the public Wolfi recipes do not have.
    :param ports: all exposed ports.
    :param port_rules: what configuration files say about ports.
    :param file_rules: what other files of the image say.
    :param env: variables that must reach the container.
    :param platforms: what ``--platform`` must still say, as written.
    :param healthcheck: expression found in a good check; without it there is none to keep.
    :param shell_needed: the container cannot do without a shell.
    :param unneeded: files of the context that have no business in the final image.
    :param may_change: files beside the Dockerfile that may be edited.
    """

    schema_version: Literal[1]
    final_images: dict[str, Annotated[float, Field(gt=0, le=1)]]
    build_images: frozenset[str] = frozenset()
    free_tags: bool = True
    argv: tuple[tuple[str, ...], ...]
    users: frozenset[str] | None = None
    root_allowed: bool = False
    files: tuple[str, ...] = ()
    made: tuple[MadeFile, ...] = ()
    python_packages: bool = False
    packages: tuple[Need, ...] = ()
    packages_allowed: frozenset[str] = frozenset()
    not_packages: frozenset[str] = frozenset()
    ports: frozenset[str] = frozenset()
    port_rules: tuple[FileRule, ...] = ()
    file_rules: tuple[FileRule, ...] = ()
    env: dict[str, str] = Field(default_factory=dict)
    platforms: frozenset[str] = frozenset()
    healthcheck: str | None = None
    shell_needed: bool = False
    unneeded: frozenset[str] = frozenset()
    may_change: frozenset[str] = frozenset()


def read_expected(folder: Path) -> Expected:
    """Read ``expected.json`` of a case."""
    return Expected.model_validate_json((folder / FILE).read_bytes())
