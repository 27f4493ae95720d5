"""What a process of a sandbox gives up, as root and as an ordinary user: each is tried in a child, which ends."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time

import pytest

from benchgate.isolation import privileges

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="isolation needs Linux")

NOBODY = 65534
MARK = 77
"""The error number of the filter under test: the kernel itself never refuses with it."""


@pytest.fixture(params=["root", "user"])
def become(request):
    """Make the calling child root or an ordinary user."""
    if request.param == "user":
        return _become_nobody
    if os.geteuid() != 0:
        pytest.skip("only root can be root")
    return lambda: None


def _become_nobody():
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)


@pytest.fixture
def root():
    if os.geteuid() != 0:
        pytest.skip("only root has rights to lose, and gives files away")


def in_child(*steps):
    """Do the steps in a child; return what the last one returned, or what was raised."""
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.setsid()
            for step in steps:
                told = step()
        except BaseException as error:
            told = f"{type(error).__name__}: {error}"
        finally:
            os.write(write, json.dumps(told).encode())
            os._exit(0)
    os.close(write)
    with open(read) as file:
        told = file.read()
    os.waitpid(pid, 0)
    return json.loads(told)


def _sets():
    """The sets of capabilities of a program that is started, and whether it can gain any."""
    lines = subprocess.check_output(["cat", "/proc/self/status"], text=True).splitlines()
    told = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    sets = {int(told[name], 16) for name in privileges.SETS}
    return [sorted(sets), told["NoNewPrivs"], int(told["CapBnd"], 16)]


def test_no_program_has_a_capability_again(become):
    kept, no_new, bounding = in_child(become, privileges.drop, _sets)
    assert (kept, no_new) == ([0], "1")
    if become is not _become_nobody:
        assert bounding == 0


def test_root_without_capabilities_gives_no_file_away(root, tmp_path):
    (tmp_path / "file").touch()
    told = in_child(privileges.drop, lambda: os.chown(tmp_path / "file", NOBODY, NOBODY))
    assert told.startswith("PermissionError")


def test_a_thread_would_keep_its_capabilities():
    def begin():
        threading.Thread(target=time.sleep, args=[9], daemon=True).start()

    assert "2 threads run" in in_child(begin, privileges.drop)


def test_a_process_that_cannot_see_what_it_has_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(privileges, "STATUS", tmp_path / "status")
    assert "must see its own capabilities" in in_child(privileges.drop)


def test_a_capability_that_stays_is_refused(monkeypatch, tmp_path):
    lines = "CapInh:\t0\nCapPrm:\t0\nCapEff:\t20\nCapAmb:\t0\nNoNewPrivs:\t1\nThreads:\t1\n"
    monkeypatch.setattr(privileges, "STATUS", tmp_path / "status")
    privileges.STATUS.write_text(lines)
    told = in_child(privileges.drop)
    assert told.endswith("cannot give up its capabilities: CapEff is 20")


class _Marked:
    """A filter that refuses with a number of its own, so that no refusal of the kernel is taken for one of it."""

    def __init__(self):
        self.seccomp = pytest.importorskip("pyseccomp", exc_type=(ImportError, RuntimeError))
        self.made = self.seccomp.SyscallFilter(self.seccomp.ALLOW)

    def add_rule(self, action, name, *arguments):
        if action == self.seccomp.ERRNO(errno.EPERM):
            action = self.seccomp.ERRNO(MARK)
        self.made.add_rule(action, name, *arguments)

    def number(self, name):
        return self.seccomp.resolve_syscall(self.seccomp.system_arch(), name)


@pytest.fixture
def marked():
    made = _Marked()
    privileges.forbid(made)
    return made


def _errors(calls):
    """The error numbers of system calls, by number and arguments; each has nothing to lose when it is not refused."""
    libc = ctypes.CDLL(None, use_errno=True)
    errors, own = [], os.getpid()
    for number, *arguments in calls:
        ctypes.set_errno(0)
        libc.syscall(number, *(ctypes.c_long(one) for one in arguments))
        if os.getpid() != own:
            os._exit(1)  # a clone that was not refused
        errors.append(ctypes.get_errno())
    return errors


def test_each_forbidden_call_is_refused(marked):
    there = {name: marked.number(name) for name in privileges.FORBIDDEN}
    names = [name for name, number in there.items() if number >= 0]
    assert {"clock_settime", "sethostname", "unshare", "setns", "open_by_handle_at"} <= {*names}
    # Dropped first, and with nonsense: a filter with a gap must not change the machine.
    calls = [(there[name], -1, -1, -1, -1) for name in names]
    errors = in_child(privileges.drop, marked.made.load, lambda: _errors(calls))
    assert dict(zip(names, errors, strict=True)) == dict.fromkeys(names, MARK)


def test_a_call_is_refused_for_what_it_asks(marked):
    clone, mknodat = marked.number("clone"), marked.number("mknodat")
    calls = [
        *((clone, flag | signal.SIGCHLD, 0, 0, 0, 0) for flag in privileges.NAMESPACES),
        *((mknodat, -1, 0, kind | 0o600, 0) for kind in (stat.S_IFBLK, stat.S_IFCHR)),
        (marked.number("setpriority"), os.PRIO_USER, 0, 0),
        (marked.number("ioprio_set"), 3, 0, 0),
    ]
    errors = in_child(privileges.drop, marked.made.load, lambda: _errors(calls))
    assert errors == [MARK] * len(calls)


def test_what_programs_need_of_these_calls_is_left(marked, tmp_path):
    """A thread and a process are clones, a pipe is a node, and a process may be nice."""
    calls = [
        (marked.number("clone3"), 0, 0),
        (marked.number("setpriority"), os.PRIO_PROCESS, 0, 10),
    ]
    assert in_child(marked.made.load, lambda: _errors(calls)) == [errno.ENOSYS, 0]
    assert in_child(marked.made.load, lambda: os.mkfifo(tmp_path / "pipe")) is None


PROGRAM = """
import asyncio, subprocess, threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

