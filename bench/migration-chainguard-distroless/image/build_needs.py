"""What steps of a build need and do not have: sources of copies, programs, packages, and the files that tools read."""

from __future__ import annotations

import fnmatch
import posixpath
import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from _benchgate_bench.migration_chainguard_distroless.dockerfile.shell import packages_added

from .absent_packages import ABSENT
from .base_images import EMPTY
from .config import absolute
from .run_steps import installed, ran, users_made
from .runnable import OWN_FOLDER
from .runtime import is_number, user_of
from .stages import SCRATCH

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .files import Files
    from .run_steps import Ran
    from .stages import Build, Stage, Step

_WILD: Final = re.compile(r"[*?\[]")
_REMOTE: Final = re.compile(r"[a-z+]+://|git@")
_ANY: Final = "*"
_PROGRAMS: Final = {"/", "/usr", "/usr/bin", "/usr/local", "/usr/local/bin"}

PROVIDERS: Final = MappingProxyType(
    {
        "bundle": ("ruby", "ruby-*"),
        "cargo": ("rust", "rust-*"),
        "composer": ("composer", "php", "laravel"),
        "curl": ("curl",),
        "dotnet": ("dotnet-sdk", "dotnet-runtime", "aspnet-runtime", "dotnet-*"),
        "gcc": ("gcc-glibc", "build-base", "gcc", "gcc-*", "go", "rust", "ruby", "python", "php"),
        "gem": ("ruby", "ruby-*"),
        "go": ("go", "go-*", "ko"),
        "gradle": ("gradle", "gradle-*"),
        "java": ("jdk", "jre", "maven", "gradle", "tomcat", "openjdk-*"),
        "javac": ("jdk", "maven", "gradle", "openjdk-*"),
        "mvn": ("maven", "maven-*"),
        "node": ("node", "nodejs*"),
        "npm": ("node", "npm", "nodejs*"),
        "php": ("php", "php-*", "laravel", "composer"),
        "pip": ("python", "py3*-pip*", "python-*", "pytorch"),
        "pip3": ("python", "py3*-pip*", "python-*", "pytorch"),
        "poetry": ("poetry", "py3*-poetry*"),
        "python": ("python", "python-*", "python3*", "py3*", "pytorch"),
        "python3": ("python", "python-*", "python3*", "py3*", "pytorch", "gcc-glibc"),
        "ruby": ("ruby", "ruby-*"),
        "rustc": ("rust", "rust-*"),
        "uv": ("uv",),
        "yarn": ("node", "yarn", "nodejs*"),
    }
)
"""Which images and packages, by patterns, bring a program; what is not listed here is unknown."""

INSTALLS: Final = MappingProxyType(
    {"poetry": "pip", "uv": "pip", "gunicorn": "pip", "bundle": "gem"}
)
"""Programs that the packages of a language may bring, and the tool that installs those."""

READS: Final = MappingProxyType(
    {
        ("npm", "ci"): ("package-lock.json", "npm-shrinkwrap.json"),
        ("mvn",): ("pom.xml",),
        ("go", "build"): ("go.mod", "*.go"),
        ("cargo", "build"): ("Cargo.toml",),
        ("composer", "install"): ("composer.json",),
        ("bundle", "install"): ("Gemfile",),
        ("dotnet", "publish"): ("*.csproj", "*.fsproj", "*.sln", "*/*.csproj"),
        ("uv", "sync"): ("pyproject.toml",),
        ("poetry", "install"): ("pyproject.toml",),
    }
)
"""What a command reads in the folder where it starts; one of them must be there."""


def missing(build: Build, files: Files, absent: frozenset[str]) -> Iterator[str]:
    """
    Yield what steps of the stages that are built need and do not have.

    :param absent: further packages that do not exist.
    """
    for stage in build.built:
        for step in stage.steps:
            if step.name in ("COPY", "ADD"):
                yield from _sources_missing(stage, step, files)
                yield from _no_such_users(stage, (step.instruction.flag("chown") or "",))
            elif step.name == "RUN":
                held, _ = files.before(stage, step)
                for one in ran(step):
                    yield from _unknown_packages(one, absent)
                    if one.words[0] == "chown":
                        yield from _no_such_users(stage, one.words[1:])
                    yield from _inputs_missing(one, step, stage, held)
        yield from programs_missing(stage)


def _no_such_users(stage: Stage, words: tuple[str, ...]) -> Iterator[str]:
    """Yield the new owners of files that are neither numbers nor users of the image, nor made in the stage."""
    operands = [word for word in words if not word.startswith("-")]
    facts = EMPTY if stage.root_base == SCRATCH else stage.facts
    if facts is None or not operands or "$" in operands[0]:
        return
    name = user_of(operands[0])
    if name and not is_number(name) and name not in ("root", *facts.users, *users_made(stage)):
        yield f"no user {name}"


