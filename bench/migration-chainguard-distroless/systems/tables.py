"""
Tables of names: images to Chainguard's, packages to Wolfi's.

Facts from github.com/chainguard-dev/dfc at 689b1d6833422c95744b5e90ef54bbddb89f46f1 (2026-06-22), Apache-2.0: an
excerpt of its image and package mappings. ``FURTHER`` is ours, checked against the package names in the recipes of
github.com/wolfi-dev/os at 8190a1652f4534ad3feebd3b48066514f0f4375f (2026-08-22), Apache-2.0.
"""

from __future__ import annotations

from typing import Final

IMAGES: Final = {
    **dict.fromkeys(("alpine", "debian", "fedora", "ubuntu"), "chainguard-base"),
    **dict.fromkeys(("eclipse-temurin", "openjdk"), "jdk"),
    "amazoncorretto": "amazon-corretto-jdk",
    "gcc": "gcc-glibc",
    "golang": "go",
    "mcr.microsoft.com/dotnet/aspnet": "aspnet-runtime",
    "mcr.microsoft.com/dotnet/runtime": "dotnet-runtime",
    "mcr.microsoft.com/dotnet/sdk": "dotnet-sdk",
    "nodejs": "node",
}
"""Image name to image name; a name that is not here keeps its last part."""

PREFIXES: Final = {"golang": "go", "nodejs": "node", "static": "static"}
"""Image name by how a name begins; these come first."""

DEBIAN: Final[dict[str, tuple[str, ...]]] = {
    "awscli": ("aws-cli",),
    "build-essential": ("build-base",),
    "fonts-liberation": ("font-liberation",),
    "g++": ("gcc",),
    "gettext-base": ("gettext",),
    "gnupg2": ("gnupg",),
    "libbz2-dev": ("bzip2-dev",),
    "libc6-dev": ("glibc-dev",),
    "libcairo2": ("cairo",),
    "libcurl4-openssl-dev": ("curl-dev",),
    "libfreetype6-dev": ("freetype-dev",),
    "libicu-dev": ("icu-dev",),
    "libjpeg-dev": ("libjpeg-turbo-dev",),
    "libkrb5-dev": ("krb5-dev",),
    "liblzma-dev": ("xz-dev",),
    "libmagic1": ("libmagic", "libmagic-dev"),
    "libpq-dev": ("postgresql-dev",),
    "libpq5": ("libpq",),
    "libreadline-dev": ("readline",),
    "libsqlite3-dev": ("sqlite-libs",),
    "libssl-dev": ("libssl3",),
    "locales": ("glibc-locales",),
    "lsb-release": ("lsb-release-minimal",),
    "netbase": ("wolfi-baselayout",),
    "netcat-traditional": ("netcat-openbsd",),
    "software-properties-common": (),
    "xz-utils": ("xz",),
    "zlib1g-dev": ("zlib-dev",),
}
"""Debian's package names to Wolfi's; a name that is not here stays."""

FEDORA: Final[dict[str, tuple[str, ...]]] = {
    "bind-utils": ("bind-tools",),
    "brotli-devel": ("brotli-dev",),
    "bzip2-devel": ("bzip2-dev",),
    "gcc-c++": ("gcc",),
    "glibc-devel": ("glibc-dev",),
    "httpd": ("apache2",),
    "libffi-devel": ("libffi-dev",),
    "libxml2-devel": ("libxml2-dev",),
    "openssh-clients": ("openssh-client",),
    "openssl-devel": ("openssl-dev",),
    "procps-ng": ("procps",),
    "python3-pip": ("py3-pip",),
    "sqlite-devel": ("sqlite-dev",),
    "xz-devel": ("xz-dev",),
    "zlib-devel": ("zlib-dev",),
}
"""Fedora's package names to Wolfi's; a name that is not here stays."""

FURTHER: Final[dict[str, tuple[str, ...]]] = {
    "apt-transport-https": (),
    "dnsutils": ("bind-tools",),
    "glibc-langpack-en": (),
    "iputils-ping": ("iputils",),
    "which": (),
}
"""Names that the mapping leaves as they are and Wolfi does not have."""
