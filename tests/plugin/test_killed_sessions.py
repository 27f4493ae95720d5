"""A session or a worker whose process is killed, or still runs: no finished trial is lost or run again."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time

import pytest

from benchgate.cli import main
from benchgate.verify.validate import validate_file

SYSTEM = """
import os
from pathlib import Path

ROOT = Path(__file__).parents[2]

def system(case):
    with open(ROOT / "calls.log", "a") as log:
        log.write(f"{{case.case_id}}-{{case.trial}}\\n")
    if case.case_id == {dies!r} and not (ROOT / "mended").exists():
        {how}
    return {{"answer": (case.input_path / "question.txt").read_text().upper()}}
"""
KILL = "os.kill(os.getpid(), 9)"
DOORS = ["pytest", pytest.param("benchgate run", marks=pytest.mark.slow)]


class Resumable:
    """A bench of six cases with two trials each, whose system ends the process at the fourth until it is mended."""

    def __init__(self, bench, kept: dict) -> None:
        self.bench = bench
        self.kept = kept
        for number in range(4, 7):
            bench.case(f"{number:02}")
        self.log = bench.root / "calls.log"
        self.mended = bench.root / "mended"
        self.ends()

    def ends(self, how: str = KILL, at: str = "04") -> None:
        self.bench.write("system.py", SYSTEM.format(dies=at, how=how))

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

    def tree(self) -> dict[str, bytes]:
        """Return all files of the repository by their paths."""
        root = self.bench.root
        files = (path for path in root.rglob("*") if path.is_file())
        return {str(path.relative_to(root)): path.read_bytes() for path in files}

    def killed(self, door: str = "pytest", *arguments: str) -> None:
        """Run the class in a process that does not come to its end; the same bench leaves the same files again."""
        key = (door, arguments, frozenset(self.tree().items()))
        if key not in self.kept:
            self.kill(door, *arguments)
            self.kept[key] = self.tree()
            return
        for name, content in self.kept[key].items():
            path = self.bench.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def kill(self, door: str, *arguments: str) -> None:
        if door == "pytest":
            plugins = ["-p", "no:randomly", "-p", "no:hypothesispytest"]
            command = ["-m", "pytest", *plugins, "--bench=echo", "--bench-trials=2", *arguments]
        else:
            command = ["-m", "benchgate", *self.command(*arguments)]
        done = subprocess.run(
            [sys.executable, *command],
            cwd=self.bench.root,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
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
        if "whole" not in self.kept:
            assert self.pytest("--bench-out=whole", "-pno:cacheprovider").ret == 0
            (path,) = self.bench.root.glob("whole/runs/echo/*/record.json")
            self.kept["whole"] = timeless(json.loads(path.read_bytes()))
            shutil.rmtree(self.bench.root / "whole")
        self.mend()
        return self.kept["whole"]

    def record(self):
        return timeless(self.bench.record())


def timeless(record):
    for trial in record["report"]["per_case"]:
        trial["duration_seconds"] = 0
    return record["report"]


@pytest.fixture
def resumable(bench, kept) -> Resumable:
    return Resumable(bench, kept)


@pytest.mark.parametrize("door", DOORS)
def test_a_killed_run_is_completed(resumable, door):
    whole = resumable.whole()
    resumable.mended.unlink()
    resumable.killed(door)
    assert len(resumable.files()) == 6
    left = resumable.left()
    name = left.name
    assert {validate_file(path) for path in (left / "cases").iterdir()} == {"case"}
    assert not (left.parent / "HEAD.json").exists()
    resumable.mend()
    assert resumable.run(door, "resume") == 0
    assert resumable.record() == whole
    assert resumable.calls() == [f"{c}-{t}" for c in ("04", "05", "06") for t in (0, 1)]
    assert resumable.bench.record()["resumes"] == {"folder": name, "seq": None}
    assert main(["verify", str(resumable.bench.out), "--require-complete"]) == 0


@pytest.mark.slow
def test_what_finished_behind_a_slow_trial_is_on_disk(resumable):
    resumable.ends(f"import time; time.sleep(1); {KILL}", at="01")
    resumable.killed("pytest", "--bench-jobs=4")
    done = resumable.files()
    assert len(done) == 10
    resumable.mend()
    assert resumable.run("pytest", "resume", "jobs=3") == 0
    assert sorted(resumable.calls()) == ["01-0", "01-1"]
    assert main(["verify", str(resumable.bench.out), "--require-complete"]) == 0


@pytest.mark.slow
def test_the_other_door_keeps_what_finished_behind_a_slow_trial_too(resumable):
    resumable.ends(f"import time; time.sleep(1); {KILL}", at="01")
    resumable.killed("benchgate run", "--jobs=4")
    assert len(resumable.files()) == 10
    resumable.mend()
    assert resumable.run("benchgate run", "resume=auto", "jobs=3") == 0
    assert sorted(resumable.calls()) == ["01-0", "01-1"]


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "3"])
def test_workers_keep_what_they_finished(resumable, jobs):
    whole = resumable.whole()
    resumable.mended.unlink()
    resumable.ends(f"import time; time.sleep(1); os.kill(os.getppid(), 9); {KILL}")
    resumable.killed("pytest", "-n2", f"--bench-jobs={jobs}")
    done = {name.removesuffix(".json") for name in resumable.files()}
    assert done
    resumable.mend()
    assert resumable.pytest("--bench-resume", "-n2", f"--bench-jobs={jobs}", apart=True).ret == 0
    assert resumable.record() == whole
    again = {call.replace("-0", "").replace("-1", "-t1") for call in resumable.calls()}
    assert not again & done
    assert main(["verify", str(resumable.bench.out), "--require-complete"]) == 0


@pytest.mark.slow
def test_a_worker_that_dies_loses_only_what_it_ran(resumable):
    resumable.ends(f"import time; time.sleep(1); {KILL}", at="01")
    result = resumable.pytest("-n1", "--bench-jobs=4", apart=True)
    assert result.ret == 1
    assert resumable.bench.outcomes()["01"] == "not_run"
    twice = {call for call in resumable.calls() if resumable.calls().count(call) > 1}
    assert twice <= {"01-1"}


@pytest.mark.slow
def test_a_run_that_is_resumed_and_killed_again_loses_nothing(resumable):
    whole = resumable.whole()
    resumable.mended.unlink()
    resumable.killed()
    first = resumable.left().name
    (resumable.left() / "cases/01.json").unlink()
    resumable.ends(at="01")
    resumable.killed("pytest", "--bench-resume")
    resumable.mend()
    assert resumable.pytest("--bench-resume").ret == 0
    assert "02-0" not in resumable.calls()
    assert len(resumable.calls()) == 7
    assert resumable.record() == whole
    assert resumable.bench.record()["resumes"]["folder"] == first
    assert main(["verify", str(resumable.bench.out), "--require-complete"]) == 0


def test_a_run_that_goes_on_is_left_alone(resumable, capfd):
    resumable.ends("import time; time.sleep(60)")
    command = [sys.executable, "-m", "benchgate", *resumable.command()]
    with subprocess.Popen(command, cwd=resumable.bench.root, stdout=subprocess.DEVNULL) as going:
        while len(resumable.calls()) < 7 and going.poll() is None:
            time.sleep(0.05)
        name = resumable.left().name
        out = f"--out={resumable.bench.out}"
        resumable.mended.touch()
        assert resumable.run("pytest", f"resume={name}") == 4
        assert "it is running" in capfd.readouterr().err
        assert resumable.run("pytest", "resume") == 0
        going.kill()
    assert main(["runs", out, "--json"]) == 0
    rows = [
        json.loads(line) for line in capfd.readouterr().out.splitlines() if line.startswith("{")
    ]
    assert [(row["seq"], row["state"], row["done"]) for row in rows] == [
        (1, "complete", 12),
        (None, "unrecorded", 6),
    ]


@pytest.mark.slow
def test_a_trial_that_a_plugin_ran_again_stays_one(resumable):
    """Its second attempt was finished when the process was killed."""
    resumable.ends()
    source = (resumable.bench.path / "system.py").read_text()
    flaky = (
        '    if case.case_id == "02" and not (seen := Path(__file__).with_name("seen")).exists():\n'
    )
    flaky += "        seen.touch()\n        raise RuntimeError('flaky')\n"
    resumable.bench.write("system.py", source.replace("    return", f"{flaky}    return"))
    resumable.killed("pytest", "--reruns=1", "-p", "rerunfailures")
    stored = json.loads((resumable.left() / "cases/02.json").read_bytes())
    assert stored["result"]["reruns"] == 1
    resumable.mend()
    assert resumable.pytest("--bench-resume", "--tb=no").ret == 1
    assert resumable.bench.result("02")["reruns"] == 1
    assert resumable.bench.record()["report"]["complete"] is False


LATE = """
import fcntl, time
from pathlib import Path

