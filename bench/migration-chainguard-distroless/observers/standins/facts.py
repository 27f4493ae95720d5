"""
Base images: frozen facts about Chainguard's, of which stand-ins are made.

The facts are those of the free ``latest`` image: entrypoint, command, user, working folder, shells. Source:
github.com/chainguard-images/images at cd7edd236bf1738260cf528cd8886f5353c3a3b8 (2026-08-22), Apache-2.0,
``images/*/locked_config.json``. They are part of the observer's digest: what was observed under other facts is not
compared with what is under these.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from _benchgate_bench.migration_chainguard_distroless.dockerfile.reference import Reference


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
_TOOLS: Final = ("bash", "busybox")
_CERTS: Final = ("ca-certificates-bundle",)
_BASE: Final = Facts(cmd=("/bin/sh", "-l"), user="0", shells=_BUSYBOX, apk=True, holds=_CERTS)
_DOTNET: Final = (("ASPNETCORE_HTTP_PORTS", "8080"),)


def _tool(path: str, *cmd: str, **more: Any) -> Facts:
    """Return the facts of an image with one program: no shell, user 65532."""
    return Facts((path,), cmd, **more)


FACTS: Final = MappingProxyType(
    {
        "apko": _tool("/usr/bin/apko", "--help", user="0", users=(), workdir="/work"),
        "aspnet-runtime": _tool("/usr/bin/dotnet", "--help", env=(*_DOTNET, ("APP_UID", "65532"))),
        "bash": Facts(("/bin/bash", "-c"), user="0", shells=_TOOLS),
        "busybox": Facts(shells=_BUSYBOX),
        "chainctl": _tool("chainctl"),
        # Not in the snapshot; assumed to equal wolfi-base.
        "chainguard-base": _BASE,
        "cinc-auditor": _tool("cinc-auditor", "help", workdir="/share", shells=_BUSYBOX),
        "cosign": _tool("/usr/bin/cosign", "help", shells=_BUSYBOX),
        "crane": _tool("/usr/bin/crane"),
        "curl": _tool("/usr/bin/curl", holds=("curl",)),
        "dfc": _tool("/usr/bin/dfc", "--help", workdir="/work"),
        "dive": _tool("dive"),
        "docker-dind": _tool(
            "/usr/bin/dockerd-entrypoint.sh", user="0", users=("root",), shells=_TOOLS
        ),
        "dotnet-runtime": _tool("/usr/bin/dotnet", "--help", env=_DOTNET, shells=_BUSYBOX),
        "dotnet-sdk": Facts(cmd=("/bin/sh", "-l"), env=_DOTNET, shells=_BUSYBOX),
        "gcc-glibc": Facts(("/usr/bin/gcc",), ("--help",), "0", (), "/work", _BUSYBOX),
        "git": _tool(
            "/usr/bin/git", users=("git",), workdir="/home/git", shells=("dash", "dash-binsh")
        ),
        "glibc-dynamic": Facts(holds=_CERTS),
        "go": Facts(("/usr/bin/go",), ("help",), "0", shells=_BUSYBOX),
        "gradle": _tool("/usr/bin/gradle", workdir="/home/build", shells=_BUSYBOX),
        "grype": _tool("/usr/bin/grype", "help", shells=_BUSYBOX),
        "haproxy": Facts(
            ("/usr/local/bin/docker-entrypoint.sh",),
            ("haproxy", "-f", "/usr/local/etc/haproxy/haproxy.cfg"),
            "haproxy",
            ("haproxy",),
            shells=_TOOLS,
        ),
        "helm": _tool("/usr/bin/helm", "help"),
        "hollywood": _tool("/usr/bin/hollywood", shells=("bash",)),
        "hugo": _tool("/usr/bin/hugo", workdir="/hugo"),
        "jdk": Facts(users=("java",), workdir="/home/build", shells=_BUSYBOX),
        "jre": _tool("/usr/bin/java", users=("java",), workdir="/app"),
        "k3s": _tool("/bin/k3s", "agent", user="0", users=(), shells=_BUSYBOX),
        "ko": _tool("/usr/bin/ko", shells=_BUSYBOX),
        "kubectl": _tool("/usr/bin/kubectl", "--help"),
        "laravel": Facts(("/bin/s6-svscan", "/sv"), users=("php", "laravel"), workdir="/app"),
        "malcontent": _tool("/usr/bin/mal", "--help"),
        "mariadb": Facts(
            ("/usr/local/bin/docker-entrypoint.sh", "mariadbd"), users=("mysql",), shells=_TOOLS
        ),
        "maven": _tool("/usr/bin/mvn", workdir="/home/build", shells=_BUSYBOX),
        "melange": _tool("/usr/bin/melange", "--help", user="0", workdir="/work"),
        "min-toolkit-debug": Facts(("/bin/bash", "-c"), user="0", users=(), shells=_TOOLS),
        "minio": _tool("/usr/bin/minio", shells=("bash",)),
        "minio-client": _tool("/usr/bin/mc", shells=("bash",)),
        "mongodb": _tool("/usr/bin/mongod", users=("mongo",), workdir="/data"),
        "nginx": Facts(
            ("/usr/sbin/nginx",),
            ("-c", "/etc/nginx/nginx.conf", "-e", "/dev/stderr", "-g", "daemon off;"),
            users=("nginx",),
        ),
        "node": Facts(("/usr/bin/node",), ("--help",), "65532", ("node",), "/app", _BUSYBOX),
        "openscap": _tool("/usr/bin/oscap", shells=("bash",)),
        "opentelemetry-collector-contrib": _tool("/usr/bin/otelcol-contrib", shells=_BUSYBOX),
        "php": _tool("/bin/php", users=("php",), workdir="/app"),
        "postgres": Facts(
            ("/usr/bin/docker-entrypoint.sh", "postgres"),
            user="0",
            users=("postgres",),
            workdir="/home/postgres",
            shells=_TOOLS,
        ),
        "python": _tool("/usr/bin/python"),
        "pytorch": _tool("/usr/bin/cuda-entrypoint.sh", workdir="/work", shells=("bash",)),
        "redis": _tool(
            "/usr/bin/redis-server",
            user="redis",
            users=("redis",),
            workdir="/data",
            shells=_BUSYBOX,
        ),
        "ruby": _tool("/usr/bin/ruby", "--version", workdir="/work"),
        "rust": _tool("/usr/bin/rustc", "--help", workdir="/work", shells=_BUSYBOX),
        "static": Facts(holds=("ca-certificates-bundle", "tzdata")),
        "stunnel": _tool("/usr/bin/stunnel", "-help"),
        "tomcat": Facts(
            ("/usr/local/tomcat/bin/catalina.sh",),
            ("run",),
            workdir="/usr/local/tomcat",
            shells=_TOOLS,
        ),
        "valkey": _tool(
            "/usr/bin/valkey-server", users=("valkey",), workdir="/data", shells=("bash",)
        ),
        "wait-for-it": _tool("/usr/bin/wait-for-it", shells=("bash",)),
        "wolfi-base": _BASE,
        "wordpress": Facts(("php-fpm",), users=("php",), workdir="/var/www/html"),
    }
)
"""
Facts by image name: every image of the snapshot under the name that is pulled.

Left out are variants that share a repository with one that is here, under tags of their own: ``busybox-static``,
``dfc-mcp``, ``git-root``, ``k3s-static``, ``php-fpm``.
"""

EMPTY: Final = Facts(user="0", users=())
"""What ``scratch`` holds: nothing, and root unless ``USER`` gives a number."""


def facts_of(reference: Reference | None) -> Facts | None:
    """
    Return what is known about a Chainguard image, None for one that is not in the table and for those of others.

    A ``-dev`` variant adds busybox and apk.
    """
    facts = FACTS.get(reference.image) if reference and reference.chainguard else None
    if facts is None or reference is None or not reference.tag.endswith("-dev"):
        return facts
    return replace(facts, shells=(*dict.fromkeys((*facts.shells, "busybox")),), apk=True)
