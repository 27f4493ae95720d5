"""The forms of what a case expects: an entry that no answer can ever match is refused when the case is read."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import AfterValidator, BeforeValidator, Field

from .dockerfile.reference import FREE_TAGS, REGISTRY, Reference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

ROOT: Final = frozenset({"root", "0"})
ANY: Final = "any"
"""In place of a set: whatever an answer has there is right."""

SCRATCH: Final = "scratch"
_EVERYBODYS: Final = f"{REGISTRY}/chainguard"
STOOD_IN: Final = (
    "aspnet-runtime", "bash", "busybox", "chainguard-base", "dotnet-sdk", "gcc-glibc", "glibc-dynamic", "go", "gradle",
    "jdk", "jre", "maven", "nginx", "node", "php", "postgres", "python", "ruby", "rust", "static", "wolfi-base",
)  # fmt: skip
"""Names of the images of Chainguard's that have stand-ins."""

_PACKAGE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+_-]*")
_PORT: Final = re.compile(r"([1-9]\d{0,4})(?:/(?:udp|sctp))?")
_MOST_PORTS: Final = 65_535
_STAGE: Final = re.compile(r"[A-Za-z0-9][\w.-]*")
_USER: Final = re.compile(r"[A-Za-z_][\w.-]*|0|[1-9]\d*")
_WORD: Final = re.compile(r"[^\s:=]+")


def _check(is_right: Callable[[str], bool], why: str) -> AfterValidator:
    def checked(text: str) -> str:
        if not is_right(text):
            msg = f"{text!r} matches nothing: {why}"
            raise ValueError(msg)
        return text

    return AfterValidator(checked)


def _is_image(text: str) -> bool:
    reference = Reference.read(text)
    if reference is None or reference.text != text:
        return text == SCRATCH
    return reference.full_name == reference.name


def _can_be_pulled(text: str) -> bool:
    """Return whether an image has a tag that anybody can pull, unless it is of an organisation that pays."""
    reference = Reference.read(text)
    if reference is None or reference.owner != _EVERYBODYS or reference.digest:
        return True
    return reference.tag in FREE_TAGS


def _is_chainguards(text: str) -> bool:
    reference = Reference.read(text)
    return reference is not None and reference.chainguard and reference.name == text


def _is_of_others(text: str) -> bool:
    reference = Reference.read(text)
    return reference is not None and not reference.chainguard and reference.full_name == text


def _of_everybody(text: object) -> object:
    return f"{_EVERYBODYS}/{text}" if isinstance(text, str) and text in STOOD_IN else text


def _is_path(text: str) -> bool:
    return text.startswith(("/", "*/")) and posixpath.normpath(text) == text != "//"


def _is_folder(text: str) -> bool:
    return _is_path(text) and "*" not in text


def _is_port(text: str) -> bool:
    found = _PORT.fullmatch(text)
    return found is not None and int(found[1]) <= _MOST_PORTS


def _is_source(text: str) -> bool:
    return not text.startswith(("/", "../")) and posixpath.normpath(text) == text not in (".", "..")


def _compiles(text: str) -> bool:
    try:
        re.compile(text)
    except re.error:
        return False
    return True


Image = Annotated[
    str,
    _check(_is_image, "an image is named with its registry and its tag"),
    _check(_can_be_pulled, f"of {_EVERYBODYS} only {' and '.join(FREE_TAGS)} can be pulled"),
]
OfChainguard = Annotated[
    str,
    BeforeValidator(_of_everybody),
    _check(_is_chainguards, "name an image of cgr.dev and its organisation, without a tag"),
]
"""An image; ``node`` alone is that of the organisation from which anybody can pull."""

OfOthers = Annotated[
    str, _check(_is_of_others, "name an image of others with its registry, without a tag")
]
Package = Annotated[
    str, _check(lambda text: bool(_PACKAGE.fullmatch(text)), "it is no name of a package")
]
Path = Annotated[
    str, _check(_is_path, "a path begins with / or */ and has no . or .. and no / at its end")
]
Folder = Annotated[
    str, _check(_is_folder, "a folder begins with / and has no *, no . or .. and no / at its end")
]
Source = Annotated[str, _check(_is_source, "a file is named from the folder of the Dockerfile on")]
Places = Path | Annotated[tuple[Path, ...], Field(min_length=1)]
"""Where a file may be: at one of some paths, in which ``*`` stands for any text."""

Pattern = Annotated[str, _check(_compiles, "it is no regular expression")]
Platform = Annotated[
    str, _check(lambda text: "${" not in text and text != "", "variables are written as $NAME")
]
Platforms = Platform | Annotated[tuple[Platform, ...], Field(min_length=1)]
Port = Annotated[str, _check(_is_port, "a port is 8080, 53/udp or 9/sctp, up to 65535")]
Stage = Annotated[
    str, _check(lambda text: bool(_STAGE.fullmatch(text)), "it is no name of a stage")
]
User = Annotated[
    str, _check(lambda text: bool(_USER.fullmatch(text)), "a user is a name or a number")
]
Word = Annotated[
    str, _check(lambda text: bool(_WORD.fullmatch(text)), "it has a blank, a colon or an =")
]
"""The name of a variable."""


def is_at(path: str, places: str | Sequence[str]) -> bool:
    """Return whether a path of an image is one of those where a file may be."""
    wanted = (places,) if isinstance(places, str) else places
    texts = (re.escape(one).replace(r"\*", ".*") for one in wanted)
    return any(re.fullmatch(text, path) for text in texts)


def named(places: str | Sequence[str]) -> str:
    """Return what a file is called where it may be at several paths: the first of them."""
    return places if isinstance(places, str) else places[0]


def accepts(wanted: str | Iterable[str], value: str | None) -> bool:
    """Return whether a value is one of those that a case accepts; one that is not there is none."""
    if value is None or wanted == ANY:
        return value is not None
    return value == wanted if isinstance(wanted, str) else value in wanted
