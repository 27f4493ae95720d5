"""Which level stops which cheat: each is tried at the level that stops it, and at the one below."""

from __future__ import annotations

import contextlib
import inspect
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cheats import agent
from tests.conftest import BenchFolder
from tests.engine.test_isolation import without_sandbox

STOPPED_BY = {
    "process": (
        agent.reads_its_environment,
        agent.patches_json,
        agent.patches_math,
        agent.patches_the_rubric,
        agent.plants_modules,
        agent.leaves_a_daemon,
        agent.exits_below_python,
    ),
    "sandbox": (
        agent.reads_expected,
        agent.searches_expected,
        agent.reads_another_case,
        agent.writes_the_record,
        agent.reads_the_parents_environment,
        agent.connects_by_tcp,
        agent.sends_by_udp,
        agent.connects_to_a_unix_socket,
        agent.sends_by_a_pair_of_sockets,
        agent.keeps_shared_memory,
        agent.limits_its_parent,
        agent.signals_its_parent,
    ),
    "no level": (agent.asks_whether_a_path_exists, agent.changes_a_mode),
}
CHEATS = {cheat.__name__: level for level, cheats in STOPPED_BY.items() for cheat in cheats}
LEVELS = ("none", "process", "sandbox", "no level")
PAGE = Path(__file__).parents[2] / "docs/explanation/threat-model.md"

REGISTRATION = """
from benchgate import register_task_class
from .agent import system
from .rubric import CheatRubric

@register_task_class("cheats", systems={"agent": system})
class Cheats(CheatRubric):
    pass
"""
RUBRIC = """
import math, time
from benchgate import BenchScore

class CheatRubric:
    def score(self, case, output, /):
        won = output.get("did") or output.get("answer") == (case.expected_path / "answer.txt").read_text()
        if case.case_id == "leaves_a_daemon":
            late = case.work_path / "late.txt"
            ends = time.monotonic() + 3
            while not late.exists() and time.monotonic() < ends:
                time.sleep(0.05)
            won = late.exists()
        if case.case_id == "plants_modules":
            try:
                import planted_answer
                won = True
            except ImportError:
                pass
        won = bool(won or math.fsum([0.0]) > 0.5)
        return BenchScore(passed=won, score=float(won))
"""


pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="isolation needs Linux"),
    pytest.mark.slow,
]


class Cheats(BenchFolder):
    """A class whose cases are cheats; the services that they reach for run here."""

    def __init__(self, root):
        super().__init__(root, "cheats", cases=0)
        for name in ("system.py", "failure_modes.toml"):
            (self.path / name).unlink()
        self.write("registration.py", REGISTRATION)
        self.write("rubric.py", RUBRIC)
        self.write("agent.py", Path(agent.__file__).read_text())
        (self.out / "runs/cheats").mkdir(parents=True)

    def serve(self, stack, names):
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
        for name in names:
            self.case(name, answer=os.urandom(8).hex())
            self.write(f"cases/{name}/input/port.txt", str(tcp.getsockname()[1]))
            self.write(f"cases/{name}/input/socket.txt", address)
            self.write(f"cases/{name}/input/datagrams.txt", f"{address}d")

    def worked(self, level, names):
        """Run some cheats in a session of their own, and return those that worked."""
        with contextlib.ExitStack() as stack:
            self.serve(stack, ["does_nothing", *names])
            command = [
                sys.executable,
                "-m",
                "benchgate",
                "run",
                "--task-class=cheats",
                "--out=.benchgate",
            ]
            command += [f"--isolation={level}", "--baseline=none"]
            environ = {**os.environ, agent.KEY: "secret"}
            done = subprocess.run(
                command, cwd=self.root, env=environ, capture_output=True, text=True, check=False
            )
        if "exits_below_python" in names and level == "none":
            return {"exits_below_python"} if not done.returncode else set()
        assert done.returncode in {0, 1, 10}, done.stderr
        (self.out / "runs/cheats/planted").unlink(missing_ok=True)
        report = self.record()["report"]
        assert report["isolation_class"] == level
        return {
            one["case_id"] for one in report["per_case"] if one["score"] and one["score"]["passed"]
        }


@pytest.fixture(scope="module")
def worked(tmp_path_factory):
    """The cheats that worked at ``process`` and at ``sandbox``, each of them run once."""
    levels = ["process"] if without_sandbox() else ["process", "sandbox"]
    return {level: Cheats(tmp_path_factory.mktemp(level)).worked(level, CHEATS) for level in levels}


def stopped_by(worked):
    """The level that stopped each cheat, by what was seen."""
    return {
        name: next((level for level, won in worked.items() if name not in won), "no level")
        for name in CHEATS
    }


def table(stopped):
    rows = [f"| {inspect.getdoc(getattr(agent, n))} | {stopped[n]} |" for n in CHEATS]
    return "\n".join(["| the system | stopped by |", "|---|---|", *rows])


@pytest.mark.parametrize("name", [cheat.__name__ for cheat in STOPPED_BY["process"]])
def test_at_level_none_a_cheat_works(tmp_path, name):
    assert name in Cheats(tmp_path).worked("none", [name])


def test_process_stops_what_it_says(worked):
    assert worked["process"] == {name for name, level in CHEATS.items() if level != "process"}


def test_sandbox_stops_what_it_says_and_the_page_has_what_was_seen(worked):
    if reason := without_sandbox():
        pytest.skip(reason)
    assert stopped_by(worked) == CHEATS
    assert table(stopped_by(worked)) in PAGE.read_text()