def _sources_missing(stage: Stage, step: Step, files: Files) -> Iterator[str]:
    lender = step.instruction.flag("from")
    other = files.build.find(lender, stage) if lender else None
    for word in step.words[:-1]:
        if word.startswith("<<") or _REMOTE.match(word) or _WILD.search(word):
            continue
        source = absolute("/", word)
        if lender is None and not _in_context(source, files.context):
            yield f"{word} is not in the context"
        elif other and OWN_FOLDER.fullmatch(source) and not _in_stage(other, source, files):
            yield f"{source} is not in the stage"


def _in_context(source: str, context: Mapping[str, str]) -> bool:
    paths = [f"/{path}" for path in context]
    return source == "/" or any(path == source or path.startswith(f"{source}/") for path in paths)


def _in_stage(stage: Stage, source: str, files: Files) -> bool:
    return (
        source in files.folders(stage)
        or any(path.startswith(f"{source}/") for path in files.contents(stage))
        or files.has(stage, source)
        or stage.facts is None
        or any(one.folder == source or (source.startswith(f"{one.folder}/") and not one.path.startswith(("apk", "go")))
               for step in stage.all_steps if step.name == "RUN" for one in ran(step))
    )  # fmt: skip


def _unknown_packages(one: Ran, absent: frozenset[str]) -> Iterator[str]:
    if one.words[0] == "apk":
        words = tuple(part for word in one.words for part in word.split())
        for name in packages_added(words):
            if name in absent or name in ABSENT:
                yield f"no package {name}"


def _inputs_missing(one: Ran, step: Step, stage: Stage, held: Mapping[str, str]) -> Iterator[str]:
    """Yield the files that a tool reads and that nobody put there, as far as no step before can have made them."""
    mounted = any(
        flag.startswith("--mount=") and "type=bind" in flag for flag in step.instruction.flags
    )
    if (
        mounted
        or stage.facts is None
        or "--version" in one.words
        or any("-f" in word or "-C" in word for word in one.words[1:3])
    ):
        return
    for words, wanted in READS.items():
        here = one.words[: len(words)] == words
        if here and not any(_held(one.folder, name, held) for name in wanted):
            yield f"{' '.join(words)} finds no {wanted[0]}"
    asked = [
        value for option, value in zip(one.words, one.words[1:], strict=False) if option == "-r"
    ]
    for value in asked if one.words[0].startswith("pip") else ():
        path = absolute(one.folder, value)
        if path not in held and OWN_FOLDER.fullmatch(path) and not _made_before(stage, step, value):
            yield f"pip finds no {value}"


def _held(folder: str, name: str, held: Mapping[str, str]) -> bool:
    wanted = posixpath.join(folder, name)
    return any(fnmatch.fnmatchcase(path, wanted) for path in held)


def _made_before(stage: Stage, step: Step, name: str) -> bool:
    """Return whether a command names the file elsewhere, and so may write it."""
    runs = [one for other in stage.all_steps if other.name == "RUN" for one in ran(other)]
    return (
        sum(posixpath.basename(name) in one.text for one in runs) > 1
        or step.instruction.heredocs != ()
    )


def programs_missing(stage: Stage) -> Iterator[str]:
    """Yield the programs that commands of a stage start and that nothing brings."""
    reference = stage.reference
    if reference is None or stage.facts is None:
        return
    have = {reference.image, *installed(stage), *stage.facts.holds}
    copied = _copied_programs(stage)
    ran_tools = {
        one.words[0] for step in stage.all_steps if step.name == "RUN" for one in ran(step)
    }
    for step in stage.steps:
        for one in ran(step) if step.name == "RUN" else ():
            tool = one.words[0]
            if "/" in one.path or tool not in PROVIDERS or tool in copied or _ANY in copied:
                continue
            if INSTALLS.get(tool, "") in ran_tools:
                continue
            if not any(
                fnmatch.fnmatchcase(name, pattern) for name in have for pattern in PROVIDERS[tool]
            ):
                yield f"no {tool}"


def _copied_programs(stage: Stage) -> set[str]:
    """Return the names of the programs that copies may bring; :data:`_ANY` if a whole folder of them is copied."""
    found: set[str] = set()
    for step in stage.all_steps:
        if step.name in ("ADD", "COPY"):
            found |= {posixpath.basename(word.rstrip("/")) for word in step.words}
            sources = {absolute("/", word) for word in step.words[:-1]}
            if step.instruction.flag("from") and sources & _PROGRAMS:
                found.add(_ANY)
    return found
