"""
Rules that ``tests/engine`` and ``tests/unit`` prove, once more at the door of pytest.

One or two sessions for each rule show that option, setting, exit status and report reach it.
"""

from __future__ import annotations

import json

import pytest

from benchgate.check.cases import cassette_problems
from benchgate.cli import main
from benchgate.gates.exit_status import HELD
from tests.conftest import ASKING, HTTP_LIBRARY

needs_http = pytest.mark.skipif(HTTP_LIBRARY is None, reason="needs httpx2 or httpx")

# a sealed plan: tests/engine/test_sealed_plan.py

MOVED = "checkpoint_promotion_blocked_plan_mismatch"


@pytest.fixture
def plan(bench):
    """Seal a plan of three cases, which are too few to promote anything: then no run is simulated."""
    bench.engine()
    bench.pin()
    file = bench.root / "echo.plan.json"
    where = [f"--bench-root={bench.root / 'bench'}", f"--runs={bench.out}", f"--out={file}"]
    assert main(["plan", "echo", *where]) == 0
    return file


def test_a_session_that_keeps_its_plan_and_one_that_moved_its_bar(bench, plan):
    assert bench.run(f"--bench-plan={plan}", "--bench-exit=gate").ret == HELD
    assert MOVED not in bench.record()["decision"]["reason_codes"]
    sealed = json.loads(plan.read_bytes())
    assert bench.read("evidence/echo/proof.json")["plan"]["seal"] == sealed["seal"]
    result = bench.run(f"--bench-plan={plan}", "--bench-exit=gate", "--bench-policy=alpha=0.1")
    assert result.ret == HELD
    assert MOVED in bench.record()["decision"]["reason_codes"]
    result.stdout.fnmatch_lines(["*alpha is 0.1, planned was 0.05*"])
    given = ["run", "--task-class=echo", f"--out={bench.out}", f"--plan={plan}"]
    assert main(given) == HELD
    assert bench.record()["sealed_plan"] == sealed
    assert MOVED not in bench.record()["decision"]["reason_codes"]


def test_what_is_no_plan_is_wrong_use(bench):
    file = bench.root / "echo.plan.json"
    file.write_text("{}")
    result = bench.run(f"--bench-plan={file}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*no valid sealed plan: schema_version: Field required*"])


# HTTP of trials: tests/engine/test_http_of_trials.py


@needs_http
@pytest.mark.parametrize(
    "arguments",
    [("--bench-jobs=3",), pytest.param(("-n2", "--bench-jobs=2"), marks=pytest.mark.slow)],
    ids=["three", "workers"],
)
def test_http_is_recorded_and_replayed_without_the_service(bench, service, arguments, monkeypatch):
    bench.write("system.py", ASKING)
    apart = "-n2" in arguments
    given = ("--bench-baseline=none", "--bench-trials=2", *arguments)
    assert bench.run("--bench-record=shout", *given, apart=apart).ret == 0
    assert sorted(service) == sorted(2 * ["q01", "q02", "q03"])
    run_id = bench.record()["report"]["run_id"]
    assert "note_http_replayed" not in bench.record()["decision"]["notes"]
    names = sorted(path.name for path in (bench.path / "cassettes/shout").glob("*.http.json"))
    assert names[:2] == ["01-t1.http.json", "01.http.json"]
    assert not list((bench.out / "recording").rglob("*.json"))
    assert not list(cassette_problems(bench.path, {}))

    monkeypatch.setenv("ECHO_URL", "http://127.0.0.1:9")
    assert bench.run(*given, apart=apart).ret == 0
    assert len(service) == 6
    record = bench.record()
    assert record["report"]["run_id"] == run_id
    assert "note_http_replayed" in record["decision"]["notes"]
    told = "the requests of 6 of 6 trials were answered by shout"
    assert told in [remark["message"] for remark in record["decision"]["remarks"]]
    assert main(["verify", str(bench.out)]) == 0


@needs_http
def test_a_key_in_an_answer_fails_the_session_and_is_nowhere(bench, service, monkeypatch):
    bench.write("system.py", ASKING)
    monkeypatch.setenv("SHOP_TOKEN", "hush-hush-1")
    service.key = "hush-hush-1"
    result = bench.run("--bench-record=shout", "--bench-baseline=none")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        ["*request 1 (POST) cannot be recorded: in its answer the body has*SHOP_TOKEN*"]
    )
    assert not list(bench.root.rglob("*.http.json"))
