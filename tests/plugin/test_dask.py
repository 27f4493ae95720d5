"""Trials on the workers of a Dask cluster: a real scheduler, with workers in processes of their own."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

import benchgate
from benchgate.cli import main
from benchgate.errors import EvalError
from benchgate.remote import cluster as cluster_module
from benchgate.remote.attempt import Attempt, SentClass, pack, unpack, versions
from benchgate.remote.connection import connect
from benchgate.remote.worker import receive, run_attempt
from benchgate.wire.canonical import sha256_hex
from tests.conftest import write_source
from tests.engine.test_isolation import without_sandbox

REQUIRED = os.environ.get("BENCHGATE_REQUIRE_DASK") == "1"
try:
    import distributed
except ImportError:  # pragma: no cover
    distributed = None
assert distributed is not None or not REQUIRED, "BENCHGATE_REQUIRE_DASK=1, and there is no Dask"
pytestmark = pytest.mark.skipif(distributed is None, reason="needs the extra dask")

ROOT = Path(__file__).parents[2]
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="isolation needs Linux")
SOURCE = str(Path(benchgate.__file__).parents[1])
LOGGED = """
import os, time
from pathlib import Path

def system(case):
    print(f"asked {{case.case_id}}")
    with open({log!r}, "a") as log:
        log.write(f"{{case.case_id}} {{os.getpid()}}\\n")
{body}
    return {{"answer": (case.input_path / "question.txt").read_text().upper()}}
"""


class Cluster:
    """A scheduler and its workers, on loopback."""

    def __init__(self, folder, protocol="tcp"):
        self.folder = folder
        self.workers = []
        self.scheduler = self._start(
            "dask_scheduler", "--host=127.0.0.1", "--port=0", f"--protocol={protocol}"
        )
        self.tcp = self._address()

    def _start(self, program, *arguments, **environ):
        path = os.pathsep.join(filter(None, (environ.pop("PYTHONPATH", ""), SOURCE)))
        with open(self.folder / "log", "a") as log:
            return subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{program}", *arguments, "--no-dashboard"],
                cwd=self.folder,
                env={**os.environ, "PYTHONPATH": path, **environ},
                stdout=log,
                stderr=log,
            )

    def _address(self):
        for _ in range(600):
            if found := re.search(
                r"Scheduler at:\s+(\w+://\S+)", (self.folder / "log").read_text()
            ):
                return found[1]
            time.sleep(0.1)
        raise TimeoutError((self.folder / "log").read_text())

    @property
    def url(self):
        return self.tcp.replace("tcp://", "dask://")

    def worker(self, *arguments, **environ):
        """Start a worker of two threads."""
        given = (self.tcp, "--nthreads=2", "--no-nanny", f"--local-directory={self.folder}")
        self.workers.append(self._start("dask_worker", *given, *arguments, **environ))
        return self.workers[-1]

    def client(self, count):
        client = connect(self.url)
        client.wait_for_workers(count, timeout=60)
        return client

    def close(self):
        # Workers first: one whose scheduler is gone looks for it for minutes.
        for process in (*self.workers, self.scheduler):
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def started(folder, workers, *arguments, **environ):
    cluster = Cluster(folder)
    for _ in range(workers):
        cluster.worker(*arguments, **environ)
    with cluster.client(workers):
        return cluster


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """
    Two workers; tests that kill one have a cluster of their own.

    Only one of the tests that ask for it is not slow: with two, both processes of -n2 would start a cluster.
    """
    cluster = started(tmp_path_factory.mktemp("dask"), 2)
    yield cluster
    cluster.close()


@pytest.fixture
def mortal(tmp_path_factory):
    clusters = []

    def start(workers, *arguments, **environ):
        clusters.append(started(tmp_path_factory.mktemp("dask"), workers, *arguments, **environ))
        return clusters[-1]

    yield start
    for one in clusters:
        one.close()


@pytest.fixture
def logged(bench):
    """Eight cases; the system logs each call with its process."""
    for number in range(4, 9):
        bench.case(f"{number:02}")

    def write(body="pass"):
        lines = "\n".join(f"    {line}" for line in body.splitlines())
        bench.write("system.py", LOGGED.format(log=str(bench.root / "calls.log"), body=lines))
        return bench

    write.calls = lambda: [
        line.split() for line in (bench.root / "calls.log").read_text().splitlines()
    ]
    return write


def given(cluster):
    return f"--bench-executor={cluster.url}"


def test_the_run_is_that_of_one_process(logged, cluster):
    bench = logged("if case.case_id == '03':\n    raise KeyError('x')")
    bench.run("--bench-trials=2")
    serial = bench.record()["report"]
    assert "worker" not in bench.trial("03")
    result = bench.run("--bench-trials=2", given(cluster), "-rP")
    record = bench.record()
    assert (record["seq"], record["report"]["run_id"]) == (2, serial["run_id"])
    assert record["report"]["plan_id"] == serial["plan_id"]
    assert bench.trial("03")["result"]["failure_modes"] == [
        {"code": "harness_error", "detail": "KeyError: 'x'", "error": "KeyError"}
    ]
    result.stdout.fnmatch_lines(["*raised at bench/echo/system.py:*", "asked 01"])
    pids = {int(pid) for _, pid in logged.calls()[16:]}
    assert os.getpid() not in pids
    assert len(pids) == 2
    with cluster.client(2) as client:
        workers = client.nthreads().keys()
    files = [bench.trial(f"{case:02}") for case in range(1, 9)]
    assert {file["worker"] for file in files} <= workers
    assert len(logged.calls()) == 32
    assert main(["verify", str(bench.out), "--require-complete"]) == 0


@pytest.mark.slow
def test_the_other_door_runs_there_too(logged, cluster, capsys):
    bench = logged()
    arguments = [f"--bench-root={bench.root / 'bench'}", f"--out={bench.out}"]
    assert main(["run", "--task-class=echo", *arguments]) == 0
    assert main(["run", "--task-class=echo", *arguments, f"--executor={cluster.url}"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines[8]["run_id"] == lines[17]["run_id"]
    assert os.getpid() not in {int(pid) for _, pid in logged.calls()[8:]}


@pytest.mark.slow
def test_a_baseline_that_runs_too_and_a_part_of_the_cases(logged, cluster):
    bench = logged()
    bench.run(given(cluster), "--bench-baseline=run:shout", "--bench-exit=gate")
    assert len(logged.calls()) == 16
    record = bench.record()
    assert record["baseline"]["report"]["run_id"] == record["report"]["run_id"]
    result = bench.run(given(cluster), "-k", "02 or 05")
    assert result.ret == 0
    (file,) = bench.out.glob("last-selected/*/cases/02.json")
    assert json.loads(file.read_bytes())["worker"].startswith("tcp://")
    assert sorted(case for case, _ in logged.calls()[16:]) == ["02", "05"]


@pytest.mark.slow
def test_limits_retries_and_async_systems(logged, cluster):
    bench = logged("""
