"""A full run that was killed, stopped or held up is completed, and no finished trial is run again."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from benchgate.cli import main

SYSTEM = """
import os
from pathlib import Path

def system(case):
    with open({log!r}, "a") as log:
        log.write(f"{{case.case_id}}-{{case.trial}}\\n")
    if case.case_id == {dies!r} and not os.path.exists({mended!r}):
        {how}
    return {{"answer": (case.input_path / "question.txt").read_text().upper()}}
"""
KILL = "os.kill(os.getpid(), 9)"
DOORS = ["pytest", "benchgate run"]


class Resumable:
    """A bench of six cases with two trials each, whose system ends the process at the fourth until it is mended."""

    def __init__(self, bench) -> None:
        self.bench = bench
        for number in range(4, 7):
            bench.case(f"{number:02}")
        self.log = bench.root / "calls.log"
        self.mended = bench.root / "mended"
        self.ends()

    def ends(self, how: str = KILL, at: str = "04") -> None:
        source = SYSTEM.format(log=str(self.log), mended=str(self.mended), dies=at, how=how)
        self.bench.write("system.py", source)

    def mend(self) -> None:
        self.mended.touch()
        self.log.unlink(missing_ok=True)

    def calls(self) -> list[str]:
        return self.log.read_text().split() if self.log.exists() else []

    def pytest(self, *arguments: object, apart: bool = False) -> pytest.RunResult:
        return self.bench.run("--bench-trials=2", *arguments, apart=apart)

    def command(self, *arguments: str) -> list[str]:
        where = [f"--bench-root={self.bench.root / 'bench'}", f"--out={self.bench.out}"]
        return ["run", "--task-class=echo", "--trials=2", *where, *arguments]

    def run(self, door: str, *arguments: str) -> int:
        """Run the class through a door, in this process."""
        if door == "pytest":
            return int(self.pytest(*(f"--bench-{a}" for a in arguments)).ret)
        return main(self.command(*(f"--{a}" for a in arguments)))

    def killed(self, door: str = "pytest", *arguments: str) -> None:
        """Run the class in a process that does not come to its end."""
        if door == "pytest":
            plugins = ["-p", "no:randomly", "-p", "no:hypothesispytest"]
            command = ["-m", "pytest", *plugins, "--bench=echo", "--bench-trials=2", *arguments]
        else:
            command = ["-m", "benchgate", *self.command(*arguments)]
        done = subprocess.run(
            [sys.executable, *command], cwd=self.bench.root, capture_output=True, check=False
        )
        assert done.returncode < 0

    def left(self):
        """Return the folder that was left."""
        (folder,) = (self.bench.out / "runs/echo").glob("incomplete-*")
        return folder

    def files(self) -> set[str]:
        return {path.name for path in (self.left() / "cases").iterdir()}

    def whole(self):
        """Return the report of a run that nothing ended, without times."""
        self.mend()
        assert self.pytest("--bench-out=whole").ret == 0
        (path,) = self.bench.root.glob("whole/runs/echo/*/record.json")
        self.mend()
        return timeless(json.loads(path.read_bytes()))

    def record(self):
        return timeless(self.bench.record())


def timeless(record):
    for trial in record["report"]["per_case"]:
        trial["duration_seconds"] = 0
    return record["report"]


@pytest.fixture
def resumable(bench) -> Resumable:
    return Resumable(bench)


@pytest.mark.parametrize("door", DOORS)
def test_a_killed_run_is_completed(resumable, door):
    whole = resumable.whole()
    resumable.mended.unlink()
    resumable.killed(door)
    assert len(resumable.files()) == 6
    name = resumable.left().name
    resumable.mend()
    assert resumable.run(door, "resume") == 0
    assert resumable.record() == whole
    assert resumable.calls() == [f"{c}-{t}" for c in ("04", "05", "06") for t in (0, 1)]
    assert resumable.bench.record()["resumes"] == {"folder": name, "seq": None}
    assert main(["verify", str(resumable.bench.out), "--require-complete"]) == 0
