"""The task classes that a worker process was sent."""

from __future__ import annotations

import atexit
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
from benchgate.loader.observer import never
from benchgate.loader.systems import find_system
from benchgate.registry import TaskClassRegistry, slug
from benchgate.remote.attempt import unpack
from benchgate.trials.calls import CallsHere
from benchgate.trials.containment import removed
from benchgate.trials.executor import TrialRequest
from benchgate.trials.trial import TrialRunner
from benchgate.trials.trial_http import HttpTerms
from benchgate.wire.canonical import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from benchgate.isolation.isolated import Isolated
    from benchgate.loader.loaded_class import LoadedClass
    from benchgate.loader.observer import ClassObserver
    from benchgate.loader.systems import NamedSystem
    from benchgate.models import BenchCase
    from benchgate.remote.attempt import Apart, Attempt, SentClass
    from benchgate.trials.calls import Calls

    Systems = Mapping[str, Mapping[str, str | None]]
    Key = tuple[str, Apart | None]

LEAST: Final = 0.1
"""Seconds that a call has at least: none would be no limit."""

TURN: Final = 1.0
"""Seconds for which more trials of a class begin although another one of its name is waited for."""

IDLE: Final = 60.0
"""Seconds after which processes that nothing uses are ended, if this worker is sent another class."""


def declared(system: NamedSystem, observer: ClassObserver | None) -> dict[str, str | None]:
    """Return what a system of a name, and what observes its outputs, must declare everywhere."""
    own = {"digest": system.digest, "checkpoint": system.checkpoint_sha256()}
    return own | {"observer": observer and observer.identity.model_dump_json()}


class _TimeLeft:
    """What calls of a trial have of its limit, counted from the first one: the session waits no longer for a rubric."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._ends: float | None = None

    def __call__(self, _: float) -> float:
        if self._ends is None:
            self._ends = time.monotonic() + self._limit
            return self._limit
        return max(LEAST, self._ends - time.monotonic())


class WorkerBench:
    """
    One task class in a folder of this worker; all methods are called while it is the imported one.

    :param folder: that has the folder of the class.
    :param data: what :func:`~benchgate.remote.attempt.pack` returned, to be unpacked there; else it is there.
    :param apart: how its systems run in processes of their own; ``None``: they are imported here.
    :param threads: of this worker.
    """

    def __init__(
        self,
        name: str,
        folder: Path,
        data: bytes | None = None,
        *,
        apart: Apart | None = None,
        threads: int = 1,
    ) -> None:
        self._name = name
        self._folder = folder
        self._data = data
        self._apart = apart
        self._threads = threads
        self._processes: Isolated | None = None
        self.used = time.monotonic()
        """When a trial of it ended last."""
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
        own = self._modules.get(f"{PACKAGE}.{self.slug}")
        if own is not None:
            # What `import a.b.c as name` reads, and another class of this name has set.
            setattr(sys.modules[PACKAGE], self.slug, own)
        importlib.invalidate_caches()

    def leave(self) -> None:
        """Make its modules unknown, and keep them."""
        sys.meta_path.remove(self._finder)
        self._modules = forget(f"{PACKAGE}.{self.slug}")

    def system(self, name: str) -> NamedSystem:
        """
        Load the class, and return a system of it; above level ``none`` it is imported in processes of its own.

        :raises EvalError: one of them cannot be imported here, or the level cannot be had.
        """
        with self._loading:
            if self._loaded is None:
                self._loaded = load_class(self._folder, self._name, TaskClassRegistry())
            if name not in self._systems:
                self._systems[name] = self._found(name)
            return self._systems[name]

    def check(self, name: str, there: Mapping[str, str | None]) -> None:
        """
        Load a system.

        :param there: what it declares where it was sent from.
        :raises EvalError: see :meth:`system`; or it declares something else.
        """
        system = self.system(name)
        for kind, here in declared(system, self._class.observer()).items():
            if here != there.get(kind):
                msg = f"{kind} of system {name} is {here} here, and {there.get(kind)} where the run was started"
                raise EvalError(msg)
        one = alone([system], self._class.observer())
        if one is not None and self._threads > 1:
            msg = f"{one} says concurrency = 'none', and this worker has {self._threads} threads"
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
        return TrialRequest(
            case=own,
            system=system.name,
            limit=attempt.limit,
            side=attempt.side,
            observations=self._observations,
            then=attempt.then,
        )

    def is_modified(self, attempt: Attempt) -> bool:
        """Return whether the files of a case are not those of the run."""
        try:
            return files_digest(self._class.load(attempt.case_id)) != attempt.files
        except Unreadable:
            return True

    def runner(self, system: NamedSystem, limit: float) -> TrialRunner:
        """Return what runs a trial of a system; ``limit``: of the whole trial, where its calls are apart."""
        bench = self._class
        observer = bench.observer()
        calls: Calls = CallsHere(
            task_class=bench.name,
            call=system.call,
            rubric=bench.rubric.score,
            observer=observer.call if observer else never,
            wait=self._loop.wait,
            masker=bench.masker,
        )
        if self._processes is not None:
            calls = self._processes.calls(system.name, _TimeLeft(limit))
        return TrialRunner(
            task_class=bench.name,
            calls=calls,
            taxonomy=bench.taxonomy,
            alone=self._threads == 1 and self._processes is None,
            observer=observer and observer.identity,
            http=HttpTerms(system=system.name, class_path=bench.path),
            masker=bench.masker,
        )

    @property
    def _observations(self) -> int:
        observer = self._class.observer()
        if observer is None:
            return 0
        return observer.identity.observations

    @property
    def is_apart(self) -> bool:
        """Whether its systems run in processes of their own."""
        return self._apart is not None

    def can_go(self) -> bool:
        """Whether its folder and its processes are of no use any more, if nobody uses them now."""
        if self._apart is None or self._loaded is None:
            return False
        if self._processes is None:
            # Their start failed, and what ran until then may have changed the folder.
            return True
        return self._processes.is_spent or time.monotonic() - self.used > IDLE

    def close(self) -> None:
        """End the processes of its systems, and remove the folder that only they have used."""
        if self._processes is not None:
            self._processes.close()
            self._processes = None
        if self._apart is not None:
            removed(self._folder)

    def relative(self, path: Path) -> str | None:
        """Return a path below the class's folder as a relative one; ``None`` elsewhere."""
        home = self._class.path
        if not path.is_relative_to(home):
            return None
        return path.relative_to(home).as_posix()

    def _found(self, name: str) -> NamedSystem:
        if self._apart is None:
            return find_system(self._class.task_class, name)
        if self._processes is None:
            self._processes = self._started(self._apart)
        return self._processes.named_system(name)

    def _started(self, apart: Apart) -> Isolated:
        """Start the processes of all systems, and have each imported there."""
        from benchgate.isolation.isolated import Isolated, check_level, grants

        try:
            check_level(apart.level)
        except EvalError as error:
            cure = "start workers only where this level can be had, or run the class without an executor"
            raise EvalError(f"{error}; {cure}") from error
        return Isolated(
            self._class,
            dict(grants(self._class, name) for name in apart.systems),
            apart.level,
            jobs=self._threads,
            limit=apart.limit,
            out=None,
        )

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

    def uses(self, bench: WorkerBench) -> bool:
        if bench in self.waiting:
            return True
        return self.imported is bench and self.users > 0

    def admits(self, bench: WorkerBench) -> bool:
        if self.imported is not bench:
            return not self.users
        return time.monotonic() < self.since + TURN or all(one is bench for one in self.waiting)


