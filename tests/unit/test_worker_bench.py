"""
Which classes a worker process has imported at once, and in which order those of one name have their turns.

And how a worker isolates, when processes end that it has started for that, and what it refuses.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from importlib import import_module
from pathlib import Path

import pytest

from benchgate.errors import EvalError
from benchgate.loader.case_digest import files_digest
from benchgate.loader.case_folder import read_case
from benchgate.loader.imports import PACKAGE, BenchFinder, forget
from benchgate.remote import worker_bench as module
from benchgate.remote.attempt import Apart, Attempt, SentClass, pack
from benchgate.remote.worker_bench import WorkerBenches
from benchgate.wire.canonical import sha256_hex
from tests.engine.test_isolation import without_sandbox

DECLARED = {"digest": None, "checkpoint": None, "observer": None}
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="isolation needs Linux")


@pytest.fixture
def benches(tmp_path, monkeypatch):
    """Two folders, each with two classes whose modules say where they are."""
    others = [finder for finder in sys.meta_path if not isinstance(finder, BenchFinder)]
    monkeypatch.setattr(sys, "meta_path", others)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    outer = forget()
    benches = WorkerBenches()
    for root in ("one", "two"):
        for name in ("echo", "loud"):
            (tmp_path / root / name).mkdir(parents=True)
            (tmp_path / root / name / "where.py").write_text(f"ROOT = {root!r}")
    yield benches
    benches.prints.close()
    forget()
    sys.modules.update(outer)


def where(name):
    return import_module(f"{PACKAGE}.{name}.where").ROOT


def test_classes_of_two_names_are_imported_side_by_side_and_each_from_its_folder(benches, tmp_path):
    echo, other = benches.open("echo", tmp_path / "one"), benches.open("echo", tmp_path / "two")
    loud = benches.open("loud", tmp_path / "two")
    with benches.using(echo), benches.using(loud):
        assert (where("echo"), where("loud")) == ("one", "two")
    with benches.using(loud):
        kept = sys.modules[f"{PACKAGE}.loud.where"]
        with benches.using(other):
            assert (where("echo"), where("loud")) == ("two", "two")
        with benches.using(echo):
            assert where("echo") == "one"
            exec(f"import {PACKAGE}.echo.where as found", names := {})  # noqa: S102 - by attributes
            assert names["found"].ROOT == "one"
        assert sys.modules[f"{PACKAGE}.loud.where"] is kept


def test_who_waits_for_another_class_of_the_name_is_not_overtaken_for_ever(
    benches, tmp_path, monkeypatch
):
    monkeypatch.setattr(module, "TURN", 0.0)
    keys = {root: benches.open("echo", tmp_path / root) for root in ("one", "two")}
    entered = []

    def use(root):
        with benches.using(keys[root]):
            entered.append((root, where("echo")))

    threads = []
    with benches.using(keys["one"]):
        for count, root in enumerate(("two", "one"), 1):
            threads.append(threading.Thread(target=use, args=[root], daemon=True))
            threads[-1].start()
            deadline = time.monotonic() + 30
            while len(benches._turns["echo"].waiting) < count:
                assert time.monotonic() < deadline, entered
                time.sleep(0.01)
    for thread in threads:
        thread.join(30)
    assert entered == [("two", "two"), ("one", "one")]


def test_within_its_turn_a_class_takes_more_although_another_one_waits(benches, tmp_path):
    keys = {root: benches.open("echo", tmp_path / root) for root in ("one", "two")}
    turn = benches._turns["echo"]
    with benches.using(keys["one"]):
        turn.since = float("inf")
        turn.waiting.append(benches._benches[keys["two"]])
        with benches.using(keys["one"]):
            assert turn.users == 2


# Isolation


class Worker:
    """A worker process without a cluster, which is sent classes and attempts."""

    def __init__(self, benches, folder):
        self.benches = benches
        self.folder = folder

    def send(self, bench, systems=("shout",), level="process"):
        apart = Apart(level=level, limit=60.0, systems=systems)
        data = pack(bench.path)
        sent = SentClass(name=bench.name, sha256=sha256_hex(data), session="s", apart=apart)
        self.benches.receive(sent, data, self.folder / os.urandom(4).hex(), 2)
        return sent

    def receive(self, bench, **how):
        """Have the worker take a class, and import its systems."""
        sent = self.send(bench, **how)
        with self.benches.using(sent.key) as received:
            for name in sent.apart.systems:
                received.check(name, DECLARED)
        return sent

    def run(self, bench, sent, case_id="01", system="shout", limit=30.0):
        """Run a trial, and return its result and whether it changed its case."""
        case, _ = read_case(bench.path / "cases" / case_id, task_class=bench.name, facts_model=None)
        asked = Attempt(
            id="any",
            sent=sent,
            system=system,
            case_id=case_id,
            trial=0,
            seed=1,
            limit=limit,
            side="candidate",
            files=files_digest(case),
        )
        with self.benches.using(sent.key) as received:
            named = received.system(system)
            request = received.request(asked, named)
            record = received.runner(named, limit).run(request)
            return record.result, received.is_modified(asked)


def kept_processes():
    """The numbers of the processes that this one has started to keep those of a class."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return [pid for pid in children if b"keeper" in Path(f"/proc/{pid}/cmdline").read_bytes()]


