"""Options of a run that were given together."""

from __future__ import annotations

import argparse
from types import MappingProxyType

import pytest

from benchgate.wire.argument_types import shard
from benchgate.wire.arguments import read_options
from benchgate.wire.run_options import RUN_OPTIONS
from benchgate.wire.shard import Shard

ALONE = {
    "executor": "dask://h:1",
    "shard": shard("1/2"),
    "stop": "decided",
    "baseline": "run:old",
    "record": "kept",
    "replay": "kept",
    "reobserve": "kept",
}


def read(declared=MappingProxyType({}), **values):
    return read_options(RUN_OPTIONS, lambda option: values.get(option.key), declared)


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
    ("one", "other", "why"),
    [
        ("record", "replay", "what is replayed is recorded already"),
        ("record", "baseline", "one system at a time"),
        ("replay", "baseline", "one system at a time"),
        ("record", "executor", "record where the run is started"),
        ("shard", "record", "neither recorded nor replayed"),
        ("shard", "replay", "neither recorded nor replayed"),
        ("reobserve", "replay", "they are new"),
        ("reobserve", "baseline", "one system at a time"),
        ("reobserve", "executor", "are observed here"),
        ("shard", "reobserve", "a part of a run"),
        ("stop", "shard", "a part does not see the results"),
        ("stop", "executor", "it is for runs in one process"),
        ("stop", "baseline", "both sides are run"),
    ],
)
def test_two_that_exclude_each_other_are_named_with_the_reason(one, other, why):
    with pytest.raises(argparse.ArgumentTypeError) as caught:
        read(**{name: ALONE[name] for name in (one, other)})
    (line,) = str(caught.value).splitlines()
    assert line.startswith(f"{one} {ALONE[one]} and {other} {ALONE[other]}: ")
    assert why in line


@pytest.mark.parametrize("text", ["0/3", "4/3", "1/0", "1", "a/b"])
def test_a_shard_is_one_of_so_many(text):
    with pytest.raises(argparse.ArgumentTypeError, match="expected I/N"):
        shard(text)
    assert shard("3/3") == Shard(3, 3)


def test_no_option_lowers_the_level_that_the_class_declares():
    declared = {"isolation": "process"}
    assert read(declared)["isolation"] == "process"
    assert read(declared, isolation="none")["isolation"] == "process"
    assert read(declared, isolation="sandbox")["isolation"] == "sandbox"
    assert read(isolation="none")["isolation"] == "none"
    assert read(declared, isolation="none", executor="dask://h:1")["isolation"] == "process"


@pytest.mark.parametrize(
    "values",
    [
        {"record": "a", "baseline": "pinned"},
        {"record": "a", "resume": "auto"},
        {"replay": "a", "executor": "dask://h:1"},
        {"isolation": "process", "executor": "dask://h:1"},
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
