"""Translates single lines: images, package installations and user tools, to Chainguard's and Wolfi's names."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Final

from _benchgate_bench.migration_chainguard_distroless.dockerfile.reference import (
    REGISTRY,
    Reference,
)

from .tables import DEBIAN, FEDORA, IMAGES, PREFIXES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

BASE: Final = "chainguard-base"
_MANAGERS: Final = {
    "apt": DEBIAN,
    "apt-get": DEBIAN,
    "dnf": FEDORA,
    "microdnf": FEDORA,
    "yum": FEDORA,
    "apk": {},
}
_JOINED: Final = re.compile(r"\s*&&\s*")
_LEFTOVERS: Final = re.compile(r"rm\s+-rf\s+/var/(?:lib/apt|cache)/\S*|add-apt-repository\b.*")
_USER_OPTIONS: Final = {
    "--create-home": "",
    "--gid": "-G",
    "--no-create-home": "-H",
    "--system": "-S",
    "--uid": "-u",
    "-M": "-H",
    "-g": "-G",
    "-m": "",
    "-r": "-S",
}


def image_name(name: str) -> str:
    """Return the last part of the Chainguard image's name."""
    short = name.removeprefix("docker.io/").removeprefix("library/")
    last = short.rpartition("/")[2]
    for prefix, found in PREFIXES.items():
        if last.startswith(prefix):
            return found
    return IMAGES.get(short) or IMAGES.get(last) or last


def image_tag(image: str, tag: str, *, free: bool, dev: bool) -> str:
    """Return the tag: the given major and minor version, if such tags can be pulled."""
    if image == BASE:
        return "latest"
    version = re.match(r"v?(\d+(?:\.\d+)?)(?=[.-]|\Z)", tag)
    found = "latest" if free or version is None else version[1]
    if image in ("jdk", "jre") and found != "latest":
        found = f"openjdk-{found}"
    return f"{found}-dev" if dev else found


def image(text: str, organisation: str, *, free: bool, dev: bool) -> str:
    """Return the Chainguard image for a reference, variables in its tag included."""
    named = text.partition("@")[0]
    # Only a colon after the last slash begins a tag; an earlier one begins a port.
    head, colon, tag = named.rpartition(":")
    if not colon or "/" in tag:
        head, tag = named, ""
    name = image_name(head)
    if "$" in tag:
        return f"{REGISTRY}/{organisation}/{name}:{tag}{'-dev' if dev else ''}"
    return f"{REGISTRY}/{organisation}/{name}:{image_tag(name, tag, free=free, dev=dev)}"


def is_chainguard(text: str) -> bool:
    """Return whether a reference already names Chainguard's registry."""
    reference = Reference.read(text)
    return reference is not None and reference.chainguard


def run_commands(text: str) -> list[str]:
    """Return the commands that ``&&`` joins."""
    return [one for one in _JOINED.split(" ".join(text.split())) if one]


def package_words(command: str) -> tuple[str, list[str]] | None:
    """Return the manager and the packages of an installation, None for any other command."""
    words = _split(command)
    manager = words[0] if words else ""
    verbs = {"install", "add"} & set(words[1:])
    if manager not in _MANAGERS or not verbs:
        return None
    at = words.index(verbs.pop())
    return manager, [word for word in words[at + 1 :] if not word.startswith("-")]


def is_housekeeping(command: str) -> bool:
    """Return whether a command only serves a package manager that is removed."""
    words = _split(command)
    manager = bool(words) and words[0] in _MANAGERS and package_words(command) is None
    return manager or bool(_LEFTOVERS.fullmatch(command))


def mapped(
    manager: str, names: Iterable[str], further: Mapping[str, tuple[str, ...]] | None = None
) -> list[str]:
    """Return Wolfi's names of packages, sorted, without versions."""
    table = {**(further or {}), **_MANAGERS[manager]}
    bare = [re.split(r"[=<>~]", name, maxsplit=1)[0] for name in names]
    return sorted({found for name in bare for found in table.get(name, (name,))})


def apk_add(names: Iterable[str]) -> str:
    """Return the command that installs packages."""
    return f"apk add --no-cache {' '.join(names)}"


def user_command(command: str) -> str:
    """Return a command that makes a user or a group, as busybox spells it; any other unchanged."""
    words = _split(command)
    tools = {"useradd": "adduser", "groupadd": "addgroup"}
    if not words or words[0] not in tools:
        return command
    options = [_USER_OPTIONS.get(word, word) for word in words[1:]]
    return shlex.join([tools[words[0]], *(word for word in options if word)])


def _split(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()
