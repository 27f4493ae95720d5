"""What no stand-in can do: an answer that needs it is not judged, for the real image might do it."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from . import brings, packages

if TYPE_CHECKING:
    from collections.abc import Container

LIMITS: Final = MappingProxyType(
    {
        "apk-base": "takes a package of the base image away",
        "apk-older": "asks apk for an older version of a package than those in the frozen list",
        "apk-files": "uses a file of a package that nobody listed",
        "apk-program": "runs a program that may be of a package that it added and that nobody listed",
        "apk-root": "installs into another root",
        "apk-verb": "runs a command of apk that says something, or fetches a file",
        "apk-version": "asks apk for a version",
        "build-run": "runs a program or a package in the build, and what stands in for it does nothing",
        "cargo-bin": "has a program that needs features, or that cargo does not look for",
        "cargo-install": "installs a program by cargo",
        "cargo-run": "runs its program while it is built",
        "cargo-workspace": "builds a workspace otherwise than by its members",
        "bundle-verb": "runs another command of bundler than install, check, clean, config and exec",
        "cargo-config": "has a configuration of cargo",
        "cargo-verb": "runs another command of cargo than those that check or build",
        "composer-verb": "runs scripts or programs by composer",
        "corepack-verb": "runs another command of corepack than enable, disable and prepare",
        "dotnet-verb": "runs another command of dotnet than restore, build, test and publish",
        "dotnet-project": "publishes a solution, or a project whose file has another name",
        "gcc-language": "compiles another file than one of C",
        "gcc-library": "is compiled with a library that nobody listed",
        "gcc-preprocess": "asks the compiler for more than a program, as the real go does",
        "gem-install": "installs a gem by its name",
        "gem-place": "installs gems where its user must not write",
        "gradle-install": "installs a program by gradle otherwise than by its main class",
        "gradle-project": "is a project of gradle that is built by more than its plugins",
        "gradle-task": "runs a task of a plugin of gradle, or of its own",
        "go-constraints": "has files of Go for some systems alone, or with and without C",
        "go-install": "asks for a module of Go by its version",
        "go-verb": "runs another command of go than those that check, build or install",
        "module": "imports a module, and nobody knows of which package",
        "mvn-goal": "runs a goal of a plugin",
        "mvn-modules": "builds a project of several modules",
        "mvn-packaging": "makes another archive than jar, war or ear",
        "mvn-plugin": "uses a plugin that makes other files than the archive",
        "mvn-profile": "turns on a profile",
        "mvn-property": "names the archive by a property that the project does not have itself",
        "npm-build": "is a project of Node that is built by more than the settings of its tools say",
        "npm-global": "installs a package of npm for everybody, whose programs nobody listed",
        "network": "fetches something in a build",
        "npm-file": "names a file of a package of npm",
        "npm-lifecycle": "has a script that npm runs by itself",
        "npm-module": "imports something by name from a package of npm",
        "npm-value": "ends with an error after a package of npm gave it a value that nobody knows",
        "npm-verb": "runs a command of npm, pnpm or yarn that its stand-in does not know",
        "npm-workspace": "has a workspace of pnpm",
        "node-version": "uses what a newer node has",
        "nginx-version": "uses what a newer nginx has",
        "npm-program": "runs a script with the program of a package",
        "option": "gives a tool an option that its stand-in does not know",
        "pip-hash": "pins a package of pip by its digest",
        "pip-package": "asks pip for a package that the projects do not ask for",
        "pip-value": "ends with an error after a package of Python gave it a value that nobody knows",
        "pipenv-verb": "runs another command of pipenv than install, sync, run and requirements",
        "poetry-verb": "runs another command of poetry than config, install, sync, run and export",
        "program": "runs a program of the image or of a package, and nothing stands in for it",
        "python-build": "is a project of Python that is built otherwise than by pyproject.toml alone",
        "python-folder": "names the folder of a version of Python",
        "python-version": "needs another Python than the one here",
        "ruby-program": "runs a program of a gem",
        "variable": "sets a variable of a tool that its stand-in does not know",
        "yarn-berry": "uses a yarn of version 2 or later",
        "uv-verb": "runs another command of uv than venv, pip install and sync",
    }
)
"""
What an answer does, by the name that a stand-in says before it ends.

