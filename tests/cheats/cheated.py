"""A bench that is cheated: its class, whose rubric passes a case if the cheat of that name worked, and its sessions."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import pty
import signal
import socket
import subprocess
import sys
import termios
from pathlib import Path
from tempfile import TemporaryFile

from tests.cheats import agent
from tests.conftest import BenchFolder

HERE = Path(__file__).parent

REGISTRATION = """
from benchgate import register_task_class
from .rubric import CheatRubric

@register_task_class("cheats", systems={systems}, default_system="it"{more})
class Cheats(CheatRubric):
    pass
"""
RUBRIC = """
import math, time
from benchgate import BenchScore

RIGHT = "a constant of the rubric"

def appears(path):
    ends = time.monotonic() + 3
    while not path.exists() and time.monotonic() < ends:
        time.sleep(0.05)
    return path.exists()

def grows(path):
    if not path.exists():
        return False
    before = path.stat().st_size
    time.sleep(1)
    return path.stat().st_size > before

def lives(path):
    try:
        with open(f"/proc/{path.read_text()}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False

class CheatRubric:
    def score(self, case, output, /):
        right = (case.expected_path / "answer.txt").read_text()
        work = case.work_path
        won = output.get("did") or output.get("answer") == right or math.fsum([0.0]) > 0.5
        if case.case_id == "leaves_a_daemon":
            won = appears(work / "late.txt")
        if case.case_id == "plants_modules":
            try:
                import planted_answer
                won = True
            except ImportError:
                pass
        won = bool(won or grows(work / "grows.txt") or lives(work / "daemon.txt"))
        return BenchScore(passed=won, score=float(won))
"""
IMPORTS_LATE = """
from benchgate import BenchScore

class CheatRubric:
    def score(self, case, output, /):
        from .weights import ALL_PASS
        return BenchScore(passed=ALL_PASS, score=float(ALL_PASS))
"""
GOOD = """
import hashlib

def system(case):
    question = (case.input_path / "question.txt").read_bytes()
    return {"answer": hashlib.sha256(question).hexdigest()}
"""
JUDGE = """
def judge(case, output):
    return {}
"""
JUDGED = ', observe="observers.judge:judge"'


def take_terminal():
    """Make the terminal at the standard error that of this session, as a shell does."""
    fcntl.ioctl(2, termios.TIOCSCTTY, 0)


class Cheats(BenchFolder):
    """
    A class whose cases are cheats; the services that they reach for run beside its sessions.

    :param system: the module of its system, in the folder of the class, and what that has beside it.
    """

    def __init__(self, root, system, cases):
        super().__init__(root, "cheats", cases=0)
        (self.path / "system.py").unlink()
        (self.path / "failure_modes.toml").unlink()
        self.system_module = system
        self.rights = {}
        self.more = ""
        self.run_table = []
        self.at_start = None
        self.jobs = 2
        self.write("rubric.py", RUBRIC)
        self.write("good.py", GOOD)
        self.write("cassettes/old.json", "{}")
        for name in ("agent", "at_import"):
            self.write(f"{name}.py", (HERE / f"{name}.py").read_text())
        (self.out / "runs/cheats").mkdir(parents=True)
        (self.out / "runs/cheats/old.json").write_text("{}")
        for name in cases:
            self.case(name, answer=hashlib.sha256(f"q{name}".encode()).hexdigest())

    def register(self):
        """Write what the class says of itself."""
        system = {"call": f"{self.system_module}:system", **self.rights}
        systems = {"it": system, "good": "good:system"}
        self.write("registration.py", REGISTRATION.format(systems=systems, more=self.more))
        passed = '"CHEAT_BENCH", "CHEAT_PORT", "CHEAT_SOCKET"'
        lines = ["[run]", f"pass_env = [{passed}]", *self.run_table]
        if self.more:
            lines.append('observer_env = ["CHEAT_JUDGE_KEY"]')
        self.write("gate.toml", "\n".join(lines) + "\n")

    def services(self, stack):
        """Listen by TCP, and at two Unix sockets; return what tells a system where, and has the keys."""
        address = str(self.root / "s")
        tcp, unix = (
            stack.enter_context(socket.socket(f)) for f in (socket.AF_INET, socket.AF_UNIX)
        )
        datagrams = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        datagrams.bind(f"{address}d")
        tcp.bind(("127.0.0.1", 0))
        unix.bind(address)
        tcp.listen()
        unix.listen()
        stack.callback(os.unlink, f"{address}d")
        stack.callback(os.unlink, address)
        return {
            agent.KEY: "secret",
            "CHEAT_JUDGE_KEY": "judge",
            "CHEAT_BENCH": str(self.path),
            "CHEAT_PORT": str(tcp.getsockname()[1]),
            "CHEAT_SOCKET": address,
        }

    def session(self, level, system="it", seconds=120.0):
        """Run the class; return how that ended and what it said, or nothing if it did not end."""
        # Not as python -m, which has the working directory searched for modules.
        command = [Path(sys.executable).with_name("benchgate"), "run", "--task-class=cheats"]
        command += ["--out=.benchgate", f"--isolation={level}", "--baseline=none"]
        jobs = 1 if level == "none" else self.jobs
        command.append(f"--jobs={jobs}")
        self.register()
        with contextlib.ExitStack() as stack:
            # No pipe, which a daemon would keep open.
            said = stack.enter_context(TemporaryFile("w+", errors="replace"))
            errors = said
            if self.at_start:
                master, errors = pty.openpty()
                stack.callback(os.close, master)
                stack.callback(os.close, errors)
            process = subprocess.Popen(
                [*command, f"--system={system}"],
                cwd=self.root,
                env={**os.environ, **self.services(stack)},
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=errors,
                start_new_session=True,
                preexec_fn=self.at_start,  # noqa: PLW1509 - there are no other threads here
            )
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                return None
            said.seek(0)
            return process.returncode, said.read()

    def won(self, level, system="it", seconds=120.0):
        """Return the cheats that worked in a session: those whose cases passed, or that it breaks or never ends."""
        self.said = "it never ended"
        ended = self.session(level, system, seconds)
        if ended is None:
            return {self.said}
        status, self.said = ended
        if "Traceback" in self.said:
            return {"breaks the session"}
        assert status in {0, 1, 2, 10}, self.said
        if status == 2:
            return set()
        report = self.record()["report"]
        assert report["isolation_class"].startswith(level)
        return {
            one["case_id"] for one in report["per_case"] if one["score"] and one["score"]["passed"]
        }