if case.case_id == "02":
    time.sleep(30)
if case.case_id == "04":
    from benchgate import SystemUnavailable
    raise SystemUnavailable(retry_after=0)
""")
    source = (bench.path / "system.py").read_text()
    source = source.replace("def system", "async def system").replace("time.sleep", "await sleep")
    bench.write("system.py", f"from asyncio import sleep\n{source}")
    started_at = time.monotonic()
    bench.case("02", timeout_seconds="1")
    bench.run(given(cluster), "--bench-retries=2")
    assert time.monotonic() - started_at < 25
    outcomes = bench.outcomes()
    assert (outcomes.pop("02"), outcomes.pop("04")) == ("timeout", "unavailable")
    assert set(outcomes.values()) == {"scored"}
    assert bench.result("04")["retries"] == 2
    assert [case for case, _ in logged.calls()].count("04") == 3


@pytest.mark.slow
def test_a_cap_holds_and_the_rest_is_resumed(logged, cluster):
    bench = logged("case.usage.add(cost_usd=1.0)\ntime.sleep(0.05)")
    rubric = (bench.path / "rubric.py").read_text()
    bench.write("rubric.py", rubric.replace("cost_usd=0.25", "cost_usd=0.0"))
    bench.run(given(cluster), "--bench-max-cost-usd=3.5", "--bench-exit=gate")
    assert len(logged.calls()) == 3
    assert list(bench.outcomes().values()).count("not_run") == 5
    bench.run(given(cluster), "--bench-resume", "--bench-exit=gate")
    assert len(logged.calls()) == 8
    assert bench.record()["report"]["complete"]
    assert main(["verify", str(bench.out)]) == 0


@pytest.mark.slow
def test_a_trial_that_changes_its_inputs_is_found_there_and_the_next_has_them_as_they_were(
    logged, cluster
):
    bench = logged(
        "if case.case_id == '02' and not case.trial:\n"
        "    (case.input_path / 'question.txt').write_text('other')"
    )
    bench.run(given(cluster), "--bench-trials=2", "--bench-jobs=2", "-k", "02")
    first, second = bench.selected()["per_case"]
    assert [mode["code"] for mode in first["failure_modes"]] == ["wrong", "input_modified"]
    assert second["score"]["passed"]
    assert (bench.path / "cases/02/input/question.txt").read_text() == "q02"


@pytest.mark.slow
def test_a_worker_that_is_killed_loses_no_trial_and_repeats_none_silently(logged, mortal):
    cluster = mortal(2)
    kill = f"""
