"""RL payloads of a run that do not fit together: each kind is a note that names cases and values, and none blocks."""

from __future__ import annotations

import json

import pytest

from benchgate.artifacts.run_kinds import RunRecord
from benchgate.cli import main
from benchgate.training.episodes import Episode
from benchgate.verify.recheck_record import recheck_record

NOW = "2026-11-21T00:00:00Z"
CHECKPOINT = {
    "checkpoint_id": "late",
    "algorithm": "q-learning",
    "policy_version": "v2",
    "global_step": 100,
    "episode_count": 10,
    "created_at": NOW,
}
OF_EPISODES = {
    "note_done_before_end",
    "note_no_done_at_end",
    "note_shared_trajectory_id",
    "note_same_episode",
}


def payload(name, rewards, done_at=None):
    """A valid bundle: one step for each reward, the last of them done if nothing else is said."""
    done_at = [len(rewards) - 1] if done_at is None else done_at
    steps = [
        {"step_index": at, "observation": at, "action": 1, "reward": reward, "done": at in done_at}
        for at, reward in enumerate(rewards)
    ]
    trajectory = {
        "trajectory_id": name,
        "steps": steps,
        "discount_factor": 0.9,
        "total_return": sum(rewards),
        "created_at": NOW,
    }
    advantages = {
        "batch_id": f"{name}/advantages",
        "trajectory_id": name,
        "advantages": [0.5] * len(rewards),
        "returns": [1.0] * len(rewards),
        "created_at": NOW,
    }
    return {"trajectory": trajectory, "advantages": advantages, "checkpoint": CHECKPOINT}


def whole(case):
    """A payload without a fault: an episode of its own, as the seed has it."""
    rewards = [float(case.trial), case.seed % 1000 / 7, 1.0]
    return payload(f"late/{case.case_id}/{case.trial}", rewards)


def told(echo, play, trials=5):
    """Run the class with what ``play`` returns as payload; return the message of each note on episodes."""

    def system(case):
        answer = (case.input_path / "question.txt").read_text().upper()
        return {"answer": answer, "rl_payload": play(case)}

    done = echo.engine(system=system, trials=trials, baseline="none")
    assert {one.outcome for one in done.judgement.report.per_case} == {"scored"}
    assert main(["verify", str(echo.out)]) == 0
    remarks = echo.record()["decision"]["remarks"]
    return {one["code"]: one["message"] for one in remarks if one["code"] in OF_EPISODES}


def test_episodes_that_fit_together_have_no_note(echo):
    assert told(echo, whole) == {}


def test_a_case_that_repeats_its_episode_by_chance_has_no_note(echo):
    def play(case):
        if case.case_id == "02":
            return payload(f"late/02/{case.trial}", [1.0, 1.0])
        return whole(case)

    assert told(echo, play) == {}


def test_a_trial_of_one_case_may_share_the_id_of_the_same_episode(echo):
    assert told(echo, lambda case: payload(case.case_id, [1.0, float(case.case_id)]), 2) == {}


def test_an_episode_that_the_record_lacks_or_has_otherwise_is_found(echo):
    told(echo, whole)
    record = RunRecord.read_file(echo.folder() / "record.json", "record")
    first, *others = record.episodes
    for found in (others, [first.model_copy(update={"steps": "0" * 64}), *others]):
        changed = record.model_copy(update={"episodes": tuple(found)})
        assert any(fault.startswith("episodes") for fault in recheck_record(echo.folder(), changed))


def test_done_in_the_middle_of_a_trajectory(echo):
    def play(case):
        if case.case_id == "02" and case.trial == 3:
            return payload("late/02/3", [1.0, 2.0, 3.0], done_at=[0, 2])
        return whole(case)

    assert told(echo, play) == {
        "note_done_before_end": "an RL trajectory goes on after done = true: 02-t3 at step 0 of 3; a trajectory is "
        "one episode"
    }


def test_no_done_at_the_end(echo):
    def play(case):
        if case.case_id == "03":
            return payload(f"late/03/{case.trial}", [1.0, float(case.trial)], done_at=[])
        return whole(case)

    assert told(echo, play) == {
        "note_no_done_at_end": "the last step of an RL trajectory is not done: 03, 03-t1, 03-t2, 03-t3, 03-t4; an "
        "episode ends when it terminates or is truncated"
    }


def test_one_trajectory_id_for_a_whole_run(echo):
    def play(case):
        return payload("t1", [float(case.trial), float(case.case_id)])

    assert told(echo, play) == {
        "note_shared_trajectory_id": "15 trials have the trajectory_id 't1': 01, 01-t1, 01-t2, 01-t3, 01-t4 and 10 "
        "more; each episode needs an id of its own"
    }


def test_the_same_episodes_under_one_id_are_told_too_if_they_are_of_several_cases(echo):
    notes = told(echo, lambda _: payload("x" * 100, [1.0]), 1)
    assert list(notes) == ["note_shared_trajectory_id"]
    assert f"3 trials have the trajectory_id '{'x' * 59}…': 01, 02, 03;" in notes.popitem()[1]


def test_a_system_that_ignores_its_seed(echo):
    def play(case):
        return payload(f"late/{case.case_id}/{case.trial}", [1.0, float(case.case_id)])

    assert told(echo, play) == {
        "note_same_episode": "all trials of a case are one episode, step by step: 01 5 times, 02 5 times, 03 5 times; "
        "the system may ignore case.seed; if nothing in it is random, one trial a case tells as much"
    }
    assert told(echo, play, trials=2) == {}  # three repetitions may be chance


@pytest.mark.parametrize(
    "output",
    [None, [], {}, {"rl_payload": None}, {"rl_payload": 3}],
)
def test_an_output_without_a_payload_has_no_episode(output):
    assert Episode.of("01", 0, output) is None


def test_an_episode_is_the_same_from_a_system_and_from_a_record():
    bundle = {"rl_payload": payload("t1", [1.0, 2.5])}
    read = json.loads(json.dumps(bundle).replace("1.0", "1"))
    assert isinstance(read["rl_payload"]["trajectory"]["steps"][0]["reward"], int)
    assert Episode.of("01", 0, read) == Episode.of("01", 0, bundle)
