"""Command line options and ini settings, and the one place that reads them."""

from __future__ import annotations

import argparse
import os
import shlex
from typing import TYPE_CHECKING, Any

import pytest

from benchgate.wire.argument_types import matching
from benchgate.wire.arguments import SOMEWHERE, RunOption, read_options, threshold_places
from benchgate.wire.run_options import PYTEST_OPTIONS, RUN_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.gates.run_table import RunTable

OPTIONS = (*RUN_OPTIONS, *PYTEST_OPTIONS)
PREFIX = "bench-"
DAILY = ("system", "baseline", "trials", "jobs", "policy", "resume", "out", "html", "exit")
"""What ``pytest --help`` shows first."""


def add_options(parser: pytest.Parser) -> None:
    """Declare the options in two groups, all ``--bench...``, and the ini setting of each."""
    daily = parser.getgroup("benchgate", "agent benches (benchgate)")
    more = parser.getgroup("benchgate-more", "agent benches, more (benchgate)")
    # Not among the others: from an ini file or the environment it would make a plain pytest run cases.
    daily.addoption(
        "--bench",
        dest="bench_classes",
        action="append",
        default=[],
        type=matching("[^/]+", "the name of a task class, a glob, or 'all'"),
        metavar="CLASS",
        help="Run the cases of a class, a glob or 'all'; repeatable. Write it as one word",
    )
    for option in OPTIONS:
        option.declare((daily if option.key in DAILY else more).addoption, PREFIX)
        text = f"{option.help}; in the environment: {option.variable}"
        kind: Any = "linelist" if option.repeatable else "string"
        if option.is_number and pytest.version_tuple >= (9, 2):  # where [tool.pytest] has numbers
            kind = str | int | float
        parser.addini(f"bench_{option.key}", text, type=kind, default=None)


def option_values(config: pytest.Config, run: RunTable | None = None) -> dict[str, Any]:
    """
    Return the value of each option by its key, from the command line, the environment and ini settings.

    :param run: what a class sets in its ``gate.toml``; all of these win over it.
    :raises pytest.UsageError: a value is out of range.
    """
    try:
        declared = run.model_dump() if run else {}
        values = read_options(OPTIONS, lambda option: _value(option, config), declared)
    except argparse.ArgumentTypeError as error:
        raise pytest.UsageError(str(error)) from None
    return values | {"out": values["out"] or config.rootpath / ".benchgate"}


def _ini(config: pytest.Config, key: str) -> str | None:
    try:
        text = config.getini(f"bench_{key}")
    except TypeError as error:  # before pytest 9.2
        raise pytest.UsageError(str(error)) from None
    if isinstance(text, list):
        return "\n".join(text)
    return None if text is None else str(text)


def _value(option: RunOption, config: pytest.Config) -> Any:
    return option.value(
        config.getoption(f"bench_{option.key}"),
        environ=os.environ,
        here=config.invocation_params.dir,
        ini=_ini(config, option.key),
        ini_folder=config.rootpath,
        place_of=_command_line(config),
    )


def _command_line(config: pytest.Config) -> Callable[[str], str]:
    """Return what names the place of a text of ``--bench-policy``: pytest adds to the command line."""
    added = {
        "the command line": config.invocation_params.args,
        "the environment, PYTEST_ADDOPTS": shlex.split(os.environ.get("PYTEST_ADDOPTS", "")),
        "the ini setting addopts": config.getini("addopts"),
    }
    said = {
        place: {os.path.normpath(str(word).removeprefix("--bench-policy=")) for word in words}
        for place, words in added.items()
    }

    def place_of(text: str) -> str:
        places = (place for place, words in said.items() if os.path.normpath(text) in words)
        return next(places, SOMEWHERE)

    return place_of


def places_of(config: pytest.Config) -> dict[str, str]:
    """Return where each threshold is from that a class's ``gate.toml`` does not set, by its key."""
    policy, ini = config.getoption("bench_policy"), _ini(config, "policy")
    return threshold_places(policy, os.environ, ini or "", _command_line(config))