Only what is named here is no verdict. Otherwise a broken answer could choose not to be judged.
"""

_SAID: Final = re.compile(
    r"(?m)^(?:#\d+ )?(?:\d+\.\d+ )?[ >|\u2502]*stand-in (limit|brought): ([\w.+-]+)\r?$"
)
"""As a program says it, after the number of a step and the time; the text of a step stands behind other words."""

_VALUE: Final = re.compile(r"(?m)^stand-in limit: (?:npm|pip)-value\r?$")
_STEP: Final = re.compile(
    r"(?m)^(?:#\d+ \[[^\]]*\] |STEP \d+/\d+: )(RUN .*|COPY .*--from=.*(?= \S+$))"
)
_SYSTEM: Final = re.compile(
    r"(?<![\w.*/-])/(?:usr/(?:local/)?)?(?:include|lib|lib64|libexec|share)/[^\s'\",;)]+"
)
_WORD: Final = re.compile(r"[a-z]{3,}")
_GENERAL: Final = {
    "base", "client", "common", "config", "data", "default", "dev", "doc", "full", "lib", "libs", "tools", "utils",
}  # fmt: skip
"""Words of packages' names that say nothing about their files."""

_FOREIGN: Final = re.compile(r"/\w+-linux-(?:gnu|musl)/")
"""A folder of Debian's, which no package of Wolfi has."""

_LINE: Final = r"(?m)^(?:#\d+ )?(?:\d+\.\d+ )?[ >|]*"
_NODE: Final = (
    "disable-warning entry-url env-file-if-exists experimental-config-file experimental-eventsource "
    "experimental-require-module experimental-sqlite experimental-strip-types experimental-test-module-mocks "
    "experimental-transform-types experimental-webstorage localstorage-file permission run use-env-proxy use-system-ca"
)
_NGINX: Final = (
    "add_header_inherit early_hints http2 http3 http3_hq http3_max_concurrent_streams http3_stream_buffer_size "
    "keepalive_min_timeout proxy_pass_trailers quic_active_connection_id_limit quic_bpf quic_gso quic_host_key "
    "quic_retry ssl_certificate_cache ssl_ech_file"
)
"""Options and directives that node 26 and nginx 1.31 have, and those of the host need not."""

_NEWER: Final = MappingProxyType(
    {
        "node-version": re.compile(
            rf"{_LINE}(?:\S*node: bad option: --(?:{_NODE.replace(' ', '|')})(?![\w-])"
            r'|.*Unknown file extension "\.[mc]?ts"|.*No such built-in module: node:(?:sea|sqlite)'
            r"|.*\[ERR_REQUIRE_ESM\])"
        ),
        "npm-module": re.compile(
            rf"{_LINE}SyntaxError: .*(?:does not provide an export named|Named export '\w+' not found)"
        ),
        "nginx-version": re.compile(
            rf"{_LINE}.*\[emerg\] .*unknown directive \"(?:{_NGINX.replace(' ', '|')})\""
        ),
        "pip-hash": re.compile(_LINE + r"ERROR: THESE PACKAGES DO NOT MATCH THE HASHES"),
        "python-version": re.compile(
            _LINE
            + r"(?:ERROR: Package '[^']+' requires a different Python: 3\.\d+\.\d+ not in '>=?3\.1[1-4]"
            r"|ModuleNotFoundError: No module named '(?:annotationlib|compression|concurrent\.interpreters)')"
        ),
    }
)
"""What a program of the host says that is older than the one of the real images, by the limit that it is."""

_NOT_FOUND: Final = re.compile(
    _LINE + r"ERROR: No matching distribution found for ([A-Za-z0-9][\w.-]*)"
)
_NO_PACKAGE: Final = re.compile(
    _LINE + r"ERROR: unable to select packages: (.+) \(no such package\)"
)
_GNU: Final = {
    "bsdtar",
    "coreutils",
    "diffutils",
    "findutils",
    "gawk",
    "grep",
    "gzip",
    "procps",
    "sed",
    "tar",
    "util-linux",
    "which",
}
"""Packages with programs that busybox has as well, with fewer options."""

