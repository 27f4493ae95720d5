"""
Write one small run of every kind as files of this version, which every later version has to read.

``tests/data/formats/<number>/`` has what a project keeps after these commands; <number> is the version of the schema.
A folder that a release has is never written again: if a test finds that this version reads it no more, mend the reader.
Until then remove the folder and run this module, when the files are meant to change.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchgate.wire.model import SCHEMA_VERSION
from tests.conftest import BenchFolder

FORMATS = Path(__file__).parent / "data" / "formats"
FOLDER = FORMATS / str(SCHEMA_VERSION)

SYSTEM = """
import json
from pathlib import Path

def _answer(case, wrong):
    question = (case.input_path / "question.txt").read_text()
    answer = question if case.case_id in wrong else question.upper()
    payload = json.loads(PAYLOAD.read_text())
    payload["trajectory"]["trajectory_id"] = f"{case.case_id}/{case.seed}"
    return {"answer": answer, "rl_payload": payload}

PAYLOAD = Path(__file__).with_name("payload.json")
ALL = {f"{number:02}" for number in range(1, 9)}

def old(case):
    return _answer(case, ALL)

def new(case):
    return _answer(case, ())

def worse(case):
    return _answer(case, {"08"})

def broken(case):
    if case.case_id == "03":
        raise ValueError("no answer")
    return _answer(case, ())
"""
REGISTRATION = """
from benchgate import register_task_class
from .rubric import EchoRubric

SYSTEMS = {name: f"system:{name}" for name in ("old", "new", "worse", "broken")}

@register_task_class("echo", systems=SYSTEMS, observe="observers.judge:judge")
class Registered(EchoRubric): ...
"""
PAYLOAD = {
    "trajectory": {
        "trajectory_id": "of each trial its own",
        "steps": [{"step_index": 0, "observation": 1, "action": 0, "reward": 1.0, "done": True}],
        "discount_factor": 0.99,
        "total_return": 1.0,
        "created_at": "2026-11-21T08:30:00Z",
    },
    "checkpoint": {
        "checkpoint_id": "policy-2",
        "algorithm": "tabular-q-learning",
        "policy_version": "v2",
        "global_step": 100,
        "episode_count": 10,
        "created_at": "2026-11-21T00:00:00Z",
        "metadata": {"parent_checkpoint_id": "policy-1"},
    },
}
LOGS = {
    "before.jsonl": [{"case": f"{n:02}", "score": 0.25, "harm": 0.0} for n in range(8)],
    "after.jsonl": [{"case": f"{n:02}", "score": 0.75, "harm": 0.0} for n in range(8)],
}
COMMANDS = (
    "run --task-class=echo --out=out --system=old --baseline=none --record=answers",
    "pin 1 --task-class=echo --out=out --reason=first --yes",
    "run --task-class=echo --out=out --system=new",
    "run --task-class=echo --out=out --system=worse --trials=2 --baseline=run:old",
    "run --task-class=echo --out=out --system=broken",
    "run --task-class=echo --out=out --system=old --stop=decided",
    "run --task-class=echo --out=out --replay=answers",
    "run --task-class=echo --out=out --reobserve=answers",
    "run --task-class=echo --out=out --system=new --cases=02",
    "run --task-class=echo --out=out --system=floor:empty",
    "gate before.jsonl after.jsonl --out=out --task-class=logged --policy=min_cases=8",
    "gate before.jsonl after.jsonl --ledger=looks.json",
    "proof --run-id=r --baseline-samples=low.json --trained-samples=high.json --out=proof",
)
LEFT_OUT = ("gate.html", "gate.xml", "pinned", "__pycache__", "asked.log", "low.json", "high.json")
"""What nobody promises to read: pages, copies that the machine keeps, and files that only the commands need."""

ANSWERS = {0, 1, 10}
"""Exit statuses of commands that decided something."""


def make_project(root: Path) -> None:
    """Write the class, and the logs that other commands read."""
    bench = BenchFolder(root, cases=8)
    bench.observer()
    bench.write("registration.py", REGISTRATION)
    bench.write("system.py", SYSTEM)
    bench.write("gate.toml", "min_cases = 8\n")
    bench.write("payload.json", json.dumps(PAYLOAD))
    for name, rows in LOGS.items():
        (root / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    (root / "low.json").write_text(json.dumps([0.25] * 8))
    (root / "high.json").write_text(json.dumps([0.75] * 8))


def run_commands(root: Path) -> None:
    """Type all commands in a project."""
    environ = {**os.environ, "GITHUB_ACTOR": "a.maintainer"}
    for command in COMMANDS:
        arguments = [sys.executable, "-m", "benchgate", *command.split()]
        ended = subprocess.run(
            arguments, cwd=root, env=environ, check=False, capture_output=True, text=True
        )
        if ended.returncode not in ANSWERS:
            raise SystemExit(
                f"{command}\n{ended.stdout}{ended.stderr}exit status {ended.returncode}"
            )
        sys.stdout.write(f"{ended.returncode:2}  {command}\n")


def main() -> None:
    """Write the folder of this version, unless it is there."""
    if FOLDER.exists():
        raise SystemExit(f"{FOLDER} exists; remove it, if no release has it")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        make_project(root)
        run_commands(root)
        shutil.copytree(root, FOLDER, ignore=shutil.ignore_patterns(*LEFT_OUT))


if __name__ == "__main__":
    main()
