"""Many trials at once: the same results as one at a time, in the same order, each with its own prints and limits."""

from __future__ import annotations

import json
import re
import shutil
import time

import pytest

from benchgate.cli import main
from tests.conftest import write_source

ASYNC = """
import asyncio
from pathlib import Path

async def system(case):
    print(f"asked {case.case_id}")
    await asyncio.sleep(WAIT.get(case.case_id, 0.01))
    await asyncio.to_thread(print, f"answered {case.case_id}")
    with open(LOG, "a") as log:
        log.write(f"{case.case_id}\\n")
    return {"answer": (case.input_path / "question.txt").read_text().upper()}
"""
SYNC = """
import time
from pathlib import Path

def system(case):
    print(f"asked {case.case_id}")
    time.sleep(WAIT.get(case.case_id, 0.01))
    print(f"answered {case.case_id}")
    with open(LOG, "a") as log:
        log.write(f"{case.case_id}\\n")
    return {"answer": (case.input_path / "question.txt").read_text().upper()}
"""


@pytest.fixture
def waiting(bench):
    """Make a bench of twelve cases, whose system logs each call; return a function that writes the system."""
    for number in range(4, 13):
        bench.case(f"{number:02}")
    log = bench.root / "calls.log"
    log.touch()

    def write(source, waits=None):
        head = f"LOG = {str(log)!r}\nWAIT = {waits or {}!r}\n"
        bench.write("system.py", head + source)
        return bench

    write.log = log
    write.calls = lambda: log.read_text().split()
    return write


@pytest.mark.parametrize(
    ("source", "arguments"),
    [
        (SYNC, ()),
        (ASYNC, ("--bench-jobs=4",)),
        pytest.param(ASYNC, ("-n2", "--bench-jobs=4"), marks=pytest.mark.slow),
    ],
    ids=["one", "four", "workers"],
)
def test_each_way_gives_the_same_run(waiting, source, arguments, kept):
    bench = waiting(source)
    result = bench.run(*arguments, "--bench-trials=2", apart="-n2" in arguments)
    assert result.ret == pytest.ExitCode.OK
    report = bench.record()["report"]
    assert report["run_id"] == kept.setdefault("run_id", report["run_id"])
    assert sorted(waiting.calls()) == sorted(2 * [f"{n:02}" for n in range(1, 13)])
    assert main(["verify", str(bench.out)]) == 0


def test_the_other_door_runs_many_at_once_too(waiting, capsys, kept):
    bench = waiting(SYNC)
    arguments = [f"--bench-root={bench.root / 'bench'}", f"--out={bench.out}", "--trials=2"]
    assert main(["run", "--task-class=echo", "--jobs=5", *arguments]) == 0
    report = bench.record()["report"]
    assert report["run_id"] == kept.setdefault("run_id", report["run_id"])
    cases = [json.loads(line)["case_id"] for line in capsys.readouterr().out.splitlines()[:-1]]
    assert cases == sorted(cases)


BEGINS = """
import time
from pathlib import Path

GO = Path(LOG).with_name("go")

def system(case):
    with open(LOG, "a") as log:
        log.write(f"{case.case_id}\\n")
    while case.case_id != "01" and not GO.exists():
        time.sleep(0.01)
    return {"answer": ""}
"""
"""The first fails at once; the others say that they have begun, and wait."""


@pytest.mark.parametrize("source", [ASYNC, SYNC], ids=["async", "sync"])
def test_items_are_reported_in_order_with_their_own_prints_and_durations(waiting, source):
    bench = waiting(source, {"01": 1.2})
    started = time.monotonic()
    result = bench.run("--bench-jobs=12", "-rP", "-v", "--durations=0", "-vv")
    assert time.monotonic() - started < 30
    text = result.stdout.str()
    reported = re.findall(r"case\.toml::(\d\d) PASSED", text)
    assert reported == [f"{n:02}" for n in range(1, 13)]
    assert waiting.calls()[-1] == "01"
    sections = re.findall(r"_+ (\d\d) _+\n-+ Captured stdout call -+\n(.*)\n(.*)\n", text)
    assert sections == [(c, f"asked {c}", f"answered {c}") for c in reported]
    durations = {case: float(s) for s, case in re.findall(r"([\d.]+)s call .*::(\d\d)", text)}
    assert durations.pop("01") >= 1.2
    assert len(durations) == 11
    assert (
        max(durations.values()) < 1
    )  # that they waited for it to be reported is not their own time


@pytest.mark.slow
def test_a_thread_over_its_limit_is_given_up_and_does_not_hang_the_session(waiting):
    bench = waiting(SYNC, {"02": 600, "05": 600})
    started = time.monotonic()
    bench.run("--bench-jobs=2", "--bench-timeout=2", apart=True)
    assert time.monotonic() - started < 60
    outcomes = bench.outcomes()
    assert {case for case, outcome in outcomes.items() if outcome == "timeout"} == {"02", "05"}


