"""The options of a run and the public names are in the reference as the code has them."""

from __future__ import annotations

import re
from pathlib import Path

import benchgate
from benchgate import training_types
from benchgate.pytest_plugin.options import DAILY
from benchgate.wire.run_options import PYTEST_OPTIONS, RUN_OPTIONS

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"


def page(name):
    return (REFERENCE / f"{name}.md").read_text("utf-8")


def test_the_table_of_options_is_the_one_in_the_code():
    text = page("pytest").replace(r"\|", "&")
    rows = re.findall(
        r"^\| `--bench-([^=`]+)=([^`]+)` \| (.+?) \| `(\w+)` \| `(\w+)` \|", text, re.MULTILINE
    )
    found = [(name, metavar.replace("&", "|"), *rest) for name, metavar, *rest in rows]
    assert found == [
        (
            option.name,
            option.metavar,
            "none" if option in PYTEST_OPTIONS else f"`--{option.name}`",
            f"bench_{option.key}",
            option.variable,
        )
        for option in (*RUN_OPTIONS, *PYTEST_OPTIONS)
    ]


def test_the_daily_options_are_options():
    assert set(DAILY) <= {option.key for option in (*RUN_OPTIONS, *PYTEST_OPTIONS)}


def test_every_option_is_explained():
    """A definition starts with the option, alone or beside its kin."""
    text = page("pytest")
    terms = re.findall(r"^(`--bench[^\n]*)\n: ", text, re.MULTILINE)
    named = {name for term in terms for name in re.findall(r"`--bench-([\w-]+)`", term)}
    assert named == {option.name for option in (*RUN_OPTIONS, *PYTEST_OPTIONS)}


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
