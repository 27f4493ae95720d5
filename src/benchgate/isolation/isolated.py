"""A class whose systems and rubric run in processes of their own: its helpers, and what calls them in a session."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
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
        starts: list[dict[str, Any]] = [{"target": rubric_name(bench), "is_rubric": True}]
        limits = dict(bench.run.limits or {})
        for system in systems:
            check_importable(bench.task_class, system, "in a process of its own")
            starts.append({"target": system.name, "limits": limits})
            if level == "sandbox":
                reads = [*readable_of(system.call, bench.path)]
                starts[-1] |= {"reads": reads, "network": system.network}
        self._folder = Path(mkdtemp(prefix="benchgate-isolated-"))
        passed = {*PASSED.split(), *(bench.run.pass_env or ())}
        with ExitStack() as theirs:
            for start in starts:
                name = "" if "is_rubric" in start else start["target"]
                self._helpers[name], its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                number = theirs.enter_context(its).fileno()
                start |= {"bench": str(bench.path), "socket": number, "jobs": jobs}
            self._process = subprocess.Popen(  # noqa: S603 - this very Python
                [sys.executable, "-P", "-c", MAIN, json.dumps([sys.path, *starts])],
                env={k: v for k, v in os.environ.items() if k in passed or k.startswith("LC_")},
                stdin=subprocess.DEVNULL,
                stdout=sys.__stderr__.fileno() if sys.__stderr__ else None,
                pass_fds=[start["socket"] for start in starts],
                start_new_session=True,
            )
        for helper in self._helpers.values():
            if (said := helper.recv(2000)) != b"ready":
                self.close()
                raise EvalError(said.decode() or "a helper died while it was imported")

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
            return _Call(request, job).run(self._helpers[""]).result.score

        return replace(runner, system=called, score=score, alone=False)

    def _produced(self, request: TrialRequest, http: Any) -> Any:
        case = request.case
        with scratch(self._folder) as folder:
            work = folder / "home" / "work"
            job = Job(
                case=handed(case, folder).model_dump_json(),
                limit=request.limit,
                work=str(work),
                folder=str(folder),
                record=str(http.record) if http and http.record else None,
            )
            told = _Call(request, job).run(self._helpers[request.system])
            if cleared(work):
                os.rename(work, case.work_path or "")
        if isinstance(case._http, TrialHttp):  # noqa: SLF001 - not a field: it is no data
            case._http.told = told.result  # noqa: SLF001
        return json.loads(told.output_json or "null")

    def close(self) -> None:
        """End all that runs, and remove its folders."""
        for helper in self._helpers.values():
            helper.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(PATIENCE)
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


class _Call:
    """One process of a trial, from its start to the end of all that it has started."""

    def __init__(self, request: TrialRequest, job: Job) -> None:
        self._request = request
        self._job = job
        self._room = ROOM
        self._called = False
        self._told: str | None = None
        self._failed: Outcome = "harness_error" if job.output is None else "rubric_error"

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
            status = report.recv(9).decode()
            prints.seek(0)
            sys.stdout.write(prints.read(MAX_PRINTED).decode(errors="backslashreplace"))
        if status != "0" or self._told is None:
            why = f"ended without a result, status {status}" if status else "what watches it died"
            fault = fault or why
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
        """Return what a process says that ended well and said one thing."""
        try:
            record = RECORDS.validate_json(str(self._told), strict=True)
        except ValueError:
            fault = fault or "what it says is no result"
        if fault:
            mode = FailureMode(code=self._failed, detail=f"in its own process: {fault}")
            result = self._request.result(self._failed, failure_modes=(mode,))
            record = TrialRecord(result=result, output_json=None)
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
