# mypy: allow-untyped-defs, allow-untyped-calls
"""The checkpoints: training reproduces them, they are intact, and each walk is evidence about its own."""

import json
import os
import shutil
import subprocess
import sys
from hashlib import sha256

import pytest
from _benchgate_bench.gridworld_policy.systems.checkpoint import FOLDER, DamagedCheckpoint, load
from _benchgate_bench.gridworld_policy.tests.support import (
    CASES,
    CLASS,
    START,
    SYSTEMS,
    walk,
    walked,
)
from _benchgate_bench.gridworld_policy.tests.support import load as load_case

from benchgate.training_types import (
    CheckpointMismatch,
    RlPayloadBundle,
    check_belongs,
    read_checkpoint,
    resolve_checkpoint_lineage,
    validate_rl_payload,
)

pytest.importorskip("gymnasium")

ROOT = CLASS.parent.parent
NAMES = ["early", "late", "reckless"]


def run(*command, **environment):
    return subprocess.run(  # noqa: S603 - the README's own commands
        [sys.executable, *command],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "200", **environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )


@pytest.mark.slow
@pytest.mark.parametrize("hash_seed", ["0", "1"])
def test_training_again_gives_the_same_bytes(hash_seed):
    done = run("bench/gridworld-policy/tools/train.py", "--check", PYTHONHASHSEED=hash_seed)
    digests = dict(reversed(line.split()) for line in done.stdout.splitlines())

    assert digests == {f"{name}.json": SYSTEMS[name].digest() for name in NAMES}


def test_the_cases_are_those_that_the_script_writes(tmp_path):
    copied = tmp_path / "bench" / "gridworld-policy"
    shutil.copytree(CLASS, copied, ignore=shutil.ignore_patterns("cases", "__pycache__"))
    run(str(copied / "tools" / "make_cases.py"))
    files = {path.relative_to(CLASS) for path in (CLASS / "cases").rglob("*") if path.is_file()}

    assert files == {
        path.relative_to(copied) for path in (copied / "cases").rglob("*") if path.is_file()
    }
    for file in files:
        assert (copied / file).read_bytes() == (CLASS / file).read_bytes()


def test_late_and_reckless_come_from_early():
    records = [read_checkpoint(FOLDER / f"{name}.json") for name in NAMES]
    by_name = dict(zip(NAMES, records, strict=True))

    for leaf in ("late", "reckless"):
        lineage = resolve_checkpoint_lineage(records, by_name[leaf].checkpoint_id)
        assert lineage == (by_name["early"], by_name[leaf])
    assert len({record.policy_version for record in records}) == 3


def test_a_changed_table_is_refused(tmp_path):
    held = json.loads((FOLDER / "late.json").read_bytes())
    held["q_table"][0][0] += 0.5
    (tmp_path / "late.json").write_text(json.dumps(held))
    with pytest.raises(DamagedCheckpoint, match="its record says"):
        load(tmp_path / "late.json")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("case_id", CASES)
def test_every_walk_is_evidence_about_its_own_checkpoint(case_id, name):
    bundle = validate_rl_payload(walked(case_id, name)["rl_payload"])
    check_belongs(bundle, load(SYSTEMS[name].file).record)
    assert bundle.checkpoint.metadata["artifact_sha256"] == SYSTEMS[name].digest()
    for other in set(NAMES) - {name}:
        with pytest.raises(CheckpointMismatch):
            check_belongs(bundle, load(SYSTEMS[other].file).record)


def test_advantages_are_returns_less_estimates():
    bundle = RlPayloadBundle(**walked(START)["rl_payload"])
    steps, batch = bundle.trajectory.steps, bundle.advantages
    assert batch.returns[-1] == steps[-1].reward
    assert batch.returns[-2] == steps[-2].reward + 0.99 * steps[-1].reward
    assert batch.value_targets == batch.returns
    for step, advantage, got in zip(steps, batch.advantages, batch.returns, strict=True):
        assert advantage == got - step.value_estimate


@pytest.mark.parametrize("name", NAMES)
def test_a_system_walks_the_same_way_twice(name):
    made = [walk(START, name) for _ in range(2)]
    for one in made:
        del one["rl_payload"]["trajectory"]["created_at"]
        del one["rl_payload"]["advantages"]["created_at"]
    assert made[0] == made[1]
    assert SYSTEMS[name].name == name
    assert SYSTEMS[name].digest() == sha256(SYSTEMS[name].file.read_bytes()).hexdigest()


def test_without_a_checkpoint_nobody_walks():
    with pytest.raises(ValueError, match="no checkpoint was handed over"):
        SYSTEMS["late"](load_case(START))
