"""``benchgate.testing`` where the shipped benches' own tests do not lead."""

from __future__ import annotations

from benchgate.testing import load_cases


def test_the_cases_have_the_seeds_of_a_run(bench):
    first, other = load_cases(bench.path), load_cases(bench.path, bench_seed=1)

    assert list(first) == list(other) == ["01", "02", "03"]
    assert {case.case_id for case in first.values()} == set(first)
    assert first["01"].seed != other["01"].seed
