"""What counts as a good answer to a case: sets and bounds, never one golden file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, Field

if TYPE_CHECKING:
    from pathlib import Path


class Need(BaseModel, frozen=True, extra="forbid"):
    """
    A dependency that must be in the final image.

    :param any_of: packages, any of which satisfies it.
    :param files: parts of paths; a copied file whose path contains one satisfies it as well.
    """

    any_of: tuple[str, ...]
    files: tuple[str, ...] = ()


class TiedArgv(BaseModel, frozen=True, extra="forbid"):
    """A command, ``words``, that is accepted for some final images only: ``images``, with their tag."""

    words: tuple[str, ...]
    images: frozenset[str]


class ArgvPattern(BaseModel, frozen=True, extra="forbid"):
    """Commands that are accepted by their form: ``pattern`` matches the whole, its words quoted as for a shell."""

    pattern: str


class FileRule(BaseModel, frozen=True, extra="forbid"):
    """
    Text that a file of the final image must and must not contain.

    :param path: the file's path in the image.
    :param comments: what follows ``#`` counts as well.
    :param must: regular expressions that must match in it.
    :param must_not: regular expressions that must not.
    """

    path: str
    comments: bool = False
    must: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()


class Expected(BaseModel, frozen=True, extra="forbid"):
    """
    What a case accepts.

    :param final_images: accepted images of the final stage, each with its credit in (0, 1]; only credit 1 passes.
    :param build_images: names of images that other stages may start from, without tag.
    :param free_tags: other stages may use the tags that anybody can pull only.
    :param argv: what the container may start, entrypoint and command together.
    :param target: the stage that is built, as ``docker build --target``; without it the last.
    :param build_args: what the builder is given, as ``docker build --build-arg``.
    :param modes: rights of files of the project, octal; without it 644.
    :param workdir: the folder that the container must start in; without it the one that the given Dockerfile sets.
    :param helper_images: names of images of others that files may be copied from and that may build.
    :param users: the users it may run as; without it any that exists, except root.
    :param root_allowed: the image needs root to start.
    :param files: paths that must exist in the final image.
    :param packages: system packages that the container needs.
    :param packages_allowed: other packages that may be installed in the final stage.
    :param ports: exactly the ports to expose.
    :param other_ports: further sets, each of which is accepted in place of ``ports``.
    :param port_rules: what configuration files must say about ports.
    :param file_rules: what other files of the image must say.
    :param env: variables that the container must have.
    :param platforms: values of ``--platform`` that must be kept, as written.
    :param healthcheck: regular expression for the command of a good check; without it there is none to keep.
    :param shell_needed: the container needs a shell.
    :param unneeded: files of the build context that must not be in the final image.
    :param secrets_given: files with a secret that the image of the given Dockerfile has.
    :param may_change: files beside the Dockerfile that may be edited.
    """

    schema_version: Literal[1]
    final_images: dict[str, Annotated[float, Field(gt=0, le=1)]]
    build_images: frozenset[str] = frozenset()
    free_tags: bool = True
    argv: tuple[tuple[str, ...] | TiedArgv | ArgvPattern, ...]
    target: str = ""
    build_args: dict[str, str] = Field(default_factory=dict)
    modes: dict[str, Annotated[str, Field(pattern=r"^0?[0-7]{3}$")]] = Field(default_factory=dict)
    workdir: str = ""
    helper_images: frozenset[str] = frozenset()
    users: frozenset[str] | None = None
    root_allowed: bool = False
    files: tuple[str, ...] = ()
    packages: tuple[Need, ...] = ()
    packages_allowed: frozenset[str] = frozenset()
    ports: frozenset[str] = frozenset()
    other_ports: tuple[frozenset[str], ...] = ()
    port_rules: tuple[FileRule, ...] = ()
    file_rules: tuple[FileRule, ...] = ()
    env: dict[str, str] = Field(default_factory=dict)
    platforms: frozenset[str] = frozenset()
    healthcheck: str | None = None
    shell_needed: bool = False
    unneeded: frozenset[str] = frozenset()
    secrets_given: frozenset[str] = frozenset()
    may_change: frozenset[str] = frozenset()


def read_expected(folder: Path) -> Expected:
    """Read ``expected.json`` of a case."""
    return Expected.model_validate_json((folder / "expected.json").read_bytes())
