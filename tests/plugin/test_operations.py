"""What a case costs, as numbers of operations that no busy machine changes: more is a decision, not an accident."""

from __future__ import annotations

import faulthandler
import gc
import hashlib
import os
import sys
from collections import Counter

import pytest
import rfc8785
from _pytest import nodes
from pydantic import BaseModel

from benchgate import run_eval

MORE = 10
INPUT_BYTES = 100_000
BUDGET = {
    # case.toml, twice the file of input/ and twice that of expected/, the trial's file and its line in
    # trials.sha256; one each by system and rubric
    "open": 9,
    # one for the case; input/ and expected/ each when it is read, before the run and after it
    "scandir": 6,
    "listdir": 1,
    # nobody asks for work_path
    "mkdir": 0,
    "rmdir": 0,
    "fsync": 0,
    "unlink": 0,
    "fchmod": 0,
    # all variables are read once, and again when there are more or fewer
    "environment": 0,
    "thread": 0,
    # for the trial itself, for the rubric, for the system
    "copy": 3,
    # case, score, result
    "model": 3,
    "slow encoding": 0,
    # its item
    "node": 1,
}
# The record is hashed with the beginning of each case's input in it, 2 KB.
HASHED = 2 * INPUT_BYTES + 3_000 + 2_500


class Hash:
    """SHA-256 that counts its bytes."""

    def __init__(self, counted, data=b""):
        self._counted, self._inner = counted, REAL()
        self.update(data)

    def update(self, data):
        self._counted["hashed"] += len(data)
        self._inner.update(data)

    def digest(self):
        return self._inner.digest()

    def hexdigest(self):
        return self._inner.hexdigest()


REAL = hashlib.sha256


@pytest.fixture
def counted(monkeypatch):
    """Count what is called from now on."""
    found = Counter()

    def count(owner, name, key):
        real = getattr(owner, name)

        def called(*arguments, **named):
            found[key] += 1
            return real(*arguments, **named)

        monkeypatch.setattr(owner, name, called)

    for name in ("open", "scandir", "listdir", "mkdir", "rmdir", "fsync", "unlink", "fchmod"):
        count(os, name, name)
    count(type(os.environ), "__iter__", "environment")
    count(faulthandler, "dump_traceback_later", "thread")
    count(BaseModel, "__init__", "model")
    count(BaseModel, "model_copy", "copy")
    count(rfc8785, "dumps", "slow encoding")
    count(nodes.Node, "__init__", "node")
    # A trial that a busy machine makes slow would not share its timer with the next one.
    monkeypatch.setattr("benchgate.trials.time_limit.QUICK", 60.0)
    monkeypatch.setattr(hashlib, "sha256", lambda data=b"": Hash(found, data))
    return found


def by_pytest(bench):
    assert bench.run("-p", "no:faulthandler").ret == 0


def by_library(bench):
    out = bench.root / "library"
    assert run_eval("echo", bench_root=bench.path.parent, out_dir=out).complete


@pytest.mark.parametrize("run", [by_pytest, by_library])
def test_a_case_takes_no_more_operations_than_the_budget(bench, counted, run):
    bench.system("print('asked')")  # which its item's reports have, without keys

    def counts(first, last):
        for number in range(first, last):
            bench.case(f"{number:02}")
            bench.write(f"cases/{number:02}/input/large.txt", "x" * INPUT_BYTES)
        counted.clear()
        run(bench)
        return counted.copy()

    counts(4, 5)  # what only the first run imports, makes and finds
    few, many = counts(5, 6), counts(6, 6 + MORE)
    for key, allowed in BUDGET.items():
        assert (many[key] - few[key]) / MORE <= allowed, key
    assert (many["hashed"] - few["hashed"]) / MORE <= HASHED


def test_the_collector_leaves_alone_what_is_there_when_a_session_begins(bench):
    told = bench.root / "frozen"
    bench.system(f"""
        import gc, pathlib
        pathlib.Path({str(told)!r}).write_text(str(gc.get_freeze_count()))
    """)
    assert bench.run().ret == 0
    assert int(told.read_text()) > len(sys.modules)
    assert gc.get_freeze_count() == 0
