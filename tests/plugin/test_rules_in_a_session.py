"""
Rules that ``tests/engine`` and ``tests/unit`` prove, once more at the door of pytest.

One or two sessions for each rule show that option, setting, exit status and report reach it.
"""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

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


# what trials cost: tests/engine/test_usage.py

SPENDS = "case.usage.add(cost_usd=0.5, tokens_in=100, tokens_out=10, model='m-1')\n"
ONCE = {"cost_usd": 0.5, "tokens_in": 100, "tokens_out": 10, "calls": 1, "model": "m-1"}
TWICE = {"cost_usd": 1.0, "tokens_in": 200, "tokens_out": 20, "calls": 2, "model": "m-1"}


def test_an_attempt_that_a_plugin_repeats_is_paid_for_too(bench):
    bench.system(SPENDS + "seen.append(1)\nif len(seen) < 3: raise ValueError('no')")
    bench.write("system.py", (bench.path / "system.py").read_text() + "seen = []\n")
    bench.run("-p", "rerunfailures", "--reruns=2", "bench/echo/cases/01")
    assert bench.selected()["per_case"][0]["usage"]["cost_usd"] == 1.5


def test_an_excused_trial_is_paid_for(bench):
    bench.system(SPENDS)
    (bench.root / "conftest.py").write_text(
        "import pytest\n"
        "def pytest_collection_modifyitems(items):\n"
        "    items[0].add_marker(pytest.mark.xfail(strict=True, reason='known'))\n"
    )
    bench.run()
    assert (bench.result("01")["outcome"], bench.result("01")["usage"]) == ("skipped", ONCE)


def test_costs_are_shown_for_cases_and_run(bench):
    bench.system("if case.case_id != '03': " + SPENDS)
    result = bench.run("-v", "--junitxml=x.xml", "--json-report", "-p", "pytest_jsonreport")
    result.stdout.fnmatch_lines(
        [
            "cost      1.7500 USD",
            "case  score  penalty  cost USD  tokens in     out  result",
            "01    1.000    0.000    0.7500        100      10  passed",
            "03    1.000    0.000    0.2500          -       -  passed",
            "usage     1.0000 USD, 200 tokens in, 20 out, 2 calls (m-1); judging 0.7500 USD",
        ]
    )
    xml = (bench.root / "x.xml").read_text()
    for name, value in (("cost_usd", 0.75), ("tokens_in", 100), ("calls", 1), ("model", "m-1")):
        assert f'name="bench.{name}" value="{value}"' in xml
    assert 'name="bench.echo.cost_usd" value="1.75"' in xml
    (section,) = json.loads((bench.root / ".report.json").read_text())["benchgate"]
    assert section["usage"] == TWICE
    # Without any there is no such line and no such column.
    bench.system()
    result = bench.run("-v")
    result.stdout.no_fnmatch_line("usage *")
    result.stdout.fnmatch_lines(["case  score  penalty  result"])


# the output folder: tests/engine/test_output_folder.py


def test_a_full_disk_at_the_end_is_told_and_the_report_is_not_lost(bench, monkeypatch):
    real = os.open

    def open_(path, flags, *arguments, **options):
        if flags & os.O_WRONLY and Path(os.fsdecode(path)).name.lstrip(".").startswith(
            "record.json"
        ):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(path, flags, *arguments, **options)

    monkeypatch.setattr(os, "open", open_)
    result = bench.run()
    result.assert_outcomes(passed=3)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        ["FAILED the run is not recorded: */record.json: cannot be written: No space left*"]
    )
    assert json.loads(result.stderr.str())["case_count"] == 3


def test_an_output_folder_that_cannot_be_used_is_wrong_use(bench):
    bench.system('raise AssertionError("was run")')
    (bench.root / "taken").write_text("kept")
    result = bench.run("--bench-out=taken")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*taken*: cannot be created: *"])
    result.stdout.no_fnmatch_line("*was run*")
    (bench.out / "runs/echo").mkdir(parents=True)
    (bench.out / "runs/echo/HEAD.json").write_text("{")
    result = bench.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*runs/echo/HEAD.json: *"])
    result.stdout.no_fnmatch_line("*was run*")


def test_an_output_folder_of_another_user_is_a_warning(bench, monkeypatch):
    bench.out.mkdir()
    owner = os.stat(bench.out).st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    result = bench.run()
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        [f"warning   *.benchgate belongs to user {owner}, not to {owner + 1}"]
    )
