"""A rubric gives an output the same score every time: twice in a process, in another order, in another process."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from dataclasses import astuple
from functools import cache
from itertools import islice
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"
CLASSES = sorted(
    path.parent.name
    for path in BENCH.glob("*/rubric.py")
    if (path.parent / "registration.py").is_file()
)
LARGE = "vuln-remediation"
"""A class whose outputs take minutes to score; before a change that is done for its first cases alone."""
SCORED = [
    *(
        pytest.param((name, None), id=name, marks=pytest.mark.slow)
        for name in CLASSES
        if name != LARGE
    ),
    pytest.param((LARGE, 10), id=LARGE, marks=pytest.mark.slow),
    pytest.param((LARGE, None), id=f"all of {LARGE}", marks=pytest.mark.nightly),
]
"""Classes, each with the number of its cases, ``None`` for all."""


@pytest.fixture(scope="module")
def stored(scoring):
    """Return what makes the outputs of so many cases of a class and the digests of their scores, once."""

    @cache
    def outputs(name, most):
        with scoring.loaded(name) as bench:
            made = [
                sample
                for case in islice(scoring.cases(bench), most)
                for sample in scoring.samples(bench, case)
            ]
        return made, scoring.digests(made)

    return outputs


@pytest.mark.parametrize("which", SCORED)
def test_twice_in_one_process_and_in_another_order(scoring, stored, which):
    held, first = stored(*which)
    shuffled = random.Random(7).sample(held, len(held))  # noqa: S311 - an order, no secret

    assert len(first) == len(held) > 0
    assert first == scoring.digests(shuffled)


@pytest.mark.parametrize("hash_seed", ["1", "4242"])
@pytest.mark.parametrize("which", SCORED)
def test_in_a_fresh_process(scoring, stored, which, hash_seed, tmp_path):
    held, first = stored(*which)

    assert in_a_fresh_process(scoring, held, tmp_path, hash_seed, BENCH) == first


def in_a_fresh_process(scoring, held, tmp_path, hash_seed, root):
    path = tmp_path / "outputs.json"
    path.write_text(json.dumps([astuple(sample) for sample in held]))
    done = subprocess.run(
        [sys.executable, scoring.__file__, path, root],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        check=True,
        timeout=600,
    )
    return json.loads(done.stdout)


FROM_A_SET = """
    return BenchScore(passed=False, score=0.0, failure_modes=tuple({"a1", "b1", "c1", "d1", "e1", "f1"}))
"""
FROM_A_COUNTER = """
    self.count = getattr(self, "count", 0) + 1
    return BenchScore(passed=False, score=0.0, breakdown={"count": float(self.count)})
"""


@pytest.mark.slow
def test_a_rubric_that_shows_the_order_of_a_set_is_found(scoring, bench, tmp_path):
    bench.rubric(FROM_A_SET)
    (case, *_) = sorted(path.name for path in (bench.path / "cases").iterdir())
    held = [scoring.Sample(bench.name, case, "any", "{}")]
    seeds = [str(seed) for seed in range(4)]

    told = [in_a_fresh_process(scoring, held, tmp_path, seed, bench.path.parent) for seed in seeds]

    assert len({str(one) for one in told}) > 1


@pytest.mark.slow
def test_a_rubric_that_counts_is_found(scoring, bench, monkeypatch):
    bench.rubric(FROM_A_COUNTER)
    monkeypatch.setattr(scoring, "BENCH", bench.path.parent)
    cases = sorted(path.name for path in (bench.path / "cases").iterdir())
    held = [scoring.Sample(bench.name, case, "any", "{}") for case in cases]

    assert scoring.digests(held) != scoring.digests(held[::-1])
