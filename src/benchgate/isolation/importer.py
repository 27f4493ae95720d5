"""The process that imports a system, within the limits and the sandbox of a trial, and is forked for each call."""

from __future__ import annotations

import os
import socket
import sys
from contextlib import suppress
from dataclasses import asdict
from importlib.abc import MetaPathFinder
from importlib.util import spec_from_file_location
from inspect import isawaitable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import EvalError
from benchgate.isolation import place, sandbox
from benchgate.isolation.attempt import Waiting, ready_to_fork
from benchgate.isolation.descendants import DUMPABLE, PRCTL, keep_open
from benchgate.isolation.messages import IMPORT, send
from benchgate.isolation.privileges import drop, drop_tracing, unreadable
from benchgate.loader.imports import INIT, BenchFinder, source_in
from benchgate.loader.systems import Declared, imported_system
from benchgate.registry import FLOORS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

    from benchgate.isolation.messages import Layer, Start
    from benchgate.models import BenchCase

HIDDEN: Final = "at level sandbox a system reads its own code, and what 'reads' names"


def import_system(start: Start, number: int, prints: int) -> None:
    """
    Close this process, import the system, say what it declares, and fork a child for each call.

    :param number: descriptor of the socket of whoever watches this process.
    :param prints: of a file for what the import prints.
    """
    for standard in (1, 2):
        os.dup2(prints, standard)
    keep_open({number})
    watcher = socket.socket(fileno=number)
    try:
        _close(start)
        called = _imported(start)
        declared = Declared.by(called)
        ready_to_fork()
    except Exception as error:
        sys.stdout.flush()
        send(watcher, {"fault": _told(start, error)})
        return
    sys.stdout.flush()  # or each call would print it again
    if start.layer is not None:
        called = _Sandboxed(called)
    waiting = Waiting(start, called)
    send(watcher, {"waiting": waiting.pid, **asdict(declared)})
    while True:
        message, descriptors, _, _ = socket.recv_fds(watcher, 9, 2)
        if not message:
            return
        try:
            waiting.run(*descriptors)
        except OSError:  # somebody has ended it
            waiting = Waiting(start, called)
            waiting.run(*descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        child = waiting.pid
        waiting = Waiting(start, called)
        _, status = os.waitpid(child, 0)
        send(watcher, {"waiting": waiting.pid, "status": os.waitstatus_to_exitcode(status)})


def _close(start: Start) -> None:
    """Shut this process out of all that a trial does not reach, for good."""
    os.setsid()
    home = Path(start.folder, IMPORT)
    home.mkdir(exist_ok=True)
    place.limit(start.limits or {})
    place.settle(str(home))
    PRCTL(DUMPABLE, 1, 0, 0, 0)
    if start.layer is not None:
        _shut_in(start.layer, start.folder)
        sys.meta_path.append(_Unlisted())
    else:
        drop_tracing()
    # Only now: a file beside the system may have the name of a library that closes it.
    sys.path[:] = [start.first, *start.path] if start.first else start.path
    path = Path(start.bench)
    sys.meta_path.insert(0, BenchFinder(path.parent, path.name))


def _shut_in(layer: Layer, folder: str) -> None:
    refusals = sandbox.refusals(network=layer.network)
    drop()
    fault = unreadable((*sandbox.readable(), *layer.reads, folder))
    if fault is not None:
        raise EvalError(fault)
    # Of /proc, a process outside this one shows what it shows to every user, and no file, memory or environment.
    # Each call has its own entry there, whose name nobody knows yet.
    sandbox.restrict_files((*layer.reads, "/proc"), folder)
    refusals.load()
    sandbox.probe(layer.hidden)


def _imported(start: Start) -> Any:
    if start.call in FLOORS:
        return FLOORS[start.call]
    module, _, attribute = start.call.partition(":")
    return imported_system(module, attribute, start.name)


def _told(start: Start, error: Exception) -> str:
    """Return what went wrong, and what may be missing."""
    text = str(error)[-2000:]
    cause = error.__cause__ or error
    if start.layer is not None and isinstance(cause, PermissionError):
        return f"{text}; {HIDDEN}"
    if isinstance(cause, EvalError | ImportError | AttributeError):
        return text
    return f"{text}; it sees few environment variables: pass_env in gate.toml names more"


class _Unlisted(MetaPathFinder):
    """Finds modules by their names in folders that may not be listed, and says which of them may not be read."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,  # noqa: ARG002 - the signature is the import system's
    ) -> ModuleSpec | None:
        for folder in sys.path if path is None else path:
            file = source_in(folder, fullname.rpartition(".")[2])
            if file is None:
                continue
            try:
                file.open("rb").close()
            except PermissionError as error:
                raise ImportError(f"{file} may not be read: {HIDDEN}", name=fullname) from error
            locations = [str(file.parent)] if file.name == INIT else None
            return spec_from_file_location(fullname, file, submodule_search_locations=locations)
        return None


class _Sandboxed:
    """A system whose errors about what the sandbox refuses say what would let it."""

    def __init__(self, system: Any) -> None:
        self._system = system

    def __getattr__(self, name: str) -> Any:
        return getattr(self._system, name)

    def __call__(self, case: BenchCase) -> Any:
        try:
            found = self._system(case)
        except Exception as error:
            _hint(error)
            raise
        return self._awaited(found) if isawaitable(found) else found

    async def _awaited(self, found: Awaitable[Any]) -> Any:
        try:
            return await found
        except Exception as error:
            _hint(error)
            raise


def _hint(error: Exception) -> None:
    """Say in an error what would let the system, if what the sandbox refused is its cause."""
    refused = _refused(error)
    if refused is None:
        return
    hint = HIDDEN
    if refused.filename is None:
        hint = "at level sandbox some calls are refused, and sockets unless 'network' is granted"
    refused.strerror = f"{refused.strerror}; {hint}"
    # Clients wrap what a socket raises, and most have taken its text by then.
    with suppress(Exception):  # str of a foreign error may raise anything
        if hint not in str(error):
            error.args = (f"{error}; {refused}",)


def _refused(error: BaseException) -> PermissionError | None:
    """Return the refusal that an error came from, or the error if it is one."""
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        if isinstance(cause, PermissionError):
            return cause
        seen.add(id(cause))
        cause = cause.__cause__ or cause.__context__
    return None
