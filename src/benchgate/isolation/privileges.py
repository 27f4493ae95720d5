"""Root in a sandbox has none of root's rights: it gives up its capabilities, and some system calls are refused."""

from __future__ import annotations

import ctypes
import errno
import os
import pwd
import shlex
import signal
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

STATUS: Final = Path("/proc/self/status")
"""Says which capabilities the process has; Landlock hides it from children, so read it before a sandbox is closed."""

SETS: Final = ("CapInh", "CapPrm", "CapEff", "CapAmb")
READ_BOUNDING, DROP_BOUNDING, NO_NEW_PRIVILEGES, AMBIENT, CLEAR_AMBIENT = 23, 24, 38, 47, 4
"""What ``prctl`` reads and sets, by the kernel's numbers; the last is an argument of the one before it."""

F_SETSIG: Final = 10
TRACE: Final = 19
"""CAP_SYS_PTRACE."""

CAPABILITIES_V3: Final = 0x20080522

CLOCKS: Final = (
    "clock_settime clock_settime64 clock_adjtime clock_adjtime64 adjtimex settimeofday stime"
)
MACHINE: Final = (
    "sethostname setdomainname syslog reboot vhangup acct quotactl quotactl_fd swapon swapoff kexec_load "
    "kexec_file_load create_module init_module finit_module delete_module iopl ioperm"
)
WATCHING: Final = "perf_event_open fanotify_init fanotify_mark lookup_dcookie"
WAKING: Final = "timer_create"
OTHER_PROCESSES: Final = (
    "ptrace process_vm_readv process_vm_writev pidfd_getfd userfaultfd bpf keyctl add_key request_key "
    "io_uring_setup io_uring_enter io_uring_register shmget shmat semget semop semtimedop msgget msgsnd msgrcv mq_open"
)
MOUNTS: Final = "mount umount2 move_mount open_tree fsopen fsmount pivot_root"
ELSEWHERE: Final = "open_by_handle_at chroot setns unshare fsconfig fspick mount_setattr"
FORBIDDEN: Final = tuple(
    f"{CLOCKS} {MACHINE} {WATCHING} {WAKING} {OTHER_PROCESSES} {MOUNTS} {ELSEWHERE}".split()
)
"""
System calls that nothing in a sandbox may make, whoever it is.

``unshare`` is one of them: in a user namespace of its own, a process has all capabilities again. Python, node, npm, git
and compilers make no namespaces. Browsers do, but cannot start here anyway: they need Unix sockets.
"""

OF_ONE: Final = {"prlimit64": 0, "setpriority": 1, "ioprio_set": 1} | dict.fromkeys(
    ("sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr"), 0
)
"""Calls that change a process, which must be the own one, 0: the place of its number among the arguments."""

NAMESPACES: Final = (2**17, *(2**bit for bit in range(25, 31)))
"""Flags of ``clone`` that make namespaces: those of mounts, cgroup, UTS, IPC, user, processes and network."""

PARTLY: Final = (
    *(("clone", 0, flag, flag) for flag in NAMESPACES),
    *(("mknod", 1, 0o170000, kind) for kind in (stat.S_IFBLK, stat.S_IFCHR)),
    *(("mknodat", 2, 0o170000, kind) for kind in (stat.S_IFBLK, stat.S_IFCHR)),
    # What wakes a process that was stopped: the end of a child, a timer, a signal that a file sends.
    ("clone", 0, 0xFF, signal.SIGCONT),
    ("fcntl", 1, 0xFFFFFFFF, F_SETSIG),
    ("setpriority", 0, 0xFFFFFFFF, 2),  # all processes of a user
    ("ioprio_set", 0, 0xFFFFFFFF, 3),
)
"""Calls that are refused if an argument, given by its number, has this value under this mask."""


def drop() -> None:
    """
    Give up all capabilities of this process, and of all that it will start, for good.

    A capability belongs to a thread, so no other thread may run. To shrink the bounding set takes a capability itself:
    an ordinary user keeps that set, and ``no_new_privs`` makes it worthless.

    :raises RuntimeError: a capability or a second thread is left, or ``/proc`` does not tell.
    """
    libc = ctypes.CDLL(None)
    for capability in range(64):
        if libc.prctl(READ_BOUNDING, *_longs(capability)) == 1:
            libc.prctl(DROP_BOUNDING, *_longs(capability))
    libc.prctl(AMBIENT, *_longs(CLEAR_AMBIENT))
    nothing = (ctypes.c_uint32 * 6)()
    libc.capset((ctypes.c_uint32 * 2)(CAPABILITIES_V3, 0), nothing)
    libc.prctl(NO_NEW_PRIVILEGES, *_longs(1))
    _check_dropped()


