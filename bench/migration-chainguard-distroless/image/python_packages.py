"""Whether Python finds its packages: where tools installed them, where they were copied to, where it looks."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from .config import absolute
from .run_steps import ran
from .runtime import user_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .files import Files
    from .run_steps import Ran
    from .stages import Stage, Step

SYSTEM: Final = "/usr"
"""The prefix of the interpreter in Chainguard's images."""

MAX_PLACES: Final = 200
"""Places to which one folder is followed: copies of copies multiply."""

_PIP: Final = re.compile(r"pip3?(?:\.\d+)?")
_PYTHON: Final = re.compile(r"python3?(?:\.\d+)?")
_TRUE: Final = ("1", "true", "yes")
_HOMES: Final = {"0": "/root", "root": "/root", "": "/root"}


@dataclass(frozen=True, slots=True)
class Place:
    """
    Where packages are.

    :param kind: ``venv``, ``prefix`` (``lib/python3.X/site-packages`` is below it) or ``target`` (the packages are).
    :param root: the folder.
    :param made_at: the folder that they were installed to; the scripts of a ``venv`` name it.
    """

    kind: str
    root: str
    made_at: str


def sees_python_packages(stage: Stage, files: Files) -> bool:
    """Return whether the interpreter that is started finds what was installed."""
    return any(_seen(place, stage) for place in _places(stage, files))


def program_folders(stage: Stage, files: Files) -> frozenset[str]:
    """Return the folders of the environments in a stage that hold the programs of what was installed."""
    places = _places(stage, files)
    return frozenset(f"{place.root}/bin" for place in places if place.kind == "venv")


def _places(stage: Stage, files: Files) -> list[Place]:
    copies = list(_copies(files))
    return [
        place
        for owner in files.build.built
        for found in dict.fromkeys(_installs(owner))
        for place in _followed(found, owner, stage, copies)
    ]


def _copies(files: Files) -> Iterator[tuple[Stage, Step, Stage]]:
    """Yield the copies from stage to stage: who takes, the step, who lends."""
    for taker in files.build.built:
        for step in taker.steps:
            name = step.instruction.flag("from") if step.name == "COPY" else None
            lender = files.build.find(name, taker) if name else None
            if lender:
                yield taker, step, lender


def _installs(stage: Stage) -> Iterator[Place]:
    """Yield where the commands of a stage install packages."""
    settings: dict[str, str] = {}
    for step in stage.steps:
        for one in ran(step) if step.name == "RUN" else ():
            if one.words[:2] == ("poetry", "config") and len(one.words) > 3:
                settings[one.words[2]] = one.words[3]
            found = _place(one, step, settings)
            if found:
                yield Place(*found, found[1])


def _place(one: Ran, step: Step, settings: Mapping[str, str]) -> tuple[str, str] | None:
    words = one.words
    if _PYTHON.fullmatch(words[0]) and words[1:2] == ("-m",):
        words = words[2:]
    tool, rest = (words[0], words[1:]) if words else ("", ())
    if _PIP.fullmatch(tool) and "install" in rest:
        return _asked(rest, one) or _pip(rest, one, step)
    if tool == "uv":
        return _uv(rest, one)
    if tool in ("poetry", "pipenv") and {"install", "sync"} & set(rest):
        return _poetry(one, settings) if tool == "poetry" else _pipenv(rest, one)
    return None


def _pipenv(words: tuple[str, ...], one: Ran) -> tuple[str, str] | None:
    if "--system" in words:
        return "prefix", SYSTEM
    in_project = one.env.get("PIPENV_VENV_IN_PROJECT", "") not in ("", "0")
    return ("venv", absolute(one.folder, ".venv")) if in_project else None


def _asked(words: tuple[str, ...], one: Ran) -> tuple[str, str] | None:
    """Return the place that an option names."""
    for option, kind in (("--target", "target"), ("-t", "target"), ("--prefix", "prefix")):
        value = _option(words, option)
        if value:
            return kind, absolute(one.folder, value)
    return None


def _option(words: tuple[str, ...], name: str) -> str:
    for at, word in enumerate(words):
        if word == name and at + 1 < len(words):
            return words[at + 1]
        if word.startswith(f"{name}="):
            return word.partition("=")[2]
    return ""


def _pip(words: tuple[str, ...], one: Ran, step: Step) -> tuple[str, str]:
    if "--user" in words:
        home = _HOMES.get(user_of(step.before.user), "/home/nonroot")
        base = one.env.get("PYTHONUSERBASE") or f"{one.env.get('HOME') or home}/.local"
        return "prefix", base
    root = _own_environment(one.path, one.folder) if "/" in one.path else _first_in_path(one)
    return ("venv", root) if root else ("prefix", SYSTEM)


