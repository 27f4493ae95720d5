"""Writing is all or nothing, whichever call fails, and for the owner only."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from benchgate.errors import ArtifactError
from benchgate.wire import writing


class Failing:
    """Lets the k-th call of some os functions fail, and all before it pass."""

    def __init__(self, monkeypatch, number):
        self.left = number
        for name in ("open", "fchmod", "fsync", "replace"):
            monkeypatch.setattr(writing.os, name, self.wrapped(getattr(os, name)))

    def wrapped(self, real):
        def call(*args, **kwargs):
            self.left -= 1
            if self.left == 0:
                raise OSError(28, "No space left on device")
            return real(*args, **kwargs)

        return call


def test_a_write_that_fails_at_any_call_leaves_old_or_new(tmp_path, monkeypatch):
    path = tmp_path / "record.json"
    writing.write_file(path, b"old")
    outcomes = set()
    for number in range(1, 8):
        with monkeypatch.context() as patch:
            failing = Failing(patch, number)
            try:
                writing.write_file(path, b"new")
            except ArtifactError as error:
                assert str(path) in str(error)  # noqa: PT017 - not every number makes it fail
                assert "No space left" in str(error)  # noqa: PT017
            failed = failing.left <= 0
        outcomes.add((failed, path.read_bytes()))
        assert path.read_bytes() in {b"old", b"new"}
        assert os.listdir(tmp_path) == ["record.json"]
        path.write_bytes(b"old")
    assert (False, b"new") in outcomes
    assert (True, b"old") in outcomes


@pytest.mark.parametrize("umask", [0o000, 0o777])
def test_files_are_private_whatever_the_umask(tmp_path, umask):
    before = os.umask(umask)
    try:
        writing.make_folder(tmp_path / "a" / "b")
        writing.write_file(tmp_path / "a" / "b" / "x", b"1")
        writing.write_draft(tmp_path / "a" / "b" / "y", b"1")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o700
    for name in "xy":
        assert stat.S_IMODE((tmp_path / "a" / "b" / name).stat().st_mode) == 0o600


def test_a_symlink_is_replaced_and_not_followed(tmp_path):
    victim = tmp_path / "victim"
    victim.write_bytes(b"keep")
    link = tmp_path / "record.json"
    link.symlink_to(victim)
    writing.write_file(link, b"new")
    assert victim.read_bytes() == b"keep"
    assert not link.is_symlink()
    link.unlink()
    link.symlink_to(victim)
    with pytest.raises(ArtifactError):
        writing.write_draft(link, b"new")
    assert victim.read_bytes() == b"keep"


def test_threads_that_write_one_file_do_not_meet(tmp_path):
    def write(number):
        for _ in range(100):
            writing.write_file(tmp_path / "file", b"%d" % number, durable=False)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
