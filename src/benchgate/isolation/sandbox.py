"""What the process of a trial may reach at level ``sandbox``: Landlock for files and signals, seccomp for the rest."""

from __future__ import annotations

import os
import platform
import socket
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import EvalError
from benchgate.loader.imports import PACKAGE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.isolation.messages import Start

FLOOR: Final = 6
"""The ABI of Landlock that has all that is relied on: truncation (3), and signals that stay inside (6)."""

KNOWN: Final = 9
"""The newest ABI whose rights on files are asked for; a newer kernel has these too."""

ETC: Final = "ssl pki resolv.conf hosts nsswitch.conf localtime passwd mime.types alternatives"
READABLE: Final = (
    *("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", sys.prefix, sys.base_prefix),
    *(f"/etc/{name}" for name in ETC.split()),
    str(Path(__file__).parents[1]),  # an editable install is in none of the prefixes
)
DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/tty")
REFUSED: Final = (
    *("ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "userfaultfd"),
    *("io_uring_setup", "io_uring_enter", "io_uring_register", "keyctl", "add_key", "request_key"),
    *("bpf", "mount", "umount2", "move_mount", "open_tree", "fsopen", "fsmount", "pivot_root"),
)


def check() -> None:
    """Check that this machine has what the level is made of; :raises EvalError: says what is missing."""
    try:
        import landlockpy
        import pyseccomp  # noqa: F401 - it looks for its library
    except (ImportError, RuntimeError, OSError) as error:
        msg = f"isolation=sandbox needs the extra 'sandbox', and libseccomp of the system: {error}"
        raise EvalError(msg) from error
    abi = 0
    with suppress(landlockpy.LandlockError, OSError):
        abi = landlockpy.abi_version()
    if abi < FLOOR:
        msg = f"isolation=sandbox needs Landlock of ABI {FLOOR}; kernel {platform.release()} has {abi or 'none'}"
        raise EvalError(msg)


def readable_of(system: Any, class_path: Path) -> Iterator[str]:
    """
    Yield what a system reads: its package, and what its registration names.

    A package that has the cases in it is not opened as a whole, but its Python files are.

    :raises EvalError: what the registration names would open the cases.
    """
    kind = system if hasattr(system, "__module__") and callable(system) else type(system)
    parts = (getattr(kind, "__module__", "") or "").split(".")
    top = ".".join(parts[: 3 if parts[0] == PACKAGE else 1])
    file = Path(getattr(sys.modules.get(top), "__file__", None) or os.devnull).resolve()
    has_cases = class_path.resolve().is_relative_to(file.parent)
    is_package = file.name == "__init__.py" and not has_cases
    yield from [str(file.parent)] if is_package else map(str, file.parent.glob("*.py"))
    for path in (Path(name).resolve() for name in getattr(system, "reads", ())):
        if class_path.resolve().is_relative_to(path):
            why = f"reads = '{path}' has the cases of {class_path.name} in it"
            raise EvalError(f"isolation=sandbox: {why}")
        yield str(path)


@cache
def refusals(*, network: bool) -> Any:
    """Return the filter of calls of the system, made once."""
    import pyseccomp as seccomp

    made, refuse = seccomp.SyscallFilter(seccomp.ALLOW), seccomp.ERRNO(1)
    for name in (*REFUSED, *(() if network else ("socket",))):
        with suppress(RuntimeError, ValueError, OSError):  # this architecture has no such call
            made.add_rule(refuse, name)
    if network:
        others: list[tuple[Any, int]] = [
            (seccomp.LT, socket.AF_INET),
            (seccomp.GT, socket.AF_INET6),
        ]
        others += [(seccomp.EQ, n) for n in range(socket.AF_INET + 1, socket.AF_INET6)]
        for how, family in others:
            made.add_rule(refuse, "socket", seccomp.Arg(0, how, family))
    return made


def close(start: Start, home: str) -> None:
    """Shut this process out of all but what was named for it, and one folder; there is no way back."""
    from landlockpy import AccessFS, AccessNet, Ruleset, Scope, abi_version, fs_for_abi

    rights = fs_for_abi(min(abi_version(), KNOWN))
    reading = AccessFS.READ_FILE | AccessFS.EXECUTE | AccessFS.READ_DIR
    using = AccessFS.READ_FILE | AccessFS.WRITE_FILE | AccessFS.TRUNCATE | AccessFS.IOCTL_DEV
    given = str(Path(home).with_name("given"))
    reads = (*READABLE, *(start.reads or ()), given, f"/proc/{os.getpid()}")
    rules = [*((path, reading) for path in reads), *((path, using) for path in DEVICES)]
    with Ruleset(
        handled_fs=rights, handled_net=AccessNet.NONE, scoped=Scope.SIGNAL, best_effort=False
    ) as ruleset:
        for path, granted in (*rules, (home, rights)):
            if os.path.exists(path):
                of_file = using | AccessFS.EXECUTE
                ruleset.allow_path(path, granted if os.path.isdir(path) else granted & of_file)
        ruleset.restrict()
    refusals(network=start.network).load()


def is_open(start: Start) -> bool:
    """Close this process, and return whether something forbidden is not refused."""
    try:
        close(start, os.devnull)
    except Exception:
        return True
    for use in (
        lambda: os.listdir("/"),
        lambda: socket.socket(socket.AF_UNIX).close(),
        lambda: os.kill(os.getppid(), 0),
    ):
        with suppress(PermissionError):
            use()
            return True
    return False
