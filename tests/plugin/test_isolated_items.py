"""Items whose trials run in processes of their own: what the user sees of them, and what only the session has."""

from __future__ import annotations

import sys

import pytest

from benchgate.cli import main

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="isolation needs Linux")


def facts(bench):
    report = bench.record()["report"]
    return report["run_id"], report["isolation_class"]


WAYS = [
    ("--bench-isolation=process", "--bench-jobs=3"),
    pytest.param(("--bench-isolation=process", "-n2"), marks=pytest.mark.slow),
]


@pytest.mark.parametrize("way", WAYS, ids=" ".join)
def test_every_way_has_one_run_id_and_its_level(bench, way):
    bench.engine()
    without = facts(bench)
    bench.system("import os; assert 'benchgate-isolated' in os.getcwd()")
    result = bench.run(*way, apart="-n2" in way)
    result.assert_outcomes(passed=3)
    assert facts(bench) == (without[0], "process")
    result.stdout.fnmatch_lines(["benchgate: echo, system shout, * isolation process"])
    bench.run("--bench-replay=2").assert_outcomes(passed=3)  # of a run that was isolated
    assert facts(bench) == (without[0], "process")
    assert main(["verify", str(bench.out)]) == 0


@pytest.mark.parametrize("option", ["-s", "--pdb", "--trace"])
def test_who_follows_trials_has_them_in_this_process_and_no_gate(bench, option, monkeypatch):
    bench.write("gate.toml", '[run]\nisolation = "process"\n')
    monkeypatch.setattr("pdb.Pdb.set_trace", lambda *_, **__: None)
    monkeypatch.setattr("pdb.Pdb.runcall", lambda _, call, *a, **k: call(*a, **k))
    result = bench.run(option)
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["benchgate: echo, *, isolation none: -s, --pdb and --trace *"])
    assert facts(bench)[1] == "none"
    assert bench.record()["baseline"] is None


@pytest.mark.parametrize(
    ("conftest", "told"),
    [
        ("def pytest_bench_system(): return lambda case: {}", "*register it, or name it as*"),
        (
            "def pytest_bench_score(): return 1",
            "*is scored by a hook, and workers have the rubric alone*",
        ),
        ("def pytest_bench_executor(): return type('E', (), {'close': print})()", "*own runs*"),
    ],
)
def test_what_only_this_process_has_is_wrong_use(bench, conftest, told):
    bench.pytester.makeconftest(conftest)
    result = bench.run("--bench-isolation=process")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([told])


def test_a_system_of_a_conftest_is_wrong_use(bench):
    bench.pytester.makeconftest("def system(case): return {}")
    bench.pytester.syspathinsert()
    result = bench.run("--bench-isolation=process", "--bench-system=conftest:system")
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_prints_are_the_items_and_a_failure_names_the_users_line(bench):
    bench.system("print('said'); raise ValueError('no')")
    result = bench.run("--bench-isolation=process")
    result.stdout.fnmatch_lines(
        ["*Captured stdout call*", "said", "*ValueError: no*"], consecutive=False
    )
    result.stdout.fnmatch_lines(["*system.py:2*"])
