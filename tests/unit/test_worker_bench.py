"""Which classes a worker process has imported at once, and in which order those of one name have their turns."""

from __future__ import annotations

import sys
import threading
import time
from importlib import import_module

import pytest

from benchgate.loader.imports import PACKAGE, forget
from benchgate.remote import worker_bench as module
from benchgate.remote.worker_bench import WorkerBenches


@pytest.fixture
def benches(tmp_path, monkeypatch):
    """Two folders, each with two classes whose modules say where they are."""
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
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
