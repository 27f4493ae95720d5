"""A class whose systems, rubric and observer run in processes of their own: its helpers, and what calls them."""

from __future__ import annotations

import json
import math
import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryFile, mkdtemp
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import EvalError
from benchgate.isolation.place import cleared, handed, readable_of, rubric_name, scratch
from benchgate.live.prints import MAX_PRINTED
from benchgate.loader.loaded_class import check_importable
from benchgate.models import FailureMode
from benchgate.trials.containment import removed
from benchgate.trials.executor import RECORDS, FailedElsewhere, TrialRecord, TrialRequest
from benchgate.wire.parsing import read_json
from benchgate.wire.plain import MAX_OUTPUT_BYTES
from benchgate.wire.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from benchgate.loader.loaded_class import LoadedClass, NamedSystem
    from benchgate.models import BenchCase, Outcome
    from benchgate.trials.trial import TrialRunner

PASSED: Final = (
    "PATH LANG LANGUAGE TZ TERM VIRTUAL_ENV LD_LIBRARY_PATH PYTHONHASHSEED SSL_CERT_FILE SSL_CERT_DIR "
    "OMP_NUM_THREADS OPENBLAS_NUM_THREADS"
)
"""What processes have of the environment, and all names that begin with LC_; ``pass_env`` adds to it."""

ROOM: Final = 4 * MAX_OUTPUT_BYTES
"""Bytes that a process may send: its output, escaped once more, and what it has used."""

PATIENCE: Final = 10.0
"""Seconds after its limit in which a trial must have ended; else who watches it is taken for dead."""

MOST_DEATHS: Final = 3
"""Deaths in a row of those who watch trials, after which no more are run."""

RUBRIC, OBSERVER = "its rubric", "its observer"
"""The names of their helpers, beside those of the systems."""

