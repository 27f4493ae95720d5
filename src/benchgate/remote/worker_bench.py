"""The task classes that a worker process was sent."""

from __future__ import annotations

import importlib
import sys
import threading
import time
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import EvalError, Unreadable
from benchgate.live.loop import SessionLoop
from benchgate.live.prints import PrintRouter
from benchgate.loader.case_digest import files_digest
from benchgate.loader.imports import PACKAGE, BenchFinder, forget
from benchgate.loader.loaded_class import alone, load_class
from benchgate.loader.systems import find_system
from benchgate.registry import TaskClassRegistry, slug
from benchgate.remote.attempt import unpack
from benchgate.trials.executor import TrialRequest
from benchgate.trials.trial import TrialRunner
from benchgate.trials.trial_http import HttpTerms
from benchgate.wire.canonical import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from benchgate.loader.loaded_class import LoadedClass
    from benchgate.loader.observer import ClassObserver
    from benchgate.loader.systems import NamedSystem
    from benchgate.models import BenchCase
    from benchgate.remote.attempt import Attempt, SentClass

    Systems = Mapping[str, Mapping[str, str | None]]

TURN: Final = 1.0
"""Seconds for which more trials of a class begin although another one of its name is waited for."""


def declared(system: NamedSystem, observer: ClassObserver | None) -> dict[str, str | None]:
    """Return what a system of a name, and what observes its outputs, must declare everywhere."""
    own = {"digest": system.digest, "checkpoint": system.checkpoint_sha256()}
    return own | {"observer": observer and observer.identity.model_dump_json()}


class WorkerBench:
    """
    One task class in a folder of this worker; all methods are called while it is the imported one.

    :param folder: that has the folder of the class.
    :param data: what :func:`~benchgate.remote.attempt.pack` returned, to be unpacked there; else it is there.
    """

    def __init__(self, name: str, folder: Path, data: bytes | None = None) -> None:
        self._name = name
        self._folder = folder
        self._data = data
        self.slug = slug(name)
        self._finder = BenchFinder(folder, name)
        self._modules: dict[str, Any] = {}
        self._loading = threading.RLock()
        self._loaded: LoadedClass | None = None
        self._systems: dict[str, NamedSystem] = {}
        self._loop = SessionLoop()
        if data is not None:
            unpack(data, folder)

    def enter(self) -> None:
        """Make its modules the ones that are imported."""
        sys.meta_path.insert(0, self._finder)
        sys.modules.update(self._modules)
        if (own := self._modules.get(f"{PACKAGE}.{self.slug}")) is not None:
            # What `import a.b.c as name` reads, and another class of this name has set.
            setattr(sys.modules[PACKAGE], self.slug, own)
        importlib.invalidate_caches()

    def leave(self) -> None:
        """Make its modules unknown, and keep them."""
        sys.meta_path.remove(self._finder)
        self._modules = forget(f"{PACKAGE}.{self.slug}")

    def system(self, name: str) -> NamedSystem:
        """
        Load the class, and return a system of it.

        :raises EvalError: one of them cannot be imported here.
        """
        with self._loading:
            if self._loaded is None:
                self._loaded = load_class(self._folder, self._name, TaskClassRegistry())
            if name not in self._systems:
                self._systems[name] = find_system(self._loaded.task_class, name)
            return self._systems[name]

    def check(self, name: str, there: Mapping[str, str | None], threads: int) -> None:
        """
        Load a system.

        :param there: what it declares where it was sent from.
        :param threads: of this worker.
        :raises EvalError: it cannot be imported here, or declares something else.
        """
        system = self.system(name)
        for kind, here in declared(system, self._class.observer()).items():
            if here != there.get(kind):
                msg = f"{kind} of system {name} is {here} here, and {there.get(kind)} where the run was started"
                raise EvalError(msg)
        if threads > 1 and (one := alone([system], self._class.observer())):
            msg = f"{one} says concurrency = 'none', and this worker has {threads} threads"
            raise EvalError(msg)

    def request(self, attempt: Attempt, system: NamedSystem) -> TrialRequest | None:
        """
        Return what is run, on the files that were sent: what an earlier trial changed is restored.

        :returns: ``None`` if the files of the case were changed after the class was sent.
        """
        case = self._class.load(attempt.case_id)
        if self.is_modified(attempt):
            self._restore(case)
        if self.is_modified(attempt):
            return None
        with self._loading:
            checkpoint = system.handed()
        own = case.for_trial(trial=attempt.trial, seed=attempt.seed, checkpoint=checkpoint)
        request = TrialRequest(case=own, system=system.name, limit=attempt.limit, side=attempt.side)
        request.so_far.extend(filter(None, [attempt.then]))
        return request

    def is_modified(self, attempt: Attempt) -> bool:
        """Return whether the files of a case are not those of the run."""
        try:
            return files_digest(self._class.load(attempt.case_id)) != attempt.files
        except Unreadable:
            return True

    def runner(self, system: NamedSystem, *, alone: bool) -> TrialRunner:
        """Return what runs trials of a system; ``alone``: the worker has one thread."""
        bench = self._class
        return TrialRunner(
            task_class=bench.name,
            system=system.call,
            score=bench.rubric.score,
            taxonomy=bench.taxonomy,
            wait=self._loop.wait,
            alone=alone,
            observer=bench.observer(),
            http=HttpTerms(system=system.name, class_path=bench.path),
            masker=bench.masker,
        )

    def relative(self, path: Path) -> str | None:
        """Return a path below the class's folder as a relative one; ``None`` elsewhere."""
        home = self._class.path
        return path.relative_to(home).as_posix() if path.is_relative_to(home) else None

    @property
    def _class(self) -> LoadedClass:
        assert self._loaded is not None  # noqa: S101 - check() comes first
        return self._loaded

    def _restore(self, case: BenchCase) -> None:
        with self._loading:
            for path in filter(None, (case.input_path, case.expected_path)):
                unpack(self._data or b"", self._folder, path.relative_to(self._folder).as_posix())


