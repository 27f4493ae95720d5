"""What counts as a good answer to a case: sets and bounds, never one golden file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal, Self

from pydantic import BaseModel, Field, model_validator

from . import forms

if TYPE_CHECKING:
    from pathlib import Path


FULL: Final = 1
"""The credit of an image with which an answer passes."""

ROOTS: Final = "/root"
"""Root's own folder, which nobody else can enter."""


class Need(BaseModel, frozen=True, extra="forbid"):
    """
    A dependency that must be in the final image.

    :param any_of: packages, any of which satisfies it.
    :param files: parts of paths; a copied file whose path contains one satisfies it as well. Files of the base image
        are not copied: with ``zoneinfo`` the module of that name in Python's image counts for nothing.
    """

    any_of: Annotated[tuple[forms.Package, ...], Field(min_length=1)]
    files: tuple[Annotated[str, Field(min_length=1)], ...] = ()


_Words = Annotated[tuple[str, ...], Field(min_length=1)]
_Texts = Annotated[frozenset[str], Field(min_length=1)]
_Folders = Annotated[frozenset[forms.Folder | Literal[""]], Field(min_length=1)]


class TiedArgv(BaseModel, frozen=True, extra="forbid"):
    """A command, ``words``, that is accepted for some of the final images only: ``images``, with their tag."""

    words: _Words
    images: Annotated[frozenset[forms.Image], Field(min_length=1)]


class ArgvPattern(BaseModel, frozen=True, extra="forbid"):
    """Commands that are accepted by their form: ``pattern`` matches the whole, its words quoted as for a shell."""

    pattern: forms.Pattern


class FileRule(BaseModel, frozen=True, extra="forbid"):
    """
    Text that a file of the final image must and must not contain.

    :param path: the file's path in the image, or several, one of which must say it.
    :param comments: what follows ``#`` counts as well.
    :param must: regular expressions that must match in it.
    :param must_not: regular expressions that must not.
    """

    path: forms.Places
    comments: bool = False
    must: tuple[forms.Pattern, ...] = ()
    must_not: tuple[forms.Pattern, ...] = ()


