"""A cap on what a run may cost: nothing starts that could pass it, and what was left out is told and can be resumed."""

from __future__ import annotations

import json
import warnings

import pytest

from benchgate.cli import main
from benchgate.models import BenchScore, TrialResult, Usage
from benchgate.trials.executor import TrialRecord
from benchgate.trials.spending import Spending

SYSTEM = """
import threading, time

lock, running, most = threading.Lock(), [], []

def system(case):
    with lock:
        running.append(case.case_id)
        most.append(len(running))
    case.usage.add(cost_usd=1.0)
    time.sleep(0.03)
    with lock:
        running.remove(case.case_id)
    if case.case_id == "02":
        raise ValueError(most)
    return {"answer": "Q" + case.case_id}
"""


@pytest.fixture
def paid(bench):
    """Six cases of 1 USD, and a rubric that costs nothing; case 02 fails after it was paid for."""
    for number in range(4, 7):
        bench.case(f"{number:02}")
    bench.write("system.py", SYSTEM)
    rubric = (bench.path / "rubric.py").read_text()
    bench.write("rubric.py", rubric.replace("cost_usd=0.25", "cost_usd=0.0"))
    return bench


def ran(bench):
    return [name for name, outcome in bench.outcomes().items() if outcome != "not_run"]


@pytest.mark.parametrize("jobs", ["1", "4"])
def test_nothing_starts_that_could_pass_the_cap_and_the_rest_is_resumed(paid, jobs):
    result = paid.run("--bench-max-cost-usd=3.5", f"--bench-jobs={jobs}", "--bench-exit=gate")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert len(ran(paid)) == 3
    reason = "max_cost_usd=3.5: $3.0000 is spent, and another trial may cost $1.0000"
    left = [t for t in paid.record()["report"]["per_case"] if t["outcome"] == "not_run"]
    told = [(trial["detail"], trial["why"], trial["cap_usd"]) for trial in left]
    assert told == [(reason, "capped", 3.5)] * 3
    result.stdout.fnmatch_lines(
        [
            f"cap       3 trials not run: {reason}",
            "          $3.0000 in all; go on: --bench-resume --bench-max-cost-usd=USD",
            "FAILED the run is incomplete: 3 of 6 not run: the cap of $3.5",
        ]
    )
    assert result.parseoutcomes() == {"passed": 2, "failed": 1, "skipped": 3}
    # What was taken over is spent: the same cap has room for nothing more.
    paid.engine(max_cost_usd=3.5, jobs=int(jobs), resume="auto", baseline="auto")
    assert len(ran(paid)) == 3
    done = paid.run("--bench-max-cost-usd=6", f"--bench-jobs={jobs}", "--bench-resume")
    done.stdout.no_fnmatch_line("cap  *")
    assert len(ran(paid)) == 6
    report = paid.record()["report"]
    assert (report["complete"], report["total_cost_usd"]) == (True, 6.0)
    assert main(["verify", str(paid.out)]) == 0


def test_what_judging_costs_counts(paid):
    rubric = (paid.path / "rubric.py").read_text()
    paid.write("rubric.py", rubric.replace("cost_usd=0.0", "cost_usd=1.0"))
    paid.engine(max_cost_usd=5.0)
    assert ran(paid) == ["01", "02", "03"]  # the second was not judged


def test_a_trial_is_alone_until_a_cost_is_known(paid):
    others = "while case.case_id == '02' and len(most) < 3: time.sleep(0.01)"
    paid.write("system.py", SYSTEM.replace("time.sleep(0.03)", others))
    paid.engine(max_cost_usd=100.0, jobs=4)
    (mode,) = paid.result("02")["failure_modes"]
    assert mode["detail"].startswith("ValueError: [1, 1, 2")  # the second began after the first


def test_the_other_door_does_the_same(paid, capsys, monkeypatch):
    monkeypatch.chdir(paid.root)
    arguments = ["run", "--task-class=echo", "--bench-root=bench", "--jobs=3", "--out=o"]
    assert main([*arguments, "--max-cost-usd=2"]) == 1
    out, err = capsys.readouterr()
    *trials, run = map(json.loads, out.splitlines())
    assert [t["outcome"] for t in trials].count("not_run") == 4
    assert run["usage"]["cost_usd"] == 2.0
    assert "go on: --resume --max-cost-usd=USD" in err
    main([*arguments, "--max-cost-usd=6", "--resume"])
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["complete"]


def test_a_cap_that_nothing_reports_to_is_warned_of(bench, capsys, monkeypatch):
    rubric = (bench.path / "rubric.py").read_text()
    bench.write("rubric.py", rubric.replace("cost_usd=0.25", "cost_usd=0.0"))
    result = bench.run("--bench-max-cost-usd=1", "--bench-jobs=2")
    result.assert_outcomes(passed=3)
    text = "max_cost_usd: trial 01 reported no cost, and a cap cannot bind what is not reported*"
    result.stdout.fnmatch_lines([f"warning   {text}"])
    monkeypatch.chdir(bench.root)
    capsys.readouterr()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        main(["run", "--task-class=echo", "--bench-root=bench", "--max-cost-usd=1"])
    said = capsys.readouterr().err.splitlines()
    assert [line[:48] for line in said if "warn" in line] == [f"warning   {text}"[:48]]


def test_no_trial_is_paid_for_before_the_one_ahead_of_it_is_reported(paid):
    called = paid.root / "called"
    paid.system(
        f"with open({str(called)!r}, 'a') as file: file.write(case.case_id)\nraise ValueError"
    )
    paid.run("--bench-max-cost-usd=1", "--bench-jobs=4", "-x")
    assert called.read_text() == "01"


