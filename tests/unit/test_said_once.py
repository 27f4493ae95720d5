"""What is said twice to a command is refused, and verify prints what was said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchgate.cli import main
from benchgate.errors import EvalError
from benchgate.interop.rows import read


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
