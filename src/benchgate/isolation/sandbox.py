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

    from benchgate.isolation.job import Fence

FLOOR: Final = 6
"""The ABI of Landlock that has all that is relied on: truncation (3), and signals that stay inside (6)."""

KNOWN: Final = 9
"""The newest ABI whose rights on files are asked for; a newer kernel has these too."""

READABLE: Final = (
    *("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin"),
    *(f"/etc/{name}" for name in ("ssl", "pki", "resolv.conf", "hosts", "nsswitch.conf")),
    *(f"/etc/{name}" for name in ("localtime", "passwd", "mime.types", "alternatives")),
)
DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/tty")
REFUSED: Final = (
    *("ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "userfaultfd"),
    *("io_uring_setup", "io_uring_enter", "io_uring_register", "keyctl", "add_key", "request_key"),
    *("bpf", "mount", "umount2", "move_mount", "open_tree", "fsopen", "fsmount", "pivot_root"),
)


def check() -> None:
    """
    Check that this machine has what the level is made of.

    :raises EvalError: says what is missing.
    """
    try:
        import landlockpy
        import pyseccomp  # noqa: F401 - it looks for its library
    except (ImportError, RuntimeError, OSError) as error:
        msg = f"isolation=sandbox needs the extra 'sandbox', and libseccomp of the system: {error}"
        raise EvalError(msg) from error
    try:
        abi = landlockpy.abi_version()
    except (landlockpy.LandlockError, OSError):
        abi = 0
    if abi < FLOOR:
        msg = f"isolation=sandbox needs Landlock of ABI {FLOOR}; kernel {platform.release()} has {abi or 'none'}"
        raise EvalError(msg)


def readable_of(system: Any, class_path: Path) -> tuple[str, ...]:
    """
    Return what a system reads: its package, and what its registration names.

    A package that has the cases in it is not opened as a whole, but its Python files are.

    :raises EvalError: what the registration names would open the cases.
    """
    kind = system if hasattr(system, "__module__") and callable(system) else type(system)
    found = [*_package(getattr(kind, "__module__", "") or "", class_path)]
    for name in getattr(system, "reads", ()):
        path = Path(name).resolve()
        if class_path.resolve().is_relative_to(path):
            raise EvalError(
                f"isolation=sandbox: reads = {str(name)!r} has the cases of {class_path.name} in it"
            )
        found.append(path)
    return tuple(map(str, found))


def _package(module: str, class_path: Path) -> Iterator[Path]:
    inside = module.startswith(f"{PACKAGE}.")
    top = ".".join(module.split(".")[:3]) if inside else module.partition(".")[0]
    file = getattr(sys.modules.get(top), "__file__", None)
    if file is None:
        return
    folder = Path(file).resolve().parent
    is_package = Path(file).name == "__init__.py"
    if is_package and not class_path.resolve().is_relative_to(folder):
        yield folder
    else:
        yield from folder.glob("*.py")


@cache
def _filter(*, network: bool) -> Any:
    import pyseccomp as seccomp

    made = seccomp.SyscallFilter(seccomp.ALLOW)
    refuse = seccomp.ERRNO(1)
    for name in REFUSED:
        with suppress(RuntimeError, ValueError, OSError):  # this architecture has no such call
            made.add_rule(refuse, name)
    if not network:
        made.add_rule(refuse, "socket")
        return made
    inet = (socket.AF_INET, socket.AF_INET6)
    for family in set(range(64)) - set(inet):
        made.add_rule(refuse, "socket", seccomp.Arg(0, seccomp.EQ, family))
    made.add_rule(refuse, "socket", seccomp.Arg(0, seccomp.GE, 64))
    return made


def prepare(fence: Fence) -> None:
    """Load what closing needs, in the helper, so that no trial has to."""
    check()
    _filter(network=fence.network)


def close(fence: Fence, scratch: Path) -> None:
    """Shut everything out but what the fence names and one folder; there is no way back."""
    from landlockpy import AccessFS, AccessNet, Ruleset, Scope, abi_version, fs_for_abi

    rights = fs_for_abi(min(abi_version(), KNOWN))
    of_file = AccessFS.READ_FILE | AccessFS.EXECUTE
    reading = of_file | AccessFS.READ_DIR
    using = AccessFS.READ_FILE | AccessFS.WRITE_FILE | AccessFS.TRUNCATE | AccessFS.IOCTL_DEV
    own = str(Path(__file__).parents[1])  # an editable install is in none of the prefixes
    prefixes = (sys.prefix, sys.base_prefix, own, f"/proc/{os.getpid()}")
    rules = [
        *((path, reading) for path in (*READABLE, *prefixes, *fence.reads)),
        *((path, using) for path in DEVICES),
        (str(scratch), rights),
    ]
    with Ruleset(
        handled_fs=rights, handled_net=AccessNet.NONE, scoped=Scope.SIGNAL, best_effort=False
    ) as ruleset:
        for path, granted in rules:
            if os.path.exists(path):
                ruleset.allow_path(
                    path, granted if os.path.isdir(path) else granted & (of_file | using)
                )
        ruleset.restrict()
    _filter(network=fence.network).load()


def probe(outside: Path) -> str:
    """Try what is forbidden, in a fenced process; return what was not refused, if anything was."""
    open_still = []
    with suppress(PermissionError):
        outside.read_bytes()
        open_still.append(f"reading {outside}")
    with suppress(PermissionError):
        socket.socket(socket.AF_UNIX).close()
        open_still.append("a socket")
    with suppress(PermissionError):
        os.kill(os.getppid(), 0)
        open_still.append("a signal to its parent")
    return ", ".join(open_still)