once = Path({str(cluster.folder / "once")!r})
time.sleep(0.2)
if case.case_id == "03" and not once.exists():
    once.touch()
    os.kill(os.getpid(), 9)
"""
    bench = logged(kill)
    result = bench.run(given(cluster))
    assert result.ret == 0
    report = bench.record()["report"]
    assert report["complete"]
    retried = {trial["case_id"] for trial in report["per_case"] if trial["retries"]}
    assert "03" in retried
    assert {trial["retries"] for trial in report["per_case"]} == {0, 1}
    calls = [case for case, _ in logged.calls()]
    assert {case for case in calls if calls.count(case) > 1} <= retried  # each of them is told
    assert calls.count("03") == 2
    assert (bench.root / "calls.log").exists()
    bench.run()
    assert bench.record()["report"]["run_id"] == report["run_id"]
    assert main(["verify", str(bench.out), "--require-complete"]) == 0


@pytest.mark.slow
def test_a_trial_that_ends_every_worker_is_tried_twice_and_no_more(logged, mortal):
    cluster = mortal(3, "--nthreads=1")
    bench = logged("if case.case_id == '03':\n    os.kill(os.getpid(), 9)")
    bench.run(given(cluster), "--bench-jobs=2")
    assert [case for case, _ in logged.calls()].count("03") == 2
    lost = bench.result("03")
    assert (lost["outcome"], lost["detail"]) == ("not_run", "lost with its worker, again")
    assert {case for case, outcome in bench.outcomes().items() if outcome != "scored"} == {"03"}
    assert not bench.record()["report"]["complete"]


# What runs outside the trial raises too, with a traceback of which Dask tells its client nothing.
RECURSING = """
if case.case_id == "03":
    def forever():
        return forever()
    time.perf_counter = forever
"""


def test_a_recursion_that_outlives_its_trial_ends_as_one_that_nobody_ran(logged, mortal):
    """The session waited for an answer, 30 s longer than the limit of the trial, and that twice."""
    cluster = mortal(2, "--nthreads=1")
    bench = logged(RECURSING.strip())
    bench.run(given(cluster), "--bench-jobs=2", "--bench-timeout=600")
    lost = bench.result("03")
    assert lost["outcome"] == "not_run"
    assert lost["detail"].startswith("failed on its worker with RecursionError: maximum recursion")
    assert lost["detail"].endswith(", again")


@pytest.mark.slow
def test_what_a_worker_that_is_frozen_had_is_run_by_another(logged, mortal, monkeypatch):
    monkeypatch.setattr(cluster_module, "MARGIN", 1.0)
    monkeypatch.setattr("benchgate.remote.connection.SILENT_SECONDS", 5.0)
    cluster = mortal(2)
    once = cluster.folder / "once"
    bench = logged(f"""
once = Path({str(once)!r})
if case.case_id == "03" and not once.exists():
    once.write_text(str(os.getpid()))
    os.kill(os.getpid(), 19)
""")
    assert bench.run(given(cluster), "--bench-timeout=2").ret == 0
    report = bench.record()["report"]
    assert set(bench.outcomes(report).values()) == {"scored"}  # none is a timeout
    frozen = once.read_text()
    assert frozen in {str(worker.pid) for worker in cluster.workers}
    calls = [case for case, _ in logged.calls()]
    assert calls.count("03") == 2
    retried = {trial["case_id"] for trial in report["per_case"] if trial["retries"]}
    # The frozen worker may have one that did not come to its system, and one that it did not come to report.
    assert {case for case in calls if calls.count(case) > 1} <= retried
    assert "03" in retried
    assert retried <= {case for case, pid in logged.calls() if pid != frozen}


@pytest.mark.slow
def test_a_late_answer_is_taken_while_its_trial_has_none(logged, cluster, monkeypatch, tmp_path):
    monkeypatch.setattr(cluster_module, "MARGIN", -60.0)  # silent as soon as it is looked at
    second, ended = tmp_path / "second", tmp_path / "ended"
    bench = logged(f"""
second, ended = Path({str(second)!r}), Path({str(ended)!r})
try:
    Path({str(tmp_path / "first")!r}).touch(exist_ok=False)
    awaited = second
except FileExistsError:
    second.touch()
    awaited = ended
while not awaited.exists():
    time.sleep(0.05)
