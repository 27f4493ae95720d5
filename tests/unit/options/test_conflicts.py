"""Options that exclude each other are refused with their values, their places and the reason."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from benchgate.options.places import arguments, class_file, environment, read_options
from benchgate.options.table import BY_KEY, RUN_OPTIONS

HERE = Path("/x")
ALONE = {
    "executor": "dask://h:1",
    "shard": "1/2",
    "stop": "decided",
    "baseline": "run:old",
    "record": "kept",
    "replay": "kept",
    "reobserve": "kept",
    "system": "floor:empty",
    "resume": "1",
    "html": "page.html",
}


def read(environ=None, declared=None, **texts):
    values = {key: BY_KEY[key].kind.read(text) for key, text in texts.items()}
    places = (
        class_file(declared or {}, HERE / "gate.toml"),
        environment(environ or {}, HERE),
        arguments(values, HERE),
    )
    return read_options(RUN_OPTIONS, places).values


def refused(*given, **more):
    with pytest.raises(argparse.ArgumentTypeError) as caught:
        read(*given, **more)
    return str(caught.value).splitlines()


def test_each_pair_that_excludes_each_other_has_a_line():
    lines = refused(record="a", replay="b", baseline="run:old", shard="1/2")
    assert [line.partition(": ")[0].replace(" (the command line)", "") for line in lines] == [
        "shard 1/2 and record a",
        "shard 1/2 and replay b",
        "record a and replay b",
        "record a and baseline run:old",
        "replay b and baseline run:old",
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
        ("shard", "resume", "no other run is named"),
        ("reobserve", "replay", "they are new"),
        ("reobserve", "baseline", "one system at a time"),
        ("reobserve", "executor", "are observed here"),
        ("shard", "reobserve", "a part of a run"),
        ("stop", "shard", "a part does not see the results"),
        ("stop", "executor", "it is for runs in one process"),
        ("stop", "baseline", "both sides are run"),
        ("system", "baseline", "compared with nothing"),
        ("system", "resume", "a floor is run whole"),
        ("system", "shard", "a floor is run whole"),
        ("system", "record", "needs no recording"),
        ("system", "replay", "needs no recording"),
        ("system", "reobserve", "needs no recording"),
    ],
)
def test_two_that_exclude_each_other_are_named_with_the_reason(one, other, why):
    (line,) = refused(out="out", **{name: ALONE[name] for name in (one, other)})
    both = f"{one} {ALONE[one]} and {other} {ALONE[other]} (the command line): "
    assert line.startswith(both)
    assert why in line


def test_each_value_has_its_place():
    environ = {"BENCHGATE_SHARD": "1/2"}
    (line,) = refused(environ, {"stop": "decided"})
    assert line == (
        "stop decided (/x/gate.toml) and shard 1/2 (the environment, BENCHGATE_SHARD): "
        "a part does not see the results of the others"
    )


@pytest.mark.parametrize("name", ["resume", "html"])
def test_what_is_made_of_records_needs_an_output_folder(name):
    (line,) = refused(**{name: ALONE[name]})
    assert " (the command line) needs --bench-out: " in line
    assert read(out="out", **{name: ALONE[name]})[name] is not None


@pytest.mark.parametrize(
    "texts",
    [
        {"record": "a", "baseline": "pinned"},
        {"record": "a", "resume": "auto"},
        {"replay": "a", "executor": "dask://h:1"},
        {"isolation": "process", "executor": "dask://h:1"},
        {"shard": "1/2", "resume": "auto", "baseline": "run:old"},
        {"system": "floor:empty", "baseline": "auto", "resume": "none", "stop": "never"},
        {"system": "floor:empty", "baseline": "none"},
        {"stop": "decided", "baseline": "pinned"},
    ],
)
def test_what_goes_together_is_read(texts):
    assert read(out="out", **texts)["trials"] == 1
