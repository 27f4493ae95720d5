"""What the tests share: the cases as objects, and walks to take apart."""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path
from typing import Any

import tomli
from _benchgate_bench.gridworld_policy.rubric import GridworldPolicyRubric
from _benchgate_bench.gridworld_policy.systems.policy import CheckpointPolicy

from benchgate import BenchCase, BenchScore
from benchgate.ids import trial_seed

CLASS = Path(__file__).resolve().parent.parent
NAME = "gridworld-policy"
CASES = sorted(path.name for path in (CLASS / "cases").iterdir())
SYSTEMS = {name: CheckpointPolicy(name) for name in ("early", "late", "reckless")}
START = "001-light-row3-col0"


@cache
def load(case_id: str, bench_seed: int = 0) -> BenchCase:
    folder = CLASS / "cases" / case_id
    tables = tomli.loads((folder / "case.toml").read_text(encoding="utf-8"))
    return BenchCase(
        **{**tables["case"], "tags": tuple(tables["case"]["tags"])},
        facts=tables["facts"],
        input_path=folder / "input",
        expected_path=folder / "expected",
        seed=trial_seed(NAME, case_id, 0, bench_seed),
    )


@cache
def _walked(case_id: str, name: str) -> dict[str, Any]:
    return dict(SYSTEMS[name](load(case_id)))


def walked(case_id: str, name: str = "late") -> dict[str, Any]:
    """Return a system's output, to be edited."""
    return copy.deepcopy(_walked(case_id, name))


def score(case_id: str, output: dict[str, Any]) -> BenchScore:
    return GridworldPolicyRubric().score(load(case_id), output)
