"""What a trial's folder takes of the disk: counted in steps, whatever the trial does to it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from benchgate.isolation.disk import DEEPEST, LEAST, Disk
from benchgate.isolation.privileges import drop
from tests.unit.test_privileges import _become_nobody, in_child

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="isolation needs Linux")

MIB = 2**20
LONG = 60.0


@pytest.fixture
def is_over(tmp_path):
    """Whether the folder takes more than so many bytes, by one whole count that leaves no descriptor open."""

    def is_over(most):
        before = os.listdir("/proc/self/fd")
        disk = Disk(tmp_path, most)
        try:
            return disk.is_over(LONG)
        finally:
            disk.close()
            assert os.listdir("/proc/self/fd") == before

    return is_over


def written(path, size):
    path.write_bytes(os.urandom(size))
    os.sync()  # some file systems allocate blocks only then


def test_what_files_occupy_is_counted(is_over, tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    written(tmp_path / "a" / "b" / "file", MIB)
    written(tmp_path / "file", MIB)
    assert is_over(2 * MIB - 1)
    assert not is_over(2 * MIB + 16 * LEAST)


def test_a_hole_takes_nothing(is_over, tmp_path):
    with (tmp_path / "file").open("wb") as file:
        file.truncate(100 * MIB)
    assert not is_over(MIB)


def test_each_entry_takes_something(is_over, tmp_path):
    for number in range(300):
        (tmp_path / str(number)).touch()
    assert is_over(299 * LEAST)
    assert not is_over(300 * LEAST)


def test_a_file_of_two_names_is_counted_once(is_over, tmp_path):
    written(tmp_path / "file", MIB)
    (tmp_path / "again").hardlink_to(tmp_path / "file")
    assert not is_over(MIB + 4 * LEAST)


def test_no_link_is_followed(tmp_path):
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    written(outside / "file", MIB)
    (inside / "folder").symlink_to(outside)
    (inside / "file").symlink_to(outside / "file")
    (inside / "circle").symlink_to(inside)
    assert not Disk(inside, MIB // 2).is_over(LONG)
    (tmp_path / "link").symlink_to(outside)
    assert not Disk(tmp_path / "link", MIB // 2).is_over(LONG)


def test_a_folder_that_is_gone_takes_nothing(tmp_path):
    assert not Disk(tmp_path / "gone", 0).is_over(LONG)


@pytest.mark.parametrize(("levels", "said"), [(DEEPEST - 1, False), (DEEPEST + 9, True)])
def test_a_tree_that_is_too_deep_to_count_is_over(is_over, tmp_path, levels, said):
    """Of names that make a path longer than any call takes."""
    name = "d" * 100
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir(name, dir_fd=here)
        below = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    try:
        assert is_over(1000 * MIB) is said
    finally:
        subprocess.run(["rm", "-rf", tmp_path / name], check=True)


def test_an_ordinary_user_counts_what_it_may_read(tmp_path):
    closed, listed = tmp_path / "closed", tmp_path / "listed"
    for folder in (closed, listed):
        folder.mkdir()
        for number in range(10):
            (folder / str(number)).touch()
    if os.geteuid() == 0:
        subprocess.run(["chown", "-R", "65534:65534", tmp_path], check=True)
    listed.chmod(0o400)
    closed.chmod(0)

    def counted():
        return [Disk(os.curdir, most * LEAST).is_over(LONG) for most in (11, 12)]

    # Nobody may search the folders above, which are of the user who runs the tests.
    assert in_child(lambda: os.chdir(tmp_path), _become_nobody, drop, counted) == [True, False]
    closed.chmod(0o700)
    listed.chmod(0o700)


def test_a_count_goes_on_where_the_last_call_stopped(tmp_path):
    for folder in "abcd":
        (tmp_path / folder).mkdir()
        for number in range(100):
            (tmp_path / folder / str(number)).touch()
    small, large = Disk(tmp_path, 300 * LEAST), Disk(tmp_path, 404 * LEAST)
    assert [small.is_over(0) for _ in range(6)] == [False] * 4 + [True] * 2
    assert [large.is_over(0) for _ in range(20)] == [False] * 20
    small.close()
    large.close()


def test_a_tree_that_changes_while_it_is_counted(tmp_path):
    stopped = threading.Event()

    def change():
        while not stopped.is_set():
            for number in range(20):
                (tmp_path / f"{number}" / "below").mkdir(parents=True, exist_ok=True)
                (tmp_path / f"{number}" / "below" / "file").touch()
            for number in range(20):
                (tmp_path / f"{number}" / "below" / "file").unlink()
                (tmp_path / f"{number}" / "below").rmdir()
                (tmp_path / f"{number}" / "below").symlink_to("/")
                (tmp_path / f"{number}" / "below").unlink()
                (tmp_path / f"{number}").rmdir()

    thread = threading.Thread(target=change)
    thread.start()
    try:
        disk = Disk(tmp_path, 1000 * LEAST)
        assert not any(disk.is_over(LONG) for _ in range(300))
    finally:
        stopped.set()
        thread.join()
        disk.close()
