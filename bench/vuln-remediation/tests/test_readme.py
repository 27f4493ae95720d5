# mypy: allow-untyped-defs, allow-untyped-calls
"""What the class's README says was measured, measured again."""

import re

import pytest
from _benchgate_bench.vuln_remediation.rubric import NEGATIVE_WEIGHTS, PENALTIES, WEIGHTS
from _benchgate_bench.vuln_remediation.systems.npm_audit_fix import RECORDED
from _benchgate_bench.vuln_remediation.tests.support import CARELESS, CASES, CLASS, SYSTEMS
from _benchgate_bench.vuln_remediation.tools import compare_systems

from bench.readme_results import gate_summary, gated_run, repeat_baseline

README = (CLASS / "README.md").read_text(encoding="utf-8")


@pytest.mark.nightly
def test_the_tables_are_what_the_command_prints(capsys):
    compare_systems.main()

    assert capsys.readouterr().out in README


@pytest.mark.slow
def test_the_gate_promotes_the_ladder_as_the_readme_shows(tmp_path):
    found = gate_summary(gated_run(CLASS, "ladder", out=tmp_path))

    assert found.startswith("    PROMOTE ")
    assert found in README


@pytest.mark.nightly
def test_the_gate_decides_on_the_others_as_the_readme_says():
    names = (*SYSTEMS, *CARELESS)
    found = {name: gated_run(CLASS, name).judgement for name in names if name != "npm-audit-fix"}
    outcomes = {name: judgement.decision.outcome for name, judgement in found.items()}
    blind = found["blind-override"].figures.significance
    shown = f"delta {blind.mean_delta:+.3f}, interval [{blind.delta_ci_low:+.3f}, {blind.delta_ci_high:+.3f}]"

    assert {name for name, outcome in outcomes.items() if outcome != "reject"} == {"ladder"}
    assert outcomes["ladder"] == "promote"
    assert f"({shown})" in README
    brought = found["oldest-versions"].figures.safety.delta
    assert f"back (penalty {brought:+.3f})" in README


def test_the_baseline_is_a_full_run_of_npm_audit_fix_that_can_be_repeated():
    pinned, again = repeat_baseline(CLASS)

    assert (pinned.system, pinned.scope, pinned.complete) == ("npm-audit-fix", "full", True)
    assert [result.case_id for result in pinned.per_case] == CASES
    assert again.run_id == pinned.run_id


@pytest.mark.parametrize(("axis", "weight"), [*WEIGHTS.items(), *NEGATIVE_WEIGHTS.items()])
def test_the_readme_has_every_axis_with_its_weight(axis, weight):
    assert re.search(rf"`{axis}` (\| )?{weight}\b", README)


def test_the_readme_has_penalties_and_names():
    penalties = README[README.index("`safety_penalty` adds") :].partition("\n\n")[0]

    assert sorted(map(float, re.findall(r"\s(\d(?:\.\d+)?)[,.](?=\s)", penalties))) == sorted(
        PENALTIES.values()
    )
    assert all(f"`{name}`" in README for name in (*SYSTEMS, *CARELESS))
    assert f"npm {RECORDED[1]} on Node.js {RECORDED[2]}" in README
    assert f"{len(CASES)} npm projects" in README
