# mypy: allow-untyped-defs, allow-untyped-calls
"""What the class's README says was measured, measured again."""

import json
import os
import re
import subprocess
import sys

import pytest
from _benchgate_bench.migration_chainguard_distroless.rubric import PENALTIES, WEIGHTS
from _benchgate_bench.migration_chainguard_distroless.tests.support import CASES, CLASS

from benchgate import run_eval
from benchgate.runner.run import RunSettings, run_class

NAME = "migration-chainguard-distroless"
README = (CLASS / "README.md").read_text(encoding="utf-8")
ROOT = CLASS.parent.parent
SYSTEMS = ("claims-success", "do-nothing", "stage-aware", "table-converter")
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
        check=False,
        timeout=600,
    ).stdout


@pytest.mark.slow
def test_the_tables_are_what_the_command_prints():
    assert run(f"bench/{NAME}/tools/compare_systems.py") in README


@pytest.mark.slow
def test_the_gate_decides_on_stage_aware_as_told(tmp_path):
    out = f"--bench-out={tmp_path / 'out'}"
    printed = run(
        "-m", "pytest", f"--bench={NAME}", out, "-p", "no:cacheprovider", "-p", "no:randomly"
    )
    summary = printed[printed.index("\npassed ") + 1 : printed.index("\nwritten ")]
    lines = [line for line in summary.splitlines() if line.startswith(SHOWN)]

    assert "gate      PROMOTE" in lines
    assert "\n".join(f"    {line}" for line in lines) in README


def judged(system):
    settings = RunSettings(task_class=NAME, system=system, bench_root=CLASS.parent, baseline="auto")
    return run_class(settings).judgement


@pytest.mark.parametrize("system", ["claims-success", "do-nothing"])
def test_the_gate_rejects_the_controls_as_told(system):
    found = judged(system)
    shown = found.evidence.significance

    assert found.decision.outcome == "reject"
    assert (
        f"{shown.mean_delta:+.3f}, interval [{shown.delta_ci_low:+.3f}, {shown.delta_ci_high:+.3f}]"
        in README
    )


def test_the_baseline_is_a_full_run_of_table_converter_that_can_be_repeated():
    pinned = json.loads((CLASS / "baseline.json").read_bytes())["report"]

    report = run_eval(NAME, system_under_test="table-converter", bench_root=CLASS.parent)

    found = (pinned["system"], pinned["scope"], pinned["complete"])
    assert found == ("table-converter", "full", True)
    assert [result["case_id"] for result in pinned["per_case"]] == CASES
    assert report.run_id == pinned["run_id"]


@pytest.mark.parametrize(("axis", "weight"), WEIGHTS.items())
def test_every_axis_is_told_with_its_weight(axis, weight):
    assert f"| `{axis}` | {weight} |" in README


@pytest.mark.parametrize(("code", "penalty"), PENALTIES.items())
def test_every_penalty_is_told(code, penalty):
    assert f"| `{code}` | {penalty:g} |" in README


def test_systems_and_cases_are_told():
    assert all(f"`{name}`" in README for name in SYSTEMS)
    assert README.startswith(f"# {NAME}\n\n{len(CASES)} Dockerfiles")
    traps = README[README.index("## Cases and their traps") : README.index("## Axes")]
    told = set(re.findall(r"(?m)^\| (?:\d{3}, )?(\d{3})\b", traps)) | {"017"}
    assert told == {case_id[:3] for case_id in CASES}
