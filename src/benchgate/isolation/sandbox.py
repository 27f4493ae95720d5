"""The level ``sandbox``: a process shuts itself out of all but what was named for it, by Landlock and seccomp."""

from __future__ import annotations

import os
import platform
import socket
import sys
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import EvalError
from benchgate.isolation.privileges import forbid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

FLOOR, KNOWN = 6, 9
"""The ABI of Landlock that has signals which stay inside, and the newest whose rights on files are asked for."""

ETC: Final = (
    "ssl pki gitconfig resolv.conf hosts nsswitch.conf localtime passwd mime.types alternatives"
)
READABLE: Final = (
    *("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", sys.prefix, sys.base_prefix),
    *(f"/etc/{name}" for name in ETC.split()),
    str(Path(__file__).parents[1]),  # an editable install is in none of the prefixes
)
DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/tty")
OF_THE_MACHINE: Final = ("/proc/meminfo", "/proc/cpuinfo", "/proc/stat")
NOT_ALL: Final = "isolation=sandbox cannot be had: not all is refused that it forbids"


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


def load() -> None:
    """Import what a sandbox is made of, before a system could be in its place."""
    import landlockpy  # noqa: F401
    import pyseccomp  # noqa: F401


@cache
def readable() -> tuple[str, ...]:
    """Return where the machine's programs and libraries are, each path once and none within another."""
    found = {os.path.realpath(path) for path in READABLE if os.path.exists(path)}
    return tuple(
        path
        for path in sorted(found)
        if not any(f"{path}/".startswith(f"{o}/") for o in found - {path})
    )


@cache
def refusals(*, network: bool) -> Any:
    """Return the filter of system calls. It looks for its library: make it before files are closed."""
    import pyseccomp as seccomp

    made = seccomp.SyscallFilter(seccomp.ALLOW)
    refuse = seccomp.ERRNO(1)
    # With the network, all families but IP are refused: those below, above and between its two.
    others: list[tuple[Any, int]] = [(seccomp.LT, socket.AF_INET), (seccomp.GT, socket.AF_INET6)]
    others += [(seccomp.EQ, n) for n in range(socket.AF_INET + 1, socket.AF_INET6)]
    if network:
        for how, family in others:
            made.add_rule(refuse, "socket", seccomp.Arg(0, how, family))
    else:
        made.add_rule(refuse, "socket")
    # These send to any socket, and hand it descriptors.
    for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW):
        made.add_rule(refuse, "socketpair", seccomp.Arg(1, seccomp.MASKED_EQ, 0xF, kind))
    forbid(made)
    return made


def restrict_files(reads: Iterable[str], writes: str) -> None:
    """
    Shut this process out of all files but some, and out of signals and abstract sockets; there is no way back.

    A second call narrows what the first one left.

    :param reads: files and folders that it may read, besides the machine's own.
    :param writes: the folder that it may write to.
    """
    from landlockpy import AccessFS, AccessNet, Ruleset, Scope, abi_version, fs_for_abi

    scopes = Scope.SIGNAL | Scope.ABSTRACT_UNIX_SOCKET
    rights = fs_for_abi(min(abi_version(), KNOWN))
    using = AccessFS.READ_FILE | AccessFS.WRITE_FILE | AccessFS.TRUNCATE | AccessFS.IOCTL_DEV
    reading = AccessFS.READ_FILE | AccessFS.EXECUTE | AccessFS.READ_DIR
    rules = [(path, reading) for path in (*readable(), *reads)]
    rules += [(path, using) for path in DEVICES]
    rules.append((writes, rights))
    with Ruleset(
        handled_fs=rights, handled_net=AccessNet.NONE, scoped=scopes, best_effort=False
    ) as ruleset:
        for path, granted in rules:
            if os.path.isdir(path):
                ruleset.allow_path(path, granted)
            elif os.path.exists(path):
                # Landlock refuses to grant a file what only a folder can have.
                ruleset.allow_path(path, granted & (using | AccessFS.EXECUTE))
        ruleset.restrict()


def probe(hidden: Iterable[str]) -> None:
    """
    Try what must be refused.

    :param hidden: files and folders that must not be read.
    :raises EvalError: something is not refused.
    """
    unix = partial(socket.socket, socket.AF_UNIX)
    kill = partial(os.kill, os.getppid(), 0)
    uses: list[Callable[[], object]] = [unix, kill]
    for path in hidden:
        if os.path.isdir(path):
            uses.append(partial(os.listdir, path))
        elif os.path.exists(path):
            uses.append(partial(open, path, "rb"))
    for use in uses:
        try:
            use()
        except PermissionError:
            continue
        raise EvalError(NOT_ALL)
