"""A run in parts, on several machines: put together it is the run that one machine would have made."""

from __future__ import annotations

import json

import pytest

from benchgate.cli import main
from benchgate.wire.holding import hold

WEAK = 'if case.case_id == "02":\n    return {"answer": "no"}'


@pytest.fixture
def sharded(bench):
    """A bench of seven cases with a pinned baseline that fails one of them."""
    for number in range(4, 8):
        bench.case(f"{number:02}")
    bench.write("gate.toml", 'test = "auto"\n')
    bench.system(WEAK)
    bench.engine()
    bench.pin()
    bench.system()
    return bench


def parts(bench, *arguments, total=3, apart=False):
    """Run each shard, and return their folders."""
    for number in range(1, total + 1):
        result = bench.run(
            f"--bench-shard={number}/{total}", "--bench-exit=gate", *arguments, apart=apart
        )
        assert result.ret == 0
    return [bench.out / "shards" / "echo" / f"{n}-of-{total}" for n in range(1, total + 1)]


def merged(bench, folders, *arguments):
    where = [f"--bench-root={bench.root / 'bench'}", f"--out={bench.root / 'whole'}"]
    return main(["merge", *map(str, folders), *where, *arguments])


def record(out):
    (path,) = (out / "runs" / "echo").glob("*/record.json")
    return json.loads(path.read_bytes())


def timeless(found):
    """Return a record without its times and the digests of files that have times in them."""
    text = json.dumps(found, sort_keys=True)
    kept = json.loads(
        text, object_hook=lambda d: {k: v for k, v in d.items() if "duration" not in k}
    )
    for key in ("started_at", "finished_at", "case_files", "evidence_files", "plan_sha256"):
        kept.pop(key)
    kept["provenance"].pop("system_source")  # a merge has no system
    return kept


@pytest.mark.parametrize("workers", [(), pytest.param(("-n2",), marks=pytest.mark.slow)])
def test_the_parts_make_the_record_of_one_run(sharded, workers, capsys):
    options = ("--bench-trials=2", "--bench-exit=gate")
    sharded.run(*options, f"--bench-out={sharded.root / 'one'}")
    folders = parts(sharded, "--bench-trials=2", *workers, apart=bool(workers))
    assert not (sharded.out / "last-selected").exists()
    capsys.readouterr()
    assert merged(sharded, folders, "--json") == 10
    line = json.loads(capsys.readouterr().out)
    one, whole = record(sharded.root / "one"), record(sharded.root / "whole")
    assert whole["report"]["run_id"] == one["report"]["run_id"] == line["run_id"]
    assert timeless(whole) == timeless(one)
    assert whole["decision"]["outcome"] == "hold"
    assert (whole["seq"], whole["resumes"]) == (1, None)
    assert main(["verify", str(sharded.root / "whole"), "--require-complete"]) == 0
    assert not list((sharded.root / "whole/runs/echo").glob(".*incomplete*"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-k", "01", "--bench-shard=1/1"], "every case of its part"),
        (["--bench-shard=0/3"], "expected I/N"),
        (["--bench-shard=4/3"], "expected I/N"),
        (["--bench-shard=4/4"], "no bench case was selected"),
        (["--bench-shard=1/3", "--bench-resume=7"], "what is in its own folder"),
        (["--bench-shard=1/3", "--bench-record=kept"], "neither recorded nor replayed"),
        (["--bench-shard=1/3", "--bench-replay=1"], "neither recorded nor replayed"),
    ],
)
def test_a_shard_is_of_a_whole_class(bench, arguments, message):
    result = bench.run(*arguments)
    assert result.ret == 4
    assert message in "\n".join(result.errlines + result.outlines)


@pytest.mark.parametrize("workers", [(), pytest.param(("-n2",), marks=pytest.mark.slow)])
def test_a_shard_that_was_killed_is_resumed(sharded, workers, tmp_path):
    log, once = tmp_path / "log", tmp_path / "once"
    sharded.system(f"""
        import os
        from pathlib import Path
        with open({str(log)!r}, "a") as log:
            log.write(f"{{case.case_id}} ")
        if case.case_id == "03" and not Path({str(once)!r}).exists():
            Path({str(once)!r}).touch()
            os.kill(os.getpid(), 9)
    """)
    sharded.run("--bench-shard=1/1", apart=True)
    assert log.read_text().split() == ["01", "02", "03"]
    resumed = ("--bench-shard=1/1", "--bench-resume", "--bench-exit=gate", *workers)
    result = sharded.run(*resumed, apart=bool(workers))
    result.stdout.fnmatch_lines(["resumes   the shard: 2 of 7 trials were finished there"])
    assert sorted(log.read_text().split()) == ["01", "02", "03", "03", "04", "05", "06", "07"]
    sharded.run(f"--bench-out={tmp_path / 'one'}")
    assert merged(sharded, [sharded.out / "shards/echo/1-of-1"]) == 10
    whole = record(sharded.root / "whole")["report"]
    assert whole["complete"]
    assert whole["run_id"] == record(tmp_path / "one")["report"]["run_id"]


@pytest.mark.parametrize("resume", [(), ("--bench-resume",)])
def test_a_shard_that_a_process_still_runs_is_left_to_it(bench, resume):
    part = bench.out / "shards/echo/1-of-1"
    assert bench.run("--bench-shard=1/1", "--bench-exit=gate").ret == 0
    before = {path: path.read_bytes() for path in part.rglob("*.*")}
    held = hold(part)
    result = bench.run("--bench-shard=1/1", *resume)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{part}: a process still runs it"])
    assert {path: path.read_bytes() for path in part.rglob("*.*")} == before
    held.close()
    assert bench.run("--bench-shard=1/1", "--bench-exit=gate", *resume).ret == 0


def test_a_shard_begins_anew_with_nothing_of_the_one_before(bench):
    part = bench.out / "shards/echo/1-of-1"
    bench.run("--bench-shard=1/1", "--bench-trials=2")
    bench.run("--bench-shard=1/1")
    assert [path.name for path in sorted((part / "cases").iterdir())] == [
        "01.json",
        "02.json",
        "03.json",
    ]
    assert len((part / "trials.sha256").read_text().splitlines()) == 4


def test_merge_prints_the_block(sharded, capsys):
    folders = parts(sharded)
    capsys.readouterr()
    assert merged(sharded, folders) == 10
    printed = capsys.readouterr()
    assert printed.out.splitlines()[0].startswith("HOLD")
    assert printed.err == "the gate decided hold\n"


def test_a_path_of_a_part_is_refused_too(bench):
    result = bench.pytest("bench/echo/cases/01/case.toml", "--bench-shard=1/1")
    assert result.ret == 4
    result = bench.pytest("bench/echo", "--bench-shard=1/2", "--bench-exit=gate")
    assert result.ret == 0


def test_both_doors_have_the_same_parts(sharded, capsys):
    folders = parts(sharded, total=2)
    under_pytest = [sorted(f.name for f in (p / "cases").iterdir()) for p in folders]
    for number in (1, 2):
        where = [f"--bench-root={sharded.root / 'bench'}", f"--out={sharded.root / 'cli'}"]
        assert main(["run", "--task-class=echo", f"--shard={number}/2", *where]) == 0
    folders = [sharded.root / "cli/shards/echo" / f"{n}-of-2" for n in (1, 2)]
    assert [sorted(f.name for f in (p / "cases").iterdir()) for p in folders] == under_pytest
    assert merged(sharded, folders) == 10
    assert merged(sharded, folders[1:]) == 2
    assert "a shard is missing: none has " in capsys.readouterr().err
