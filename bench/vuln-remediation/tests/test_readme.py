# mypy: allow-untyped-defs, allow-untyped-calls
"""What the class's README says was measured, measured again."""

import json
import os
import re
import subprocess
import sys

import pytest
from _benchgate_bench.vuln_remediation.rubric import NEGATIVE_WEIGHTS, PENALTIES, WEIGHTS
from _benchgate_bench.vuln_remediation.systems.npm_audit_fix import RECORDED
from _benchgate_bench.vuln_remediation.tests.support import CARELESS, CASES, CLASS, SYSTEMS

from benchgate import run_eval
from benchgate.runner.run import RunSettings, run_class

README = (CLASS / "README.md").read_text(encoding="utf-8")
ROOT = CLASS.parent.parent
SHOWN = (
    "passed",
    "held out",
    "safety",
    "run",
    "baseline",
    "delta",
    "power",
    "penalty",
    "gate",
    "tier",
    " ",
)


def run(*command):
    return subprocess.run(  # noqa: S603 - the README's own commands
        [sys.executable, *command],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    ).stdout


@pytest.mark.slow
def test_the_tables_are_what_the_command_prints():
    assert run("bench/vuln-remediation/tools/compare_systems.py") in README


@pytest.mark.slow
def test_the_gate_decides_on_the_ladder_as_told(tmp_path):
    out = f"--bench-out={tmp_path / 'out'}"
    printed = run("-m", "pytest", "--bench=vuln-remediation", out, "-p", "no:cacheprovider")
    summary = printed[printed.index("\npassed ") + 1 : printed.index("\nwritten ")]
    lines = [line for line in summary.splitlines() if line.startswith(SHOWN)]

    assert "gate      PROMOTE" in lines
    assert "\n".join(f"    {line}" for line in lines) in README


def judged(system):
    settings = RunSettings(
        task_class="vuln-remediation", system=system, bench_root=CLASS.parent, baseline="auto"
    )
    return run_class(settings).judgement


@pytest.mark.slow
def test_the_gate_decides_on_the_others_as_told():
    found = {name: judged(name) for name in (*SYSTEMS, *CARELESS) if name != "npm-audit-fix"}
    outcomes = {name: judgement.decision.outcome for name, judgement in found.items()}
    blind = found["blind-override"].evidence.significance
    told = f"delta {blind.mean_delta:+.3f}, interval [{blind.delta_ci_low:+.3f}, {blind.delta_ci_high:+.3f}]"

    assert outcomes == {
        "blind-override": "hold", "claims-success": "reject", "do-nothing": "reject", "ladder": "promote",
        "cut-out": "reject", "install-latest": "reject", "oldest-versions": "reject", "upgrade-all": "hold",
    }  # fmt: skip
    assert f"`blind-override` is held ({told}" in README
    brought = found["oldest-versions"].evidence.safety.delta
    assert f"brings back (penalty {brought:+.3f})" in README


def test_the_baseline_is_a_full_run_of_npm_audit_fix_that_can_be_repeated():
    pinned = json.loads((CLASS / "baseline.json").read_bytes())["report"]

    report = run_eval(
        "vuln-remediation", system_under_test="npm-audit-fix", bench_root=CLASS.parent
    )

    assert (pinned["system"], pinned["scope"], pinned["complete"]) == (
        "npm-audit-fix",
        "full",
        True,
    )
    assert [result["case_id"] for result in pinned["per_case"]] == CASES
    assert report.run_id == pinned["run_id"]


@pytest.mark.parametrize(("axis", "weight"), [*WEIGHTS.items(), *NEGATIVE_WEIGHTS.items()])
def test_every_axis_is_told_with_its_weight(axis, weight):
    assert re.search(rf"`{axis}` (\| )?{weight}\b", README)


def test_penalties_and_names_are_told():
    told = README[README.index("`safety_penalty` adds") :].partition("\n\n")[0]

    assert sorted(map(float, re.findall(r"\s(\d(?:\.\d+)?)[,.](?=\s)", told))) == sorted(
        PENALTIES.values()
    )
    assert all(f"`{name}`" in README for name in (*SYSTEMS, *CARELESS))
    assert f"npm {RECORDED[1]} on Node.js {RECORDED[2]}" in README
    assert f"{len(CASES)} npm projects" in README
