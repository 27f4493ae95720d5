"""
Base images: frozen facts about Chainguard's, and references such as ``registry/name:tag@digest``.

The facts are those of the free ``latest`` image: entrypoint, command, user, working folder, shells. Source:
github.com/chainguard-images/images at cd7edd236bf1738260cf528cd8886f5353c3a3b8 (2026-08-22), Apache-2.0,
``images/*/locked_config.json``. They are in a module and not in a data file because the digest of the rubric covers
modules only, and a score under other facts must not be compared with one under these.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

REGISTRY: Final = "cgr.dev"
_REFERENCE: Final = re.compile(
    r"(?P<name>(?:[a-z0-9][a-z0-9.-]*:\d+/)?[a-z0-9][a-z0-9._/-]*)(?::(?P<tag>\w[\w.-]{0,127}))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?"
)


@dataclass(frozen=True, slots=True)
class Facts:
    """
    What an image contains and how it is configured.

    :param user: the default user.
    :param users: the names of users that exist.
    :param shells: its packages that are shells.
    :param apk: it has the package manager.
    :param holds: its other packages, those that a case depends on.
    :param env: its variables, those that a case depends on.
    """

    entrypoint: tuple[str, ...] = ()
    cmd: tuple[str, ...] = ()
    user: str = "65532"
    users: tuple[str, ...] = ("nonroot",)
    workdir: str = "/"
    shells: tuple[str, ...] = ()
    apk: bool = False
    holds: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()


_BUSYBOX: Final = ("busybox",)
_BASE: Final = Facts(
    cmd=("/bin/sh", "-l"), user="0", shells=_BUSYBOX, apk=True, holds=("ca-certificates-bundle",)
)

FACTS: Final = MappingProxyType(
    {
        "aspnet-runtime": Facts(
            ("/usr/bin/dotnet",), ("--help",), env=(("ASPNETCORE_HTTP_PORTS", "8080"),)
        ),
        "bash": Facts(("/bin/bash", "-c"), user="0", shells=("bash", "busybox")),
        "busybox": Facts(shells=_BUSYBOX),
        # Not in the snapshot; assumed to equal wolfi-base.
        "chainguard-base": _BASE,
        "curl": Facts(("/usr/bin/curl",), holds=("curl",)),
        "dotnet-runtime": Facts(("/usr/bin/dotnet",), ("--help",), shells=_BUSYBOX),
        "dotnet-sdk": Facts(cmd=("/bin/sh", "-l"), shells=_BUSYBOX),
        "gcc-glibc": Facts(("/usr/bin/gcc",), ("--help",), "0", (), "/work", _BUSYBOX),
        "glibc-dynamic": Facts(holds=("ca-certificates-bundle", "tzdata")),
        "go": Facts(("/usr/bin/go",), ("help",), "0", shells=_BUSYBOX),
        "jdk": Facts(users=("java",), workdir="/home/build", shells=_BUSYBOX),
        "jre": Facts(("/usr/bin/java",), users=("java",), workdir="/app"),
        "maven": Facts(("/usr/bin/mvn",), workdir="/home/build", shells=_BUSYBOX),
        "nginx": Facts(
            ("/usr/sbin/nginx",),
            ("-c", "/etc/nginx/nginx.conf", "-e", "/dev/stderr", "-g", "daemon off;"),
            users=("nginx",),
        ),
        "node": Facts(("/usr/bin/node",), ("--help",), "65532", ("node",), "/app", _BUSYBOX),
        "php": Facts(("/bin/php",), users=("php",), workdir="/app"),
        "postgres": Facts(
            ("/usr/bin/docker-entrypoint.sh", "postgres"),
            user="0",
            users=("postgres",),
            workdir="/home/postgres",
            shells=("bash", "busybox"),
        ),
        "python": Facts(("/usr/bin/python",)),
        "ruby": Facts(("/usr/bin/ruby",), ("--version",), workdir="/work"),
        "static": Facts(holds=("ca-certificates-bundle", "tzdata")),
        "wolfi-base": _BASE,
    }
)
"""Facts by image name, those that the cases and likely answers need."""


@dataclass(frozen=True, slots=True)
class Reference:
    """
    The parts of a reference to an image.

    :param name: with registry and organisation.
    """

    name: str
    tag: str = ""
    digest: str = ""

    @classmethod
    def read(cls, text: str) -> Reference | None:
        """Return the parts of a reference, None if the text is not one."""
        found = _REFERENCE.fullmatch(text)
        if not found:
            return None
        return cls(found["name"], found["tag"] or "", found["digest"] or "")

    @property
    def chainguard(self) -> bool:
        """Whether it is an image of Chainguard's registry: registry, organisation, name."""
        parts = self.name.split("/")
        return parts[0] == REGISTRY and len(parts) == 3 and all(parts)

    @property
    def image(self) -> str:
        """The last part of the name."""
        return self.name.rpartition("/")[2]

    @property
    def full_tag(self) -> str:
        """The tag, ``latest`` if neither tag nor digest is given."""
        return self.tag or ("" if self.digest else "latest")

    @property
    def text(self) -> str:
        """The reference with an explicit tag."""
        tag = f":{self.full_tag}" if self.full_tag else ""
        return f"{self.name}{tag}{f'@{self.digest}' if self.digest else ''}"


UNKNOWN: Final = Facts(user="0", users=())
"""What is assumed about an image that is not in the table: root, and no shells, packages or other users."""


def facts_of(reference: Reference | None) -> Facts | None:
    """
    Return what is known about a Chainguard image, None for those of others.

    A ``-dev`` variant adds busybox and apk.
    """
    if reference is None or not reference.chainguard:
        return None
    facts = FACTS.get(reference.image, UNKNOWN)
    if not reference.tag.endswith("-dev"):
        return facts
    return replace(facts, shells=(*dict.fromkeys((*facts.shells, "busybox")),), apk=True)