def test_the_first_failure_stops_what_has_not_started(waiting):
    bench = waiting(BEGINS)
    bench.run("--bench-jobs=2", "-x")
    (bench.root / "go").touch()
    assert len(waiting.calls()) <= 3  # the first, which failed, and two that had to wait
    assert set(bench.outcomes().values()) == {"scored", "not_run"}
    assert not bench.record()["report"]["complete"]


def test_only_selected_cases_are_run_ahead(waiting):
    bench = waiting(SYNC)
    bench.run("--bench-jobs=4", "-k", "02 or 07")
    assert sorted(waiting.calls()) == ["02", "07"]


def test_a_case_that_is_skipped_is_not_run_ahead(waiting):
    bench = waiting(SYNC)
    bench.pytester.makeconftest("""
        import pytest

        def pytest_collection_modifyitems(items):
            for item in items:
                if item.name == "05":
                    item.add_marker(pytest.mark.skip(reason="costly"))
    """)
    bench.run("--bench-jobs=4")
    assert "05" not in waiting.calls()
    assert bench.outcomes()["05"] == "skipped"


@pytest.mark.slow
def test_a_case_that_is_run_again_is_run_once_more_and_no_further(waiting):
    failing = SYNC.replace(".upper()", ".upper() + ('x' if case.case_id == '02' else '')")
    bench = waiting(failing)
    bench.run("--bench-jobs=4", "--reruns=2")
    assert waiting.calls().count("02") == 3
    assert waiting.calls().count("03") == 1
    assert bench.result("02")["reruns"] == 2


def test_a_system_may_refuse_to_run_beside_itself(waiting, capsys):
    bench = waiting(SYNC + "\nsystem.concurrency = 'none'\n")
    result = bench.run("--bench-jobs=2")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--bench-jobs=2: system shout says concurrency = 'none'*"])
    assert (
        main(["run", "--task-class=echo", f"--bench-root={bench.root / 'bench'}", "--jobs=2"]) == 2
    )
    assert "says concurrency = 'none'" in capsys.readouterr().err


def test_an_executor_of_ones_own_runs_the_trials(waiting):
    bench = waiting(SYNC)
    bench.pytester.makeconftest("""
        import pathlib
        import pickle
        from concurrent.futures import Future
        from benchgate.models import BenchScore, TrialResult
        from benchgate.trials.executor import TrialRecord

        class Elsewhere:
            closed = False
            def submit(self, request):
                case = pickle.loads(pickle.dumps(request)).case
                future = Future()
                result = TrialResult(
                    case_id=case.case_id, trial=case.trial, seed=case.seed, held_out=False,
                    outcome="scored", score=BenchScore(passed=True, score=0.5),
                )
                record = TrialRecord(result=result, output_json='{"from": "afar"}')
                future.set_result(pickle.loads(pickle.dumps(record)))
                return future
            def close(self):
                pathlib.Path("closed").touch()

        def pytest_bench_executor(config):
            return Elsewhere()
    """)
    result = bench.run()
    assert result.ret == pytest.ExitCode.OK
    assert waiting.calls() == []
    assert bench.record()["report"]["mean_score"] == 0.5
    assert bench.trial("01")["output"] == {"from": "afar"}
    assert (bench.root / "closed").exists()


def test_a_trial_whose_future_has_an_exception_is_not_run_and_says_why(bench):
    bench.pytester.makeconftest("""
        from concurrent.futures import Future

        class Failing:
            jobs = 2
            def submit(self, request):
                future = Future()
                future.set_exception(ConnectionError("the broker is away"))
                return future
            def close(self): ...

        def pytest_bench_executor(config):
            return Failing()
    """)
    assert bench.run("-k", "01").ret == pytest.ExitCode.TESTS_FAILED
    (result,) = bench.read("last-selected/echo/report.json")["report"]["per_case"]
    assert (result["outcome"], result["detail"]) == (
        "not_run",
        "ConnectionError: the broker is away",
    )


HANGS = {
    "blocks the loop": "time.sleep(25)",
    "hides in a thread": "await asyncio.to_thread(time.sleep, 25)",
    "ignores cancellation": "await stubborn()",
}
STUBBORN = """
import asyncio, time

async def stubborn():
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            pass

async def system(case):
    if case.case_id == "03":
        {hang}
    return {{"answer": (case.input_path / "question.txt").read_text().upper()}}
"""


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize("hang", HANGS.values(), ids=HANGS)
def test_an_async_system_that_does_not_end_holds_up_neither_session_nor_exit(bench, hang, jobs):
    bench.write("system.py", STUBBORN.format(hang=hang))
    for number in range(4, 8):
        bench.case(f"{number:02}")
    started = time.monotonic()
    bench.run(f"--bench-jobs={jobs}", "--bench-timeout=1", apart=True)
    assert time.monotonic() - started < 20
    outcomes = bench.outcomes()
    assert outcomes.pop("03") == "timeout"
    blocks = "time.sleep(25)" in hang
    # What runs beside a coroutine that blocks the loop waits too, and may be over its limit; what ran before is not.
    assert outcomes["01"] == "scored" or (blocks and jobs > 1)
    assert set(outcomes.values()) <= ({"scored", "timeout"} if blocks else {"scored"})
    assert bench.record()["report"]["complete"]