class WorkerBenches:
    """The classes of a worker process. Those of one name have modules of equal names, and take turns."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._benches: dict[Key, WorkerBench] = {}
        self._turns: dict[str, _Turn] = defaultdict(_Turn)
        self.compared: set[SentClass] = set()
        self.prints = PrintRouter()

    def receive(self, sent: SentClass, data: bytes, folder: Path, threads: int) -> None:
        """
        Keep a class that was sent, and end the processes of others that nobody needs.

        :param threads: of this worker.
        :raises EvalError: it is not what was sent, or this process has classes of its own.
        """
        if sha256_hex(data) != sent.sha256:
            msg = f"class {sent.name} arrived damaged"
            raise EvalError(msg)
        with self._changed:
            self._drop_idle()
            own = not self._turns and any(isinstance(f, BenchFinder) for f in sys.meta_path)
            if own:
                msg = "this worker is in the process of a run; start it in a process of its own"
                raise EvalError(msg)
            if sent.key not in self._benches:
                self._benches[sent.key] = WorkerBench(
                    sent.name, folder, data, apart=sent.apart, threads=threads
                )

    def open(self, name: str, bench_root: Path) -> Key:
        """Keep a class that is on this machine, and return what it is called here."""
        key = str(bench_root / name), None
        with self._changed:
            self._benches.setdefault(key, WorkerBench(name, bench_root))
        return key

    @contextmanager
    def using(self, key: Key) -> Iterator[WorkerBench | None]:
        """Import a class once no trial of another of its name runs; ``None``: it is to be sent first."""
        bench = self._entered(key)
        try:
            yield bench
        finally:
            if bench is not None:
                self._left(bench)

    def _entered(self, key: Key) -> WorkerBench | None:
        with self._changed:
            bench = self._benches.get(key)
            if bench is None:
                return None
            turn = self._turns[bench.slug]  # in here: two threads would make one each
            turn.waiting.append(bench)
            self._changed.wait_for(partial(turn.admits, bench))
            turn.waiting.remove(bench)
            if turn.imported is not bench:
                if turn.imported is not None:
                    turn.imported.leave()
                bench.enter()
                turn.imported = bench
                turn.since = time.monotonic()
            turn.users += 1
            return bench

    def _left(self, bench: WorkerBench) -> None:
        with self._changed:
            bench.used = time.monotonic()
            self._turns[bench.slug].users -= 1
            self._changed.notify_all()

    def _drop_idle(self) -> None:
        """End the processes of classes that nobody needs, which are sent again if somebody does; under the lock."""
        for key, bench in list(self._benches.items()):
            turn = self._turns.get(bench.slug)
            is_used = turn is not None and turn.uses(bench)
            if bench.can_go() and not is_used:
                del self._benches[key]
                self.compared = {sent for sent in self.compared if sent.key != key}
                bench.close()

    def close(self) -> None:
        """End all processes, as this one ends."""
        for bench in self._benches.values():
            bench.close()


@cache
def worker_benches() -> WorkerBenches:
    """Return those of this process: it has one ``sys.modules``, however many workers are in it."""
    benches = WorkerBenches()
    # A worker that is killed needs none: its processes wait for the end of a pipe that it holds.
    atexit.register(benches.close)
    return benches
