"""Where values of options come from: places override each other, and what one place says twice is refused."""

from __future__ import annotations

import argparse
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchgate.options.places import (
    SOMEWHERE,
    arguments,
    class_file,
    environment,
    ini_file,
    read_options,
)
from benchgate.options.table import RUN_OPTIONS, named
from benchgate.pytest_plugin.options import settled_options

HERE = Path("/x")


def settled(given=(), ini="", environ="", place_of=lambda _: "the command line"):
    """What thresholds of three places come to."""
    places = (
        ini_file(lambda _: ini, HERE),
        environment({"BENCHGATE_POLICY": environ}, HERE),
        arguments({"policy": list(given)}, HERE, lambda _, word: place_of(str(word))),
    )
    return read_options(named("policy"), places)


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ({"given": ["alpha=0.05", "alpha = 0.01"]}, "the command line"),
        ({"ini": "alpha=0.05\nalpha=0.01"}, "the ini setting bench_policy"),
        ({"environ": "alpha=0.05\nalpha=0.01"}, "the environment, BENCHGATE_POLICY"),
    ],
)
def test_a_threshold_has_one_value_in_each_place(given, place):
    with pytest.raises(argparse.ArgumentTypeError) as error:
        settled(**given)
    assert str(error.value) == f"{place}: alpha is given twice, as 0.05 and as 0.01; give it once"


def test_places_override_each_other():
    found = settled(["alpha=0.03", "alpha=0.03"], ini="alpha=0.01", environ="alpha=0.02")
    assert found.values["policy"] == ("alpha=0.01", "alpha=0.02", "alpha=0.03", "alpha=0.03")
    assert found.thresholds == {"alpha": "the command line"}


def test_what_pytest_puts_before_the_command_line_is_another_place():
    places = {"alpha=0.01": "the ini setting addopts", "alpha=0.02": "the command line"}
    words = settled(places, place_of=places.__getitem__).values["policy"]
    assert words == tuple(places)
    with pytest.raises(argparse.ArgumentTypeError, match="addopts: alpha is given twice"):
        settled(places, place_of=lambda _: "the ini setting addopts")
    # Such as a worker.
    assert settled(places, place_of=lambda _: SOMEWHERE).values["policy"] == tuple(places)


def test_two_files_are_two_policies():
    settled(["a/gate.toml", "alpha=0.05", "a/gate.toml"])
    with pytest.raises(
        argparse.ArgumentTypeError, match=r"line: the file is given twice, as a\.toml"
    ):
        settled(["a.toml", "alpha=0.05", "b.toml"])


def test_each_wrong_value_has_a_line_with_its_place_beside_pairs():
    places = (
        environment({"BENCHGATE_TRIALS": "0", "BENCHGATE_SEED": ""}, HERE),
        arguments({"record": "a", "replay": "b", "trials": 2, "jobs": 0}, HERE),
    )
    with pytest.raises(argparse.ArgumentTypeError) as caught:
        read_options(RUN_OPTIONS, places)
    trials, jobs, pair = str(caught.value).splitlines()
    assert trials.startswith("the environment, BENCHGATE_TRIALS: '0': expected a whole number, 1 ")
    assert jobs.startswith("the command line: 0: expected a whole number, 1 or more")
    assert pair.startswith("record a and replay b (the command line): ")


def test_a_relative_path_starts_from_the_folder_of_its_place():
    places = (ini_file(lambda one: {"out": "a", "html": "b"}.get(one.key), HERE),)
    values = read_options(named("out", "html"), (*places, arguments({"out": Path("c")}, Path("y"))))
    assert values.values == {"out": Path("y/c"), "html": HERE / "b"}


def level(declared, **given):
    places = (class_file(declared, HERE / "gate.toml"), arguments(given, HERE))
    return read_options(RUN_OPTIONS, places).values["isolation"]


def test_no_option_lowers_the_level_that_the_class_declares():
    declared = {"isolation": "process"}
    assert level(declared) == "process"
    assert level(declared, isolation="none") == "process"
    assert level(declared, isolation="sandbox") == "sandbox"
    assert level({}, isolation="none") == "none"
    assert level(declared, isolation="none", executor="dask://h:1") == "process"


def test_a_replay_asks_nobody():
    given = {"replay": "kept", "executor": "dask://h:1", "retries": 5, "isolation": "process"}
    values = read_options(RUN_OPTIONS, [arguments(given, HERE)]).values
    assert [values[key] for key in given] == ["kept", None, 0, "none"]


class Config:
    """What the plugin asks of pytest's config, where ini setting, variable and command line give options."""

    def __init__(self, addopts=(), given=()):
        self.invocation_params = SimpleNamespace(args=given, dir=HERE)
        self.rootpath = HERE
        self._added = list(addopts)
        pairs = [word.removeprefix("--bench-").split("=", 1) for word in (*addopts, *given)]
        self._policy = [value for name, value in pairs if name == "policy"] or None
        self._values = dict(pairs)

    def getoption(self, name):
        if name == "bench_policy":
            return self._policy
        return self._values.get(name.removeprefix("bench_"))

    def getini(self, name):
        return self._added if name == "addopts" else None


def policy(*words):
    return [f"--bench-policy={word}" for word in words]


def test_pytest_reads_addopts_as_a_place_of_its_own():
    found = settled_options(Config(policy("alpha=0.0"), policy("alpha=0.05")))
    assert found.values["policy"] == ("alpha=0.0", "alpha=0.05")
    assert found.values["out"] == HERE / ".benchgate"
    with pytest.raises(pytest.UsageError, match="the command line: alpha is given twice"):
        settled_options(Config(given=policy("alpha=0.05", "alpha=0.01")))
    with pytest.raises(pytest.UsageError, match="the ini setting addopts: alpha is given twice"):
        settled_options(Config(policy("alpha=0.05", "alpha=0.01")))


def test_pytest_says_which_of_two_was_added_to_the_command_line():
    both = r"record a \(the command line\) and replay b \(the ini setting addopts\): "
    with pytest.raises(pytest.UsageError, match=both):
        settled_options(Config(["--bench-replay=b"], ["--bench-record=a"]))
