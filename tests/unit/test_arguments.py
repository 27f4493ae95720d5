"""Options of a run that were given together."""

from __future__ import annotations

import argparse

import pytest

from benchgate.wire.argument_types import shard
from benchgate.wire.arguments import read_options
from benchgate.wire.run_options import RUN_OPTIONS


def read(**values):
    return read_options(RUN_OPTIONS, lambda option: values.get(option.key))


def test_each_pair_that_excludes_each_other_has_a_line():
    with pytest.raises(argparse.ArgumentTypeError) as caught:
        read(record="a", replay="b", baseline="run:old", shard=shard("1/2"))
    assert [line.partition(":")[0] for line in str(caught.value).splitlines()] == [
        "record a and replay b",
        "record a and baseline run",
        "replay b and baseline run",
        "shard 1/2 and record a",
        "shard 1/2 and replay b",
    ]


@pytest.mark.parametrize(
    "values",
    [
        {"record": "a", "baseline": "pinned"},
        {"record": "a", "resume": "auto"},
        {"replay": "a", "executor": "dask://h:1"},
        {"shard": shard("1/2"), "resume": "auto", "baseline": "run:old"},
    ],
)
def test_what_goes_together_is_read(values):
    assert read(**values)["trials"] == 1


def test_a_text_that_cannot_be_parsed_is_named_beside_a_pair():
    def value_of(option):
        if option.key == "trials":
            raise argparse.ArgumentTypeError("trials: '0'")
        return {"record": "a", "replay": "b"}.get(option.key)

    with pytest.raises(argparse.ArgumentTypeError, match=r"trials: '0'\nrecord a and replay b: "):
        read_options(RUN_OPTIONS, value_of)
