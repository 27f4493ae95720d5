"""The folder of an isolated session: locked, removed at its end, and by the next session if it was killed."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from fcntl import LOCK_EX, flock
from pathlib import Path

import pytest

import benchgate
from benchgate.isolation import scratch
from tests.unit.test_privileges import _become_nobody, in_child

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="isolation needs Linux")

SESSION = f"""
import sys
sys.path[:0] = [{str(Path(benchgate.__file__).parents[1])!r}]
from benchgate.isolation.scratch import session_folder
with session_folder() as folder:
    print(folder, flush=True)
    input()
"""


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def left(temporary):
    """Make what a killed session leaves."""

    def left(name="left"):
        folder = temporary / f"{scratch.PREFIX}{name}"
        (folder / "trial" / "home").mkdir(parents=True)
        (folder / "trial" / "home" / "file").write_text("left")
        return folder

    return left


def gone(folder):
    ends = time.monotonic() + 30
    while folder.exists() and time.monotonic() < ends:
        time.sleep(0.02)
    return not folder.exists()


def test_the_folder_is_private_while_it_is_used_and_gone_afterwards(temporary):
    with scratch.session_folder() as folder:
        assert folder.parent == temporary
        assert folder.name.startswith("benchgate-isolated-")
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "file").touch()
        scratch._sweep(temporary)
        assert (folder / "file").exists()
    assert not [*temporary.iterdir()]


def test_no_program_that_is_started_holds_the_lock(temporary):
    with scratch.session_folder() as folder:
        command = ["find", "/proc/self/fd", "-lname", f"{folder}*"]
        assert subprocess.check_output(command, close_fds=False) == b""


def test_the_next_session_removes_what_a_killed_one_left(temporary):
    session = subprocess.Popen(
        [sys.executable, "-c", SESSION],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(temporary)},
    )
    with session:
        folder = Path(session.stdout.readline().strip())
        scratch._sweep(temporary)
        assert folder.exists()
        session.kill()
        session.wait()
        assert folder.exists()
        with scratch.session_folder() as other:
            assert gone(folder)
            assert other.exists()


@pytest.mark.parametrize("name", ["left", f"{scratch._machine()}-left"])
def test_what_no_session_holds_is_removed(temporary, left, name):
    folder = left(name)
    scratch._sweep(temporary)
    assert not folder.exists()


def test_what_is_not_left_by_a_session_of_this_machine_stays(temporary, left):
    """Locks of another machine that shares the folder are not seen here."""
    target, file = temporary / "target", temporary / f"{scratch.PREFIX}file"
    foreign = left("0123abcd-other")
    left().rename(target)
    (temporary / f"{scratch.PREFIX}link").symlink_to(target)
    file.touch()
    scratch._sweep(temporary)
    assert (target / "trial" / "home" / "file").exists()
    assert foreign.exists()
    assert file.exists()
    assert (temporary / f"{scratch.PREFIX}link").is_symlink()


def test_what_another_user_left_stays(temporary, left):
    if os.geteuid() != 0:
        pytest.skip("only root gives files away")
    folder = left()
    os.chown(folder, 65534, 65534)
    scratch._sweep(temporary)
    assert folder.exists()


def test_links_in_what_is_left_are_not_followed(temporary, left):
    outside = temporary / "outside"
    outside.mkdir(0o500)
    (left() / "link").symlink_to(outside)
    scratch._sweep(temporary)
    assert outside.stat().st_mode & 0o777 == 0o500
    assert [path.name for path in temporary.iterdir()] == ["outside"]


def test_an_ordinary_user_removes_folders_without_rights_and_deep_ones(left):
    folder, name = left(), "d" * 250
    home = os.open(folder / "trial" / "home", os.O_RDONLY)
    for _ in range(20):  # no path is that long
        os.mkdir(name, dir_fd=home)
        below = os.open(name, os.O_RDONLY, dir_fd=home)
        os.close(home)
        home = below
    os.close(home)
    root = folder.parent
    if os.geteuid() == 0:
        subprocess.run(["chown", "-R", "65534:65534", folder, root], check=True)
    (folder / "trial").chmod(0)
    folder.chmod(0)

    def sweep():
        os.chdir(inside)
        scratch._sweep(Path())

    # Nobody may search the folders above, which are of the user who runs the tests.
    inside = os.open(root, os.O_RDONLY)
    try:
        assert in_child(lambda: os.chdir(inside), _become_nobody, sweep) is None
    finally:
        os.close(inside)
    assert not folder.exists()


def test_a_folder_that_was_removed_before_it_was_locked_is_made_again(temporary, monkeypatch):
    made, locked = [], scratch._locked

    def swept(folder):
        made.append(folder)
        if len(made) == 1:
            folder.rmdir()
        if len(made) == 2:
            folder.rmdir()
            folder.symlink_to(temporary)
        return locked(folder)

    monkeypatch.setattr(scratch, "_locked", swept)
    with scratch.session_folder() as folder:
        assert folder == made[2]  # then the sweep looks at it too


def test_a_folder_that_another_session_is_removing_is_left_to_it(temporary, monkeypatch):
    held, made, mkdtemp = [], [], scratch.tempfile.mkdtemp

    def make(prefix):
        made.append(mkdtemp(prefix=prefix))
        if len(made) == 1:
            held.append(os.open(made[0], os.O_RDONLY))
            flock(held[0], LOCK_EX)
        return made[-1]

    monkeypatch.setattr(scratch.tempfile, "mkdtemp", make)
    with scratch.session_folder() as folder:
        assert [str(folder)] == made[1:]
    os.close(held[0])


def test_where_nothing_can_be_locked_sessions_work_and_nothing_is_removed(
    temporary, left, monkeypatch
):
    def flock(*_):
        raise OSError(errno.EBADF, "Bad file descriptor")

    monkeypatch.setattr(scratch, "flock", flock)
    folder = left()
    with scratch.session_folder() as own:
        assert own.exists()
        scratch._sweep(temporary)
    assert not own.exists()
    assert folder.exists()
