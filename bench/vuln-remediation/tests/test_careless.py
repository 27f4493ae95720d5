# mypy: allow-untyped-defs, allow-untyped-calls
"""Careless systems follow their habit, and the rubric finds the damage."""

import json

import pytest
from _benchgate_bench.vuln_remediation.tests.support import CARELESS, CASES, LODASH, load, score

PARENT = "002-cve-2024-21538-cross-spawn"


def axes(habit, case_id):
    found = score(case_id, CARELESS[habit](load(case_id)))
    return found, {axis for axis, value in found.breakdown.items() if value < 1.0}


@pytest.mark.parametrize("habit", CARELESS)
@pytest.mark.parametrize(
    "cases",
    [
        pytest.param(CASES[:12], id="the first"),
        # Most of a minute: upgrading all packages of the largest projects asks for hundreds of them.
        pytest.param(CASES, id="all", marks=pytest.mark.nightly),
    ],
)
def test_no_habit_is_right_on_every_axis_of_every_case(cases, habit):
    found = {case_id: axes(habit, case_id) for case_id in cases}
    brought = [one for one, missed in found.values() if "no_new_advisory" in missed]

    assert sum(bool(missed) for _, missed in found.values()) > len(cases) / 2
    assert brought or habit != "oldest-versions"
    assert all("advisory_introduced" in one.failure_modes for one in brought)
    assert all(one.safety_penalty >= 0.5 for one in brought)


@pytest.mark.parametrize(
    ("habit", "case_id", "lacking", "whole"),
    [
        ("upgrade-all", LODASH, {"no_needless_major", "sentinels_kept", "specs_kept", "changes_bounded"}, set()),
        ("install-latest", PARENT, {"no_added_direct"}, set()),
        ("cut-out", LODASH, {"project_kept"}, set()),
        ("cut-out", PARENT, {"lock_consistent"}, {"project_kept"}),
    ],
)  # fmt: skip
def test_a_habit_misses_what_it_is_known_for(habit, case_id, lacking, whole):
    found, missed = axes(habit, case_id)

    assert not found.passed
    assert lacking <= missed
    assert not whole & missed


def test_cutting_out_takes_the_package_out_of_both_files():
    files = CARELESS["cut-out"](load(LODASH))["files"]
    assert "lodash" not in json.loads(files["package.json"])["dependencies"]
    assert "lodash" not in json.loads(files["package-lock.json"])["packages"][""]["dependencies"]
