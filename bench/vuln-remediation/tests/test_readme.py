# mypy: allow-untyped-defs, allow-untyped-calls
"""That the class's README and its details name what there is."""

import re

import pytest
from _benchgate_bench.vuln_remediation.rubric import NEGATIVE_WEIGHTS, PENALTIES, WEIGHTS
from _benchgate_bench.vuln_remediation.systems.npm_audit_fix import RECORDED
from _benchgate_bench.vuln_remediation.tests.support import CARELESS, CASES, CLASS, SYSTEMS

README = (CLASS / "README.md").read_text(encoding="utf-8")
RUBRIC = (CLASS / "details/rubric.md").read_text(encoding="utf-8")
HISTORY = (CLASS / "details/history.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("axis", "weight"), [*WEIGHTS.items(), *NEGATIVE_WEIGHTS.items()])
def test_every_axis_is_there_with_its_weight(axis, weight):
    assert re.search(rf"`{axis}` (\| )?{weight}\b", RUBRIC)


def test_every_penalty_and_every_name_is_there():
    penalties = RUBRIC[RUBRIC.index("`safety_penalty` adds") :].partition("\n\n")[0]

    assert sorted(map(float, re.findall(r"\s(\d(?:\.\d+)?)[,.](?=\s)", penalties))) == sorted(
        PENALTIES.values()
    )
    assert all(f"`{name}`" in README for name in (*SYSTEMS, *CARELESS))
    assert f"npm {RECORDED[1]} on Node.js {RECORDED[2]}" in HISTORY
    assert f"{len(CASES)} npm projects" in README
