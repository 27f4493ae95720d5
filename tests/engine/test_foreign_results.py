"""Results that are not what was run: the answer to another trial, and what was edited before it is taken over."""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import Future

import pytest

from benchgate.cli import main
from benchgate.errors import ArtifactError
from benchgate.models import BenchScore, TrialResult
from benchgate.runner.lane import Lane
from benchgate.runner.merge import merge
from benchgate.runner.settings import RunSettings
from benchgate.trials.executor import TrialRecord, TrialRequest
from benchgate.trials.pacing import Pacing, Turns
from benchgate.trials.spending import Spending
from benchgate.verify.verification import verify
from benchgate.wire.shard import Shard


def trial(folder, name="01"):
    return folder / "cases" / f"{name}.json"


def shards(echo, **settings):
    """Run two shards, and return the published folder and digest of each by its number."""
    runs = {n: echo.run(shard=Shard(n, 2), **settings).published for n in (1, 2)}
    return {n: (run.folder, run.shard.removeprefix(f"{n}=")) for n, run in runs.items()}


def merged(echo, parts, **settings):
    folders = tuple(folder for folder, _ in parts.values())
    places = {"out": echo.root / "whole", "bench_root": echo.root / "bench"}
    return merge(RunSettings(parts=folders, **places, **{"baseline": None, **settings}))


def whose(parts, name):
    """Return the number of the shard that has a trial, and the file."""
    return next((n, trial(f, name)) for n, (f, _) in parts.items() if trial(f, name).exists())


# Answers


@pytest.fixture
def request_of(echo):
    from benchgate.loader.imports import bench_package
    from benchgate.loader.loaded_class import load_class
    from benchgate.registry import TaskClassRegistry

    with bench_package(echo.root / "bench"):
        case = load_class(echo.root / "bench", "echo", TaskClassRegistry()).load("01")
        yield TrialRequest.of(case, 0, bench_seed=0, system="agent", limit=60.0)


class Elsewhere:
    def __init__(self, record):
        self.record = record

    def submit(self, _):
        future = Future()
        future.set_result(self.record)
        return future


@pytest.mark.parametrize("other", [{}, {"case_id": "02"}, {"trial": 1}, {"seed": 7}])
def test_an_answer_to_another_request_is_refused(request_of, other):
    case = request_of.case
    asked = {"case_id": case.case_id, "trial": case.trial, "seed": case.seed}
    result = TrialResult(
        **{**asked, **other},
        held_out=False,
        outcome="scored",
        score=BenchScore(passed=True, score=1.0),
    )
    executor = Elsewhere(TrialRecord(result=result, output_json="{}"))
    lane = Lane(Pacing(0, Turns(None)), Spending(None), executor)
    record = lane.submit(request_of, lambda kept: kept).result()
    found = record.result
    assert {name: getattr(found, name) for name in asked} == asked
    assert found.outcome == ("not_run" if other else "scored")
    if other:
        assert found.detail.startswith("refused: the executor answered with trial ")
        assert found.detail.endswith(f"; expected trial 0 of case '01', seed {case.seed}")


def test_an_answer_that_skipped_validation_is_refused(request_of):
    case = request_of.case
    asked = {"case_id": case.case_id, "trial": case.trial, "seed": case.seed}
    score = BenchScore.model_construct(passed=True, score=1.5)
    result = TrialResult.model_construct(**asked, held_out=False, outcome="scored", score=score)
    lane = Lane(
        Pacing(0, Turns(None)),
        Spending(None),
        Elsewhere(TrialRecord(result=result, output_json="{}")),
    )
    found = lane.submit(request_of, lambda kept: kept).result().result
    assert (found.outcome, found.score) == ("not_run", None)
    assert "refused: the executor answered with no valid result: " in found.detail
    assert "score.score" in found.detail


# Scored again

IMPURE = """
from pathlib import Path
count = Path(__file__).with_name("count")
count.write_text(count.read_text() + "x" if count.exists() else "")
return BenchScore(passed=True, score=1 / (1 + len(count.read_text())))
"""
"""Gives the same output another score each time."""


def test_an_edited_score_of_a_run_that_is_resumed_is_refused(echo):
    echo.instead["01"] = {"answer": "no"}
    folder = echo.left()
    echo.edit(trial(folder), passed=True, score=1.0)
    echo.relist(folder)
    with pytest.raises(ArtifactError) as error:
        echo.run(resume=folder)
    assert "case '01' was recorded with score 1.0, passed true" in str(error.value)
    assert "scored again, its output has score 0.0, passed false" in str(error.value)
    assert "the rubric is not pure" in str(error.value)
    assert echo.calls == []


def test_a_rubric_that_is_not_pure_is_named_when_a_run_is_resumed(echo):
    echo.rubric(IMPURE)
    echo.left()
    with pytest.raises(ArtifactError, match="the rubric is not pure"):
        echo.run(resume="auto")


