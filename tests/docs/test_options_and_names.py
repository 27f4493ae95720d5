"""The options of a run and the public names are in the reference as the code has them."""

from __future__ import annotations

import re
from pathlib import Path

import benchgate
from benchgate import training_types
from benchgate.options.table import PYTEST_OPTIONS, RUN_OPTIONS

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"


def page(name):
    return (REFERENCE / f"{name}.md").read_text("utf-8")


def test_the_names_of_an_option_follow_from_one():
    for option in (*RUN_OPTIONS, *PYTEST_OPTIONS):
        assert option.key == option.name.replace("-", "_")
        assert option.variable == f"BENCHGATE_{option.key.upper()}"
    lacking = " and ".join(f"`--{option.name}`" for option in PYTEST_OPTIONS)
    assert f"`benchgate run` lacks {lacking}." in page("pytest")


def test_every_option_is_explained():
    """A definition starts with the option and its value, alone or beside its kin."""
    terms = re.findall(r"^(`--bench-[^\n]*)\n: ", page("pytest"), re.MULTILINE)
    named = [one for term in terms for one in re.findall(r"`--bench-([\w-]+=[^`]+)`", term)]
    options = (*RUN_OPTIONS, *PYTEST_OPTIONS)
    assert named == [f"{option.name}={option.metavar}" for option in options]


def test_every_public_name_is_documented():
    text = page("api")
    directives = re.findall(
        r"^\.\. (?:autofunction|autoclass|autoexception|py:data):: (?:benchgate\.)?(\w+)(?:\(\))?$",
        text,
        re.MULTILINE,
    )
    assert sorted(directives) == sorted(benchgate.__all__)


def test_every_name_of_the_payloads_is_documented():
    text = page("rl-payloads")
    assert not [name for name in training_types.__all__ if f"`{name}" not in text]
