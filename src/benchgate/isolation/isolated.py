"""A class whose systems and rubric run in processes of their own: its helpers, and what calls them in a session."""

from __future__ import annotations

import os
import sys
import threading
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import EvalError
from benchgate.isolation import sandbox
from benchgate.isolation.job import Fence, Job, Start
from benchgate.isolation.parent import Call
from benchgate.isolation.scratch import Scratch, remove
from benchgate.isolation.starting import Helper
from benchgate.loader.loaded_class import check_importable
from benchgate.trials.trial import FailedElsewhere
from benchgate.wire.plain import output_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchgate.gates.run_table import RunTable
    from benchgate.loader.loaded_class import LoadedClass, NamedSystem
    from benchgate.models import BenchCase, IsolationClass, Side
    from benchgate.trials.trial import TrialRunner

PASSED: Final = frozenset(
    {"PATH", "LANG", "LANGUAGE", "TZ", "TERM", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "PYTHONHASHSEED"}
    | {"SSL_CERT_FILE", "SSL_CERT_DIR", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"}
)
"""What a system has of the environment, and all names that begin with LC_; ``pass_env`` adds to it."""

OWN: Final = frozenset({"__module__", "__doc__", "__qualname__", "__dict__", "__weakref__"})
LATE: Final = "imports of {} leave threads behind: each trial imports it anew, in its own time"


@dataclass(slots=True)
class Isolated:
    """
    The processes of one class.

    :param level: that of the run, without what a single system may do.
    """

    bench: LoadedClass
    systems: Mapping[Side, NamedSystem]
    level: IsolationClass
    notes: list[str] = field(default_factory=list)
    _root: Path | None = None
    _helpers: dict[str, Helper] = field(default_factory=dict)
    _fences: dict[str, Fence] = field(default_factory=dict)
    _running: dict[int, Call] = field(default_factory=dict)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _closed: bool = False

    def open(self) -> None:
        """
        Start the helpers.

        :raises EvalError: the level cannot be had, or system or rubric cannot be found by their names.
        """
        check_level(self.level)
        for system in self.systems.values():
            check_importable(self.bench.task_class, system, "in a process of its own")
        self._root = Path(mkdtemp(prefix="benchgate-isolated-"))
        try:
            self._launch()
        except BaseException:
            self.close()
            raise

    @property
    def helpers(self) -> list[int]:
        """The ids of the helpers' processes."""
        return [pid for helper in self._helpers.values() if (pid := helper.pid) is not None]

    def _launch(self) -> None:
        environ, rubric = _environ(self.bench.run), rubric_name(self.bench)
        for system in self.systems.values():
            if self.level == "sandbox":
                reads = sandbox.readable_of(system.call, self.bench.path)
                self._fences[system.name] = Fence(reads, system.network)
            self._helpers[system.name] = Helper(self._start("system", system.name), environ)
        self._helpers[""] = Helper(self._start("rubric", rubric), os.environ)
        for helper in self._helpers.values():
            helper.launch()
        for name, helper in self._helpers.items():
            helper.wait()
            if helper.is_late:
                self.notes.append(LATE.format(name or "the rubric"))
        for name, fence in self._fences.items():
            self._probe(name, fence)

    def _probe(self, name: str, fence: Fence) -> None:
        """
        Try what the level must refuse.

        :raises EvalError: something was not refused.
        """
        assert self._root is not None  # noqa: S101 - it was made before
        forbidden = self._root / "forbidden"
        forbidden.touch()
        with Scratch(self._root) as scratch:
            job = Job(
                case={},
                system=name,
                limit=60.0,
                work=scratch.work,
                scratch=scratch.path,
                fence=fence,
                probe=forbidden,
            )
            try:
                found = Call("system", None, job).run(self._helpers[name].start)["open"]
            except FailedElsewhere as error:
                raise EvalError(f"isolation=sandbox cannot be had: {error}") from error
        if found:
            raise EvalError(f"isolation=sandbox: this kernel does not refuse {found}")

    def _start(self, role: str, target: str) -> Start:
        here = os.getcwd()
        path = [here if part == "" else part for part in sys.path if part or role == "system"]
        return Start(
            role=role,
            task_class=self.bench.name,
            bench_root=self.bench.path.parent,
            path=tuple(path),
            cwd=here if role == "system" else "/",
            target=target,
            fence=self._fences.get(target) if role == "system" else None,
        )

    def around(
        self, runner: TrialRunner, system: NamedSystem, limit: Callable[[BenchCase], float]
    ) -> TrialRunner:
        """Return what runs trials of a system, and scores them, in processes of their own."""

        def called(case: BenchCase) -> Any:
            return self._produced(system, case, limit(case))

        def score(case: BenchCase, output: Mapping[str, Any]) -> object:
            job = Job(
                case=case.model_dump(),
                system=system.name,
                limit=limit(case),
                work=case.work_path or Path("/"),
                output=output_json(output),
            )
            return self._called(Call("rubric", case, job), "")

        return replace(runner, system=called, score=score, alone=False)

    def _produced(self, system: NamedSystem, case: BenchCase, limit: float) -> Any:
        assert self._root is not None  # noqa: S101 - open() comes first
        limits = self.bench.run.limits
        try:
            with Scratch(self._root) as scratch:
                job = Job(
                    case=scratch.handed(case).model_dump(),
                    system=system.name,
                    limit=limit,
                    work=scratch.work,
                    scratch=scratch.path,
                    fence=self._fences.get(system.name),
                    limits=limits.model_dump(exclude_none=True) if limits else {},
                )
                call = Call("system", case, job, may_send=self.level == "process" or system.network)
                produced = self._called(call, system.name)
                scratch.give(lambda: case.work_path or Path())
                return produced
        except OSError as error:
            raise FailedElsewhere("not_run", f"its folder: {error}") from error

    def _called(self, call: Call, helper: str) -> Any:
        with self._changed:
            if self._closed:
                raise FailedElsewhere("not_run", "the session is over")
            self._running[id(call)] = call
        try:
            found = self._helpers[helper]
            try:
                return call.run(found.start)
            finally:
                if call.called:
                    found.done()
        finally:
            with self._changed:
                del self._running[id(call)]
                self._changed.notify_all()

    def close(self) -> None:
        """End all that runs, and remove its folders."""
        with self._changed:
            self._closed = True
            for call in self._running.values():
                call.stop()
            self._changed.wait_for(lambda: not self._running, timeout=10)
        for helper in self._helpers.values():
            helper.close()
        if self._root is not None:
            remove(self._root)


def _environ(run: RunTable) -> dict[str, str]:
    passed = {*PASSED, *(run.pass_env or ())}
    return {
        name: value
        for name, value in os.environ.items()
        if name in passed or name.startswith("LC_")
    }


def check_level(level: str) -> None:
    """
    Check that a level can be had here.

    :raises EvalError: says what is missing.
    """
    if sys.platform != "linux":
        raise EvalError(f"isolation={level} needs Linux; this is {sys.platform}")
    if not os.path.exists(f"/proc/self/task/{os.getpid()}/children"):
        raise EvalError(f"isolation={level} needs /proc, with the children of processes")
    if level == "sandbox":
        sandbox.check()


def rubric_name(bench: LoadedClass) -> str:
    """
    Return module and name of the class that scores, without the registration.

    :raises EvalError: the registration scores itself.
    """
    registered = bench.task_class.rubric_type
    here = registered.__module__
    own = {name for name in vars(registered) if name not in OWN and not name.startswith("_")}
    own |= {
        name
        for name in vars(registered)
        if name in {"__init__", "__call__", "__getattr__", "__new__"}
    }
    if here.endswith(".registration"):
        if own:
            raise EvalError(
                f"isolation: {registered.__qualname__} in registration.py defines {', '.join(sorted(own))}; "
                "move it into rubric.py, which alone is imported where outputs are scored"
            )
        bases = (one for one in registered.__mro__ if one.__module__ != here and one is not object)
        registered = next(bases, registered)
        if registered.__module__ == here:
            raise EvalError(
                "isolation: the rubric is defined in registration.py; move it into rubric.py"
            )
    return f"{registered.__module__}:{registered.__qualname__}"