@pytest.fixture
def worker(benches, tmp_path, monkeypatch):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    yield Worker(benches, tmp_path / "received")
    benches.close()
    assert not kept_processes()
    assert not list(temporary.iterdir())


@LINUX
@pytest.mark.parametrize("level", ["process", "sandbox"])
def test_a_worker_imports_no_system_that_it_isolates(worker, echo, level):
    if level == "sandbox" and without_sandbox():
        pytest.skip(without_sandbox())
    echo.write("other.py", "from .system import system")
    text = (echo.path / "registration.py").read_text()
    both = '{"shout": "system:system", "other": "other:system"}'
    echo.write("registration.py", text.replace('{"shout": "system:system"}', both))
    echo.system("""
        if case.case_id == "02":
            (Path(__file__).parent / "cases/02/expected/answer.txt").read_text()
    """)
    echo.write("system.py", "from pathlib import Path\n" + (echo.path / "system.py").read_text())
    sent = worker.receive(echo, systems=("other", "shout"), level=level)
    assert f"{PACKAGE}.echo.registration" in sys.modules
    assert f"{PACKAGE}.echo.system" not in sys.modules
    assert len(kept_processes()) == 1
    for system in sent.apart.systems:
        result, is_modified = worker.run(echo, sent, system=system)
        assert (result.outcome, is_modified) == ("scored", False)
    result, _ = worker.run(echo, sent, "02")
    if level == "process":
        assert result.outcome == "scored"
    else:
        assert "PermissionError" in result.failure_modes[0].detail


@LINUX
def test_what_an_isolated_trial_changed_is_restored_for_the_next(worker, echo):
    echo.system("""
        if not (case.input_path / "once").exists():
            Path(__file__).parent.joinpath("cases", case.case_id, "input/once").touch()
    """)
    echo.write("system.py", "from pathlib import Path\n" + (echo.path / "system.py").read_text())
    sent = worker.receive(echo)
    for _ in range(2):  # each finds what was sent, and changes it
        assert worker.run(echo, sent)[1]


@LINUX
def test_what_the_import_of_a_system_changed_on_a_worker_is_not_scored_with(worker, echo, tmp_path):
    text = (echo.path / "system.py").read_text()
    echo.write(
        "system.py",
        f"""
        from pathlib import Path
        Path(__file__).parent.joinpath("rubric.py").write_text("no Python")
        for case in Path(__file__).parent.glob("cases/*/case.toml"):
            case.write_text("no TOML")
        if not Path("{tmp_path}/asked").exists():
            Path("{tmp_path}/asked").touch()
            raise ImportError("and is asked again")
        """,
    )
    echo.append("system.py", text)
    with pytest.raises(EvalError, match="and is asked again"):
        worker.receive(echo)
    sent = worker.receive(echo)
    assert worker.run(echo, sent)[0].score.passed
    assert len(list(worker.folder.iterdir())) == 1


@LINUX
def test_a_rubric_has_what_is_left_of_the_limit(worker, echo):
    echo.system("import time; time.sleep(1)")
    echo.rubric("import time; time.sleep(60)")
    sent = worker.receive(echo)
    result, _ = worker.run(echo, sent, limit=1.5)
    assert result.failure_modes[0].detail == "timed out after 1.5 s"
    assert result.duration_seconds < 2.2


@LINUX
def test_processes_that_nothing_uses_end_when_another_class_is_sent(worker, echo, monkeypatch):
    first = worker.receive(echo)
    echo.write("note.md", "another version")
    worker.receive(echo)
    assert len(kept_processes()) == 2
    echo.write("note.md", "a third one")
    worker.send(echo)
    assert len(kept_processes()) == 2
    monkeypatch.setattr(module, "IDLE", -1.0)
    with worker.benches.using(first.key):
        worker.send(echo)
        assert len(kept_processes()) == 1
    third = worker.receive(echo)
    assert len(kept_processes()) == len(list(worker.folder.iterdir())) == 1
    with worker.benches.using(first.key) as gone:
        assert gone is None  # the session that has sent it sends it again
    assert worker.run(echo, third)[0].outcome == "scored"


@LINUX
def test_a_level_that_a_worker_cannot_have_is_refused_with_a_way_out(worker, echo, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(EvalError, match=r"needs Linux.*; start workers only where this level"):
        worker.receive(echo)