MAIN: Final = (
    "import json, sys; path, *starts = json.loads(sys.argv[1]); sys.path[:] = path; "
    "from benchgate.isolation.helper import main; main(starts)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """
    What a helper imports, once.

    :param target: the name of a system, or module and name of the class of a rubric.
    :param observer: what the session found an observer to be; ``None`` for others.
    :param socket: descriptor of the socket by which it is sent the sockets of trials.
    :param reads: what trials may read besides the machine's own; ``None``: everything, as in no sandbox.
    :param network: whether they may make sockets of IP.
    :param limits: of each of their processes: ``memory`` in bytes, and ``processes``.
    """

    bench: str
    target: str
    socket: int
    is_rubric: bool = False
    observer: Mapping[str, Any] | None = None
    jobs: int = 1
    reads: tuple[str, ...] | None = None
    network: bool = False
    limits: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """
    One call of a system, which lives in ``home`` of a folder, or of what observes an output, or scores it.

    :param case: as JSON, with the paths that the process may use.
    :param record: the folder in which HTTP is recorded, and the observation ``number``; 0 is that of the system.
    """

    case: str
    limit: float
    work: str
    system: str = ""
    folder: str | None = None
    output: str | None = None
    record: str | None = None
    number: int = 0


class Isolated:
    """
    The processes of one class; :meth:`close` ends them.

    :param level: that of the run, without what a single system may do.
    :param jobs: trials that may run at once.
    :raises EvalError: the level cannot be had, or system or rubric cannot be found by their names.
    """

    def __init__(
        self, bench: LoadedClass, systems: Collection[NamedSystem], level: str, jobs: int
    ) -> None:
        if sys.platform != "linux" or not os.path.exists(f"/proc/self/task/{os.getpid()}/children"):
            what = "needs Linux with /proc, as in a container"
            raise EvalError(f"isolation={level} {what}; this is {sys.platform}")
        self._helpers: dict[str, socket.socket] = {}
        self._died = 0
        rubric: dict[str, Any] = {"target": rubric_name(bench), "is_rubric": True}
        starts, limits = {RUBRIC: rubric}, dict(bench.run.limits or {})
        if (observer := bench.observer()) is not None:
            identity = observer.identity.model_dump(mode="json")
            starts[OBSERVER] = {"target": OBSERVER, "observer": identity}
        for system in systems:
            check_importable(bench.task_class, system, "in a process of its own")
            start = starts[system.name] = {"target": system.name, "limits": limits}
            if level == "sandbox":
                reads = [*readable_of(system.call, bench.path)]
                start |= {"reads": reads, "network": system.network}
        passed = {*PASSED.split(), *(bench.run.pass_env or ())}
        with ExitStack() as own, ExitStack() as theirs:
            for name, start in starts.items():
                ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                self._helpers[name] = own.enter_context(ours)
                number = theirs.enter_context(its).fileno()
                start |= {"bench": str(bench.path), "socket": number, "jobs": jobs}
            self._folder = Path(mkdtemp(prefix="benchgate-isolated-"))
            own.callback(removed, self._folder)
            self._sweeper = own.enter_context(ThreadPoolExecutor(1))
            process = subprocess.Popen(  # noqa: S603 - this very Python
                [sys.executable, "-P", "-c", MAIN, json.dumps([sys.path, *starts.values()])],
                env={k: v for k, v in os.environ.items() if k in passed or k.startswith("LC_")},
                stdin=subprocess.PIPE,
                stdout=sys.__stderr__.fileno() if sys.__stderr__ else None,
                pass_fds=[start["socket"] for start in starts.values()],
                start_new_session=True,
            )
            own.callback(_end, process)
            theirs.close()
            for name, helper in self._helpers.items():
                if (said := helper.recv(2000).decode()) != "ready":
                    what = f"isolation={level}: {name}: {said or 'its helper died'}"
                    raise EvalError(what)
            self._exit = own.pop_all()

    def around(
        self, runner: TrialRunner, system: str, limit: Callable[[BenchCase], float]
    ) -> TrialRunner:
        """Return what runs trials of a system, observes and scores them, in processes of their own."""

        def called(case: BenchCase) -> Any:
            return self._produced(system, case, limit(case))

        def job(case: BenchCase, output: Mapping[str, Any]) -> Job:
            told, work = case.model_dump_json(), str(case.work_path)
            return Job(case=told, limit=limit(case), work=work, output=json.dumps(output))

        def observe(case: BenchCase, output: Mapping[str, Any]) -> Any:
            return self._returned(OBSERVER, case, job(case, output))

        def score(case: BenchCase, output: Mapping[str, Any]) -> object:
            return self._called(RUBRIC, case, job(case, output)).result.score

        observer = runner.observer and runner.observer._replace(call=observe)
        return replace(runner, system=called, score=score, alone=False, observer=observer)

    def _produced(self, system: str, case: BenchCase, limit: float) -> Any:
        try:
            with scratch(self._folder, self._sweeper) as folder:
                work, own = folder / "home" / "work", handed(case, folder).model_dump_json()
                job = Job(case=own, limit=limit, work=str(work), folder=str(folder))
                output = self._returned(system, case, job)
                if cleared(work):
                    os.rename(work, case.work_path or "")
        except OSError as error:
            request = TrialRequest(case=case, system=system, limit=limit)
            raise FailedElsewhere(request.not_run(f"its folder: {error}")) from error
        return output

    def _returned(self, name: str, case: BenchCase, job: Job) -> Any:
        """Return what a system or an observer returned, which asks by HTTP on the terms of its trial."""
        http: Any = case._http  # noqa: SLF001 - not a field: it is no data
        terms = http.terms
        own = {"record": terms.record and str(terms.record), "number": terms.number}
        told = self._called(name, case, replace(job, system=terms.system, **own))
        http.told = told.result
        return json.loads(told.output_json or "null")

    def _called(self, name: str, case: BenchCase, job: Job) -> TrialRecord:
        request = TrialRequest(case=case, system=name, limit=job.limit)
        if self._died >= MOST_DEATHS:
            raise FailedElsewhere(request.not_run(f"its helper died {MOST_DEATHS} times in a row"))
        call = _Call(request, job)
        try:
            return call.run(self._helpers[name])
        finally:
            self._died = 0 if call.status else self._died + 1

    def close(self) -> None:
        """End all that runs, and remove its folders."""
        self._exit.close()


def _end(process: subprocess.Popen[bytes]) -> None:
    """Close the standard input of the process of all helpers, which ends them and itself."""
    with suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=PATIENCE)
    process.kill()
    process.wait()


class _Call:
    """One process of a trial, from its start to the end of all that it has started."""

    def __init__(self, request: TrialRequest, job: Job) -> None:
        self._request = request
        self._job = job
        self._room = ROOM
        self._called = False
        self._told: str | None = None
        self._failed: Outcome = "rubric_error" if request.system == RUBRIC else "harness_error"
        self.status = ""

    def run(self, helper: socket.socket) -> TrialRecord:
        """Have a worker run it, and return what it says; :raises FailedElsewhere: it has no output, and no score."""
        channel, its_channel = socket.socketpair()
        report, its_report = socket.socketpair()
        fault = ""
        with channel, report, TemporaryFile() as prints:
            with its_channel, its_report:
                descriptors = [one.fileno() for one in (its_channel, its_report, prints)]
                socket.send_fds(helper, [b"%r" % self._job.limit], descriptors)
            for one in (channel, report):
                one.settimeout(self._job.limit + PATIENCE)
            try:
                self._hear(channel)
            except Exception as error:  # of whatever a process may send in the place of a message
                fault = str(error)
            channel.close()
            with suppress(TimeoutError):  # it stands still
                self.status = report.recv(9).decode()
            prints.seek(0)
            sys.stdout.write(prints.read(MAX_PRINTED).decode(errors="backslashreplace"))
        if self.status != "0" or self._told is None:
            why = f"ended without a result, status {self.status}"
            fault = fault or (why if self.status else "what watches it died")
        if not self._called:
            raise FailedElsewhere(self._request.not_run(f"before it was called: {fault}"))
        return self._believed(fault)

    def _hear(self, channel: socket.socket) -> None:
        """Give the process its job, and take what it says until nothing is left that could say something."""
        with channel.makefile("rwb") as file:
            file.write(json.dumps(asdict(self._job)).encode() + b"\n")
            file.flush()
            while line := file.readline(self._room):
                self._room -= len(line)  # readline may return somewhat more than that
                if self._room <= 0:
                    raise ValueError(f"it says more than the {ROOM} bytes that are read")
                kind, value = read_json(line)
                if self._told is not None:
                    raise ValueError("it said something after its result")
                if kind == "usage":
                    self._request.case.usage.include(Usage.of(value))
                self._called = True
                self._told = value if kind == "result" else None

    def _believed(self, fault: str) -> TrialRecord:
        """Return what a process says that ended well, and said one thing that was its own to say."""
        is_rubric = self._request.system == RUBRIC
        own = {self._failed, "scored", "timeout", "unavailable"}
        if not is_rubric:
            own.add("not_run")
        try:
            record = RECORDS.validate_json(str(self._told), strict=True)
            said, waits = record.result, record.retry_after or 0.0
            is_own = said.outcome in own and (is_rubric or not record.violation)
            if not (is_own and 0 <= waits < math.inf):
                fault = fault or f"{said.outcome} is not for it to say"
        except ValueError:
            fault = fault or "what it says is no result"
        if fault:
            mode = FailureMode(code=self._failed, detail=f"in its own process: {fault}")
            result = self._request.result(self._failed, failure_modes=(mode,))
            record = TrialRecord(result=result, output_json=None)
        if record.result.outcome == "not_run":  # whose reasons are the session's
            record = self._request.not_run(f"in its own process: {record.result.detail}")
        if record.result.outcome != "scored":
            raise FailedElsewhere(record)
        return record
