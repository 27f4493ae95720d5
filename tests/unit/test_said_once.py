"""What is said twice in one place is refused, places override each other, and verify prints what was said."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchgate.cli import main
from benchgate.errors import EvalError
from benchgate.interop.rows import read
from benchgate.pytest_plugin.options import option_values
from benchgate.wire.arguments import SOMEWHERE, check_once
from benchgate.wire.run_options import RUN_OPTIONS

[POLICY] = [option for option in RUN_OPTIONS if option.key == "policy"]


def value(given=None, ini=None, environ="", **more):
    variables = {"BENCHGATE_POLICY": environ}
    return POLICY.value(given, environ=variables, here=Path("/x"), ini=ini, **more)


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ({"given": ["alpha=0.05", "alpha = 0.01"]}, "the command line"),
        ({"ini": "alpha=0.05\nalpha=0.01"}, "bench_policy"),
        ({"environ": "alpha=0.05\nalpha=0.01"}, "BENCHGATE_POLICY"),
    ],
)
def test_a_threshold_has_one_value_in_each_place(given, place):
    with pytest.raises(argparse.ArgumentTypeError) as error:
        value(**given)
    assert str(error.value) == f"{place}: alpha is given twice, as 0.05 and as 0.01; give it once"


def test_places_override_each_other():
    words = value(["alpha=0.03", "alpha=0.03"], ini="alpha=0.01", environ="alpha=0.02")
    assert words == ("alpha=0.01", "alpha=0.02", "alpha=0.03", "alpha=0.03")


def test_what_pytest_puts_before_the_command_line_is_another_place():
    places = {"alpha=0.01": "the ini setting addopts", "alpha=0.02": "the command line"}
    assert value(list(places), place_of=places.__getitem__) == tuple(places)
    with pytest.raises(argparse.ArgumentTypeError, match="addopts: alpha is given twice"):
        value(list(places), place_of=lambda _: "the ini setting addopts")
    assert value(list(places), place_of=lambda _: SOMEWHERE) == tuple(places)  # such as a worker


def test_two_files_are_two_policies():
    check_once([Path("a/gate.toml"), "alpha=0.05", "a/gate.toml"], "here")
    with pytest.raises(
        argparse.ArgumentTypeError, match=r"here: the file is given twice, as a\.toml"
    ):
        check_once(["a.toml", "alpha=0.05", "b.toml"], "here")


@pytest.fixture
def pair(tmp_path, monkeypatch):
    """Two logs of 24 cases; the second is better on one split and worse on the other."""
    monkeypatch.chdir(tmp_path)
    for name, gain in (("old", 0), ("new", 1)):
        rows = [
            {"id": f"{split}{n:02}", "split": split, "score": gain == (split == "easy"), "harm": 0}
            for split in ("easy", "hard")
            for n in range(12)
        ]
        Path(f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return ("gate", "old.jsonl", "new.jsonl")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--policy=alpha=0.05", "--policy=alpha=0.01"], "--policy: alpha is given twice"),
        (["--map=score=score", "--map=score=harm"], "map: 'score=harm'; expected ROLE=FIELD, each"),
        (["--map=harm=harm,safety=score"], "map: harm and safety name one thing"),
        (["--map=harm=harm", "--map=safety=score"], "map: harm and safety name one thing"),
        (["--where=split=easy", "--where=split=hard"], "where: split is given twice, as easy and"),
    ],
)
def test_the_command_refuses_what_is_said_twice(pair, capsys, options, why):
    try:
        status = main([*pair, *options])
    except SystemExit as error:  # argparse
        status = error.code
    assert status == 2
    assert why in capsys.readouterr().err
    assert not Path("proof").exists()


def test_maps_in_parts_all_count(pair):
    assert main([*pair, "--map=score=score", "--map=harm=harm", "--out=chain"]) in {0, 1, 10}
    [path] = Path("chain").glob("runs/log/*/record.json")
    assert json.loads(path.read_text())["report"]["source"]["told"] == ["map score=score,harm=harm"]


def test_two_heads_of_one_class_are_refused(pair, capsys):
    main([*pair, "--out=chain"])
    heads = [f"--head=log=1:{digit * 64}" for digit in "ab"]
    assert main(["verify", "chain", *heads]) == 2
    assert "--head: one class is named twice" in capsys.readouterr().err


def test_a_field_of_a_map_file_is_overridden_by_the_command_line(pair):
    Path("logs.toml").write_text('score = "score"\n[where]\nsplit = "hard"\n')
    assert {one.case_id[:4] for one in read(Path("new.jsonl"), map=Path("logs.toml")).samples} == {
        "hard"
    }
    over = read(Path("new.jsonl"), map=Path("logs.toml"), where=["split=easy"])
    assert {one.case_id[:4] for one in over.samples} == {"easy"}
    with pytest.raises(EvalError, match="split is given twice"):
        read(Path("new.jsonl"), where=["split=easy", "split="])


def test_half_of_a_log_leaves_a_trace_in_what_verify_prints(pair, capsys):
    """As a whole the second log is no better."""
    assert main([*pair, "--out=chain"]) != 0
    options = ["--where=split=easy", "--map=case=id,score=score", "--out=chain"]
    assert main([*pair, *options]) == 0
    capsys.readouterr()
    assert main(["verify", "chain", "--require-promote"]) == 0
    lines = capsys.readouterr().out.splitlines()
    log = "log of json, score score, SHA-256 "
    assert any(line.startswith(f"  candidate new.jsonl: {log}") for line in lines)
    assert any(line.startswith(f"  baseline  old.jsonl: {log}") for line in lines)
    assert "  read      --map case=id,score=score" in lines
    assert "  read      --where split=easy" in lines


def test_a_regular_expression_of_errors_is_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("old", "new"):
        cases = "".join(f'<testcase classname="{name[:0]}a" name="t{n}"/>' for n in range(12))
        Path(f"{name}.xml").write_text(f'<testsuite name="{name}">{cases}</testsuite>')
    options = ["--errors-by=no route", "--policy=claim=no_regression", "--out=chain"]
    assert main(["gate", "old.xml", "new.xml", *options]) == 0
    capsys.readouterr()
    assert main(["verify", "chain"]) == 0
    assert "  read      --errors-by no route\n" in capsys.readouterr().out


def test_the_candidate_of_a_bench_is_printed(echo, capsys):
    echo.run()
    capsys.readouterr()
    assert main(["verify", str(echo.out)]) == 0
    system = echo.record()["report"]["system"]
    assert f"\n  candidate {system}\n" in capsys.readouterr().out


class Config:
    """What the plugin asks of pytest's config, where ini setting, variable and command line give options."""

    def __init__(self, addopts=(), given=()):
        self.invocation_params = SimpleNamespace(args=given, dir=Path("/x"))
        self.rootpath = Path("/x")
        self._added = list(addopts)
        words = [*addopts, *given]
        self._policy = [word.removeprefix("--bench-policy=") for word in words] or None

    def getoption(self, name):
        return self._policy if name == "bench_policy" else None

    def getini(self, name):
        return self._added if name == "addopts" else None


def policy(*words):
    return [f"--bench-policy={word}" for word in words]


def test_pytest_reads_addopts_as_a_place_of_its_own():
    words = option_values(Config(policy("alpha=0.0"), policy("alpha=0.05")))["policy"]
    assert words == ("alpha=0.0", "alpha=0.05")
    with pytest.raises(pytest.UsageError, match="the command line: alpha is given twice"):
        option_values(Config(given=policy("alpha=0.05", "alpha=0.01")))
    with pytest.raises(pytest.UsageError, match="the ini setting addopts: alpha is given twice"):
        option_values(Config(policy("alpha=0.05", "alpha=0.01")))
