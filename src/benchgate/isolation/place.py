"""Where a system is for one trial: its folder, and what it reaches at level ``sandbox``, by Landlock and seccomp."""

from __future__ import annotations

import os
import platform
import resource
import shutil
import socket
import sys
import tempfile
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import EvalError
from benchgate.loader.imports import PACKAGE
from benchgate.trials.containment import removed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from concurrent.futures import Executor

    from benchgate.loader.loaded_class import LoadedClass
    from benchgate.models import BenchCase

FLOOR, KNOWN = 6, 9
"""The ABI of Landlock that has signals which stay inside, and the newest whose rights on files are asked for."""

ETC: Final = "ssl pki resolv.conf hosts nsswitch.conf localtime passwd mime.types alternatives"
READABLE: Final = (
    *("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", sys.prefix, sys.base_prefix),
    *(f"/etc/{name}" for name in ETC.split()),
    str(Path(__file__).parents[1]),  # an editable install is in none of the prefixes
)
DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/tty")
REFUSED: Final = (
    "ptrace process_vm_readv process_vm_writev pidfd_getfd userfaultfd bpf keyctl add_key request_key "
    "io_uring_setup io_uring_enter io_uring_register mount umount2 move_mount open_tree fsopen fsmount pivot_root "
    "shmget shmat semget semop semtimedop msgget msgsnd msgrcv mq_open"
)
OTHERS: Final = {"prlimit64": 0, "setpriority": 1, "ioprio_set": 1} | dict.fromkeys(
    ("sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr"), 0
)
"""Calls that change a process, which must be the own one, 0: the place of its number among the arguments."""

LIMITS: Final = {
    resource.RLIMIT_FSIZE: 2**30,
    resource.RLIMIT_NOFILE: 1024,
    resource.RLIMIT_CORE: 0,
}
NAMED: Final = {"memory": resource.RLIMIT_AS, "processes": resource.RLIMIT_NPROC}


@contextmanager
def scratch(root: Path, sweeper: Executor) -> Iterator[Path]:
    """Make the folder of a trial, with a ``home``; ``sweeper`` removes it, while the trial goes on."""
    path = root / os.urandom(8).hex()
    path.mkdir(0o700)
    (path / "home").mkdir()
    try:
        yield path
    finally:
        sweeper.submit(removed, path)


def handed(case: BenchCase, folder: Path) -> BenchCase:
    """Return a case whose files are copies in a folder, and that does not have what it expects."""
    update: dict[str, Any] = {"expected_path": None, "work_path": None}
    update["input_path"] = shutil.copytree(case.input_path, folder / "input", symlinks=True)
    update["cassettes"] = {
        name: one.model_copy(update={"path": _copied(one.path, folder / str(number))})
        for number, (name, one) in enumerate(case.cassettes.items())
    }
    if (one := case.checkpoint) is not None:
        path = _copied(one.path, folder / "checkpoint")
        update["checkpoint"] = one.model_copy(update={"path": path})
    return case.model_copy(update=update)


def _copied(file: Path, folder: Path) -> Path:
    folder.mkdir()
    return Path(shutil.copyfile(file, folder / file.name))


def cleared(work: Path) -> bool:
    """Return whether a system left something in its work folder, in which no links are any more."""
    if work.is_symlink() or not work.is_dir() or not os.listdir(work):
        return False
    for folder, folders, files in os.walk(work, onerror=_raised):
        for path in (Path(folder, name) for name in (*folders, *files)):
            if path.is_symlink() or not (path.is_dir() or path.is_file()):
                path.unlink()
            elif path.is_dir():
                path.chmod(0o700)
            elif path.stat().st_nlink > 1:  # of a file that is elsewhere too
                os.replace(shutil.copy(path, f"{folder}/{os.urandom(8).hex()}"), path)
    return True


def _raised(error: OSError) -> None:
    raise error


def settle(home: str, limits: Mapping[str, int]) -> None:
    """Live in a folder, and within limits."""
    os.chdir(home)
    os.environ |= {"HOME": home, "TMPDIR": home}
    tempfile.tempdir = None
    for limit, most in (LIMITS | {NAMED[name]: most for name, most in limits.items()}).items():
        hard = resource.getrlimit(limit)[1]
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(limit, (least, least))


def check() -> None:
    """Check that this machine has what a sandbox is made of; :raises EvalError: says what is missing."""
    try:
        import landlockpy
        import pyseccomp  # noqa: F401 - it looks for its library
    except (ImportError, RuntimeError, OSError) as error:
        what = "the extra 'sandbox', and libseccomp of the system"
        raise EvalError(f"isolation=sandbox needs {what}: {error}") from error
    abi = 0
    with suppress(landlockpy.LandlockError, OSError):
        abi = landlockpy.abi_version()
    if abi < FLOOR:
        there = f"kernel {platform.release()} has {abi or 'none'}"
        raise EvalError(f"isolation=sandbox needs Landlock of ABI {FLOOR}; {there}")