""")
    bench.pytester.makeconftest(f"""
        import pathlib
        def pytest_bench_case_finished(result):
            pathlib.Path({str(ended)!r}).touch()
    """)
    bench.run(given(cluster), "--bench-timeout=60", "-k", "02")
    (trial,) = bench.selected()["per_case"]
    assert (trial["outcome"], trial["retries"]) == ("scored", 1)
    assert [case for case, _ in logged.calls()] == ["02", "02"]


@pytest.mark.slow
def test_without_the_scheduler_the_session_ends_and_the_run_is_resumed(logged, mortal):
    cluster = mortal(2)
    is_lost = cluster.folder / "lost"
    bench = logged(
        f"while case.case_id > '04' and not os.path.exists({str(is_lost)!r}):\n    time.sleep(0.05)"
    )
    # Trials end only when it is gone for the session too: no answer is quicker than the kill.
    bench.pytester.makeconftest(f"""
        import os, pathlib
        def pytest_bench_case_finished(result):
            if result.case_id == "02" and result.outcome == "scored":
                os.kill({cluster.scheduler.pid}, 9)
            if result.outcome == "not_run":
                pathlib.Path({str(is_lost)!r}).touch()
    """)
    started_at = time.monotonic()
    bench.run(given(cluster))
    assert time.monotonic() - started_at < 60
    report = bench.record()["report"]
    outcomes = bench.outcomes(report)
    assert outcomes["01"] == outcomes["02"] == "scored"
    assert set(outcomes.values()) == {"scored", "not_run"}
    left = [trial for trial in report["per_case"] if trial["outcome"] == "not_run"]
    assert {t["detail"] for t in left} == {"the connection to the scheduler was lost"}
    (bench.root / "conftest.py").unlink()
    bench.run("--bench-resume")
    assert bench.record()["report"]["complete"]
    assert main(["verify", str(bench.out), "--require-complete"]) == 0


@pytest.mark.slow
def test_a_worker_that_joins_later_is_sent_the_class(logged, mortal):
    cluster = mortal(1, "--nthreads=1")
    # No trial ends before another worker has begun one.
    bench = logged("""
while len({line.split()[1] for line in open(log.name)}) < 2:
    time.sleep(0.05)
""")
    threading.Timer(2, cluster.worker).start()
    assert bench.run(given(cluster), "--bench-jobs=4", "--bench-timeout=120").ret == 0
    assert len({pid for _, pid in logged.calls()}) == 2


@pytest.mark.slow
def test_two_runs_share_the_workers(logged, cluster, pytester):
    bench = logged(
        "time.sleep(0.05)\nimport _benchgate_bench.echo.helper as h\nassert h.NAME == 'a'"
    )
    bench.write("helper.py", "NAME = 'a'\n")
    other = pytester.path / "other"
    shutil.copytree(bench.path.parent, other / "bench")
    write_source(other / "bench/echo/helper.py", "NAME = 'b'\n")
    system = other / "bench/echo/system.py"
    write_source(system, system.read_text().replace("== 'a'", "== 'b'"))
    environ = {**os.environ, "PYTHONPATH": SOURCE}
    common = [sys.executable, "-m", "pytest", "--bench=echo", given(cluster), "-pno:randomly"]
    runs = [
        subprocess.Popen([*common, f"--rootdir={folder}"], cwd=folder, env=environ)
        for folder in (pytester.path, other)
    ]
    assert [run.wait(120) for run in runs] == [0, 0]


@pytest.mark.slow
def test_a_run_of_another_class_does_not_wait_for_what_the_first_has_submitted(
    logged, mortal, pytester
):
    cluster = mortal(1)
    asked, there, ended = (pytester.path / name for name in ("asked", "there", "ended"))
    # The first ones hold the threads until the other run has sent its class, the next until it has sent its trials. Of
    # the rest ten may go before those, and no other before they have ended.
    first = logged(f"""
begun = len(open(log.name).readlines())
gates = {{2: {str(asked)!r}, 4: {str(there)!r}, 14: log.name, 99: {str(ended)!r}}}
while not os.path.exists(next(gates[most] for most in gates if begun <= most)):
    time.sleep(0.05)
""")
    type(first)(pytester, "loud")

    def start(name, *arguments):
        command = [sys.executable, "-m", "pytest", f"--bench={name}", f"--bench-out=out-{name}"]
        return subprocess.Popen(
            [*command, given(cluster), "--bench-timeout=100", "-pno:randomly", *arguments],
            cwd=pytester.path,
            env={**os.environ, "PYTHONPATH": SOURCE},
        )

    def wait_for(client, kind, count):
        def found(dask_scheduler):
            return sum(str(key).startswith(kind) for key in dask_scheduler.tasks)

        deadline = time.monotonic() + 60
        while client.run_on_scheduler(found) < count:
            assert time.monotonic() < deadline
            time.sleep(0.1)

    runs = [start("echo", "--bench-trials=10")]
    try:
        with cluster.client(1) as client:
            wait_for(client, "benchgate-", 80)
            runs.append(start("loud"))
            wait_for(client, "receive-", 1)
            asked.touch()
            wait_for(
                client, "benchgate-", 81
            )  # it has 80, some of which have ended, and the other three
            there.touch()
        assert runs[1].wait(60) == 0
        assert len(logged.calls()) <= 16
        ended.touch()
        assert runs[0].wait(120) == 0
    finally:
        for run in runs:
            run.kill()
    for name, trials in (("echo", 80), ("loud", 3)):
        (record,) = (pytester.path / f"out-{name}/runs/{name}").glob("*/record.json")
        outcomes = [t["outcome"] for t in json.loads(record.read_bytes())["report"]["per_case"]]
        assert outcomes == ["scored"] * trials


@pytest.mark.slow
@pytest.mark.parametrize("minimum", [0, 1])
def test_an_adaptive_cluster_starts_a_first_worker_and_grows(logged, monkeypatch, minimum):
    monkeypatch.setenv("PYTHONPATH", SOURCE)
    # No trial ends before another worker has begun one.
    bench = logged("""
