"""A run that is told to stop, by whatever signal: what was measured is recorded, reports are written, nothing hangs."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import signal
import subprocess
import sys
import termios
import time
from contextlib import suppress

import pytest

from benchgate.cli import main

SYSTEM = """
import time
from pathlib import Path

{kind} system(case):
    with open({log!r}, "a") as log:
        log.write(f"{{case.case_id}}\\n")
    if case.case_id != "01":
        {wait}
    return {{"answer": (case.input_path / "question.txt").read_text().upper()}}
"""
SLEEPS = "def", "time.sleep(600)"
AWAITS = "async def", "await __import__('asyncio').sleep(600)"
PYTEST = ("pytest", "-p", "no:randomly", "-p", "no:hypothesispytest", "--bench=echo")
REPORTS = ("--junitxml=junit.xml", "--json-report", "--json-report-file=report.json")


@pytest.fixture(autouse=True)
def without_nohup():
    """Under nohup SIGHUP is ignored, and in a shell's background SIGINT, here and in every program started here."""
    before = {n: signal.signal(n, signal.SIG_DFL) for n in (signal.SIGHUP, signal.SIGINT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


class Program:
    """A program in a process group of its own, which is told to stop while a case waits for ten minutes."""

    def __init__(self, bench, command, log, output=subprocess.PIPE, **more):
        self.bench = bench
        self.log = log
        self.process = subprocess.Popen(
            [sys.executable, "-m", *command],
            cwd=bench.root,
            start_new_session=True,
            stdout=output,
            stderr=subprocess.STDOUT,
            text=True,
            **more,
        )

    def reached(self, *cases):
        """Wait until some cases have started and the first one has its file."""
        ends = time.monotonic() + 60
        files = self.bench.out
        while not (
            set(cases) <= set(self.log.read_text().split())
            and list(files.glob("runs/echo/incomplete-*/cases/01.json"))
        ):
            assert self.process.poll() is None, self.process.stdout and self.process.stdout.read()
            assert time.monotonic() < ends, "waited in vain"
            time.sleep(0.02)
        # A signal that comes between its last line and its sleep is heard by CPython only after the sleep.
        time.sleep(1)
        return self

    def stop(self, number, *, group=False):
        (os.killpg if group else os.kill)(self.process.pid, number)
        return self.end()

    def end(self):
        """Return the exit status and how long the program took for it."""
        started = time.monotonic()
        self.output = self.process.communicate(timeout=60)[0]
        return self.process.returncode, time.monotonic() - started


@pytest.fixture
def start(bench):
    log = bench.root / "calls.log"
    log.touch()
    programs = []

    def start(*command, system=SLEEPS, **more):
        kind, wait = system
        source = SYSTEM.format(log=str(log), kind=kind, wait=wait)
        bench.write("system.py", source)
        programs.append(Program(bench, command, log, **more))
        return programs[-1]

    yield start
    for program in programs:
        with suppress(ProcessLookupError):
            os.killpg(program.process.pid, signal.SIGKILL)
        program.process.wait()


def command(bench, *arguments):
    where = (f"--bench-root={bench.root / 'bench'}", f"--out={bench.out}")
    return "benchgate", "run", "--task-class=echo", *where, *arguments


def recorded(bench):
    """Return how the trials of the one recorded run ended; it is incomplete, and its chain is in order."""
    report = bench.record()["report"]
    assert not report["complete"]
    assert not list(bench.out.glob("runs/echo/incomplete-*"))
    assert main(["verify", str(bench.out)]) == 0
    return bench.outcomes()


STOPPED = {"01": "scored", "02": "not_run", "03": "not_run"}


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_session_is_recorded_and_reported(bench, start, number):
    program = start(*PYTEST, *REPORTS).reached("02")
    status, took = program.stop(number)
    assert status == pytest.ExitCode.INTERRUPTED, program.output
    assert took < 20
    assert_recorded_and_reported(bench)


def assert_recorded_and_reported(bench):
    assert recorded(bench) == STOPPED
    assert (
        '<testcase classname="bench.echo.cases.01.case.toml" name="01"'
        in (bench.root / "junit.xml").read_text()
    )
    (section,) = json.loads((bench.root / "report.json").read_bytes())["benchgate"]
    assert not section["complete"]


@pytest.mark.slow
@pytest.mark.parametrize("group", [False, True], ids=["controller", "group"])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_session_with_workers_is_recorded_and_reported(bench, start, group, jobs):
    program = start(*PYTEST, *REPORTS, "-n2", f"--bench-jobs={jobs}").reached("02", "03")
    status, took = program.stop(signal.SIGTERM, group=group)
    assert status == pytest.ExitCode.INTERRUPTED, program.output
    assert took < 9, "docker stop waits for ten seconds"
    assert recorded(bench) == STOPPED
    assert (bench.root / "junit.xml").exists()
    assert (bench.root / "report.json").exists()


@pytest.mark.parametrize(
    ("system", "jobs"),
    [
        pytest.param(SLEEPS, "3", marks=pytest.mark.slow),
        pytest.param(AWAITS, "1", marks=pytest.mark.slow),
        pytest.param(AWAITS, "3", marks=pytest.mark.slow),
    ],
    ids=["sync", "async", "many"],
)
def test_many_trials_in_flight_do_not_hold_it_up(bench, start, system, jobs):
    program = start(*PYTEST, f"--bench-jobs={jobs}", system=system).reached("02")
    status, took = program.stop(signal.SIGTERM)
    assert status == pytest.ExitCode.INTERRUPTED, program.output
    assert took < 20
    assert recorded(bench) == STOPPED


@pytest.mark.parametrize(
    ("number", "jobs"),
    [
        (signal.SIGTERM, "1"),
        pytest.param(signal.SIGHUP, "3", marks=pytest.mark.slow),
        pytest.param(signal.SIGINT, "1", marks=pytest.mark.slow),
    ],
)
def test_the_command_records_too(bench, start, number, jobs):
    program = start(*command(bench, f"--jobs={jobs}")).reached("02")
    status, took = program.stop(number)
    assert status == 130, program.output
    assert took < 20
    assert recorded(bench) == STOPPED


@pytest.mark.slow
def test_what_nohup_ignores_stays_ignored(bench, start):
    script = "import pytest, signal, sys\nsignal.signal(1, signal.SIG_IGN)\nsys.exit(pytest.main())"
    (bench.root / "ignores.py").write_text(script)
    program = start("ignores", *PYTEST[1:], system=("def", "time.sleep(2)")).reached("02")
    os.kill(program.process.pid, signal.SIGHUP)
    status, _ = program.end()
    assert status == pytest.ExitCode.OK, program.output
    assert bench.record()["report"]["complete"]


SLOW_GATE = """
    import time
    from pathlib import Path

    def pytest_bench_gates(task_class):
        def slow(report, before):
            Path("deciding").touch()
            time.sleep(3)
        return [slow]
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_being_recorded_is_recorded_whole(bench, start, number):
    bench.pytester.makeconftest(SLOW_GATE)
    program = start(*PYTEST, "--bench-baseline=none", system=("def", "pass"))
    wait_for(bench.root / "deciding")
    status, _ = program.stop(number)
    assert status == pytest.ExitCode.INTERRUPTED, program.output
    assert bench.record()["report"]["complete"]
    assert main(["verify", str(bench.out)]) == 0


@pytest.mark.slow
def test_a_second_signal_ends_it_at_once(bench, start):
    bench.pytester.makeconftest(SLOW_GATE.replace("sleep(3)", "sleep(600)"))
    program = start(*PYTEST).reached("02")
    os.kill(program.process.pid, signal.SIGTERM)
    wait_for(bench.root / "deciding")
    time.sleep(1.5)
    status, took = program.stop(signal.SIGTERM)
    assert status == -signal.SIGTERM
    assert took < 5


def test_the_same_signal_sent_twice_is_one(bench, start):
    program = start(*PYTEST, *REPORTS).reached("02")
    for _ in range(20):
        os.kill(program.process.pid, signal.SIGTERM)
        time.sleep(0.01)
    status, _ = program.end()
    assert status == pytest.ExitCode.INTERRUPTED, program.output
    assert_recorded_and_reported(bench)


@pytest.mark.slow
def test_a_handler_of_the_users_own_is_left_alone(bench, start):
    bench.pytester.makeconftest("""
        import signal
        from pathlib import Path

        def mine(signum, frame):
            Path("mine").touch()
            raise KeyboardInterrupt

        signal.signal(signal.SIGTERM, mine)
    """)
    program = start(*PYTEST).reached("02")
    status, _ = program.stop(signal.SIGTERM)
    assert status == pytest.ExitCode.INTERRUPTED
    assert (bench.root / "mine").exists()


@pytest.mark.slow
def test_a_system_that_catches_everything_does_not_keep_the_session_alive(bench, start):
    wait = "try:\n            time.sleep(600)\n        except BaseException: pass"
    program = start(*PYTEST, system=("def", wait)).reached("02")
    status, _ = program.stop(signal.SIGTERM)
    assert status == pytest.ExitCode.INTERRUPTED, program.output
    assert "03" not in program.log.read_text()


def wait_for(path):
    ends = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < ends, "waited in vain"
        time.sleep(0.02)


@pytest.mark.slow
@pytest.mark.parametrize("more", [(), ("-n2",)], ids=["alone", "workers"])
def test_a_terminal_that_is_closed_loses_nothing(bench, start, more):
    screen, terminal = pty.openpty()

    def own_terminal():
        fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)

    program = start(*PYTEST, *REPORTS, *more, output=terminal, preexec_fn=own_terminal)
    program.reached("02")
    os.close(terminal)
    os.close(screen)
    program.process.wait(30)
    assert recorded(bench) == STOPPED
    assert (bench.root / "junit.xml").exists()
    assert (bench.root / "report.json").exists()
