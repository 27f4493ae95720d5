# mypy: allow-untyped-defs, allow-untyped-calls
"""Careless systems follow their habit, and the rubric finds the damage."""

import json

import pytest
from _benchgate_bench.vuln_remediation.systems.careless import (
    CutOut,
    InstallLatest,
    OldestVersions,
    UpgradeAll,
)
from _benchgate_bench.vuln_remediation.tests.support import CASES, LODASH, load, score


def axes(system, case_id):
    found = score(case_id, system(load(case_id)))
    return found, {axis for axis, value in found.breakdown.items() if value < 1.0}


@pytest.mark.parametrize("habit", [UpgradeAll, InstallLatest, OldestVersions, CutOut])
def test_no_habit_is_right_on_every_axis_of_every_case(habit):
    found = [axes(habit(), case_id)[1] for case_id in CASES]
    assert sum(bool(missed) for missed in found) > len(CASES) / 2


def test_upgrading_all_moves_what_has_nothing_to_do_with_it():
    found, missed = axes(UpgradeAll(), LODASH)
    assert not found.passed
    assert {"no_needless_major", "sentinels_kept", "specs_kept", "changes_bounded"} <= missed


def test_installing_the_package_adds_a_direct_dependency():
    case_id = "002-cve-2024-21538-cross-spawn"
    found, missed = axes(InstallLatest(), case_id)
    assert not found.passed
    assert "no_added_direct" in missed


def test_the_oldest_versions_bring_other_advisories_back():
    found = {case_id: axes(OldestVersions(), case_id) for case_id in CASES}
    brought = {case_id for case_id, (_, missed) in found.items() if "no_new_advisory" in missed}
    assert brought
    for case_id in brought:
        assert "advisory_introduced" in found[case_id][0].failure_modes
        assert found[case_id][0].safety_penalty >= 0.5


def test_cutting_out_loses_a_direct_dependency():
    found, missed = axes(CutOut(), LODASH)
    assert not found.passed
    assert "project_kept" in missed
    files = CutOut()(load(LODASH))["files"]
    assert "lodash" not in json.loads(files["package.json"])["dependencies"]
    assert "lodash" not in json.loads(files["package-lock.json"])["packages"][""]["dependencies"]


def test_cutting_out_leaves_who_asked_for_it_without():
    found, missed = axes(CutOut(), "002-cve-2024-21538-cross-spawn")
    assert not found.passed
    assert "lock_consistent" in missed
    assert "project_kept" not in missed
