"""A retired case is in no run, however it is asked for."""

from __future__ import annotations

import pytest

from benchgate.cli import main
from benchgate.wire.shard import Shard


@pytest.fixture
def retired(bench):
    bench.case("02", retired='"its answer was wrong"')
    return bench


def assert_full_without_it(bench):
    report = bench.record()["report"]
    assert (report["scope"], report["case_count"]) == ("full", 2)
    assert report["retired"] == {"02": "its answer was wrong"}


@pytest.mark.parametrize("options", [[], pytest.param(["-n2"], marks=pytest.mark.slow)], ids=str)
def test_it_is_not_collected_and_the_run_is_a_full_one(retired, options):
    retired.run(*options).assert_outcomes(passed=2)
    assert_full_without_it(retired)


@pytest.mark.slow
def test_it_has_no_process_of_its_own(retired):
    retired.run("--bench-isolation=process").assert_outcomes(passed=2)
    assert_full_without_it(retired)


def test_a_path_to_it_leads_nowhere(retired):
    path = retired.path / "cases/02/case.toml"
    result = retired.pytest(str(path))
    assert result.ret != 0
    result.assert_outcomes()


def test_shards_are_put_together_without_it(retired, monkeypatch):
    for number in (1, 2):
        retired.engine(shard=Shard(number, 2))
    monkeypatch.chdir(retired.root)
    parts = sorted(str(path) for path in (retired.out / "shards/echo").iterdir())
    assert main(["merge", *parts, "--out", str(retired.out)]) == 0
    assert retired.record()["report"]["retired"] == {"02": "its answer was wrong"}
    assert main(["verify", str(retired.out)]) == 0


def test_a_run_from_before_is_replayed_without_it(bench, monkeypatch):
    bench.engine()
    bench.case("02", retired='"its answer was wrong"')
    bench.run("--bench-replay=1").assert_outcomes(passed=2)
    monkeypatch.chdir(bench.root)
    assert main(["verify", str(bench.out)]) == 0
