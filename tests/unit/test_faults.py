"""Faults of the disk and of single bits, one at a time at every place: each is told, and none breaks the chain."""

from __future__ import annotations

import errno
import itertools
import os
import random
import shutil
from contextlib import suppress

import pytest

from benchgate.errors import EvalError
from benchgate.runner.run import RunSettings, run_class
from benchgate.verify.validate import validate_file
from benchgate.verify.verification import verify
from benchgate.wire import clock, writing

CASE = """\
[case]
case_id = "{case_id}"
task_class = "level"
disposition = "positive"
difficulty = "easy"
source = "curated"
added_at = {today}T00:00:00Z
last_validated_at = {today}T00:00:00Z
"""
REGISTRATION = """\
from benchgate import register_task_class
from .rubric import Level
register_task_class("level", systems={"good": lambda case: {"value": 0.9}})(Level)
"""
RUBRIC = """\
from benchgate import BenchScore
class Level:
    def score(self, case, output, /):
        return BenchScore(passed=True, score=output["value"], safety_penalty=0.0)
"""
LISTING = ("listdir", "scandir")  # pathlib uses the one or the other, by the version of Python
OPERATIONS = ("open", "mkdir", "chmod", "fchmod", "fsync", "replace", "rename", "unlink", *LISTING)


@pytest.fixture
def root(tmp_path):
    """A project with a bench of three cases, its pinned baseline, and one record."""
    folder = tmp_path / "bench" / "level"
    for number in range(1, 4):
        (folder / "cases" / f"{number:02}" / "input").mkdir(parents=True)
        text = CASE.format(case_id=f"{number:02}", today=f"{clock.now():%Y-%m-%d}")
        (folder / "cases" / f"{number:02}" / "case.toml").write_text(text)
    (folder / "rubric.py").write_text(RUBRIC)
    (folder / "registration.py").write_text(REGISTRATION)
    (folder / "failure_modes.toml").write_text("[failure_modes]\n")
    pinned = run(tmp_path, "none").published
    shutil.copy(pinned.folder / "record.json", folder / "baseline.json")
    return tmp_path


def run(root, baseline="auto"):
    return run_class(
        RunSettings(
            task_class="level", baseline=baseline, out=root / "out", bench_root=root / "bench"
        )
    )


def faults(root):
    (found,) = verify(root / "out", {})
    return found.records, found.faults


class Disk:
    """Fails at the k-th file operation below a folder; a write that fails has written half."""

    def __init__(self, patch, folder, k):
        self.left, self.failed = k, None
        self._folder = str(folder)
        for name in OPERATIONS:
            patch.setattr(os, name, self._counted(name, getattr(os, name)))
        patch.setattr(writing, "_write", self._half(writing._write))

    def _is_due(self, name, target):
        if isinstance(target, int):
            target = os.readlink(f"/proc/self/fd/{target}")
        if self.failed or not os.fspath(target).startswith(self._folder):
            return False
        self.left -= 1
        if self.left == 0:
            self.failed = f"{name} {target}"
        return self.left == 0

    def _counted(self, name, real):
        def operation(target, *arguments, **options):
            if self._is_due(name, target):
                raise OSError(errno.EIO, os.strerror(errno.EIO), str(target))
            return real(target, *arguments, **options)

        return operation

    def _half(self, real):
        def write(path, data, *arguments, **options):
            if self._is_due("write", path):
                real(path, data[: len(data) // 2], *arguments, **options)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), os.fspath(path))
            real(path, data, *arguments, **options)

        return write


@pytest.mark.slow
def test_a_fault_at_any_file_operation_is_told_and_breaks_no_chain(root, capsys):
    records = faults(root)[0]
    shutil.copytree(root / "out", root / "before")
    for k in itertools.count(1):
        shutil.rmtree(root / "out")
        shutil.copytree(root / "before", root / "out")
        problems, report = [], None
        with pytest.MonkeyPatch.context() as patch:
            disk = Disk(patch, root / "out", k)
            try:
                made = run(root)
                problems, report = made.problems, made.judgement and made.judgement.report
            except EvalError as error:
                problems = [str(error)]
        if disk.failed is None:
            break
        after, found = faults(root)
        # A copy that is incomplete is told, and is all that may differ.
        copied = "copy of the evidence" not in str(problems)
        assert found == () or (not copied and all("evidence" in str(f.path) for f in found))
        assert problems or after == records + 1, disk.failed
        assert after in (records, records + 1), disk.failed
        told = capsys.readouterr().err
        if after == records and report is not None:
            assert report.run_id in told, disk.failed
        # Whatever failed, the next run goes on, and cleans up.
        assert run(root).problems == [], disk.failed
        assert faults(root) == (after + 1, ())
        assert not list((root / "out").rglob("*.tmp"))
    assert k > 40


@pytest.mark.parametrize(
    "most",
    [pytest.param(15, marks=pytest.mark.slow), pytest.param(60, marks=pytest.mark.nightly)],
)
def test_a_flipped_bit_anywhere_in_a_record_is_found(root, most):
    run(root)
    (newest,) = (root / "out/runs/level").glob("00000002-*")
    drawn = random.Random(12)  # noqa: S311
    for path in sorted(p for p in newest.rglob("*") if p.is_file()):
        data = path.read_bytes()
        for place in drawn.sample(range(len(data)), k=min(len(data), most)):
            flipped = data[place] ^ (1 << drawn.randrange(8))
            path.write_bytes(data[:place] + bytes([flipped]) + data[place + 1 :])
            found = faults(root)[1]
            assert found, (path.name, place)
            assert found[0].seq == 2
            with suppress(EvalError):
                validate_file(path)  # may be valid: a label can be another one
        path.write_bytes(data)
    assert faults(root)[1] == ()
