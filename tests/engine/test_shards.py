"""Shards of a run that are merged: what makes a whole, and what is refused."""

from __future__ import annotations

import shutil
from unittest.mock import Mock

import pytest

from benchgate.audit import store
from benchgate.audit.runs import known_runs, resumable
from benchgate.cli import main
from benchgate.errors import ArtifactError
from benchgate.runner.merge import merge
from benchgate.runner.settings import RunSettings
from benchgate.wire.holding import hold
from benchgate.wire.shard import Shard

SYSTEMS = """
from benchgate import register_task_class
from .rubric import EchoRubric
from .system import system

def weak(case):
    return {"answer": "no"} if case.case_id == "02" else system(case)

register_task_class("echo", systems={"weak": weak, "strong": system}, default_system="strong")(EchoRubric)
"""


@pytest.fixture
def seven(echo):
    """Seven cases, and a pinned baseline that fails one of them."""
    for number in range(4, 8):
        echo.case(f"{number:02}")
    echo.instead["02"] = {"answer": "no"}
    echo.run()
    shutil.copy(echo.folder() / "record.json", echo.path / "baseline.json")
    echo.instead.clear()
    return echo


def parts(echo, total=3, **settings):
    """Run each shard, and return their folders."""
    settings = {"baseline": "auto", **settings}
    runs = [echo.run(shard=Shard(n, total), **settings) for n in range(1, total + 1)]
    return [run.published.folder for run in runs]


def merged(echo, folders, **settings):
    where = {"out": echo.root / "whole", "bench_root": echo.root / "bench"}
    return merge(RunSettings(parts=tuple(folders), **where, **{"baseline": None, **settings}))


def is_valid(echo, *options) -> bool:
    return main(["verify", str(echo.root / "whole"), *options]) == 0


@pytest.mark.parametrize("total", [1, 2, 3])
def test_the_parts_make_the_run_of_one_process(seven, total):
    one = seven.run(trials=2, seed=7, baseline="auto", out=seven.root / "one")
    whole = merged(seven, parts(seven, total, trials=2, seed=7))
    assert whole.judgement.report.run_id == one.judgement.report.run_id
    assert whole.judgement.decision == one.judgement.decision
    assert is_valid(seven, "--require-complete")


def test_a_baseline_that_runs_too_is_in_every_part(seven):
    seven.write("registration.py", SYSTEMS)
    settings = {"system": None, "baseline": "run:weak"}
    one = seven.run(out=seven.root / "one", **settings)
    whole = merged(seven, parts(seven, **settings))
    assert whole.judgement.decision == one.judgement.decision
    of_one, of_whole = (
        seven.read(run.published.folder / "record.json")["baseline"]["report"]["run_id"]
        for run in (one, whole)
    )
    assert of_whole == of_one
    assert is_valid(seven)


def test_as_many_shards_as_cases(echo):
    folders = parts(echo, baseline="none")
    assert [len(echo.files(folder)) for folder in folders] == [1, 1, 1]
    assert merged(echo, folders, baseline="none").judgement.report.complete


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folders: folders[1:], "a shard is missing: none has "),
        (lambda folders: [*folders, folders[0]], " is in "),
        (lambda folders: [folders[0].parent], "is no shard"),
    ],
)
def test_what_is_no_whole_run_is_refused_and_leaves_nothing(seven, change, message):
    with pytest.raises(ArtifactError, match=message):
        merged(seven, change(parts(seven)))
    assert not list((seven.root / "whole").rglob("plan.json"))
    assert not list((seven.root / "whole").rglob("record.json"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda echo: echo.rubric("pass  # another"), "digest of the rubric was"),
        (lambda echo: echo.case("03", answer="ELSE"), "cases that changed: 03"),
        (lambda echo: echo.case("08"), "a shard is missing: none has 08"),
        (lambda echo: echo.write("gate.toml", "alpha = 0.01\n"), "digest of the policy was"),
        (lambda echo: (echo.path / "baseline.json").unlink(), "digest of the baseline was"),
    ],
    ids=["rubric", "case", "new case", "policy", "baseline"],
)
def test_parts_of_another_bench_are_refused(seven, change, message):
    folders = parts(seven)
    change(seven)
    with pytest.raises(ArtifactError, match=message):
        merged(seven, folders)


def test_parts_that_were_run_differently_are_refused(seven):
    folders = parts(seven)
    seven.run(shard=Shard(2, 3), baseline="auto", seed=5)
    with pytest.raises(ArtifactError, match="seed was 5, is 0"):
        merged(seven, folders)


