"""The executor of docs/how-to/run-elsewhere.md runs trials in other processes, and the run is the same."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchgate.cli import main

EXAMPLE = Path(__file__).parents[2] / "docs/examples/process-pool/conftest.py"
SYSTEM = """
import os, time

def system(case):
    print("asked", case.case_id)
    if case.case_id == "02":
        time.sleep(WAIT)
    return {"answer": "Q" + case.case_id, "process": os.getpid()}
"""


def test_it_has_forty_lines_at_most():
    assert len(EXAMPLE.read_text().splitlines()) <= 40


@pytest.mark.slow
def test_its_trials_run_in_other_processes(bench):
    bench.write("system.py", f"WAIT = 0\n{SYSTEM}")
    bench.run("--bench-trials=2")
    serial = bench.record()["report"]["run_id"]
    (bench.root / "conftest.py").write_text(EXAMPLE.read_text())
    result = bench.run("--bench-trials=2", "-rP", apart=True)
    assert result.ret == 0
    assert bench.record()["report"]["run_id"] == serial
    processes = {bench.trial(name)["output"]["process"] for name in ("01", "02-t1", "03")}
    assert os.getpid() not in processes
    result.stdout.fnmatch_lines(["asked 02"])
    assert main(["verify", str(bench.out), "--require-complete"]) == 0


@pytest.mark.slow
def test_an_engine_that_runs_a_trial_again_is_found_out(bench):
    bench.write("system.py", f"WAIT = 0\n{SYSTEM}")
    twice = EXAMPLE.read_text().replace(
        "        try:\n",
        "        if request.case.case_id == '02':\n"
        "            self._pool.submit(run_request, request, self._bench_root).result()\n"
        "        try:\n",
    )
    (bench.root / "conftest.py").write_text(twice)
    assert bench.run(apart=True).ret == 0
    retries = {t["case_id"]: t["retries"] for t in bench.record()["report"]["per_case"]}
    assert retries == {"01": 0, "02": 1, "03": 0}


@pytest.mark.slow
def test_its_time_limits_are_kept(bench):
    bench.write("system.py", f"WAIT = 60\n{SYSTEM}")
    (bench.root / "conftest.py").write_text(EXAMPLE.read_text())
    bench.run("--bench-timeout=1", apart=True)
    assert bench.outcomes() == {"01": "scored", "02": "timeout", "03": "scored"}


@pytest.mark.slow
def test_a_process_that_dies_loses_no_trial_unnoticed(bench):
    dies = SYSTEM.replace("time.sleep(WAIT)", "os.kill(os.getpid(), 9)")
    bench.write("system.py", dies)
    (bench.root / "conftest.py").write_text(EXAMPLE.read_text())
    assert bench.run(apart=True).ret == pytest.ExitCode.TESTS_FAILED
    assert bench.outcomes()["02"] == "not_run"
    assert not bench.record()["report"]["complete"]


@pytest.mark.slow
def test_after_a_process_died_there_are_new_ones(bench):
    for number in range(4, 21):
        bench.case(f"{number:02}")
    dies = SYSTEM.replace("time.sleep(WAIT)", "os.kill(os.getpid(), 9)")
    bench.write("system.py", dies)
    (bench.root / "conftest.py").write_text(EXAMPLE.read_text())
    bench.run(apart=True)
    outcomes = bench.outcomes()
    assert outcomes["02"] == "not_run"
    assert outcomes["20"] == "scored"  # eight are given to the pool ahead
