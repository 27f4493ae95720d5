"""A class whose systems and rubric run in processes of their own: its helpers, and what calls them in a session."""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import EvalError
from benchgate.isolation.calls import PATIENCE, Call, Helper, Root
from benchgate.isolation.messages import Job, Start
from benchgate.isolation.sandbox import readable_of
from benchgate.isolation.scratch import Scratch, remove
from benchgate.loader.loaded_class import check_importable
from benchgate.trials.executor import TrialRequest
from benchgate.trials.trial import FailedElsewhere

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchgate.loader.loaded_class import LoadedClass, NamedSystem
    from benchgate.models import BenchCase, IsolationClass, Side
    from benchgate.trials.executor import TrialRecord
    from benchgate.trials.trial import TrialRunner

PASSED: Final = frozenset(
    {"PATH", "LANG", "LANGUAGE", "TZ", "TERM", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "PYTHONHASHSEED"}
    | {"SSL_CERT_FILE", "SSL_CERT_DIR", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"}
)
"""What processes have of the environment, and all names that begin with LC_; ``pass_env`` adds to it."""


class Isolated:
    """
    The processes of one class; :meth:`close` ends them.

    :param level: that of the run, without what a single system may do.
    :raises EvalError: the level cannot be had, or system or rubric cannot be found by their names.
    """

    def __init__(
        self, bench: LoadedClass, systems: Mapping[Side, NamedSystem], level: IsolationClass
    ) -> None:
        check_level(level)
        shared: dict[str, Any] = {"task_class": bench.name, "bench_root": str(bench.path.parent)}
        starts = {"": Start(target=rubric_name(bench), is_rubric=True, cwd="/", **shared)}
        for system in systems.values():
            check_importable(bench.task_class, system, "in a process of its own")
            reads = tuple(readable_of(system.call, bench.path)) if level == "sandbox" else None
            own: dict[str, Any] = {"reads": reads, "network": system.network, **shared}
            starts[system.name] = Start(target=system.name, cwd=os.getcwd(), **own)
        self._limits = bench.run.limits.model_dump(exclude_none=True) if bench.run.limits else {}
        self._calls: list[Call] = []
        self._folder = Path(mkdtemp(prefix="benchgate-isolated-"))
        passed = {*PASSED, *(bench.run.pass_env or ())}
        self._root = Root(
            {k: v for k, v in os.environ.items() if k in passed or k.startswith("LC_")}
        )
        self._helpers = {name: Helper(self._root, start) for name, start in starts.items()}
        try:
            for helper in self._helpers.values():
                helper.wait()
        except BaseException:
            self.close()
            raise

    @property
    def notes(self) -> list[str]:
        """What to say of them before the run."""
        late = [helper.start.target for helper in self._helpers.values() if helper.start.is_late]
        what = "leave threads behind: each trial imports it anew, in its own time"
        return [f"imports of {target} {what}" for target in late]

    def around(
        self, runner: TrialRunner, system: NamedSystem, limit: Callable[[BenchCase], float]
    ) -> TrialRunner:
        """Return what runs trials of a system, and scores them, in processes of their own."""

        def called(case: BenchCase) -> Any:
            request = TrialRequest(case=case, system=system.name, limit=limit(case))
            try:
                return self._produced(request)
            except OSError as error:
                raise FailedElsewhere(request.not_run(f"its folder: {error}")) from error

        def score(case: BenchCase, output: Mapping[str, Any]) -> object:
            request = TrialRequest(case=case, system="", limit=limit(case))
            job = Job(
                case=case.model_dump_json(),
                limit=request.limit,
                work=str(case.work_path),
                output=json.dumps(output),
            )
            return self._ran(request, job).result.score

        return replace(runner, system=called, score=score, alone=False)

    def _produced(self, request: TrialRequest) -> Any:
        with Scratch(self._folder) as scratch:
            job = Job(
                case=scratch.handed(request.case).model_dump_json(),
                limit=request.limit,
                work=str(scratch.work),
                home=str(scratch.home),
                limits=self._limits,
            )
            record = self._ran(request, job)
            scratch.give(lambda: request.case.work_path)
        return json.loads(record.output_json or "null")

    def _ran(self, request: TrialRequest, job: Job) -> TrialRecord:
        call = Call(request, job)
        self._calls.append(call)
        try:
            return call.run(self._helpers[request.system])
        finally:
            self._calls.remove(call)

    def close(self) -> None:
        """End all that runs, and remove its folders."""
        self._root.close()
        until = time.monotonic() + PATIENCE
        while self._calls and time.monotonic() < until:
            time.sleep(0.001)
        for helper in self._helpers.values():
            helper.close()
        remove(self._folder)


def check_level(level: str) -> None:
    """Check that this is a machine for a level; :raises EvalError: says what is missing."""
    if sys.platform != "linux":
        raise EvalError(f"isolation={level} needs Linux; this is {sys.platform}")
    if not os.path.exists(f"/proc/self/task/{os.getpid()}/children"):
        raise EvalError(f"isolation={level} needs /proc, with the children of processes")


def rubric_name(bench: LoadedClass) -> str:
    """
    Return module and name of the class that scores, without the registration.

    :raises EvalError: the registration scores itself.
    """
    registered = bench.task_class.rubric_type
    here = registered.__module__
    if here.endswith(".registration"):
        own = [n for n, value in vars(registered).items() if n[:2] != "__" or callable(value)]
        bases = (one for one in registered.__mro__ if one.__module__ != here)
        registered = next(bases, object)
        if own or registered is object:
            what = ", ".join(own) or "the rubric"
            why = "move it into rubric.py, which alone is imported where outputs are scored"
            raise EvalError(f"isolation: registration.py defines {what}; {why}")
    return f"{registered.__module__}:{registered.__qualname__}"