async def main():
    process = await asyncio.create_subprocess_exec("true")
    return [await process.wait(), await asyncio.to_thread(lambda: 0)]

if __name__ == "__main__":
    with ThreadPoolExecutor() as threads, ProcessPoolExecutor() as processes:
        print(list(threads.map(abs, [-1])), list(processes.map(abs, [-2])))
    print(asyncio.run(main()), subprocess.run(["true"]).returncode)
"""


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ([sys.executable, "program.py"], "[1] [2]\n[0, 0] 0\n"),
        (["git", "init", "--quiet", "repository"], ""),
        (["node", "-e", "new (require('worker_threads').Worker)('1', {eval: true})"], ""),
    ],
    ids=["python", "git", "node"],
)
def test_common_programs_work(marked, tmp_path, command, said):
    if not shutil.which(command[0]):
        pytest.skip(f"{command[0]} is not installed")
    (tmp_path / "program.py").write_text(PROGRAM)

    def run():
        ran = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path)
        return [ran.returncode, ran.stdout, ran.stderr]

    assert in_child(privileges.drop, marked.made.load, run) == [0, said, ""]


@pytest.fixture
def named():
    """Ask a child without capabilities which of these paths it cannot read."""
    return lambda *paths: in_child(privileges.drop, lambda: privileges.unreadable(map(str, paths)))


def test_what_everybody_reads_or_is_not_there_is_readable(named, tmp_path):
    (tmp_path / "file").touch()
    assert named("/usr", "/dev/null", tmp_path, tmp_path / "file", tmp_path / "no/where") is None


@pytest.mark.usefixtures("root")
@pytest.mark.parametrize(
    ("where", "mode", "command"),
    [
        ("owned", 0o700, "chmod a+rx"),
        ("owned/below/file", 0o700, "chmod a+x"),
        ("owned", 0o711, "chmod a+rx"),
        ("link", 0o700, "chmod a+x"),
    ],
)
def test_a_folder_of_another_owner_is_named(named, tmp_path, where, mode, command):
    owned = tmp_path / "owned"
    (owned / "below").mkdir(parents=True)
    (owned / "below" / "file").touch()
    (tmp_path / "link").symlink_to(owned / "below")
    os.chown(owned, NOBODY, NOBODY)
    owned.chmod(mode)
    name = pwd.getpwuid(NOBODY).pw_name
    assert named("/usr", tmp_path / where) == (
        f"{owned} cannot be read in a sandbox, which has none of root's rights: it belongs to {name} (uid {NOBODY}) "
        f"and has mode {mode:04o}. Run benchgate as that user, or type: {command} {owned}"
    )


def test_what_is_searched_but_not_listed_will_do_for_a_folder_above(root, named, tmp_path):
    owned = tmp_path / "owned"
    owned.mkdir()
    (owned / "file").touch()
    os.chown(owned, NOBODY, NOBODY)
    owned.chmod(0o711)
    assert named(owned / "file") is None


def test_an_own_file_without_rights_and_an_owner_without_a_name(root, named, tmp_path):
    own, others = tmp_path / "own", tmp_path / "of others"
    for path in (own, others):
        path.touch(0o000)
        path.chmod(0)
    os.chown(others, 54321, 54321)
    assert named(own).endswith(f"it has mode 0000. Type: chmod a+r {own}")
    told = named(others)
    assert "belongs to uid 54321 and" in told
    assert told.endswith(f"chmod a+r '{others}'")
