"""Rules that tests/engine and tests/unit hold, once or twice each in a session: option, ini, exit status, report."""

from __future__ import annotations

import pytest

from benchgate.cli import main

# observers


@pytest.fixture
def judged(bench):
    """A class whose outputs are observed three times each, and the report of its run without pytest."""
    bench.write("gate.toml", "[run]\nobservations = 3\n")
    bench.observer("if case.case_id == '03': return {'score': [0.2, 0.9, 0.7][asked % 3]}")
    wanted = bench.engine(out=bench.root / "first", baseline="none").judgement.report
    bench.wanted = wanted.model_dump(mode="json")
    (bench.path / "asked.log").unlink()
    return bench


@pytest.mark.parametrize(
    "arguments", [(), pytest.param(("-n2", "-pxdist"), marks=pytest.mark.slow)], ids=" ".join
)
def test_an_observed_run_is_one_wherever_it_runs(judged, arguments):
    result = judged.run(*arguments, apart=bool(arguments))
    assert result.ret == 0, result.stdout.str()
    report = judged.record()["report"]
    assert report["run_id"] == judged.wanted["run_id"]
    assert report["observer"] == judged.wanted["observer"]
    assert len(judged.trial("03")["observations"]) == 3
    assert sorted(judged.asked()) == sorted(["01", "02", "03"] * 3)
    assert main(["verify", str(judged.out)]) == 0


OBSERVES_ELSEWHERE = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from benchgate.remote.worker import run_request

class Elsewhere:
    def __init__(self):
        self.pool = ProcessPoolExecutor(2, multiprocessing.get_context("spawn"))

    def submit(self, request):
        return self.pool.submit(run_request, request, Path("bench").resolve())

    def close(self):
        self.pool.shutdown()

def pytest_bench_executor(config):
    return Elsewhere()
"""


@pytest.mark.slow
def test_an_executor_of_ones_own_observes_where_it_runs_trials(judged):
    judged.pytester.makeconftest(OBSERVES_ELSEWHERE)
    result = judged.run(apart=True)
    assert result.ret == 0, result.stdout.str()
    assert judged.record()["report"]["run_id"] == judged.wanted["run_id"]


def test_the_terminal_says_that_outputs_were_observed_again_and_no_hook_is_asked(bench):
    bench.observer()
    bench.engine()
    bench.pytester.makeconftest("def pytest_bench_system(): raise ValueError('asked')")
    result = bench.run("--bench-reobserve=1", "--bench-baseline=none")
    result.stdout.fnmatch_lines(["*replays   run 00000001-*, observed again"])
    assert result.ret == 0
    assert bench.asked().count("01") == 2


def test_each_observation_has_the_whole_limit_of_its_item(bench):
    bench.write("gate.toml", "[run]\nobservations = 3\n")
    # Who sets the timer ahead has used up most of the limit, without a test that waits for it.
    bench.system("import signal; signal.setitimer(signal.ITIMER_REAL, 60)")
    bench.observer("""
        import signal
        left, _ = signal.setitimer(signal.ITIMER_REAL, 60)
        return {"score": left / 600}
    """)
    assert bench.run("--bench-timeout=600").ret == 0
    left = [one["score"] for one in bench.trial("02")["observations"]]
    assert left == pytest.approx([1.0, 1.0, 1.0], abs=0.2)


def test_options_that_exclude_each_other_are_wrong_use(bench):
    result = bench.run("--bench-reobserve=1", "--bench-replay=1", "--bench-shard=1/2")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*they are new*", "*neither recorded nor replayed*"])