def _own_environment(path: str, folder: str) -> str:
    """Return the environment that a program given by its path belongs to; empty for the system's."""
    bin_folder, name = posixpath.split(absolute(folder, posixpath.dirname(path)))
    return bin_folder if name == "bin" and bin_folder not in ("/", SYSTEM, "/usr/local") else ""


def _first_in_path(one: Ran) -> str:
    first = one.env.get("PATH", "").split(":")[0]
    return _own_environment(f"{first}/pip", one.folder) if first.startswith("/") else ""


def _uv(words: tuple[str, ...], one: Ran) -> tuple[str, str] | None:
    if "sync" in words:
        return "venv", absolute(one.folder, one.env.get("UV_PROJECT_ENVIRONMENT", ".venv"))
    if words[:2] != ("pip", "install"):
        return None
    python = _option(words, "--python") or _option(words, "-p")
    asked = ("prefix", SYSTEM) if "--system" in words else _asked(words, one)
    if not asked and "/" in python:
        held = absolute(one.folder, python)
        asked = "venv", _own_environment(held, one.folder) or held
    return asked or ("venv", absolute(one.folder, one.env.get("VIRTUAL_ENV", ".venv")))


def _poetry(one: Ran, settings: Mapping[str, str]) -> tuple[str, str] | None:
    def told(name: str) -> str:
        variable = "POETRY_VIRTUALENVS_" + name.upper().replace("-", "_")
        return (one.env.get(variable) or settings.get(f"virtualenvs.{name}", "")).lower()

    active = one.env.get("VIRTUAL_ENV")
    if active:
        return "venv", active
    if told("create") in ("0", "false"):
        return "prefix", SYSTEM
    return ("venv", absolute(one.folder, ".venv")) if told("in-project") in _TRUE else None


def _followed(
    place: Place, owner: Stage, final: Stage, copies: Sequence[tuple[Stage, Step, Stage]]
) -> Iterator[Place]:
    """Yield where packages are in the final stage, copied from stage to stage."""
    todo = [(owner, place)]
    asked: set[tuple[int, Place]] = set()
    while todo and len(asked) < MAX_PLACES:
        stage, here = todo.pop()
        if (stage.index, here) in asked:
            continue
        asked.add((stage.index, here))
        if any(stage is one for one in final.lineage):
            yield here
        for taker, step, lender in copies:
            if any(stage is one for one in lender.lineage):
                todo += [(taker, one) for one in _copied(here, step)]


def _copied(place: Place, step: Step) -> Iterator[Place]:
    target = absolute(step.before.workdir, step.words[-1])
    for word in step.words[:-1]:
        source = absolute("/", word)
        inside = source.rstrip("/") + "/"
        if place.root == source or place.root.startswith(inside):
            below = place.root[len(source) :].strip("/")
            yield Place(place.kind, absolute(target, below), place.made_at)
        elif source.startswith(place.root + "/") and source.endswith("site-packages"):
            yield Place("target", target, place.made_at)


def _seen(place: Place, stage: Stage) -> bool:
    config = stage.config
    on_path = config.env.get("PYTHONPATH", "").split(":")
    site = re.compile(rf"{re.escape(place.root)}/lib/python[^/]*/site-packages")
    if any(
        site.fullmatch(one) or (place.kind == "target" and one == place.root) for one in on_path
    ):
        return True
    if place.kind == "venv":
        return _starts_in(place, stage)
    if place.kind == "prefix":
        return place.root == SYSTEM or place.root == _user_base(stage)
    system = re.fullmatch(r"/usr/lib/python[^/]*/site-packages", place.root)
    return bool(system) or place.root == _script_folder(stage)


def _starts_in(place: Place, stage: Stage) -> bool:
    program = stage.config.argv[0] if stage.config.argv else ""
    folder = f"{place.root}/bin"
    if "/" in program:
        there = posixpath.dirname(absolute(stage.config.workdir, program)) == folder
    else:
        there = folder in stage.config.env.get("PATH", "").split(":")
    # The first line of a script names the interpreter by the path that the environment was made at.
    python = _PYTHON.fullmatch(posixpath.basename(program))
    return there and (bool(python) or place.root == place.made_at)


def _user_base(stage: Stage) -> str:
    config = stage.config
    home = _HOMES.get(user_of(config.user), "/home/nonroot")
    return config.env.get("PYTHONUSERBASE") or f"{config.env.get('HOME') or home}/.local"


def _script_folder(stage: Stage) -> str:
    """Return the folder that Python searches first: that of the script, or the working folder for ``-m``."""
    words = stage.config.argv[1:2]
    if not words or words[0].startswith("-"):
        return stage.config.workdir
    return posixpath.dirname(absolute(stage.config.workdir, words[0]))
