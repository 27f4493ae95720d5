"""The chain of records goes on from where it is, and refuses what does not fit."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from benchgate.audit import chain
from benchgate.errors import ArtifactError
from benchgate.runner.run import RunSettings, run_class

TODAY = datetime.now(UTC).date()  # a case that was validated long ago warns
CASE = f"""\
[case]
case_id = "only"
task_class = "one"
disposition = "positive"
difficulty = "easy"
source = "curated"
added_at = 2026-01-01T00:00:00Z
last_validated_at = {TODAY}T00:00:00Z
"""
RUBRIC = """\
from benchgate import BenchScore
class Constant:
    def score(self, case, output, /):
        return BenchScore(passed=True, score=1.0, safety_penalty=0.0)
"""
REGISTRATION = """\
from benchgate import register_task_class
from .rubric import Constant
@register_task_class("one", systems={"nothing": lambda case: {}})
class One(Constant): pass
"""


@pytest.fixture
def settings(tmp_path):
    folder = tmp_path / "bench" / "one"
    (folder / "cases" / "only" / "input").mkdir(parents=True)
    (folder / "cases" / "only" / "case.toml").write_text(CASE)
    (folder / "rubric.py").write_text(RUBRIC)
    (folder / "registration.py").write_text(REGISTRATION)
    return RunSettings(task_class="one", out=tmp_path / "out", bench_root=tmp_path / "bench")


def records(settings):
    runs = settings.out / "runs" / "one"
    paths = sorted(path for path in runs.iterdir() if path.is_dir())
    return runs, [path / "record.json" for path in paths]


def test_each_record_names_the_one_before(settings):
    published = [run_class(settings).published for _ in range(3)]
    runs, paths = records(settings)
    assert [json.loads(path.read_bytes())["seq"] for path in paths] == [1, 2, 3]
    before = [json.loads(path.read_bytes())["prev_hash"] for path in paths]
    assert before == [chain.GENESIS, published[0].sha256, published[1].sha256]
    head = json.loads((runs / "HEAD.json").read_bytes())
    assert (head["seq"], head["sha256"]) == (3, published[2].sha256)


def damage_head(runs, paths):
    (runs / "HEAD.json").write_text("{")
    return "HEAD.json"


def lose_head(runs, paths):
    (runs / "HEAD.json").unlink()
    return "HEAD.json"


def edit_newest(runs, paths):
    text = paths[-1].read_text()
    paths[-1].write_text(text.replace('"mean_score": 1.0', '"mean_score": 0.5'))
    return "record.json"


def damage_newest(runs, paths):
    paths[-1].write_bytes(b"\xff")
    return "record.json"


def lose_newest(runs, paths):
    paths[-1].rename(runs / "elsewhere")
    shutil.rmtree(paths[-1].parent)
    return "HEAD.json"


@pytest.mark.parametrize(
    "damage", [damage_head, lose_head, edit_newest, damage_newest, lose_newest]
)
def test_nothing_is_appended_to_a_chain_that_does_not_hold(settings, damage):
    run_class(settings)
    run_class(settings)
    runs, paths = records(settings)
    name = damage(runs, paths)
    before = sorted(os.listdir(runs))
    with pytest.raises(ArtifactError, match=name):
        run_class(settings)
    assert sorted(os.listdir(runs)) == before


def test_a_record_whose_process_died_before_the_head_is_entered(settings, monkeypatch):
    run_class(settings)

    def die(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("benchgate.audit.store.write_head", die)
        with pytest.raises(KeyboardInterrupt):
            run_class(settings)
    published = run_class(settings).published
    assert published.seq == 3
    assert len(records(settings)[1]) == 3


def full(*_):
    raise ArtifactError("a file", "cannot be written: No space left on device")


def test_a_head_that_cannot_be_written_leaves_a_record_that_is_told(settings, monkeypatch, capsys):
    run_class(settings)
    with monkeypatch.context() as patch:
        patch.setattr("benchgate.audit.store.write_head", full)
        run = run_class(settings)
    assert run.published.seq == 2
    assert (run.published.folder / "record.json").is_file()
    assert run.problems == [
        "a file: cannot be written: No space left on device; run 2 is recorded, and the next run enters it"
    ]
    assert (run.exit_status, capsys.readouterr().err) == (1, "")
    assert run_class(settings).published.seq == 3


def test_a_run_that_cannot_be_finished_keeps_what_was_recorded(settings, monkeypatch):
    monkeypatch.setattr("benchgate.artifacts.record.record_entry", full)
    (problem,) = run_class(settings).problems
    assert "No space left" in problem
    runs = settings.out / "runs" / "one"
    (kept,) = [path for path in runs.iterdir() if path.name.startswith("incomplete-")]
    assert json.loads((kept / "cases" / "only.json").read_bytes())["result"]["outcome"] == "scored"
    assert not (runs / "HEAD.json").exists()


def test_processes_side_by_side_leave_one_chain(settings):
    arguments = [
        "run",
        "--task-class=one",
        f"--out={settings.out}",
        f"--bench-root={settings.bench_root}",
    ]
    code = f"from benchgate.cli import main\nfor _ in range(3): main({arguments!r})"
    workers = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.DEVNULL) for _ in range(2)
    ]
    assert [worker.wait() for worker in workers] == [0, 0]
    _, paths = records(settings)
    chain = [json.loads(path.read_bytes()) for path in paths]
    assert [record["seq"] for record in chain] == [1, 2, 3, 4, 5, 6]
    assert len({record["prev_hash"] for record in chain}) == 6
