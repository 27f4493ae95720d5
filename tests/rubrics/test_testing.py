"""``benchgate.testing`` where the shipped benches' own tests do not lead: no score, no baseline, no decision."""

from __future__ import annotations

import pytest

from benchgate.errors import EvalError
from benchgate.testing import (
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


def test_without_a_baseline_nothing_is_repeated_and_no_tier_is_shown(bench):
    with pytest.raises(EvalError, match=r"baseline\.json: cannot be read"):
        repeat_baseline(bench.path)
    shown = gate_summary(gated_run(bench.path, "shout"))

    assert shown.startswith("HOLD ")
    assert "tier" not in shown