@dataclass(slots=True)
class _Turn:
    """Which of the benches of one name is imported, since when and for how many, and which are waited for."""

    imported: WorkerBench | None = None
    since: float = 0.0
    users: int = 0
    waiting: list[WorkerBench] = field(default_factory=list)

    def admits(self, bench: WorkerBench) -> bool:
        if self.imported is not bench:
            return not self.users
        return time.monotonic() < self.since + TURN or all(one is bench for one in self.waiting)


class WorkerBenches:
    """The classes of a worker process, by SHA-256. Those of one name have modules of equal names, and take turns."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._benches: dict[str, WorkerBench] = {}
        self._turns: dict[str, _Turn] = defaultdict(_Turn)
        self.compared: set[SentClass] = set()
        self.prints = PrintRouter()

    def receive(self, name: str, sha256: str, data: bytes, folder: Path) -> None:
        """
        Keep a class that was sent.

        :raises EvalError: it is not what was sent, or this process has classes of its own.
        """
        if sha256_hex(data) != sha256:
            msg = f"class {name} arrived damaged"
            raise EvalError(msg)
        with self._changed:
            own = not self._turns and any(isinstance(f, BenchFinder) for f in sys.meta_path)
            if own:
                msg = "this worker is in the process of a run; start it in a process of its own"
                raise EvalError(msg)
            if sha256 not in self._benches:
                self._benches[sha256] = WorkerBench(name, folder, data)

    def open(self, name: str, bench_root: Path) -> str:
        """Keep a class that is on this machine, and return what it is called here."""
        key = str(bench_root / name)
        with self._changed:
            self._benches.setdefault(key, WorkerBench(name, bench_root))
        return key

    @contextmanager
    def using(self, sha256: str) -> Iterator[WorkerBench | None]:
        """Import a class once no trial of another of its name runs; ``None``: it is to be sent first."""
        with self._changed:
            bench = self._benches.get(sha256)
        if bench is None:
            yield None
            return
        with self._changed:
            turn = self._turns[bench.slug]  # in here: two threads would make one each
            turn.waiting.append(bench)
            self._changed.wait_for(partial(turn.admits, bench))
            turn.waiting.remove(bench)
            if turn.imported is not bench:
                if turn.imported is not None:
                    turn.imported.leave()
                bench.enter()
                turn.imported, turn.since = bench, time.monotonic()
            turn.users += 1
        try:
            yield bench
        finally:
            with self._changed:
                turn.users -= 1
                self._changed.notify_all()


@cache
def worker_benches() -> WorkerBenches:
    """Return those of this process: it has one ``sys.modules``, however many workers are in it."""
    return WorkerBenches()
