"""The checkpoint of a system: handed as a private copy, recorded, and the only one that a promotion may name."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path

import pytest

from benchgate.cli import main
from benchgate.errors import EvalError
from benchgate.training.checkpoints import CheckpointFiles

MISMATCH = "checkpoint_promotion_blocked_checkpoint_mismatch"
NOW = "2026-11-21T00:00:00Z"
SYSTEM = """
import json, os
from pathlib import Path

class Player:
    def __call__(self, case):
        handed = case.checkpoint
        record = {record!r}
        {body}
        step = {{"step_index": 0, "observation": 0, "action": 0, "reward": 1.0, "done": True}}
        head = {{"created_at": {now!r}, "trajectory_id": "t"}}
        return {{
            "answer": 0.9 - int(case.case_id) / 1000,
            "bytes": handed.path.read_text() if handed else None,
            "rl_payload": {{
                "trajectory": {{
                    **head, "rollout_id": "r", "episode_id": "e", "steps": [step],
                    "discount_factor": 1.0, "total_return": 1.0,
                }},
                "advantages": {{**head, "batch_id": "b", "advantages": [0.0], "returns": [1.0]}},
                "checkpoint": record,
            }},
        }}

system = Player()
system.checkpoint = {checkpoint}
"""
NAMED = 'record["metadata"]["artifact_sha256"] = handed.sha256'


def record(**metadata):
    return {
        "checkpoint_id": "late",
        "algorithm": "q-learning",
        "policy_version": "v2",
        "global_step": 100,
        "episode_count": 10,
        "mean_reward": 0.5,
        "artifact_uri": "late.bin",
        "created_at": NOW,
        "metadata": metadata,
    }


def digest(path):
    return sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def played(bench, kept):
    """A bench of twelve cases with a weak baseline, the weights of a checkpoint, and a record that names them."""
    for number in range(4, 13):
        bench.case(f"{number:02}")
    bench.rubric(
        'return BenchScore(passed=True, score=float(output["answer"]), safety_penalty=0.0)'
    )
    bench.system('return {"answer": 0.1 + int(case.case_id) / 1000}')
    bench.pin_once(kept)
    (bench.root / "late.bin").write_text("the weights")
    write_record(bench, artifact_sha256=digest(bench.root / "late.bin"))
    use(bench)
    return bench


def write_record(bench, **metadata):
    (bench.root / "late.json").write_text(json.dumps(record(**metadata)))


def use(bench, checkpoint='Path("late.bin")', body=NAMED):
    text = SYSTEM.format(record=record(), body=body, now=NOW, checkpoint=checkpoint)
    bench.write("system.py", text)


def by_pytest(bench, *arguments):
    return int(bench.run("--bench-checkpoint=late.json", *arguments).ret)


def by_runner(bench):
    files = CheckpointFiles(checkpoint=bench.root / "late.json")
    return int(bool(bench.engine(baseline="auto", checkpoints=files).failures))


def told(bench):
    """Return what the newest decision says about the checkpoint; empty if it does not object."""
    decision = bench.record()["decision"]
    return [r["message"] for r in decision["remarks"] if r["code"] == MISMATCH]


@pytest.mark.parametrize("door", [by_pytest, by_runner])
def test_what_was_handed_is_recorded_and_named_by_the_decision(played, door):
    assert door(played) == 0
    handed = digest(played.root / "late.bin")
    found = played.record()
    assert found["decision"]["outcome"] == "promote"
    assert found["report"]["digests"]["checkpoint"] == handed
    assert found["subject"] == {"kind": "checkpoint", "id": "late", "digest": handed}
    assert played.trial("01")["output"]["bytes"] == "the weights"
    assert main(["verify", str(played.out)]) == 0


@pytest.mark.parametrize(
    ("checkpoint", "body", "message"),
    [
        ("None", "pass", "the system was handed no checkpoint"),
        ('"late.bin"', "pass", "the system was handed no checkpoint"),
        ('Path("other.bin")', NAMED, "; the SHA-256 of 'late' is "),
        ('Path("late.bin")', "pass", "artifact_sha256 is None; the system was handed"),
        (
            'Path("late.bin")',
            'record["metadata"]["artifact_sha256"] = "0" * 64',
            "artifact_sha256 is '0000",
        ),
    ],
    ids=["no file", "text is no file", "another file", "unnamed", "another name"],
)
def test_a_checkpoint_that_was_not_handed_is_not_promoted(played, checkpoint, body, message):
    (played.root / "other.bin").write_text("other weights")
    use(played, checkpoint, body)
    assert by_runner(played) == 1
    assert played.record()["decision"]["outcome"] == "hold"
    assert message in told(played)[0]
    assert main(["verify", str(played.out)]) == 0


def test_a_record_with_the_weights_inside_is_the_file_itself(played):
    write_record(played)
    use(played, 'Path("late.json")')
    assert by_runner(played) == 0
    assert played.record()["subject"]["digest"] == digest(played.root / "late.json")


def test_without_the_option_it_is_handed_and_recorded_and_nothing_is_asked_for(played):
    use(played, body="pass")
    assert played.run().ret == pytest.ExitCode.OK
    found = played.record()
    assert found["subject"]["kind"] == "system"
    assert found["report"]["digests"]["checkpoint"] == digest(played.root / "late.bin")
    played.run("-k", "02")
    assert played.selected()["digests"]["checkpoint"] == digest(played.root / "late.bin")


@pytest.mark.slow
@pytest.mark.parametrize("changed", [False, True])
def test_workers_hand_over_what_the_deciding_process_digested(played, changed):
    body = f"if os.environ['PYTEST_XDIST_WORKER'] == 'gw0': {SPOIL}; {NAMED}" if changed else NAMED
    use(played, body=body)
    result = played.run("--bench-checkpoint=late.json", "-n2", apart=True)
    assert (result.ret != 0, bool(told(played))) == (changed, changed)
    assert {played.trial(f"{n:02}")["output"]["bytes"] for n in range(1, 13)} == {"the weights"}


@pytest.mark.slow
def test_a_worker_that_cannot_read_the_file_runs_nothing(played, monkeypatch):
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)  # of the run of this test
    name = '"gone.bin" if "PYTEST_XDIST_WORKER" in os.environ else "late.bin"'
    use(played, f"Path({name})")
    played.run("--bench-checkpoint=late.json", "-n1", apart=True).assert_outcomes(errors=12)
    assert set(played.outcomes().values()) == {"not_run"}
    assert "gone.bin" in played.result("02")["detail"]
    assert "a worker handed over None" in told(played)[0]


@pytest.mark.slow
def test_a_file_that_no_process_can_read_stops_workers_too(played):
    use(played, 'Path("gone.bin")')
    assert played.run("-n1", apart=True).ret == pytest.ExitCode.USAGE_ERROR
    assert not (played.out / "runs").exists()


SPOIL = 'Path("late.bin").write_text("others")'


@pytest.mark.parametrize(
    ("door", "again"), [(by_pytest, 'write_text("others")'), (by_runner, "unlink()")]
)
def test_a_file_that_changes_while_the_session_runs_is_evidence_about_nothing(played, door, again):
    use(played, body=f'if case.case_id == "12": Path("late.bin").{again}\n        {NAMED}')
    assert door(played) == 1
    assert "late.bin" in told(played)[0]
    assert {played.trial(f"{n:02}")["output"]["bytes"] for n in range(1, 13)} == {"the weights"}


@pytest.mark.parametrize(
    "damage",
    [
        'os.chmod(handed.path, 0o600); handed.path.write_text("the_weights")',
        "handed.path.unlink()",
        'handed.path.unlink(); handed.path.symlink_to("/dev/null")',
        'handed.path.rename(handed.path.with_name("x")); handed.path.write_text("the_weights")',
    ],
    ids=["written", "removed", "linked", "replaced"],
)
def test_a_copy_that_a_trial_changed_does_not_reach_the_next(played, damage):
    spoilt = '"bytes": handed.path.read_text() if handed else None'
    use(played, body=NAMED)
    source = (played.path / "system.py").read_text()
    line = f"found = handed.path.read_text(); {damage}"
    source = source.replace(NAMED, f"{NAMED}; {line}").replace(spoilt, '"bytes": found')
    (played.path / "system.py").write_text(source)
    assert by_runner(played) == 0
    assert {played.trial(f"{n:02}")["output"]["bytes"] for n in range(1, 13)} == {"the weights"}


def test_the_copy_is_private_and_removed(played, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    body = f"""{NAMED}
        modes = [oct(path.stat().st_mode) for path in (handed.path, handed.path.parent)]
        Path("seen.txt").write_text(" ".join([str(handed.path), *modes]))"""
    use(played, body=body)
    assert by_runner(played) == 0
    path, file, folder = (played.root / "seen.txt").read_text().split()
    assert (Path(path).name, file[-3:], folder[-3:]) == ("late.bin", "400", "700")
    assert not list(tmp_path.glob("benchgate-*"))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (str, r"gone\.bin: cannot be read: No such file"),
        (Path.mkdir, r"gone\.bin: cannot be read: Is a directory"),
        (os.mkfifo, r"gone\.bin: not a regular file"),
        (lambda path: os.truncate(os.open(path, os.O_CREAT | os.O_WRONLY), 2**40), "at most"),
    ],
    ids=["missing", "folder", "pipe", "huge"],
)
def test_a_file_that_cannot_be_handed_stops_the_run_at_once(played, make, message):
    make(played.root / "gone.bin")
    use(played, 'Path("gone.bin")')
    with pytest.raises(EvalError, match=message):
        played.engine()
    assert not (played.out / "runs").exists()


def test_a_link_is_followed_and_its_bytes_count(played):
    (played.root / "latest").symlink_to("late.bin")
    use(played, 'Path("latest")')
    assert by_runner(played) == 0
    assert played.record()["report"]["digests"]["checkpoint"] == digest(played.root / "late.bin")


@pytest.mark.parametrize("value", [3, "late", "A" * 64])
def test_a_record_that_names_no_digest_where_it_should_is_wrong_use(played, value):
    write_record(played, artifact_sha256=value)
    with pytest.raises(EvalError, match=r"late\.json: metadata\.artifact_sha256 is "):
        by_runner(played)


def test_verify_finds_a_digest_that_was_not_handed(played):
    assert by_runner(played) == 0
    path = played.folder() / "record.json"
    text = path.read_text()
    for field in ("digest", "checkpoint"):
        old = f'"{field}": "{digest(played.root / "late.bin")}"'
        assert text.count(old) == 1
        path.write_text(text.replace(old, f'"{field}": "{"0" * 64}"'))
        assert main(["verify", str(path)]) == 1