_NO_PROGRAM: Final = re.compile(
    rf"{_LINE}(?:\S*(?:sh|bash): )?(?:line )?(?:\d+: )?([\w.+-]+): (?:command )?not found$"
)
_UNRECOGNIZED: Final = re.compile(r": (?:unrecognized|invalid) option|: unrecognized: ")

_PYTHON: Final = "3.14"
"""The version of Python in the images whose facts are frozen."""

_PYTHON_ADDED: Final = re.compile(r"\bpy(?:thon-)?(3\.\d+)\b")
"""A version of Python that ``apk`` adds, in the name of a package."""

_LOST: Final = re.compile(r"Cannot find module '(/[^']*?/node_modules/(?:@[\w.-]+/)?[\w.-]+)/")

MARKS: Final = (
    "stand-in limit:",
    "stand-in brought:",
    "No matching distribution found for",
    "(no such package)",
    "DO NOT MATCH THE HASHES",
    "requires a different Python",
)
"""What no answer may say."""


def limit_in(output: str, names: Container[str] = ()) -> str | None:
    """
    Return what the output of a build or a container says that a stand-in could not do, None if it says nothing.

    :param names: the files of the image, without the first slash.
    """
    said = _SAID.findall(output)
    brought = [name for kind, name in said if kind == "brought"]
    limits = [LIMITS[name] for kind, name in said if kind == "limit" and name in LIMITS]
    limits += [LIMITS[name] for name, newer in _NEWER.items() if newer.search(output)]
    limits += [
        LIMITS["pip-package"] for name in _NOT_FOUND.findall(output) if brings.is_known(name)
    ]
    limits += [
        LIMITS["apk-older"]
        for names in _NO_PACKAGE.findall(output)
        if all(packages.streams().had(name) for name in names.split())
    ]
    if any(f"{package.lstrip('/')}/package.json" in names for package in _LOST.findall(output)):
        limits.append(LIMITS["npm-file"])
    strange = [name for name in brought if not brings.is_listed(name)]
    if strange and any(not brings.is_of_another(one) for one in _NO_PROGRAM.findall(output)):
        limits.append(LIMITS["apk-program"])
    if {brings.plain(name) for name in brought} & _GNU and _UNRECOGNIZED.search(output):
        limits.append(LIMITS["option"])
    if any(_is_of(path, name) for path in _system_files(output) for name in brought):
        limits.append(LIMITS["apk-files"])
    return limits[0] if limits else None


def of_check(output: str) -> str:
    """Return what a health check says, without values that nobody knows: one that says no for them has begun."""
    return _VALUE.sub("", output)


def python_folders(dockerfile: str) -> bool:
    """Return whether an answer names a folder of the real Python, whose version is not the one here."""
    lines = [line for line in dockerfile.splitlines() if not line.lstrip().startswith("#")]
    versions = {_PYTHON, *(found for line in lines for found in _PYTHON_ADDED.findall(line))}
    return any(f"lib/python{version}/" in line for version in versions for line in lines)


def _system_files(output: str) -> set[str]:
    """Return the paths below folders of the system that steps name."""
    return {path for step in _STEP.findall(output) for path in _SYSTEM.findall(step)}


def _is_of(path: str, package: str) -> bool:
    """
    Return whether a path may be of a package, and no table says what it has there.

    A library of a table is known by the name that programs load; the file itself is called by a longer one.
    """
    known = brings.libraries(package)
    if known and ".so" in path:
        return any(path.startswith(f"{one}.") for one in known if one[-1].isdigit())
    if _FOREIGN.search(path):
        return False
    words = {word.removeprefix("lib") for word in _WORD.findall(package.lower())} - _GENERAL
    return any(len(word) > 2 and word in path.lower() for word in words)
