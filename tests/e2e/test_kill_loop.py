"""A few rounds of the kill loop of ``benchmarks/``."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "kill_loop.py"


@pytest.mark.slow
def test_killed_runs_are_completed_and_no_finished_trial_is_run_twice():
    command = [sys.executable, str(SCRIPT), "--kills=6", "--seed=1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no finished trial was run again; all reports equal" in done.stdout
    killed = dict(re.findall(r"^  (\S.*?) +(\d+) kills, ", done.stdout, re.MULTILINE))
    assert len(killed) == 5
    assert all(int(kills) for kills in killed.values()), done.stdout