HINT = "benchgate: async: shout; with --bench-jobs=N up to N of such trials run at once"
OBJECT = ASYNC.replace(
    "async def system(case)", "class System:\n  async def __call__(self, case)"
).replace("\n    ", "\n      ")


@pytest.mark.parametrize(
    ("source", "arguments", "is_told"),
    [
        (ASYNC, (), True),
        (OBJECT + "\nsystem = System()\n", (), True),
        (ASYNC, ("--bench-jobs=2",), False),
        (ASYNC + "\nsystem.concurrency = 'none'\n", (), False),
        (SYNC, (), False),
    ],
    ids=["function", "object", "many already", "not beside itself", "sync"],
)
def test_the_header_says_what_an_async_system_could_do(waiting, source, arguments, is_told):
    result = waiting(source).run("--co", *arguments)
    assert result.ret == pytest.ExitCode.OK
    assert result.outlines.count(HINT) == is_told


def test_items_that_never_run_do_not_hold_up_those_that_do(waiting):
    bench = waiting("""
import threading

two = threading.Barrier(2)

def system(case):
    try:
        two.wait(1)
        met = 2
    except threading.BrokenBarrierError:
        two.reset()
        met = 1
    with open(LOG, "a") as log:
        log.write(f"{met}\\n")
    return {"answer": ""}
""")
    for number in range(13, 25):
        bench.case(f"{number:02}")
    bench.pytester.makeconftest("""
        import pytest
        def pytest_runtest_setup(item):
            if int(item.name) % 2:
                pytest.skip("odd")
    """)
    bench.run("--bench-jobs=2", "--bench-baseline=none")  # which submits 8 items at most
    assert max(map(int, waiting.calls()[-6:])) > 1
    assert list(bench.outcomes().values()).count("scored") == 12


STARTS = """
import time

def system(case):
    with open(LOG, "a") as log:
        log.write(f"{time.monotonic()}\\n")
    return {"answer": ""}
"""


def test_what_waits_is_not_started_while_the_run_is_judged(waiting):
    bench = waiting(BEGINS)
    bench.pytester.makeconftest(f"""
        import pathlib, time
        def gate(report, before):
            starts = pathlib.Path({str(waiting.log)!r})
            starts.with_name("go").touch()  # from here on there is room for two more
            time.sleep(1)
            return None if len(starts.read_text().split()) <= 3 else "trials went on"
        def pytest_bench_gates(config, task_class):
            return [gate]
    """)
    result = bench.run("--bench-jobs=2", "-x", "--bench-baseline=none")
    assert "trials went on" not in result.stdout.str()
    assert list(bench.outcomes().values()).count("not_run") > 6


def test_the_pace_is_shared_by_classes_whose_other_settings_differ(waiting):
    bench = waiting(STARTS)
    for number in range(5, 13):
        shutil.rmtree(bench.path / "cases" / f"{number:02}")
    second = bench.path.with_name("second")
    shutil.copytree(bench.path, second)
    for path in second.rglob("*"):
        if path.suffix in {".toml", ".py"}:
            write_source(path, path.read_text().replace("echo", "second"))
    for folder, jobs in ((bench.path, 2), (second, 3)):
        (folder / "gate.toml").write_text(f"[run]\njobs = {jobs}\n")
    bench.pytest("--bench=echo", "--bench=second", "--bench-max-rpm=300")
    starts = sorted(map(float, waiting.calls()))
    assert len(starts) == 8
    assert starts[-1] - starts[0] > 1  # 7 times 0.2; two paces would take 3 times


def test_a_trial_of_an_item_that_is_skipped_writes_nothing_afterwards(waiting):
    # It has begun before the first item has ended, and ended before the last one has.
    bench = waiting("""
import time

def said(what):
    with open(LOG) as log:
        return what in log.read().split()

def system(case):
    if case.case_id == "01":
        while not said("begun"):
            time.sleep(0.01)
    if case.case_id == "02":
        with open(LOG, "a") as log:
            log.write("begun\\n")
        while not said("skipped"):
            time.sleep(0.01)
        with open(LOG, "a") as log:
            log.write("ended\\n")
    if case.case_id == "03":
        while not said("ended"):
            time.sleep(0.01)
    return {"answer": (case.input_path / "question.txt").read_text().upper()}
""")
    bench.pytester.makeconftest(f"""
        import pytest
        def pytest_runtest_setup(item):
            if item.name == "02":
                with open({str(waiting.log)!r}, "a") as log:
                    log.write("skipped\\n")
                pytest.skip("not today")
    """)
    bench.run("--bench-jobs=4")
    assert bench.outcomes()["02"] == "skipped"
    assert main(["verify", str(bench.out)]) == 0


@pytest.mark.slow
def test_an_item_that_is_skipped_is_not_waited_for(waiting):
    bench = waiting(SYNC, {"02": 600})
    bench.pytester.makeconftest("""
        import pytest
        def pytest_runtest_setup(item):
            if item.name == "02":
                pytest.skip("not today")
    """)
    started = time.monotonic()
    bench.run("--bench-jobs=4", "-k", "not 03", apart=True)
    assert time.monotonic() - started < 60