def test_what_was_taken_over_without_a_cost_says_nothing_of_costs(paid):
    away = (
        "from benchgate import SystemUnavailable\nif case.case_id > '03': raise SystemUnavailable"
    )
    paid.system(away)
    paid.engine(retries=0)
    paid.system("case.usage.add(cost_usd=1.0); import time; time.sleep(0.03)")
    with pytest.warns(UserWarning, match="trial 01 reported no cost"):
        paid.engine(resume="auto", jobs=3, max_cost_usd=1.5)
    assert ran(paid) == ["01", "02", "03", "04"]


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_each_worker_has_its_share(paid, jobs):
    given = ("-n2", f"--bench-jobs={jobs}")
    paid.run(*given, "--bench-max-cost-usd=5", apart=True)
    assert 2 <= len(ran(paid)) <= 4  # 2.5 USD each
    report = paid.record()["report"]
    reasons = {t["detail"] for t in report["per_case"] if t["outcome"] == "not_run"}
    assert {t["why"] for t in report["per_case"] if t["outcome"] == "not_run"} == {"capped"}
    assert any("max_cost_usd=5, 2.5 for each of 2 workers: $2.0000 is" in r for r in reasons)
    paid.run(*given, "--bench-max-cost-usd=20", "--bench-resume", apart=True)
    assert len(ran(paid)) == 6


def test_an_executor_of_ones_own_is_capped_too(paid):
    (paid.root / "conftest.py").write_text(
        "from concurrent.futures import ThreadPoolExecutor\n"
        "import pytest\n"
        "from benchgate.models import TrialResult, Usage\n"
        "from benchgate.trials.executor import TrialRecord\n"
        "class Own:\n"
        "    def __init__(self): self.pool = ThreadPoolExecutor(3)\n"
        "    def submit(self, request): return self.pool.submit(self.run, request)\n"
        "    def run(self, request):\n"
        "        case = request.case\n"
        "        result = TrialResult(case_id=case.case_id, trial=case.trial, seed=case.seed,\n"
        "            held_out=False, outcome='timeout', usage=Usage(cost_usd=1.0))\n"
        "        return TrialRecord(result=result, output_json=None)\n"
        "    def close(self): self.pool.shutdown()\n"
        "@pytest.hookimpl(optionalhook=True)\n"
        "def pytest_bench_executor(config): return Own()\n"
    )
    paid.run("--bench-max-cost-usd=2")
    assert ran(paid) == ["01", "02"]


@pytest.mark.parametrize("text", ["0", "nan", "much"])
def test_a_cap_is_a_number_of_dollars(bench, text):
    result = bench.run(f"--bench-max-cost-usd={text}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*expected US dollars, more than 0 *"])


def record(cost, judging=0.0):
    result = TrialResult(
        case_id="a",
        trial=0,
        seed=0,
        held_out=False,
        outcome="scored",
        score=BenchScore(passed=True, score=1.0, cost_usd=judging),
        usage=Usage(cost_usd=cost),
    )
    return TrialRecord(result=result, output_json="{}")


def test_a_tenth_fits_ten_times_into_one():
    spending = Spending(1.0)
    for _ in range(10):
        assert spending.enter(None, pause=pytest.fail) is None
        spending.leave(record(0.1).result)


def test_what_was_taken_over_is_spent_by_all_workers_together():
    spending = Spending(10.0, workers=2)
    spending.before([3.0, 3.0])  # 3 of the 5 USD of this worker
    assert not spending.has_room()
    spending = Spending(12.0, workers=2)
    spending.before([3.0, 3.0])
    assert spending.has_room()


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_further_attempt_must_fit_too(paid, jobs):
    paid.system("""
        from benchgate import SystemUnavailable
        case.usage.add(cost_usd=1.0)
        raise SystemUnavailable("busy", retry_after=0.01)
    """)
    paid.engine(max_cost_usd=3.0, jobs=int(jobs), retries=9)
    assert paid.record()["report"]["total_cost_usd"] <= 3.0


@pytest.mark.slow
def test_a_worker_in_the_place_of_one_that_died_knows_what_was_spent(paid):
    calls = paid.root / "calls.log"
    paid.system(f"""
        import os
        with open({str(calls)!r}, "a") as log:
            log.write("x")
        case.usage.add(cost_usd=1.0)
        if case.trial == 3:
            os._exit(1)
    """)
    paid.run("-n2", "--bench-trials=6", "--bench-max-cost-usd=8", apart=True)
    assert len(calls.read_text()) <= 8 + 2  # the last of each that died is known to nobody


def test_what_a_recording_answered_is_paid_for_no_more():
    spending = Spending(1.0)
    result = TrialResult(
        case_id="a",
        trial=0,
        seed=0,
        held_out=False,
        outcome="scored",
        score=BenchScore(passed=True, score=1.0),
        usage=Usage(cost_usd=0.9),
        http_cassettes=("web",),
    )
    for _ in range(5):
        assert spending.enter(None, pause=pytest.fail) is None
        spending.leave(result)
        assert spending.has_room()


def test_a_small_cost_is_shown_and_an_unknown_one_is_not(paid):
    paid.system("if case.case_id != '03': case.usage.add(cost_usd=0.00002)")
    result = paid.run("-v")
    spent = "cost      $0.000100, without 1 trial that reported none"
    result.stdout.fnmatch_lines([spent, "01 * $0.000020 *"])
    paid.system()
    paid.run().stdout.no_fnmatch_line("cost *")
