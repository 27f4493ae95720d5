"""Shared by the tests: the cases as objects, and walks to edit."""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _benchgate_bench.gridworld_policy.rubric import GridworldPolicyRubric
from _benchgate_bench.gridworld_policy.systems.policy import CheckpointPolicy

from benchgate.models import HandedCheckpoint
from benchgate.testing import load_cases

if TYPE_CHECKING:
    from benchgate import BenchCase, BenchScore

CLASS = Path(__file__).resolve().parent.parent
SYSTEMS = {name: CheckpointPolicy(name) for name in ("early", "late", "reckless")}
START = "001-light-row3-col0"


@cache
def cases(bench_seed: int) -> dict[str, BenchCase]:
    return load_cases(CLASS, bench_seed)


CASES = list(cases(0))


def load(case_id: str, bench_seed: int = 0) -> BenchCase:
    return cases(bench_seed)[case_id]


def walk(case_id: str, name: str) -> dict[str, Any]:
    """Have a system walk a case by its checkpoint, as the harness does."""
    system = SYSTEMS[name]
    handed = HandedCheckpoint(path=system.file, sha256=system.digest())
    return dict(system(load(case_id).model_copy(update={"checkpoint": handed})))


_walked = cache(walk)


def walked(case_id: str, name: str = "late") -> dict[str, Any]:
    """Return a system's output, to be edited."""
    return copy.deepcopy(_walked(case_id, name))


def score(case_id: str, output: dict[str, Any]) -> BenchScore:
    return GridworldPolicyRubric().score(load(case_id), output)
