"""``--bench-isolation`` under pytest, and what it crosses."""

from __future__ import annotations

import importlib.util
import json
import sys

import pytest

from benchgate.artifacts.run_kinds import RunRecord
from benchgate.cli import main
from benchgate.verify.against_bench import Terms

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="isolation needs Linux")
LIBRARY = next((name for name in ("httpx2", "httpx") if importlib.util.find_spec(name)), None)


def facts(bench):
    report = bench.record()["report"]
    return report["run_id"], report["isolation_class"]


def test_every_way_has_one_run_id_and_its_level(bench):
    bench.system("""
        import os, pathlib
        must = pathlib.Path(__file__).parents[2] / "must"
        assert must.exists() == ("benchgate-isolated" in os.getcwd())
    """)
    ways = [(), ("--bench-isolation=process",), ("--bench-isolation=process", "--bench-jobs=3")]
    ways.append(("--bench-isolation=process", "-n2"))
    found = []
    for way in ways:
        if way:
            (bench.root / "must").touch()
        result = bench.run(*way, apart="-n2" in way)
        result.assert_outcomes(passed=3)
        found.append(facts(bench))
    assert len({run_id for run_id, _ in found}) == 1
    assert [level for _, level in found] == ["none", *["process"] * 3]
    result.stdout.fnmatch_lines(["benchgate: echo, system shout, * isolation process"])
    bench.run("--bench-replay=2").assert_outcomes(passed=3)  # of a run that was isolated
    assert facts(bench) == found[1]
    assert main(["verify", str(bench.out)]) == 0


def test_the_class_has_a_level_that_options_only_raise(bench):
    bench.write("gate.toml", '[run]\nisolation = "process"\n')
    bench.run("--bench-isolation=none").assert_outcomes(passed=3)
    assert facts(bench)[1] == "process"
    arguments = ["run", "--task-class=echo", "--out=.benchgate", "--isolation=none"]
    assert main(arguments) == 0
    assert facts(bench)[1] == "process"


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


def test_a_lower_level_than_the_baselines_holds_and_a_higher_one_is_named(bench):
    bench.run("--bench-isolation=process")
    bench.pin()
    bench.run()
    decision = bench.record()["decision"]
    assert "checkpoint_promotion_blocked_baseline_mismatch" in decision["reason_codes"]
    assert "its isolation is process, now none, which is lower" in str(decision["remarks"])
    bench.run("--bench-baseline=none")
    bench.pin()
    result = bench.run("--bench-isolation=process")
    result.stdout.fnmatch_lines(["warning*isolation process: the baseline's was none, where*"])
    assert main(["verify", str(bench.out)]) == 0


def test_verify_refuses_a_level_below_the_classs(bench):
    bench.run("--bench-baseline=none")
    bench.write("gate.toml", '[run]\nisolation = "sandbox"\n')
    record = RunRecord.read_file(bench.folder() / "record.json", "record")
    objections = Terms.of(record, bench.out, bench.root / "bench", {}).objections()
    assert any("its isolation is none, where" in text for text in objections)


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


def test_another_kind_of_processes_excludes_it(bench):
    result = bench.run("--bench-isolation=process", "--bench-executor=dask://127.0.0.1:1")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*isolation process and executor *"])


def test_prints_are_the_items_and_a_failure_names_the_users_line(bench):
    bench.system("print('said'); raise ValueError('no')")
    result = bench.run("--bench-isolation=process")
    result.stdout.fnmatch_lines(
        ["*Captured stdout call*", "said", "*ValueError: no*"], consecutive=False
    )
    result.stdout.fnmatch_lines(["*system.py:2*"])


def test_outputs_are_recorded_and_found_from_inside(bench):
    bench.run("--bench-isolation=process", "--bench-record=kept").assert_outcomes(passed=3)
    manifest = json.loads((bench.path / "cassettes/kept/manifest.json").read_text())
    assert manifest["isolation_class"] == "process"
    bench.run("--bench-replay=kept").assert_outcomes(passed=3)
    assert facts(bench)[1] == "process"
    bench.system("""
        import json
        found = case.cassette("kept")
        return json.loads(found.path.read_text())["output"]
    """)
    bench.run("--bench-isolation=process").assert_outcomes(passed=3)


@pytest.mark.skipif(LIBRARY is None, reason="needs httpx2 or httpx")
def test_http_is_recorded_and_replayed_by_the_session(bench):
    bench.system(
        f"""
        import {LIBRARY} as httpx
        def answer(request):
            return httpx.Response(200, json={{"q": case.case_id}})
        with httpx.Client(transport=case.http_transport("web", inner=INNER(answer))) as client:
            client.get("http://nowhere/q")
    """.replace("INNER", "httpx.MockTransport")
    )
    isolated = "--bench-isolation=process"
    bench.run(isolated, "--bench-record=web").assert_outcomes(passed=3)
    bench.run(isolated).assert_outcomes(passed=3)
    assert all(r["http_cassettes"] == ["web"] for r in bench.record()["report"]["per_case"])
    bench.case("04")
    bench.run(isolated)
    assert bench.outcomes()["04"] == "not_run"


@pytest.mark.slow
def test_shards_keep_the_level(bench):
    isolated = "--bench-isolation=process"
    for part in ("1/2", "2/2"):
        bench.run(isolated, f"--bench-shard={part}", "--bench-out=parts")
    parts = sorted(str(path.parent) for path in (bench.root / "parts").rglob("trials.sha256"))
    assert main(["merge", *parts, "--out=.benchgate"]) == 0
    assert facts(bench)[1] == "process"