def readable_of(system: Any, class_path: Path) -> Iterator[str]:
    """Yield its package, or Python files beside the cases, and ``reads``; :raises EvalError: that opens cases."""
    cases = class_path.resolve() / "cases"
    kind = system if hasattr(system, "__module__") and callable(system) else type(system)
    parts = str(getattr(kind, "__module__", "")).split(".")
    module = sys.modules.get(".".join(parts[: 3 if parts[0] == PACKAGE else 1]))
    file = Path(getattr(module, "__file__", None) or os.devnull).resolve()
    is_package = file.name == "__init__.py" and not cases.is_relative_to(file.parent)
    yield from [str(file.parent)] if is_package else map(str, file.parent.glob("*.py"))
    reads = [str(Path(name).resolve()) for name in getattr(system, "reads", ())]
    for path in map(Path, (*reads, *READABLE)):
        if cases.is_relative_to(path.resolve()) or path.is_relative_to(cases):
            raise EvalError(
                f"isolation=sandbox: {path}, which is read, has cases of {class_path.name}"
            )
    yield from reads


def rubric_name(bench: LoadedClass) -> str:
    """Return module and name of the class that scores; :raises EvalError: it is in the registration, or partly."""
    scores, *bases = bench.task_class.rubric_type.__mro__
    if (here := scores.__module__).endswith(".registration"):
        own = [n for n, value in vars(scores).items() if n[:2] != "__" or callable(value)]
        scores = next(base for base in bases if base.__module__ != here)
        if own or scores is object:
            what = ", ".join(own) or "the rubric"
            why = "move it into rubric.py, which alone is imported where outputs are scored"
            raise EvalError(f"isolation: registration.py defines {what}; {why}")
    return f"{scores.__module__}:{scores.__qualname__}"


@cache
def refusals(*, network: bool) -> Any:
    """Return the filter of system calls, made once."""
    import pyseccomp as seccomp

    made, refuse = seccomp.SyscallFilter(seccomp.ALLOW), seccomp.ERRNO(1)
    names = REFUSED.split()
    if not network:
        names.append("socket")
    for name in names:
        with suppress(RuntimeError, ValueError, OSError):  # this architecture has no such call
            made.add_rule(refuse, name)
    others: list[tuple[Any, int]] = [(seccomp.LT, socket.AF_INET), (seccomp.GT, socket.AF_INET6)]
    others += [(seccomp.EQ, n) for n in range(socket.AF_INET + 1, socket.AF_INET6)]
    for how, family in others if network else ():
        made.add_rule(refuse, "socket", seccomp.Arg(0, how, family))
    # These send to any socket, and hand it descriptors.
    for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW):
        made.add_rule(refuse, "socketpair", seccomp.Arg(1, seccomp.MASKED_EQ, 0xF, kind))
    for name, place in OTHERS.items():
        made.add_rule(refuse, name, seccomp.Arg(place, seccomp.NE, 0))
    return made


def close(folder: str, reads: Iterable[str], bench: str, *, network: bool) -> None:
    """
    Shut this process out of all but what was named for it, and the folder of a trial; there is no way back.

    :param bench: the folder of the class, whose cases must be hidden by this.

    :raises RuntimeError: something is not refused that must be.
    """
    from landlockpy import AccessFS, AccessNet, Ruleset, Scope, abi_version, fs_for_abi

    scopes = Scope.SIGNAL | Scope.ABSTRACT_UNIX_SOCKET
    rights = fs_for_abi(min(abi_version(), KNOWN))
    using = AccessFS.READ_FILE | AccessFS.WRITE_FILE | AccessFS.TRUNCATE | AccessFS.IOCTL_DEV
    reading = AccessFS.READ_FILE | AccessFS.EXECUTE | AccessFS.READ_DIR
    reads = (*READABLE, *reads, folder, f"/proc/{os.getpid()}")
    rules = [*((path, reading) for path in reads), *((path, using) for path in DEVICES)]
    with Ruleset(
        handled_fs=rights, handled_net=AccessNet.NONE, scoped=scopes, best_effort=False
    ) as ruleset:
        for path, granted in (*rules, (f"{folder}/home", rights)):
            if os.path.exists(path):
                of_file = using | AccessFS.EXECUTE
                ruleset.allow_path(path, granted if os.path.isdir(path) else granted & of_file)
        ruleset.restrict()
    refusals(network=network).load()
    unix, kill = partial(socket.socket, socket.AF_UNIX), partial(os.kill, os.getppid(), 0)
    for use in (partial(os.listdir, f"{bench}/cases"), unix, kill):
        with suppress(PermissionError):
            use()
            raise RuntimeError("isolation=sandbox: not all is refused that it forbids")