class Expected(BaseModel, frozen=True, extra="forbid"):
    """
    What a case accepts.

    Where one value is expected, several may be accepted, as a list, or whatever an answer has, as the text ``any``:
    ``workdir``, ``users``, ``ports``, ``packages_allowed`` and the values of ``env``. An entry of ``files`` or
    ``platforms`` may be a list as well. What is expected in root's own folder may be anywhere unless root is allowed:
    nobody else can read it there.

    :param final_images: accepted images of the final stage, each with its credit in (0, 1]; only credit 1 passes, and
        one has it.
    :param build_images: names of images that other stages may start from, without tag.
    :param free_tags: other stages may use the tags that anybody can pull only.
    :param argv: what the container may start, entrypoint and command together.
    :param target: the stage that is built, as ``docker build --target``; without it the last.
    :param build_args: what the builder is given, as ``docker build --build-arg``.
    :param modes: rights of files of the project, octal; without it 644.
    :param workdir: the folders that the container may start in, an empty text among them for that of the image, if the
        answer sets none; without it the one that the given Dockerfile sets.
    :param helper_images: names of images of others that files may be copied from and that may build.
    :param users: the users it may run as, of those that exist; root only if it is allowed.
    :param root_allowed: the image needs root to start.
    :param files: paths that must exist in the final image; ``*`` stands for any text.
    :param packages: system packages that the container needs.
    :param packages_allowed: other packages that may be installed in the final stage.
    :param ports: exactly the ports to expose.
    :param other_ports: further sets, each of which is accepted in place of ``ports``.
    :param port_rules: what configuration files must say about ports.
    :param file_rules: what other files of the image must say.
    :param env: variables that the container must have, with the values that they may have.
    :param platforms: values of ``--platform`` that must be kept, as written.
    :param healthcheck: regular expression for the command of a good check; without it there is none to keep.
    :param shell_needed: the container needs a shell.
    :param unneeded: files of the build context that must not be in the final image, under whatever name, and paths of
        the image at which nothing may be.
    :param secrets_given: files with a secret that the image of the given Dockerfile has.
    :param may_change: files beside the Dockerfile that may be edited.
    """

    schema_version: Literal[1]
    final_images: dict[forms.Image, Annotated[float, Field(gt=0, le=1)]]
    build_images: frozenset[forms.OfChainguard] = frozenset()
    free_tags: bool = True
    argv: Annotated[tuple[_Words | TiedArgv | ArgvPattern, ...], Field(min_length=1)]
    target: forms.Stage | Literal[""] = ""
    build_args: dict[forms.Word, str] = Field(default_factory=dict)
    modes: dict[forms.Source, Annotated[str, Field(pattern=r"^0?[0-7]{3}$")]] = Field(
        default_factory=dict
    )
    workdir: forms.Folder | _Folders | Literal["", "any"] = ""
    helper_images: frozenset[forms.OfOthers] = frozenset()
    users: frozenset[forms.User] | Literal["any"] = "any"
    root_allowed: bool = False
    files: tuple[forms.Places, ...] = ()
    packages: tuple[Need, ...] = ()
    packages_allowed: frozenset[forms.Package] | Literal["any"] = frozenset()
    ports: frozenset[forms.Port] | Literal["any"] = frozenset()
    other_ports: tuple[frozenset[forms.Port], ...] = ()
    port_rules: tuple[FileRule, ...] = ()
    file_rules: tuple[FileRule, ...] = ()
    env: dict[forms.Word, str | _Texts] = Field(default_factory=dict)
    platforms: tuple[forms.Platforms, ...] = ()
    healthcheck: forms.Pattern | None = None
    shell_needed: bool = False
    unneeded: frozenset[forms.Source | forms.Path] = frozenset()
    secrets_given: frozenset[forms.Source] = frozenset()
    may_change: frozenset[forms.Source] = frozenset()

    @model_validator(mode="after")
    def _can_be_matched(self) -> Self:
        """Refuse what is right in itself and cannot be matched beside the rest; :raises ValueError: there is some."""
        if FULL not in self.final_images.values():
            msg = "final_images matches nothing: no image has the credit 1, without which no answer passes"
            raise ValueError(msg)
        for one in self.argv:
            if isinstance(one, TiedArgv) and (other := one.images - self.final_images.keys()):
                msg = f"argv matches nothing: {', '.join(sorted(other))} is not in final_images"
                raise ValueError(msg)
        nobody = isinstance(self.users, frozenset) and (not self.users or self.users & forms.ROOT)
        if nobody and not self.root_allowed:
            msg = "users matches nothing: nobody is named, or root, who is not allowed"
            raise ValueError(msg)
        return self

    def must_move(self, path: str) -> bool:
        """Return whether a path cannot stay where it is: it is root's own, and the container is not root's."""
        return not self.root_allowed and (path == ROOTS or path.startswith(f"{ROOTS}/"))

    def places(self, wanted: forms.Places) -> str | list[str]:
        """Return where a file of the image may be."""
        paths = [wanted] if isinstance(wanted, str) else [*wanted]
        paths += [f"*{path.removeprefix(ROOTS)}" for path in paths if self.must_move(path)]
        return paths if paths[1:] else paths[0]

    def folders(self, given: str) -> str | frozenset[str]:
        """
        Return the folders that the container may start in, empty if every one is as good.

        :param given: the one that the given Dockerfile sets, empty for none.
        """
        if self.workdir or not self.must_move(given):
            return self.workdir or given
        return forms.ANY


def read_expected(folder: Path) -> Expected:
    """Read ``expected.json`` of a case."""
    return Expected.model_validate_json((folder / "expected.json").read_bytes())
