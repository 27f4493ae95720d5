"""A class whose systems and rubric run in processes of their own: its helpers, and what calls them in a session."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from queue import LifoQueue
from tempfile import TemporaryFile, mkdtemp
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import EvalError
from benchgate.isolation.messages import READY, Job, Start
from benchgate.isolation.sandbox import readable_of
from benchgate.isolation.scratch import Scratch, remove
from benchgate.live.prints import MAX_PRINTED
from benchgate.loader.loaded_class import check_importable
from benchgate.models import FailureMode
from benchgate.trials.executor import RECORDS, TrialRecord, TrialRequest
from benchgate.trials.trial import FailedElsewhere
from benchgate.wire.parsing import read_json
from benchgate.wire.plain import MAX_OUTPUT_BYTES
from benchgate.wire.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchgate.loader.loaded_class import LoadedClass, NamedSystem
    from benchgate.models import BenchCase, Outcome, Side
    from benchgate.trials.trial import TrialRunner

PASSED: Final = frozenset(
    {"PATH", "LANG", "LANGUAGE", "TZ", "TERM", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "PYTHONHASHSEED"}
    | {"SSL_CERT_FILE", "SSL_CERT_DIR", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"}
)
"""What processes have of the environment, and all names that begin with LC_; ``pass_env`` adds to it."""

ROOM: Final = 4 * MAX_OUTPUT_BYTES
"""Bytes that a process may send: its output, escaped once more, and what it has used."""

PATIENCE: Final = 10.0
"""Seconds after its limit in which a trial must have ended; else who watches it is taken for dead."""

MAIN: Final = (
    "import json, sys; path, *starts = json.loads(sys.argv[1]); sys.path[:] = path; "
    "from benchgate.isolation.helper import main; main(starts)"
)


class Isolated:
    """
    The processes of one class; :meth:`close` ends them.

    :param level: that of the run, without what a single system may do.
    :param jobs: trials that may run at once.
    :raises EvalError: the level cannot be had, or system or rubric cannot be found by their names.
    """

    def __init__(
        self, bench: LoadedClass, systems: Mapping[Side, NamedSystem], level: str, jobs: int
    ) -> None:
        check_level(level)
        shared: dict[str, Any] = {"task_class": bench.name, "bench_root": str(bench.path.parent)}
        starts = [Start(target=rubric_name(bench), is_rubric=True, cwd="/", **shared)]
        for system in systems.values():
            check_importable(bench.task_class, system, "in a process of its own")
            reads = tuple(readable_of(system.call, bench.path)) if level == "sandbox" else None
            own: dict[str, Any] = {"reads": reads, "network": system.network, **shared}
            starts.append(Start(target=system.name, cwd=os.getcwd(), **own))
        self._limits = bench.run.limits or {}
        self._busy: list[TrialRequest] = []
        self._folder = Path(mkdtemp(prefix="benchgate-isolated-"))
        self._sockets: list[socket.socket] = []
        self._workers: dict[str, LifoQueue[socket.socket]] = {}
        self._begin(starts, jobs, {*PASSED, *(bench.run.pass_env or ())})

    def _begin(self, starts: list[Start], jobs: int, passed: set[str]) -> None:
        theirs: list[socket.socket] = []
        for number, start in enumerate(starts):
            workers = self._workers["" if start.is_rubric else start.target] = LifoQueue()
            pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(jobs)]
            for own, its in pairs:
                workers.put(own)
                self._sockets.append(own)
                theirs.append(its)
            starts[number] = replace(start, sockets=[its.fileno() for _, its in pairs])
        self._process = subprocess.Popen(  # noqa: S603 - this very Python
            [sys.executable, "-c", MAIN, json.dumps([sys.path, *map(asdict, starts)])],
            env={k: v for k, v in os.environ.items() if k in passed or k.startswith("LC_")},
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=sys.__stderr__.fileno() if sys.__stderr__ else None,
            pass_fds=[one.fileno() for one in theirs],
            start_new_session=True,
        )
        for one in theirs:
            one.close()
        for one in self._sockets:
            if (said := one.recv(2000)) != READY:
                self.close()
                raise EvalError(said.decode() or "a helper died while it was imported")

    def around(
        self, runner: TrialRunner, system: NamedSystem, limit: Callable[[BenchCase], float]
    ) -> TrialRunner:
        """Return what runs trials of a system, and scores them, in processes of their own."""
        record = str(runner.http.record) if runner.http and runner.http.record else None

        def called(case: BenchCase) -> Any:
            request = TrialRequest(case=case, system=system.name, limit=limit(case))
            try:
                return self._produced(request, record)
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

    def _produced(self, request: TrialRequest, record: str | None) -> Any:
        with Scratch(self._folder) as scratch:
            job = Job(
                case=scratch.handed(request.case).model_dump_json(),
                limit=request.limit,
                work=str(scratch.work),
                home=str(scratch.home),
                record=record,
                limits=self._limits,
            )
            told = self._ran(request, job)
            scratch.give(lambda: request.case.work_path)
        if (http := request.case._http) is not None:  # noqa: SLF001 - not a field: it is no data
            http.told = told.result
        return json.loads(told.output_json or "null")

    def _ran(self, request: TrialRequest, job: Job) -> TrialRecord:
        """Run a process, and return what it says; :raises FailedElsewhere: it has no output, and no score."""
        workers = self._workers[request.system]
        worker = workers.get()
        self._busy.append(request)
        try:
            return _Call(request, job).run(worker)
        finally:
            self._busy.remove(request)
            workers.put(worker)

    def close(self) -> None:
        """End all that runs, and remove its folders."""
        for one in self._sockets:
            one.shutdown(socket.SHUT_WR)
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        until = time.monotonic() + PATIENCE
        while self._busy and time.monotonic() < until:
            time.sleep(0.001)
        for one in self._sockets:
            one.close()
        remove(self._folder)


class _Call:
    """One process of a trial, from its start to the end of all that it has started."""

    def __init__(self, request: TrialRequest, job: Job) -> None:
        self._request = request
        self._job = job
        self._room = ROOM
        self._called = False
        self._told: str | None = None
        self._failed: Outcome = "harness_error" if job.output is None else "rubric_error"

    def run(self, worker: socket.socket) -> TrialRecord:
        """Have a worker run it, and return what it says; :raises FailedElsewhere: it has no output, and no score."""
        channel, its = socket.socketpair()
        name, said, fault = os.urandom(8).hex().encode(), b"", ""
        with channel, TemporaryFile() as prints:
            with its:
                start = b"%s %r" % (name, self._job.limit)
                socket.send_fds(worker, [start], [its.fileno(), prints.fileno()])
            for one in (channel, worker):
                one.settimeout(self._job.limit + PATIENCE)
            try:
                self._hear(channel)
            except Exception as error:  # of whatever a process may send in the place of a message
                fault = str(error)
            channel.close()
            try:
                while said != READY and not said.startswith(name):
                    said = worker.recv(99)
            except TimeoutError:
                said = READY
            prints.seek(0)
            sys.stdout.write(prints.read(MAX_PRINTED).decode(errors="backslashreplace"))
        if said == READY:
            fault = "what watches it died"
        elif not said.endswith(b" 0") or self._told is None:
            fault = fault or f"ended without a result, status {said.decode().split()[1]}"
        if not self._called:
            raise FailedElsewhere(self._request.not_run(f"before it was called: {fault}"))
        return self._believed(fault)

    def _hear(self, channel: socket.socket) -> None:
        """Give the process its job, and take what it says until nothing is left that could say something."""
        with channel.makefile("rwb") as file:
            file.write(json.dumps(asdict(self._job)).encode() + b"\n")
            file.flush()
            while line := file.readline(self._room):
                self._room -= len(line)
                if not line.endswith(b"\n"):
                    raise ValueError("its last message is not whole, or too large")
                kind, value = read_json(line)
                if self._told is not None:
                    raise ValueError("it said something after its result")
                if kind == "usage":
                    self._request.case.usage.include(Usage.of(value))
                self._called = True
                self._told = value if kind == "result" else None

    def _believed(self, fault: str) -> TrialRecord:
        """Return what a process says that ended well and said one thing."""
        own = {self._failed, "timeout", "invalid_rl_payload"}
        try:
            record = RECORDS.validate_json(str(self._told), strict=True)
            result, codes = record.result, {mode.code for mode in record.result.failure_modes}
            if not fault and result.outcome == "scored":
                return record
            if (
                result.outcome not in {self._failed, "timeout", "unavailable", "not_run"}
                or codes - own
            ):
                fault = fault or "it says what is not its own to say"
        except ValueError:
            fault = fault or "what it says is no result"
        if fault:
            mode = FailureMode(code=self._failed, detail=f"in its own process: {fault}")
            result = self._request.result(self._failed, failure_modes=(mode,))
            record = TrialRecord(result=result, output_json=None)
        raise FailedElsewhere(record)


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
