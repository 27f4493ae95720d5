"""
Rules that ``tests/engine`` and ``tests/unit`` prove, once more at the door of pytest.

One or two sessions for each rule show that option, setting, exit status and report reach it.
"""

from __future__ import annotations

import json

import pytest

from benchgate.cli import main
from benchgate.gates.exit_status import HELD

# a sealed plan: tests/engine/test_sealed_plan.py

MOVED = "checkpoint_promotion_blocked_plan_mismatch"


@pytest.fixture
def plan(bench):
    """Seal a plan of three cases, which are too few to promote anything: then no run is simulated."""
    bench.engine()
    bench.pin()
    file = bench.root / "echo.plan.json"
    where = [f"--bench-root={bench.root / 'bench'}", f"--runs={bench.out}", f"--out={file}"]
    assert main(["plan", "echo", *where]) == 0
    return file


def test_a_session_that_keeps_its_plan_and_one_that_moved_its_bar(bench, plan):
    assert bench.run(f"--bench-plan={plan}", "--bench-exit=gate").ret == HELD
    assert MOVED not in bench.record()["decision"]["reason_codes"]
    sealed = json.loads(plan.read_bytes())
    assert bench.read("evidence/echo/proof.json")["plan"]["seal"] == sealed["seal"]
    result = bench.run(f"--bench-plan={plan}", "--bench-exit=gate", "--bench-policy=alpha=0.1")
    assert result.ret == HELD
    assert MOVED in bench.record()["decision"]["reason_codes"]
    result.stdout.fnmatch_lines(["*alpha is 0.1, planned was 0.05*"])
    given = ["run", "--task-class=echo", f"--out={bench.out}", f"--plan={plan}"]
    assert main(given) == HELD
    assert bench.record()["sealed_plan"] == sealed
    assert MOVED not in bench.record()["decision"]["reason_codes"]


def test_what_is_no_plan_is_wrong_use(bench):
    file = bench.root / "echo.plan.json"
    file.write_text("{}")
    result = bench.run(f"--bench-plan={file}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*no valid sealed plan: schema_version: Field required*"])