while len({line.split()[1] for line in open(log.name)}) < 2:
    time.sleep(0.05)
""")
    with distributed.LocalCluster(
        n_workers=0, threads_per_worker=1, dashboard_address=":0"
    ) as local:
        local.adapt(minimum=minimum, maximum=3, interval="200ms")
        url = local.scheduler_address.replace("tcp://", "dask://")
        result = bench.run(f"--bench-executor={url}", "--bench-trials=5", "--bench-timeout=120")
    assert result.ret == 0
    assert set(bench.outcomes().values()) == {"scored"}


@pytest.mark.slow
def test_with_tls_and_what_refuses_it(bench, tmp_path, monkeypatch):
    if shutil.which("openssl") is None:  # pragma: no cover
        pytest.skip("needs openssl")
    monkeypatch.setattr("benchgate.remote.connection.CONNECT_SECONDS", 20.0)
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    making = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=benchgate"]
    subprocess.run(
        [*making, "-days", "2", "-keyout", str(key), "-out", str(certificate)],
        check=True,
        capture_output=True,
    )
    environ = {"DASK_DISTRIBUTED__COMM__TLS__CA_FILE": str(certificate)}
    for place in ("SCHEDULER", "WORKER", "CLIENT"):
        environ[f"DASK_DISTRIBUTED__COMM__TLS__{place}__CERT"] = str(certificate)
        environ[f"DASK_DISTRIBUTED__COMM__TLS__{place}__KEY"] = str(key)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    cluster = Cluster(tmp_path, "tls")
    try:
        cluster.worker()
        assert cluster.url.startswith("tls://")
        assert bench.run(given(cluster), apart=True).ret == 0
        assert bench.record()["report"]["complete"]
        for name in environ:
            monkeypatch.delenv(name)
        refused = bench.run(given(cluster))
        assert refused.ret == pytest.ExitCode.USAGE_ERROR
        refused.stderr.fnmatch_lines([f"*executor {cluster.url}: no scheduler answers: *TLS*"])
    finally:
        cluster.close()


# Isolation

READS_ANSWERS = """
    import pathlib
    if case.case_id == "02":
        folder = pathlib.Path(__file__).parent / "cases/02"
        return {"answer": (folder / "expected/answer.txt").read_text()}
