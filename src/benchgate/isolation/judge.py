"""
What judges outputs, in processes of its own: the rubric and the observer of a class, which are trusted.

Each is imported once, before any process of a system exists. The import is the parent of all workers, those too that
take the place of one that died: nothing that was written since is imported.
"""

from __future__ import annotations

import ast
import os
import select
import socket
import sys
import time
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder, SourceFileLoader
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from benchgate.errors import EvalError
from benchgate.isolation.attempt import GRACE, Waiting, ready_to_fork
from benchgate.isolation.descendants import PRCTL, SUBREAPER, end, keep, keep_open
from benchgate.isolation.messages import RUBRIC, End, Start, receive, send
from benchgate.loader.imports import BenchFinder, SourceOnlyLoader, module_name
from benchgate.loader.observer import load_observer
from benchgate.loader.rubric_source import parse_source
from benchgate.loader.task_class import load_task_class
from benchgate.models import Observer
from benchgate.models.case import changes
from benchgate.registry import TaskClassRegistry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType


def judge(start: Start, ready: int) -> None:
    """Import what judges, tell the session, and keep workers; ``ready`` is closed when all is imported."""
    keep_open({start.socket, ready})
    session = socket.socket(fileno=start.socket)
    environ = receive(session)
    os.environ.clear()
    os.environ.update(environ)
    try:
        called = _imported(start)
        ready_to_fork()
    except Exception as error:
        hint = "it sees few environment variables: observer_env in gate.toml names more"
        send(session, {"fault": f"{str(error)[-2000:]}; {hint}"})
        return
    send(session, {"ready": True})
    os.close(ready)
    keep([partial(_work, start, called, session)] * start.jobs)


def _imported(start: Start) -> Any:
    path = Path(start.bench)
    sys.path[:] = start.path
    if start.name == RUBRIC:
        os.chdir("/")
        return _rubric(start, path)
    sys.meta_path.insert(0, BenchFinder(path.parent, path.name))
    task_class = load_task_class(path.parent, path.name, TaskClassRegistry())
    there = Observer(**(start.observer or {}))
    found = load_observer(task_class, path, there.observations)
    other = changes(there, found and found.identity)
    if other:
        raise EvalError("; ".join(other))
    return found and found.call


def _rubric(start: Start, path: Path) -> Any:
    """Import the rubric from the files that were digested, and what these may ask for later."""
    digests = start.digests or {}
    sys.meta_path.insert(0, BenchFinder(path.parent, path.name, digests))
    module, _, attribute = start.call.partition(":")
    scores = resolve_name(f"{module}:{attribute}")()
    for file in map(Path, digests):
        parts = file.relative_to(path).with_suffix("").parts
        import_module(module_name(path.name, ".".join(parts).removesuffix(".__init__")))
        for name in _imports(file):
            with suppress(ImportError):  # it may ask for what is not installed, and do without
                import_module(name)
    sys.meta_path.insert(0, _AsItWas())
    return scores


def _imports(file: Path) -> Iterator[str]:
    """Yield the modules outside its class that a file imports anywhere, in its functions too."""
    for node in ast.walk(parse_source(file)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


class _AsItWas(MetaPathFinder):
    """
    Has a rubric import what was there when it was imported itself, before systems ran, and nothing that is newer.

    The time of a file's last change is the kernel's: whoever writes a file cannot set it. Bytecode is not read, as
    honest processes write that too.
    """

    def __init__(self) -> None:
        self._before = time.time_ns()

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        found = PathFinder.find_spec(fullname, path, target)
        if found is None or not found.has_location or found.origin is None:
            return None
        if os.stat(found.origin).st_ctime_ns > self._before:
            raise ImportError(
                f"{found.origin} was changed after the rubric was imported, when a system could do that; "
                "import it at the top of rubric.py",
                name=fullname,
            )
        if isinstance(found.loader, SourceFileLoader):
            found.loader = SourceOnlyLoader(fullname, found.origin)
        return found


def _work(start: Start, called: Any, session: socket.socket) -> None:
    """Run a call in a child for each message, which has its limit, and tell how it ended."""
    PRCTL(SUBREAPER, 1, 0, 0, 0)
    while True:
        waiting = Waiting(start, called)
        message, descriptors, _, _ = socket.recv_fds(session, 99, 3)
        if not descriptors:
            return
        channel, report, prints = descriptors
        with suppress(OSError):  # somebody has ended it, which its status says
            waiting.run(channel, prints)
        ended = os.pidfd_open(waiting.pid)
        in_time = select.select([ended], [], [], float(message) + GRACE)[0]
        status = os.waitstatus_to_exitcode(end()[waiting.pid])
        with socket.socket(fileno=report) as told, suppress(OSError):
            send(told, asdict(End(status=status, is_late=not in_time)))
        for descriptor in (ended, channel, prints):
            os.close(descriptor)
