"""A class whose systems and rubric run in processes of their own: its helpers, and what calls them in a session."""

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
from benchgate.isolation.place import cleared, handed, readable_of, scratch
from benchgate.live.prints import MAX_PRINTED
from benchgate.loader.loaded_class import check_importable
from benchgate.models import FailureMode
from benchgate.trials.containment import removed
from benchgate.trials.executor import RECORDS, TrialRecord, TrialRequest
from benchgate.trials.trial import FailedElsewhere
from benchgate.trials.trial_http import TrialHttp
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

MAIN: Final = (
    "import json, sys; path, *starts = json.loads(sys.argv[1]); sys.path[:] = path; "
    "from benchgate.isolation.helper import main; main(starts)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """
    What a helper imports, once.

    :param target: the name of a system, or module and name of the class of a rubric.
    :param socket: descriptor of the socket by which it is sent the sockets of trials.
    :param reads: what trials may read besides the machine's own; ``None``: everything, as in no sandbox.
    :param network: whether they may make sockets of IP.
    :param limits: of each of their processes: ``memory`` in bytes, and ``processes``.
    """

    bench: str
    target: str
    socket: int
    is_rubric: bool = False
    jobs: int = 1
    reads: tuple[str, ...] | None = None
    network: bool = False
    limits: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """
    One call of a system, which lives in ``home`` of a folder, or of a rubric, which scores an output.

    :param case: as JSON, with the paths that the process may use.
    :param record: the folder in which HTTP is recorded.
    """

    case: str
    limit: float
    work: str
    folder: str | None = None
    output: str | None = None
    record: str | None = None


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
        starts: list[dict[str, Any]] = [{"target": rubric_name(bench), "is_rubric": True}]
        limits = dict(bench.run.limits or {})
        for system in systems:
            check_importable(bench.task_class, system, "in a process of its own")
            starts.append({"target": system.name, "limits": limits})
            if level == "sandbox":
                reads = [*readable_of(system.call, bench.path)]
                starts[-1] |= {"reads": reads, "network": system.network}
        passed = {*PASSED.split(), *(bench.run.pass_env or ())}
        with ExitStack() as own, ExitStack() as theirs:
            for start in starts:
                name = "" if "is_rubric" in start else start["target"]
                ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                self._helpers[name] = own.enter_context(ours)
                number = theirs.enter_context(its).fileno()
                start |= {"bench": str(bench.path), "socket": number, "jobs": jobs}
            self._folder = Path(mkdtemp(prefix="benchgate-isolated-"))
            own.callback(removed, self._folder)
            self._sweeper = own.enter_context(ThreadPoolExecutor(1))
            process = subprocess.Popen(  # noqa: S603 - this very Python
                [sys.executable, "-P", "-c", MAIN, json.dumps([sys.path, *starts])],
                env={k: v for k, v in os.environ.items() if k in passed or k.startswith("LC_")},
                stdin=subprocess.PIPE,
                stdout=sys.__stderr__.fileno() if sys.__stderr__ else None,
                pass_fds=[start["socket"] for start in starts],
                start_new_session=True,
            )
            own.callback(_end, process)
            theirs.close()
            for name, helper in self._helpers.items():
                if (said := helper.recv(2000).decode()) != "ready":
                    what = f"isolation={level}: {name or 'its rubric'}: {said or 'its helper died'}"
                    raise EvalError(what)
            self._exit = own.pop_all()

    def around(
        self, runner: TrialRunner, system: str, limit: Callable[[BenchCase], float]
    ) -> TrialRunner:
        """Return what runs trials of a system, and scores them, in processes of their own."""

        def called(case: BenchCase) -> Any:
            request = TrialRequest(case=case, system=system, limit=limit(case))
            try:
                return self._produced(request, runner.http)
            except OSError as error:
                raise FailedElsewhere(request.not_run(f"its folder: {error}")) from error

        def score(case: BenchCase, output: Mapping[str, Any]) -> object:
            request = TrialRequest(case=case, system="", limit=limit(case))
            told, work = case.model_dump_json(), str(case.work_path)
            job = Job(case=told, limit=request.limit, work=work, output=json.dumps(output))
            return self._called(request, job).result.score

        return replace(runner, system=called, score=score, alone=False)

    def _produced(self, request: TrialRequest, http: Any) -> Any:
        case = request.case
        with scratch(self._folder, self._sweeper) as folder:
            work = folder / "home" / "work"
            job = Job(
                case=handed(case, folder).model_dump_json(),
                limit=request.limit,
                work=str(work),
                folder=str(folder),
                record=str(http.record) if http and http.record else None,
            )
            told = self._called(request, job)
            if cleared(work):
                os.rename(work, case.work_path or "")
        if isinstance(case._http, TrialHttp):  # noqa: SLF001 - not a field: it is no data
            case._http.told = told.result  # noqa: SLF001
        return json.loads(told.output_json or "null")

    def _called(self, request: TrialRequest, job: Job) -> TrialRecord:
        if self._died >= MOST_DEATHS:
            raise FailedElsewhere(request.not_run(f"its helper died {MOST_DEATHS} times in a row"))
        call = _Call(request, job)
        try:
            return call.run(self._helpers[request.system])
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
        self._failed: Outcome = "harness_error" if job.output is None else "rubric_error"
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
                self._room -= len(line)
                kind, value = read_json(line)
                if self._told is not None:
                    raise ValueError("it said something after its result")
                if kind == "usage":
                    self._request.case.usage.include(Usage.of(value))
                self._called = True
                self._told = value if kind == "result" else None

    def _believed(self, fault: str) -> TrialRecord:
        """Return what a process says that ended well, and said one thing that was its own to say."""
        is_system = self._job.output is None
        own = {self._failed, "scored", "timeout", "unavailable", *["not_run"] * is_system}
        try:
            record = RECORDS.validate_json(str(self._told), strict=True)
            said, waits = record.result, record.retry_after or 0.0
            if (
                said.outcome not in own
                or (record.violation and is_system)
                or not 0 <= waits < math.inf
            ):
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


def rubric_name(bench: LoadedClass) -> str:
    """Return module and name of the class that scores; :raises EvalError: it is in the registration, or partly."""
    scores, *bases = bench.task_class.rubric_type.__mro__
    if (here := scores.__module__).endswith(".registration"):
        own = [n for n, value in vars(scores).items() if n[:2] != "__" or callable(value)]
        scores = next(base for base in bases if base.__module__ != here)
        if own or scores is object:
            what = ", ".join(own) or "the rubric"
            why = "move it into rubric.py, which alone is imported where outputs are scored"
            raise EvalError(f"isolation: registration.py defines {what}; {why}")
    return f"{scores.__module__}:{scores.__qualname__}"
