"""RL payloads in a run: validated before scoring, and held against the checkpoint that is to be promoted."""

from __future__ import annotations

import json

import pytest

from benchgate.artifacts.run_kinds import RunRecord
from benchgate.cli import main
from benchgate.training.checkpoints import CheckpointFiles
from benchgate.verify.recheck_record import recheck_record
from benchgate.verify.validate import validate_file

PREFIX = "checkpoint_promotion_blocked_"
NOW = "2026-11-21T00:00:00Z"


def checkpoint(name="late", version="v2", step=100, parent=None):
    return {
        "schema_version": 1,
        "checkpoint_id": name,
        "algorithm": "q-learning",
        "policy_version": version,
        "global_step": step,
        "episode_count": 10,
        "mean_reward": 0.5,
        "artifact_uri": f"file:{name}.json",
        "created_at": NOW,
        "metadata": {"parent_checkpoint_id": parent} if parent else {},
    }


def payload(steps=2, **changes):
    head = {"schema_version": 1, "created_at": NOW, "metadata": {}}
    step = {
        "observation": 0,
        "action": 1,
        "reward": 1.0,
        "done": False,
        "logprob": -0.1,
        "value_estimate": 0.5,
    }
    trajectory = {
        **head,
        "trajectory_id": "t1",
        "rollout_id": "r1",
        "episode_id": "e1",
        "steps": [{**step, "step_index": index} for index in range(steps)],
        "discount_factor": 0.9,
        "total_return": float(steps),
    }
    advantages = {
        **head,
        "batch_id": "b1",
        "trajectory_id": "t1",
        "advantages": [0.1] * steps,
        "returns": [1.0] * steps,
        "value_targets": [],
        "normalized": False,
    }
    made = {"trajectory": trajectory, "advantages": advantages, "checkpoint": checkpoint()}
    for path, value in changes.items():
        part, _, key = path.partition("__")
        made[part] = {**made[part], key: value}
    return made


@pytest.fixture
def policies(bench, kept):
    """Twelve cases; the weak system has no payload, the strong one that of the checkpoint ``late``."""
    for number in range(4, 13):
        bench.case(f"{number:02}")
    bench.rubric(
        'return BenchScore(passed=True, score=float(output["answer"]), safety_penalty=0.0)'
    )
    bench.system('return {"answer": 0.1 + int(case.case_id) / 1000}')
    bench.pin_once(kept)
    for name, record in (
        ("late", checkpoint(parent="early")),
        ("early", checkpoint("early", "v1", 50)),
        ("other", checkpoint("other", "v3", 100)),
    ):
        (bench.root / f"{name}.json").write_text(json.dumps(record))
    records = [checkpoint("early", "v1", 50), checkpoint(parent="early")]
    (bench.root / "lineage.json").write_text(json.dumps(records))
    emit(bench, payload())
    return bench


def emit(bench, bundle, only: str | None = None) -> None:
    condition = f'case.case_id == "{only}"' if only else "True"
    bench.write("bundle.json", json.dumps(bundle))
    bench.system(
        f"""
        import json, pathlib
        answer = {{"answer": 0.9 - int(case.case_id) / 1000}}
        if {condition}:
            answer["rl_payload"] = json.loads(pathlib.Path({str(bench.path / "bundle.json")!r}).read_text())
            named = answer["rl_payload"]["checkpoint"]["metadata"]
            named["artifact_sha256"] = case.checkpoint.sha256
        return answer
        """
    )
    path = bench.path / "system.py"
    line = f"import pathlib; system.checkpoint = pathlib.Path({str(bench.root / 'late.json')!r})"
    path.write_text(f"{path.read_text()}{line}\n")


def judged(bench, checkpoint=None, case_filter=None, **files):
    """Run the class with the engine, and with files beside that say what is compared."""
    if checkpoint:
        files["checkpoint"] = checkpoint
    paths = {name: bench.root / path for name, path in files.items()}
    pinned = "none" if case_filter else "auto"
    return bench.engine(
        baseline=pinned, checkpoints=CheckpointFiles(**paths), case_filter=case_filter
    )


def reasons(bench):
    return [code.removeprefix(PREFIX) for code in bench.record()["decision"]["reason_codes"]]


def test_an_invalid_payload_blocks_its_case_and_the_others_run(policies):
    emit(policies, payload(advantages__trajectory_id="t2"), only="02")
    assert judged(policies).judgement.report.passed_count == 11
    found = policies.result("02")
    assert found["outcome"] == "harness_error"
    (mode,) = found["failure_modes"]
    assert mode["code"] == "invalid_rl_payload"
    assert "trajectory_id_mismatch" in mode["detail"]
    assert "'t1'" in mode["detail"]
    assert "'t2'" in mode["detail"]
    assert "block_severity_failure_mode" in reasons(policies)
    assert policies.record()["decision"]["outcome"] == "reject"


@pytest.mark.parametrize(
    ("checkpoint", "left_out"), [("late.json", False), (None, True)], ids=["checkpoint", "system"]
)
def test_evaluators_have_no_advantages_and_the_decision_says_so(policies, left_out, checkpoint):
    bundle = payload(trajectory__rollout_id=None, checkpoint__mean_reward=None)
    if left_out:
        del bundle["advantages"]
    else:
        bundle["advantages"] = None
    emit(policies, bundle)
    assert not judged(policies, checkpoint).failures
    decision = policies.record()["decision"]
    assert decision["outcome"] == "promote"
    assert "note_no_advantages" in decision["notes"]
    told = {remark["code"]: remark["message"] for remark in decision["remarks"]}
    assert told["note_no_advantages"].startswith("trials without advantages: 12")
    assert main(["verify", str(policies.out)]) == 0
    emit(policies, payload())
    judged(policies)
    assert "note_no_advantages" not in policies.record()["decision"]["notes"]