def system(case):
    root = Path(__file__).parents[2]
    if case.case_id == "01":
        while not all((root / name).exists() for name in ("locked", "begun")):
            time.sleep(0.01)
        raise ValueError("stop here")
    if case.case_id == "02":  # the run cannot be recorded meanwhile
        with open(root / ".benchgate/runs/echo/.lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            (root / "locked").touch()
            time.sleep(3)
    if case.case_id == "03":
        (root / "begun").touch()
        time.sleep(1)
    return {"answer": (case.input_path / "question.txt").read_text().upper()}
"""


@pytest.mark.slow
def test_a_trial_that_ends_while_the_run_is_recorded_changes_nothing(bench, capsys):
    bench.write("system.py", LATE)
    result = bench.run("--bench-jobs=3", "-x", apart=True)
    assert result.ret != 0
    assert bench.outcomes() == {"01": "harness_error", "02": "not_run", "03": "not_run"}
    assert main(["verify", str(bench.out)]) == 0, capsys.readouterr().err


@pytest.mark.slow
def test_a_child_that_a_system_forked_does_not_keep_the_run(resumable):
    resumable.ends(
        "pid = os.fork()\n        if not pid: __import__('time').sleep(20), os._exit(0)\n"
        "        os.kill(os.getpid(), 9)"
    )
    resumable.killed()
    resumable.mend()
    assert resumable.pytest("--bench-resume").ret == 0
    assert len(resumable.calls()) == 6