def drop_tracing() -> None:
    """
    Give up the capability with which root looks into the memory of any process, for good.

    :raises RuntimeError: it is left.
    """
    libc = ctypes.CDLL(None)
    libc.prctl(DROP_BOUNDING, *_longs(TRACE))
    header = (ctypes.c_uint32 * 2)(CAPABILITIES_V3, 0)
    # Effective, permitted and inheritable, for the lower 32 capabilities and then for the others.
    sets = (ctypes.c_uint32 * 6)()
    libc.capget(header, sets)
    for number in range(3):
        sets[number] &= ~(1 << TRACE)
    libc.capset(header, sets)
    libc.capget(header, sets)
    if sets[0] & (1 << TRACE):
        raise RuntimeError("isolation=process cannot give up CAP_SYS_PTRACE")


def _longs(first: int) -> tuple[ctypes.c_ulong, ...]:
    """Return the four arguments of a ``prctl`` that has one: the kernel wants the others to be zero."""
    return tuple(ctypes.c_ulong(number) for number in (first, 0, 0, 0))


def _check_dropped() -> None:
    try:
        lines = STATUS.read_text().splitlines()
    except OSError as error:
        msg = f"isolation=sandbox must see its own capabilities: {error}"
        raise RuntimeError(msg) from error
    told = {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
    left = [f"{name} is {told.get(name)}" for name in SETS if int(told.get(name, "1"), 16)]
    if told.get("NoNewPrivs") != "1":
        left.append("NoNewPrivs is not set")
    if told.get("Threads") != "1":
        left.append(f"{told.get('Threads')} threads run, and each has capabilities of its own")
    if left:
        msg = f"isolation=sandbox cannot give up its capabilities: {', '.join(left)}"
        raise RuntimeError(msg)


def forbid(made: Any) -> None:
    """
    Add what :data:`FORBIDDEN`, :data:`PARTLY` and :data:`OF_ONE` say to a filter of ``pyseccomp``.

    A filter cannot see the flags of ``clone3``, so there is no such call: the C library then uses ``clone``.
    """
    import pyseccomp as seccomp

    refuse = seccomp.ERRNO(errno.EPERM)
    for name in FORBIDDEN:
        with suppress(RuntimeError, ValueError, OSError):  # this architecture has no such call
            made.add_rule(refuse, name)
    for name, place, mask, value in PARTLY:
        made.add_rule(refuse, name, seccomp.Arg(place, seccomp.MASKED_EQ, mask, value))
    for name, place in OF_ONE.items():
        made.add_rule(refuse, name, seccomp.Arg(place, seccomp.NE, 0))
    made.add_rule(seccomp.ERRNO(errno.ENOSYS), "clone3")


def unreadable(paths: Iterable[str]) -> str | None:
    """
    Say which of these paths this process cannot read, and why; nothing if it can read all that exist.

    A file must be readable; a folder also searchable, as each folder above it. Call it after :func:`drop`, or root
    can read everything.
    """
    for path in paths:
        real = Path(os.path.realpath(path))
        for part in (*reversed(real.parents), real):
            if not os.path.lexists(part):
                break
            why = _refused(part, is_above=part != real)
            if why is not None:
                return why
    return None


def _refused(path: Path, *, is_above: bool) -> str | None:
    """Say whose path it is if it cannot be used, and how the owner opens it."""
    try:
        status = path.stat()
    except OSError as error:
        return f"{path} cannot be read in a sandbox: {error.strerror}"
    if is_above:
        needed, rights = os.X_OK, "x"
    elif stat.S_ISDIR(status.st_mode):
        needed, rights = os.R_OK | os.X_OK, "rx"
    else:
        needed, rights = os.R_OK, "r"
    if os.access(path, needed):
        return None
    mode = f"mode {stat.S_IMODE(status.st_mode):04o}"
    command = f"chmod a+{rights} {shlex.quote(str(path))}"
    if status.st_uid == os.geteuid():
        return f"{path} cannot be read in a sandbox: it has {mode}. Type: {command}"
    owner = _named(status.st_uid)
    return (
        f"{path} cannot be read in a sandbox, which has none of root's rights: it belongs to {owner} and has {mode}. "
        f"Run benchgate as that user, or type: {command}"
    )


def _named(uid: int) -> str:
    try:
        return f"{pwd.getpwuid(uid).pw_name} (uid {uid})"
    except KeyError:
        return f"uid {uid}"