"""


@LINUX
@pytest.mark.slow
def test_workers_isolate_as_the_session_does_whatever_is_given(bench, cluster):
    if reason := without_sandbox():
        pytest.skip(reason)
    bench.write("gate.toml", '[run]\nisolation = "sandbox"\n')
    bench.system(READS_ANSWERS)
    bench.run("--bench-baseline=run:shout", "--bench-exit=gate")
    alone = bench.record()["report"]
    bench.run(given(cluster), "--bench-baseline=run:shout", "--bench-exit=gate")
    there = bench.record()["report"]
    assert (there["run_id"], there["plan_id"]) == (alone["run_id"], alone["plan_id"])
    assert there["isolation_class"] == "sandbox"
    assert bench.trial("01")["worker"].startswith("tcp://")
    (mode,) = bench.result("02")["failure_modes"]
    assert mode["detail"].startswith("PermissionError: ")
    assert "expected/answer.txt" in mode["detail"]
    bench.run(given(cluster), "-s", "--bench-isolation=none", "--bench-exit=gate")
    assert bench.record()["report"]["run_id"] == alone["run_id"]
    assert bench.record()["report"]["isolation_class"] == "sandbox"
    assert main(["verify", str(bench.out)]) == 0


@LINUX
@pytest.mark.slow
@pytest.mark.parametrize("how", ["closed", "killed"])
def test_a_worker_that_ends_leaves_no_process(bench, mortal, tmp_path, how):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    cluster = mortal(1, "--nanny", TMPDIR=str(temporary))
    assert bench.run(given(cluster), "--bench-isolation=process").ret == 0
    kept = kept_there(temporary)
    assert kept
    (process,) = cluster.workers
    if how == "closed":
        process.terminate()
        process.wait(30)
        assert not list(temporary.glob("benchgate-*"))
    else:  # and its nanny starts another one
        stat = Path("/proc", min(kept, key=int), "stat").read_text()
        os.kill(int(stat.rpartition(")")[2].split()[1]), 9)
    wait_until(lambda: not kept_there(temporary))


def kept_there(temporary):
    """The processes of isolated classes on workers that have a folder; the first one is a child of the worker."""
    found = []
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        try:
            words = Path("/proc", pid, "cmdline").read_bytes()
        except OSError:
            continue
        if b"isolation.keeper" in words and str(temporary).encode() in words:
            found.append(pid)
    return found


def wait_until(is_so):
    ends = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < ends
        time.sleep(0.1)


# What is refused


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--bench-executor=ray://h:1"], "expected dask://HOST:PORT"),
        (["--bench-executor=dask://h:1", "--bench-record=kept"], "record where the run is started"),
        pytest.param(
            ["--bench-executor=dask://h:1", "-n2"], "run it without -n", marks=pytest.mark.slow
        ),
    ],
)
def test_what_cannot_be_meant_is_wrong_use(bench, arguments, message):
    result = bench.run(*arguments, apart="-n2" in arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert message in "\n".join(result.errlines + result.outlines)


def test_nothing_is_reached_to_list_items(bench):
    assert bench.run("--bench-executor=dask://127.0.0.1:9", "--co").ret == 0


def test_where_no_scheduler_is_the_run_does_not_begin(bench, monkeypatch):
    monkeypatch.setattr("benchgate.remote.connection.CONNECT_SECONDS", 0.5)
    result = bench.run("--bench-executor=dask://127.0.0.1:9")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--bench-executor: executor dask://127.0.0.1:9: no scheduler*"])


@pytest.mark.slow
def test_a_hook_that_scores_is_refused(bench, cluster):
    bench.pytester.makeconftest("def pytest_bench_score(case, harness_output): pass")
    result = bench.run(given(cluster))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "scored by a hook, and workers have the rubric alone" in "\n".join(
        result.errlines + result.outlines
    )


@pytest.mark.slow
def test_a_system_of_a_hook_is_refused(bench, cluster):
    bench.pytester.makeconftest(
        "def pytest_bench_system(task_class):\n    return lambda case: {'answer': ''}"
    )
    result = bench.run(given(cluster))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*cannot be found by a name on a worker*"])


@pytest.mark.slow
@pytest.mark.parametrize("file", ["rubric.py", "system.py"])
def test_what_cannot_be_imported_there_is_named(bench, cluster, monkeypatch, file):
    (bench.root / "onlyhere.py").touch()
    monkeypatch.syspath_prepend(bench.root)
    bench.write(file, "import onlyhere\n" + (bench.path / file).read_text())
    result = bench.run(given(cluster))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*worker tcp://*No module named 'onlyhere'*"])


@pytest.mark.slow
def test_a_system_that_is_not_there_or_another_one_is_refused(bench, cluster, monkeypatch):
    (bench.root / "agent_only_here.py").write_text("def run(case): return {'answer': ''}")
    monkeypatch.syspath_prepend(bench.root)
    result = bench.run(given(cluster), "--bench-system=agent_only_here:run")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*worker tcp://*'agent_only_here:run' cannot be imported*"])
    bench.write(
        "system.py",
        "import os\nclass System:\n    def digest(self): return str(os.getpid())\n"
        "    def __call__(self, case): return {}\nsystem = System()\n",
    )
    result = bench.run(given(cluster))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*worker tcp://*: digest of system shout is * here, and *"])


@pytest.mark.slow
def test_a_system_that_must_be_alone_needs_workers_of_one_thread(bench, cluster):
    source = (bench.path / "system.py").read_text()
    bench.write("system.py", source + "\nsystem.concurrency = 'none'\n")
    result = bench.run(given(cluster))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*says concurrency = 'none', and this worker has 2 threads*"])


@pytest.mark.slow
def test_a_worker_of_another_version_is_refused(bench, mortal, tmp_path):
    fake = tmp_path / "pytest_benchgate-99.dist-info"
    fake.mkdir()
    (fake / "METADATA").write_text("Metadata-Version: 2.1\nName: pytest-benchgate\nVersion: 99\n")
    cluster = mortal(1, PYTHONPATH=str(tmp_path))
    result = bench.run(given(cluster))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*worker tcp://*has pytest-benchgate 99, and * is here*"])


def other_pluggy(folder):
    fake = folder / "pluggy-99.dist-info"
    fake.mkdir()
    (fake / "METADATA").write_text("Metadata-Version: 2.1\nName: pluggy\nVersion: 99\n")
    return str(folder)


@pytest.mark.slow
def test_a_worker_with_another_package_is_refused_unless_that_is_allowed(bench, mortal, tmp_path):
    cluster = mortal(1, PYTHONPATH=other_pluggy(tmp_path))
    result = bench.run(given(cluster))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    found = "*worker tcp://*: pluggy is 99 here, and * where the run was started"
    result.stderr.fnmatch_lines([f"{found} (--bench-allow-mixed-workers takes it)"])
    result = bench.run(given(cluster), "--bench-allow-mixed-workers")
    assert result.ret == 0
    result.stdout.fnmatch_lines([found])


@pytest.mark.slow
def test_a_worker_that_joins_later_is_compared_too(logged, mortal, tmp_path):
    cluster = mortal(1, "--nthreads=1")
    joined = tmp_path / "joined"
    bench = logged(f"while not os.path.exists({str(joined)!r}):\n    time.sleep(0.05)")

    def join():
        with cluster.client(1) as client:
            while not (bench.root / "calls.log").exists():
                time.sleep(0.05)
            cluster.worker(PYTHONPATH=other_pluggy(tmp_path))
            client.wait_for_workers(2, timeout=60)
            joined.touch()

    threading.Thread(target=join).start()
    assert bench.run(given(cluster), "--bench-trials=2").ret == 0
    assert {int(pid) for _, pid in logged.calls()} == {cluster.workers[0].pid}


# What a worker answers


@pytest.fixture
def sent(bench):
    bench.write("note.md", str(bench.root))  # no other test has sent this class
    data = pack(bench.path)
    systems = {"shout": {"digest": None, "checkpoint": None}}
    made = SentClass(name="echo", sha256=sha256_hex(data), session="this")
    return made, partial(receive, made, systems, may_be_mixed=False), data


def attempt(sent, name="benchgate-test", **changes):
    fields = {
        "id": name,
        "sent": sent,
        "system": "shout",
        "case_id": "01",
        "trial": 0,
        "seed": 1,
        "limit": 5.0,
        "side": "candidate",
        "files": ("", None),
    }
    return Attempt(**{**fields, **changes})


@pytest.mark.slow
def test_an_attempt_is_started_once_whoever_is_asked(bench, sent, cluster):
    from benchgate.loader.case_digest import files_digest
    from benchgate.loader.case_folder import read_case

    made, receiving, data = sent
    case, _ = read_case(bench.path / "cases/01", task_class="echo", facts_model=None)
    with cluster.client(2) as client:
        assert client.submit(run_attempt, attempt(made), pure=False).result().kind == "lacks"
        ready = client.submit(receiving, versions(), data, pure=False).result()
        assert ready.kind == "ready"
        queue = distributed.Queue("benchgate-test", client=client, maxsize=1)
        asked = attempt(made, files=files_digest(case))
        answers = [
            client.submit(run_attempt, asked, pure=False, workers=[ready.worker]) for _ in range(3)
        ]
        kinds = sorted(answer.kind for answer in client.gather(answers))
        queue.close()
        assert kinds == ["elsewhere", "elsewhere", "ran"]


@pytest.mark.slow
def test_other_versions_and_other_files_are_not_started(sent, cluster):
    made, receiving, data = sent
    with cluster.client(2) as client:
        ready = client.submit(receiving, versions(), data, pure=False).result()

        def ask(call, *given):
            return client.submit(call, *given, pure=False, workers=[ready.worker]).result()

        assert ask(run_attempt, attempt(made)).kind == "changed"
        other = replace(made, session="another")
        assert ask(run_attempt, attempt(other)).kind == "lacks"  # it was not compared with this one
        for name in ("Python", "pytest-benchgate", "platform", "pluggy"):
            wanted = {**versions(["pluggy"]), name: "0.0.1"}
            answer = ask(
                partial(receive, other, *receiving.args[1:], may_be_mixed=False), wanted, data
            )
            why = (
                f"{name} is {versions(['pluggy'])[name]} here, and 0.0.1 where the run was started"
            )
            assert (answer.kind, answer.why.partition(" (")[0]) == ("refused", why)
            assert ask(run_attempt, attempt(other)).kind == "lacks"
        mixed = partial(receive, other, *receiving.args[1:], may_be_mixed=True)
        answer = ask(mixed, wanted, data)
        assert (answer.kind, answer.why) == ("ready", why)
        assert ask(run_attempt, attempt(other)).kind == "changed"
        damaged = ask(receiving, versions(), data[:-1])
        assert (damaged.kind, damaged.why) == ("refused", "class echo arrived damaged")


def test_a_folder_is_packed_the_same_everywhere_and_whole(bench, tmp_path):
    tool = bench.write("tools/run.sh", "#!/bin/sh\n")
    tool.chmod(0o755)
    (bench.path / "__pycache__").mkdir(exist_ok=True)
    data = pack(bench.path)
    copy = shutil.copytree(bench.path, tmp_path / "elsewhere" / "echo")
    assert pack(copy) == data
    unpack(data, tmp_path / "there")
    found = {p.relative_to(tmp_path / "there/echo") for p in (tmp_path / "there").rglob("*.*")}
    assert found == {
        p.relative_to(bench.path) for p in bench.path.rglob("*.*") if "__pycache__" not in p.parts
    }
    assert os.access(tmp_path / "there/echo/tools/run.sh", os.X_OK)
    assert not os.access(tmp_path / "there/echo/rubric.py", os.X_OK)
    (bench.path / "link").symlink_to(bench.root)
    with pytest.raises(EvalError, match="is a link; workers are sent files alone"):
        pack(bench.path)


# Every way of running trials


def merged_run_id(bench):
    parts = [bench.out / "shards" / bench.name / f"{n}-of-2" for n in (1, 2)]
    where = [f"--bench-root={bench.root / 'bench'}", f"--out={bench.root / 'whole'}"]
    # One case ends in an error, which is taken only of a shard that is the expected one.
    digests = [hashlib.sha256((part / "trials.sha256").read_bytes()).hexdigest() for part in parts]
    expect = [f"--expect={n}={digest}" for n, digest in enumerate(digests, 1)]
    assert main(["merge", *map(str, parts), *where, *expect, "--baseline=none"]) in {0, 10}
    (record,) = (bench.root / "whole/runs" / bench.name).glob("*/record.json")
    return json.loads(record.read_bytes())["report"]["run_id"]


@pytest.mark.slow
def test_every_way_gives_one_run_id(logged, cluster):
    bench = logged(
        "if case.case_id == '03':\n    raise KeyError('x')\n"
        "if case.seed % 3 == 0:\n    return {'answer': str(case.seed)}"
    )
    options = ("--bench-trials=2", "--bench-baseline=none", "--bench-exit=gate")
    found = {}
    for way in ("", "-n2", "--bench-jobs=4", given(cluster)):
        arguments = [way] if way else []
        bench.run(*options, *arguments, apart=way == "-n2")
        found[way] = bench.record()["report"]["run_id"]
    for number in (1, 2):
        bench.run(*options, f"--bench-shard={number}/2")
    found["shards"] = merged_run_id(bench)
    assert len(set(found.values())) == 1, found
    assert not bench.result("03")["score"]
    assert {trial["passed"] for trial in map(scored, bench.record()["report"]["per_case"])} == {
        True,
        False,
    }


def scored(trial):
    return trial["score"] or {"passed": False}


def own_tests(folder, _names):
    """Leave out the tests of a class, and not those of a project in one of its cases."""
    return {"tests"} if Path(folder).parent == ROOT / "bench" else set()


@pytest.mark.slow
def test_the_shipped_benches_have_the_run_ids_of_one_process(cluster, tmp_path):
    names = ["gridworld-policy", "migration-chainguard-distroless", "vuln-remediation"]
    shutil.copytree(ROOT / "bench", tmp_path / "bench", ignore=own_tests)
    environ = {**os.environ, "PYTHONPATH": SOURCE, "GITHUB_STEP_SUMMARY": ""}
    run_ids = []
    for way in ([], [given(cluster)]):
        out = tmp_path / f"out{len(way)}"
        command = [sys.executable, "-m", "pytest", *(f"--bench={name}" for name in names)]
        common = ["--bench-exit=gate", "-qq", "-pno:randomly", "-pno:cacheprovider"]
        command = [*command, f"--bench-out={out}", *common, *way]
        done = subprocess.run(command, cwd=tmp_path, env=environ, check=False)
        assert done.returncode in {0, 10}
        records = sorted((out / "runs").glob("*/*/record.json"))
        assert [record.parts[-3] for record in records] == names
        run_ids.append([json.loads(record.read_bytes())["report"]["run_id"] for record in records])
    assert run_ids[0] == run_ids[1]


@pytest.mark.slow
@pytest.mark.parametrize("level", ["none", pytest.param("process", marks=LINUX)])
def test_outputs_are_observed_there_and_an_unavailable_judge_is_asked_again(bench, cluster, level):
    bench.write("gate.toml", "[run]\nobservations = 3\n")
    bench.observer("if case.case_id == '02' and not asked % 4: raise SystemUnavailable('429')")
    run = bench.engine(out=bench.root / "first", baseline="none", isolation=level)
    first = run.judgement.report
    (bench.path / "asked.log").unlink()
    assert bench.run(given(cluster), f"--bench-isolation={level}").ret == 0
    record = bench.record()
    assert record["report"]["run_id"] == first.run_id
    assert record["report"]["plan_id"] == first.plan_id
    assert [len(bench.trial(case)["observations"]) for case in ("01", "02", "03")] == [3, 3, 3]