def test_of_a_run_with_a_record_the_file_is_named_and_no_copy_is_left(echo):
    echo.rubric(IMPURE)
    echo.instead["03"] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        echo.run()
    (recorded,) = (echo.out / "runs" / "echo").glob("0*")
    with pytest.raises(ArtifactError, match="the rubric is not pure") as error:
        echo.run(resume="1")
    assert str(trial(recorded)) in str(error.value)
    assert [path for path in recorded.parent.iterdir() if path.is_dir()] == [recorded]


def test_what_the_output_alone_does_not_score_is_run_again(echo):
    echo.instead["01"] = lambda case: (case.work_path / "patch.diff").write_text("x") and None
    folder = echo.left()
    assert json.loads(trial(folder).read_text())["result"]["left_files"] is True
    run = echo.run(resume="auto")
    assert echo.calls == ["01", "03"]
    assert run.taken_over == 1
    assert run.judgement.report.complete
    assert verify(echo.out, {})[0].faults == ()


def test_what_a_hook_scored_is_run_again(echo):
    folder = echo.left()
    path = trial(folder)
    path.write_text(path.read_text().replace(json.loads(path.read_text())["scorer"], "0" * 64))
    echo.relist(folder)
    echo.run(resume=folder)
    assert echo.calls == ["01", "03"]


# Whole files


def test_a_trial_that_is_not_whole_is_run_again(echo):
    folder = echo.left()
    trial(folder).write_bytes(trial(folder).read_bytes() + b"\n")
    run = echo.run(resume=folder)
    assert echo.calls == ["01", "03"]
    assert run.judgement.report.complete


def test_the_lines_of_a_shard_name_its_plan_and_its_trials(echo):
    for folder, sha256 in shards(echo).values():
        data = (folder / "trials.sha256").read_bytes()
        assert hashlib.sha256(data).hexdigest() == sha256
        named = dict(reversed(line.split("  ")) for line in data.decode().splitlines())
        assert set(named) == {"plan.json", *(f"cases/{name}" for name in echo.files(folder))}
        for name, digest in named.items():
            assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest


# Shards


def test_an_edited_score_of_a_shard_is_refused(echo):
    echo.instead["01"] = {"answer": "no"}
    parts = shards(echo)
    _, path = whose(parts, "01")
    echo.edit(path, passed=True, score=1.0)
    echo.relist(path.parents[1])
    with pytest.raises(ArtifactError, match="'01' was recorded with score 1"):
        merged(echo, parts)
    assert not list((echo.root / "whole/runs/echo").glob("[!.]*"))


@pytest.mark.parametrize("kind", ["files", "hook", "error", "cost"])
def test_what_cannot_be_scored_again_is_merged_only_as_expected(echo, kind):
    policy = {"max_cost_increase": 0.1} if kind == "cost" else None
    if kind == "error":
        echo.instead["01"] = OSError("no route")
    if kind == "files":
        echo.instead["01"] = lambda case: (case.work_path / "patch.diff").write_text("x") and None
    parts = shards(echo, policy=policy)
    number, path = whose(parts, "01")
    if kind == "hook":
        path.write_text(path.read_text().replace(json.loads(path.read_text())["scorer"], "0" * 64))
        parts[number] = (parts[number][0], echo.relist(parts[number][0]))
    with pytest.raises(ArtifactError, match="cannot be checked: --expect"):
        merged(echo, parts, policy=policy)
    expect = {n: digest for n, (_, digest) in parts.items()}
    assert merged(echo, parts, policy=policy, expect=expect).judgement.report.complete


def test_another_digest_than_was_printed_is_refused(echo):
    parts = shards(echo)
    expect = {n: digest for n, (_, digest) in parts.items()}
    with pytest.raises(ArtifactError, match="which no --expect names"):
        merged(echo, parts, expect={1: expect[1]})
    with pytest.raises(ArtifactError, match="expect 3: none of the folders is this shard"):
        merged(echo, parts, expect={**expect, 3: "0" * 64})
    with pytest.raises(ArtifactError, match=f"its digest is 2={expect[2]}; expected {'0' * 64}"):
        merged(echo, parts, expect={**expect, 2: "0" * 64})
    assert merged(echo, parts, expect=expect).judgement.report.complete


def test_an_edited_plan_of_a_shard_is_refused(echo):
    parts = shards(echo)
    path = parts[1][0] / "plan.json"
    path.write_text(path.read_text() + "\n")
    with pytest.raises(ArtifactError, match="is not the one that trials"):
        merged(echo, parts)


def test_a_shard_that_is_expected_twice_is_wrong_use(echo, capsys):
    (folder, digest), _ = shards(echo).values()
    command = ["merge", str(folder), "--out", str(echo.root / "whole")]
    assert main([*command, *(f"--expect=1={one}" for one in (digest, "0" * 64))]) == 2
    assert "expect: one shard is named twice" in capsys.readouterr().err
