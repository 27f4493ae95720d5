"""``benchgate.testing`` where the shipped benches' own tests do not lead: no score, no baseline, no decision."""

from __future__ import annotations

import pytest

from benchgate.errors import EvalError
from benchgate.testing import (
    compare_systems,
    gate_summary,
    gated_run,
    load_cases,
    repeat_baseline,
)


def test_the_cases_have_the_seeds_of_a_run(bench):
    first, other = load_cases(bench.path), load_cases(bench.path, bench_seed=1)

    assert list(first) == list(other) == ["01", "02", "03"]
    assert {case.case_id for case in first.values()} == set(first)
    assert first["01"].seed != other["01"].seed


def test_a_cell_without_a_score_says_how_the_trial_ended(bench):
    bench.case("01", extra='held_out = true\n\n[facts]\ntopic = "a"\n')
    for case_id in ("02", "03"):
        bench.case(case_id, extra='\n[facts]\ntopic = "b"\n')
    bench.system('if case.case_id == "02": raise OSError("gone")')

    lines = list(compare_systems(bench.path).by_case("topic"))

    assert lines[0] == "| case | topic | shout |"
    assert lines[2:] == [
        "| 01 (held out) | a | 1.00 |",
        "| 02 | b | harness_error |",
        "| 03 | b | 1.00 |",
    ]


def test_without_a_baseline_nothing_is_repeated_and_no_tier_is_shown(bench):
    with pytest.raises(EvalError, match=r"baseline\.json: cannot be read"):
        repeat_baseline(bench.path)
    shown = gate_summary(gated_run(bench.path, "shout"))

    assert "gate" in shown
    assert "tier" not in shown