def test_a_trial_that_was_lost_makes_the_whole_incomplete_and_it_is_resumed(seven):
    folders = parts(seven)
    next((folders[2] / "cases").iterdir()).unlink()
    assert merged(seven, folders).exit_status == 1
    assert is_valid(seven)
    assert not is_valid(seven, "--require-complete")
    seven.run(resume="auto", baseline="auto", out=seven.root / "whole")
    assert is_valid(seven, "--require-complete")


@pytest.mark.parametrize("resume", ["none", "auto"])
def test_a_shard_that_a_process_still_runs_is_left_to_it(echo, resume):
    part = echo.out / "shards/echo/1-of-1"
    echo.run(shard=Shard(1, 1))
    before = {path: path.read_bytes() for path in part.rglob("*.*")}
    held = hold(part)
    with pytest.raises(ArtifactError, match=f"{part}: a process still runs it"):
        echo.run(shard=Shard(1, 1), resume=resume)
    assert {path: path.read_bytes() for path in part.rglob("*.*")} == before
    held.close()
    assert echo.run(shard=Shard(1, 1), resume=resume).judgement.report.complete


def test_a_shard_begins_anew_with_nothing_of_the_one_before(echo):
    part = echo.out / "shards/echo/1-of-1"
    echo.run(shard=Shard(1, 1), trials=2)
    echo.run(shard=Shard(1, 1))
    assert echo.files(part) == ["01.json", "02.json", "03.json"]
    assert len((part / "trials.sha256").read_text().splitlines()) == 4


def test_a_shard_that_was_killed_is_resumed(seven):
    seven.instead["03"] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        seven.run(shard=Shard(1, 1), baseline="auto")
    seven.instead.clear()
    assert seven.calls[-3:] == ["01", "02", "03"]
    seven.calls.clear()
    run = seven.run(shard=Shard(1, 1), baseline="auto", resume="auto")
    assert seven.calls == ["03", "04", "05", "06", "07"]
    whole = merged(seven, [run.published.folder])
    assert whole.judgement.report.complete
    one = seven.run(baseline="auto", out=seven.root / "one")
    assert whole.judgement.report.run_id == one.judgement.report.run_id


def test_merge_prints_the_block(seven, capsys):
    folders = parts(seven)
    where = [f"--bench-root={seven.root / 'bench'}", f"--out={seven.root / 'whole'}"]
    capsys.readouterr()
    assert main(["merge", *map(str, folders), *where]) == 10
    printed = capsys.readouterr()
    assert printed.out.splitlines()[0].startswith("HOLD")
    assert printed.err == "the gate decided hold\n"
    assert main(["merge", str(folders[1]), *where]) == 2
    assert "a shard is missing: none has " in capsys.readouterr().err


def test_what_a_killed_merge_left_is_removed_by_the_next_and_never_resumed(echo):
    folders = parts(echo, 2)
    runs = echo.root / "whole" / "runs" / "echo"
    killed = runs / "incomplete-merge-20260101T000000Z-1-000001"
    others = [runs / f"incomplete-{kind}20260101T000000Z-1-000001" for kind in ("", "gate-")]
    for folder in (killed, *others):
        shutil.copytree(folders[0], folder)
    session, gate = others
    with pytest.raises(ArtifactError, match=r"benchgate merge left it.*type that command again"):
        resumable(runs, killed.name)
    assert resumable(runs, "auto").folder == session
    session.rename(echo.root / "session")
    assert resumable(runs, "auto") is None
    assert {run.stamp for run in known_runs(runs)} == {"20260101T000000Z"}
    merged(echo, folders)
    assert not killed.exists()
    assert gate.exists()


def test_a_merge_that_fails_leaves_what_the_next_one_removes(echo, monkeypatch):
    folders = parts(echo, 2)
    publish = store.RunStore.publish
    monkeypatch.setattr(store.RunStore, "publish", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        merged(echo, folders)
    monkeypatch.setattr(store.RunStore, "publish", publish)
    assert not is_valid(echo, "--require-complete")
    merged(echo, folders)
    assert is_valid(echo, "--require-complete")


@pytest.mark.parametrize("options", [{}, {"shard": Shard(1, 2)}, {"shard": Shard(2, 2)}])
def test_a_run_that_no_record_could_hold_is_refused_before_its_first_trial(
    echo, monkeypatch, options
):
    echo.case("04")
    monkeypatch.setattr(store, "MAX_DIGESTS", 5)
    with pytest.raises(ArtifactError, match=r"at most 5 trials, and this would have [678]"):
        echo.run(trials=2, **options)
    assert echo.calls == []
    monkeypatch.setattr(store, "MAX_DIGESTS", 8)
    echo.run(trials=2, **options)
