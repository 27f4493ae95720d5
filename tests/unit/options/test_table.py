"""The rows of the table of options, and the kinds of their values."""

from __future__ import annotations

import argparse
import inspect
from dataclasses import fields
from pathlib import Path

import pytest

from benchgate import run_eval
from benchgate.options.kinds import BASELINE, POSITIVE, RECORDING, RESUMED_RUN, SHARD, amount
from benchgate.options.table import BY_KEY, PYTEST_OPTIONS, RUN_OPTIONS
from benchgate.results.rules import RECORDED
from benchgate.runner.settings import RunSettings
from benchgate.wire.shard import Shard

PATH_OF_RUN = "out/runs/echo/00000001-20261121T000000Z-0123abcd"


def test_each_default_is_a_value_of_its_kind():
    defaults = {one.key: one.default for one in BY_KEY.values() if one.default is not None}
    assert defaults == {
        key: BY_KEY[key].kind.read(f"{value:g}" if isinstance(value, float) else str(value))
        for key, value in defaults.items()
    }


def test_each_option_that_names_what_was_recorded_has_a_rule():
    assert {one.key for one in RUN_OPTIONS if one.kind is RECORDING} == RECORDED.keys()


def test_each_conflict_is_of_two_options_and_in_one_row():
    pairs = [{one.key, conflict.other} for one in RUN_OPTIONS for conflict in one.conflicts]
    assert set().union(*pairs) <= BY_KEY.keys()
    assert len(pairs) == len({frozenset(pair) for pair in pairs})


def test_run_eval_has_the_defaults_of_the_table():
    names = {"timeout_per_case_seconds": "timeout"}
    parameters = inspect.signature(run_eval).parameters.values()
    found = {names.get(one.name, one.name): one.default for one in parameters}
    shared = found.keys() & BY_KEY.keys()
    assert {"timeout", "trials", "seed", "jobs", "stop"} <= shared
    assert {key: found[key] for key in shared} == {key: BY_KEY[key].default for key in shared}


def test_settings_have_a_field_for_each_option_that_a_run_acts_on():
    """Of the others, the doors make pages, checkpoints, an exit status and what was recorded."""
    elsewhere = {"html", "exit", "junit_gate", "checkpoint", "baseline_checkpoint", "lineage"}
    elsewhere |= RECORDED.keys()
    assert BY_KEY.keys() - elsewhere <= {one.name for one in fields(RunSettings)}
    assert {one.key for one in PYTEST_OPTIONS} <= elsewhere


@pytest.mark.parametrize("text", ["0/3", "4/3", "1/0", "1", "a/b"])
def test_a_shard_is_one_of_so_many(text):
    with pytest.raises(argparse.ArgumentTypeError, match="expected I/N"):
        SHARD.read(text)
    assert SHARD.read("3/3") == Shard(3, 3)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (BASELINE, "1", "1"),
        (BASELINE, "./1", Path("1")),
        (BASELINE, "run:old", "run:old"),
        (RESUMED_RUN, "7", "7"),
        (RESUMED_RUN, "auto", "auto"),
        (RESUMED_RUN, PATH_OF_RUN, Path(PATH_OF_RUN)),
        (RECORDING, "kept", "kept"),
        (RECORDING, "7", "7"),
        (RECORDING, PATH_OF_RUN, Path(PATH_OF_RUN)),
    ],
)
def test_a_text_is_a_word_a_number_or_a_path(kind, text, value):
    assert kind.read(text) == value


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (BASELINE, ""),
        (BASELINE, "run:"),
        (RESUMED_RUN, "kept"),
        (RECORDING, "a/b"),
        (POSITIVE, "0"),
        (POSITIVE, "1.0"),
        (POSITIVE, str(2**53)),
        (amount("s", 9.0), "0"),
        (amount("s", 9.0), "nan"),
        (amount("s", 9.0), "9.1"),
        (amount("s", 9.0), "x"),
    ],
)
def test_any_other_text_is_refused_with_what_was_expected(kind, text):
    with pytest.raises(argparse.ArgumentTypeError) as caught:
        kind.read(text)
    assert str(caught.value) == f"{text!r}: expected {kind.expected}"


@pytest.mark.parametrize("value", [0, "3", 2**53, float("nan"), 2.5, True, [1]])
def test_a_value_from_python_has_the_same_range(value):
    assert POSITIVE.takes(3)
    assert not POSITIVE.takes(value)
    assert amount("s", 9.0).takes(3)
    assert amount("s", 9.0).takes(0.5)
