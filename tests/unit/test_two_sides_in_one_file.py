"""Two sides in one file: each has its rows, or its fields, and no row is compared with itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchgate.cli import main
from benchgate.errors import EvalError
from benchgate.interop.asked import of_side, parse_map, parse_rows

BY_ROWS = ["--where=A:of=old", "--where=B:of=new"]
BY_FIELD = ["--map=A:score=base,B:score=new"]


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """Twenty cases of an old version and of a new one that is better, a row each."""
    monkeypatch.chdir(tmp_path)
    made = [{"id": f"c{n}", "of": "old", "score": n % 4 / 10} for n in range(20)]
    made += [{"id": f"c{n}", "of": "new", "score": (n * 7 % 4 + 6) / 10} for n in range(20)]
    return write("log.jsonl", made)


@pytest.fixture
def columns(tmp_path, monkeypatch):
    """The same, a row a case."""
    monkeypatch.chdir(tmp_path)
    scores = "".join(f"c{n},{n % 4 / 10},{(n * 7 % 4 + 6) / 10}\n" for n in range(20))
    Path("log.csv").write_text(f"id,base,new\n{scores}")
    return "log.csv"


def write(name, rows):
    Path(name).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return name


def gate(path, *options):
    return main(["gate", path, path, *options])


@pytest.mark.parametrize(
    ("kind", "options", "names"),
    [
        ("rows", BY_ROWS, ("of=new", "of=old")),
        ("rows", ["--map=case=id", *BY_ROWS], ("of=new", "of=old")),
        ("columns", BY_FIELD, ("score=new", "score=base")),
        (
            "columns",
            ["--map=A:score=base", "--map=B:score=new,case=id"],
            ("score=new", "score=base"),
        ),
    ],
)
def test_each_side_has_its_rows_or_its_fields(request, capsys, kind, options, names):
    assert gate(request.getfixturevalue(kind), *options) == 0
    shown = " ".join(capsys.readouterr().out.split())
    candidate, baseline = names
    assert f"PROMOTE `{candidate}` may replace `{baseline}`" in shown
    assert "20 samples of 20 cases" in shown
    assert "same bytes" not in shown


def test_a_document_may_have_a_list_for_each_side(rows, capsys):
    made = [json.loads(line) for line in Path(rows).read_text().splitlines()]
    Path("log.json").write_text(json.dumps({"old": made[:20], "new": made[20:]}, indent=1))
    assert gate("log.json", "--rows=A:old", "--rows=B:new") == 0
    assert "PROMOTE   `new` may replace `old`" in capsys.readouterr().out


def test_two_prompts_of_promptfoo(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    results = [
        {"testIdx": n, "promptIdx": m, "vars": {"n": n}, "success": bool(m), "failureReason": 0}
        for n in range(20)
        for m in range(2)
    ]
    Path("out.json").write_text(json.dumps({"evalId": "e", "results": {"results": results}}))
    assert gate("out.json", "--where=A:promptIdx=0", "--where=B:promptIdx=1") == 0
    assert "`promptIdx=1` may replace `promptIdx=0`" in capsys.readouterr().out


HALF = ["--where=A:of=old", "--where=A:part=x", "--where=B:of=old"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "is the baseline and the candidate: nothing is compared"),
        (["--where=of=old"], "is the baseline and the candidate"),
        (["--where=A:of=old", "--where=B:of=old"], "is the baseline and the candidate"),
        (["--where=B:of=new"], "20 rows of it would be on both sides, the first is row 21"),
        (HALF, "10 rows of it would be on both sides, the first is row 1:"),
        # They differ in what says nothing of how a row did.
        (["--map=B:cluster=part", "--where=of=old"], "20 rows of it would be on both sides"),
    ],
)
def test_no_row_is_compared_with_itself(rows, capsys, options, message):
    made = [json.loads(line) for line in Path(rows).read_text().splitlines()]
    write(rows, [row | {"part": "xy"[n % 2]} for n, row in enumerate(made)])
    assert gate(rows, *options) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert message in said.err
    assert "--where A:FIELD=VALUE --where B:FIELD=VALUE, or which fields, --map A:sc" in said.err


def test_fields_of_two_names_are_named_for_both_sides(columns, rows, capsys):
    write("new.jsonl", [{"id": f"c{n}", "new": 1} for n in range(20)])
    write("old.jsonl", [{"id": f"c{n}", "score": 0} for n in range(20)])
    pair = ["gate", "old.jsonl", "new.jsonl"]
    assert main([*pair, "--map=B:score=new"]) == 2
    assert "name one, --metric NAME, or both, --map A:score=score,B:score=new" in (
        capsys.readouterr().err
    )
    assert main([*pair, "--map=A:score=score,B:score=new"]) == 0
    assert "`new.jsonl` may replace `old.jsonl`" in capsys.readouterr().out


def test_harm_may_have_a_field_for_each_side(columns, capsys):
    lines = Path(columns).read_text().splitlines()
    harmed = [lines[0] + ",h0,h1", *(f"{line},0,{n % 2}" for n, line in enumerate(lines[1:]))]
    Path(columns).write_text("\n".join(harmed) + "\n")
    assert gate(columns, *BY_FIELD, "--map=A:harm=h0,B:harm=h1") == 1
    assert "[safety_regression]" in capsys.readouterr().out


def test_whoever_reads_what_is_kept_sees_both_selections(rows, capsys):
    assert gate(rows, *BY_ROWS, "--map=case=id", "--out=chain", "--candidate-id=mine") == 0
    page = Path("chain/gate.html").read_text()
    assert "<code>--where of=old</code>" in page
    assert "<code>--where of=new</code>" in page
    [folder] = Path("chain/runs/log").glob("0*")
    subject = json.loads((folder / "evidence" / "promotion.json").read_text())["subject"]
    assert subject["source"]["told"] == ["map case=id", "where of=new"]
    capsys.readouterr()
    assert main(["verify", "chain", "--require-promote"]) == 0
    read = [
        line.split(maxsplit=1)[1]
        for line in capsys.readouterr().out.splitlines()
        if " read " in line
    ]
    assert read == ["--map case=id", "--where of=new", "--where of=old"]


@pytest.mark.parametrize("counted", ["--ledger=looks", "--out=chain"])
def test_selections_of_one_file_are_looks_at_one_baseline(rows, capsys, counted):
    """Eleven were each look 1, and of eleven equal pairs one in five promoted one."""
    made = [json.loads(line) for line in Path(rows).read_text().splitlines()]
    tries = [
        {"id": f"c{n}", "of": f"try{m}", "score": (n * (m + 3) % 5 + 3 * (m == 4)) / 10 + m / 1000}
        for m in range(10)
        for n in range(20)
    ]
    write(rows, made + tries)
    outcomes = []
    for m in range(10):
        # The baseline may be a part of it, too.
        part = ["--where=A:of=old", f"--where=B:of=try{m}"]
        outcomes.append(gate(rows, *part, counted))
        shown = capsys.readouterr().out
        assert (f"look no. {m + 1} at this baseline" in shown) is (m > 0)
    assert 0 in outcomes[:-1]  # what was promoted did not end the series, for it is the same file
    gate(rows, "--where=A:of=try4", "--where=B:of=new", counted)
    assert "look no. 11 at this baseline" in capsys.readouterr().out


def test_tests_that_another_side_has_skipped_are_none_of_this_one(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    tests = [
        {"name": f"t{n}", "status": "passed", "browser": browser}
        for n in range(10)
        for browser in ("old", "new")
    ]
    tests.append({"name": "t10", "status": "skipped", "browser": "new"})
    Path("ctrf.json").write_text(json.dumps({"reportFormat": "CTRF", "results": {"tests": tests}}))
    sides = ["--where=A:browser=old", "--where=B:browser=new"]
    assert gate("ctrf.json", *sides, "--policy=claim=no_regression") == 0
    assert capsys.readouterr().out.count("1 case named without a result: t10") == 1


@pytest.mark.parametrize(
    ("words", "of_a", "of_b"),
    [
        (["a=1", "A:b=2", "B:b=3"], ["a=1", "b=2"], ["a=1", "b=3"]),
        (["C:b=2"], ["C:b=2"], ["C:b=2"]),
        (["A:model=openai:4"], ["model=openai:4"], []),
    ],
)
def test_what_is_said_of_a_side(words, of_a, of_b):
    assert (of_side(words, "A"), of_side(words, "B")) == (of_a, of_b)


def test_a_map_may_be_of_one_side():
    texts = ["case=id,A:score=acc,none,B:score=new", "B:harm=h"]
    assert parse_map(texts, "A") == {"case": "id", "score": "acc,none"}
    assert parse_map(texts, "B") == {"case": "id", "score": "new", "harm": "h"}
    assert parse_map(["A:old.toml", "B:new.toml"], "B") == Path("new.toml")
    for wrong in (["score=a,B:score=b"], ["B:old.toml", "case=id"]):
        with pytest.raises(EvalError):
            parse_map(wrong, "B")


def test_the_rows_of_a_side_are_in_one_field():
    assert parse_rows([]) is None
    assert parse_rows(["a", "a"]) == "a"
    with pytest.raises(EvalError, match="rows: a and b; expected one field for a side"):
        parse_rows(["a", "b"])