@pytest.mark.parametrize(
    "value", ["3", "None", "{}", '{"trajectory": {}}', 'float("nan")', '{"trajectory": object()}']
)
def test_a_payload_of_no_shape_is_invalid_too(policies, value):
    policies.system(f'return {{"answer": 1.0, "rl_payload": {value}}}')
    judged(policies, case_filter="02")
    (result,) = policies.selected()["per_case"]
    assert [mode["code"] for mode in result["failure_modes"]] == ["invalid_rl_payload"]


@pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n2",), marks=pytest.mark.slow)], ids=["in process", "xdist"]
)
def test_the_checkpoint_is_the_subject_of_what_is_proven(policies, workers):
    given = (
        "--bench-checkpoint=late.json",
        "--bench-baseline-checkpoint=early.json",
        "--bench-lineage=lineage.json",
    )
    result = policies.run(*given, *workers, apart=bool(workers))
    assert result.ret == pytest.ExitCode.OK
    promotion = policies.read("evidence/echo/promotion.json")
    assert promotion["decision"]["outcome"] == "promote"
    assert (promotion["subject"]["kind"], promotion["subject"]["id"]) == ("checkpoint", "late")
    assert len(promotion["subject"]["digest"]) == 64
    proof = policies.read("evidence/echo/proof.json")
    names = (proof["baseline"]["checkpoint_id"], proof["trained"]["checkpoint_id"])
    assert names == ("early", "late")
    assert policies.record()["subject"] == promotion["subject"]
    for path in (policies.out / "evidence" / "echo").glob("*.json"):
        assert validate_file(path)


@pytest.mark.parametrize(
    ("given", "changes", "told"),
    [
        (
            "other.json",
            {},
            "checkpoint_id is 'late'; expected that of subject.checkpoint_id, 'other'",
        ),
        ("late.json", {"checkpoint__policy_version": "v9"}, "policy_version is 'v9'"),
        (
            "late.json",
            {"checkpoint__global_step": 101},
            "global_step is 101; expected at most subject.global_step, 100",
        ),
    ],
)
def test_trajectories_of_another_checkpoint_hold(policies, given, changes, told):
    emit(policies, payload(**changes))
    assert judged(policies, given).failures
    assert policies.record()["decision"]["outcome"] == "hold"
    assert reasons(policies) == ["checkpoint_mismatch"]
    (remark,) = [
        r["message"] for r in policies.record()["decision"]["remarks"] if "mismatch" in r["code"]
    ]
    assert told in remark


def test_an_output_without_a_payload_is_no_evidence_about_a_checkpoint(policies):
    emit(policies, payload(), only="02")
    assert judged(policies, "late.json").failures
    assert reasons(policies) == ["checkpoint_mismatch"]


def test_that_another_checkpoint_played_is_not_left_out(policies):
    emit(policies, payload(checkpoint__checkpoint_id="other"))
    judged(policies, "late.json")
    record = RunRecord.read_file(policies.folder() / "record.json", "record")
    changed = record.model_copy(update={"checkpoint_problems": ()})
    faults = [*recheck_record(policies.folder(), changed)]
    assert any("a scored output belongs to another checkpoint" in fault for fault in faults)


def test_a_baseline_that_is_no_ancestor_holds(policies):
    assert judged(policies, "late.json", baseline="other.json", lineage="lineage.json").failures
    assert reasons(policies) == ["checkpoint_mismatch"]


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ("--bench-checkpoint=none.json", "*none.json: *cannot be read*"),
        (
            "--bench-lineage=lineage.json",
            "*lineage.json: is of use only with the candidate's checkpoint*",
        ),
    ],
)
def test_a_checkpoint_that_cannot_be_read_is_wrong_use(policies, option, told):
    policies.pytester.makeini("[pytest]\n")
    result = policies.run(option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([told])


def test_a_proof_of_vectors_names_its_checkpoints(policies, monkeypatch):
    monkeypatch.chdir(policies.root)
    for name, values in (("a", [0.1, 0.2, 0.15] * 4), ("b", [0.8, 0.9, 0.85] * 4)):
        (policies.root / f"{name}.json").write_text(json.dumps(values))
    arguments = ["proof", "--baseline-samples=a.json", "--trained-samples=b.json", "--run-id=r"]
    given = ["--checkpoint=late.json", "--lineage=lineage.json"]
    assert main([*arguments, *given, "--baseline-checkpoint=early.json"]) == 0
    proof = json.loads((policies.root / "proof" / "proof.json").read_text())
    assert proof["trained"]["checkpoint_id"] == "late"
    assert main([*arguments, *given, "--baseline-checkpoint=other.json"]) == 1
    proof = json.loads((policies.root / "proof" / "proof.json").read_text())
    assert proof["failure_analysis"]["reasons"] == [f"{PREFIX}checkpoint_mismatch"]
    files = [str(path) for path in (policies.root / "proof").iterdir()]
    assert main(["verify", *files]) == 0
    assert main([*arguments, "--checkpoint=none.json"]) == 2


def test_validate_knows_bundles(policies, capsys, monkeypatch):
    monkeypatch.chdir(policies.root)
    (policies.root / "one.json").write_text(json.dumps(payload()))
    lines = [payload(), payload(trajectory__discount_factor=1.5), payload(steps=0)]
    (policies.root / "many.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert main(["verify", "one.json"]) == 0
    assert main(["verify", "many.jsonl"]) == 1
    printed = capsys.readouterr()
    assert "one.json: valid RL payload bundles" in printed.out
    assert "many.jsonl:2: discount_out_of_range" in printed.err
    assert "many.jsonl:3: empty_vector" in printed.err
