"""Declares the options to pytest, and reads them from all places where pytest has some."""

from __future__ import annotations

import argparse
import os
import shlex
from typing import TYPE_CHECKING, Any

import pytest

from benchgate.options.kinds import Kind
from benchgate.options.table import PYTEST_OPTIONS, RUN_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from benchgate.loader.loaded_class import LoadedClass
    from benchgate.options.places import Place, Settled
    from benchgate.options.table import Option

OPTIONS = (*RUN_OPTIONS, *PYTEST_OPTIONS)
PREFIX = "bench-"
CLASSES = Kind("the name of a task class, a glob, or 'all'", "[^/]+")


def add_options(parser: pytest.Parser) -> None:
    """Declare the options in two groups, all ``--bench...``, and the ini setting of each."""
    daily = parser.getgroup("benchgate", "agent benches (benchgate)")
    more = parser.getgroup("benchgate-more", "agent benches, more (benchgate)")
    # Not in the table: from an ini file or the environment it would make a plain pytest run cases.
    daily.addoption(
        "--bench",
        dest="bench_classes",
        action="append",
        default=[],
        type=CLASSES.read,
        metavar="CLASS",
        help="Run the cases of a class, a glob or 'all'; repeatable. Write it as one word",
    )
    for option in OPTIONS:
        group = more
        if option.daily:
            group = daily
        option.declare(group.addoption, PREFIX)
        text = f"{option.full_help}; in the environment: {option.variable}"
        parser.addini(option.setting, text, type=_ini_type(option), default=None)


def _ini_type(option: Option) -> Any:
    """Return what pytest reads an ini setting as; from pytest 9.2 on, ``[tool.pytest]`` has numbers."""
    if option.repeatable:
        return "linelist"
    if option.kind.is_number and pytest.version_tuple >= (9, 2):
        return str | int | float
    return "string"


def settled_options(config: pytest.Config, bench: LoadedClass | None = None) -> Settled:
    """
    Return the value of each option, from the command line, the environment and ini settings.

    :param bench: whose ``gate.toml`` may set some, too; all other places win over it.
    :raises pytest.UsageError: a value is out of range, or two exclude each other.
    """
    from benchgate.options.places import read_options

    try:
        return read_options(OPTIONS, list(_places(config, bench)))
    except argparse.ArgumentTypeError as error:
        raise pytest.UsageError(str(error)) from None


def _places(config: pytest.Config, bench: LoadedClass | None) -> list[Place]:
    """Return the places where pytest has options, lowest first."""
    from benchgate.options.places import arguments, class_file, environment, ini_file

    here, root = config.invocation_params.dir, config.rootpath
    places = [arguments({"out": root / ".benchgate"}, root, lambda *_: "the default of pytest")]
    if bench is not None:
        places.append(class_file(bench.run.options, bench.path / "gate.toml"))
    given = {option.key: config.getoption(option.setting) for option in OPTIONS}
    return [
        *places,
        ini_file(lambda option: _ini(config, option), root),
        environment(os.environ, here),
        arguments(given, here, _command_line(config)),
    ]


def _ini(config: pytest.Config, option: Option) -> str | None:
    try:
        said = config.getini(option.setting)
    except TypeError as error:  # before pytest 9.2
        raise pytest.UsageError(str(error)) from None
    if isinstance(said, list):
        return "\n".join(said)
    if said is None:
        return None
    return str(said)


def _command_line(config: pytest.Config) -> Callable[[Option, object], str]:
    """Return what names the place of a value of the command line: pytest adds to that from two others."""
    from benchgate.options.places import COMMAND_LINE, SOMEWHERE

    added = {
        COMMAND_LINE: config.invocation_params.args,
        "the environment, PYTEST_ADDOPTS": shlex.split(os.environ.get("PYTEST_ADDOPTS", "")),
        "the ini setting addopts": config.getini("addopts"),
    }

    def place_of(option: Option, value: object) -> str:
        for place, words in added.items():
            if _has(words, f"--{PREFIX}{option.name}", value if option.repeatable else None):
                return place
        return SOMEWHERE

    return place_of


def _has(words: Iterable[object], flag: str, value: object | None) -> bool:
    """Return whether an option is among the words of a command line; a value, too, if one is given."""
    if value is None:
        return any(str(word).partition("=")[0] == flag for word in words)
    # The value of an option may be a word of its own.
    texts = {os.path.normpath(str(word).removeprefix(f"{flag}=")) for word in words}
    return os.path.normpath(str(value)) in texts
