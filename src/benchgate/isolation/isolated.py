"""A class whose systems, rubric and observer run in processes of their own: what starts them, and what calls them."""

from __future__ import annotations

import json
import os
import queue
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any, Final

from pydantic import TypeAdapter, ValidationError

from benchgate.errors import EvalError, printable
from benchgate.isolation import sandbox
from benchgate.isolation.call import PATIENCE, Call
from benchgate.isolation.messages import OBSERVER, RUBRIC, Job, Layer, Start, receive, send
from benchgate.isolation.place import hand_back, handed, most_disk, scratch
from benchgate.isolation.readable import granted, hidden
from benchgate.isolation.scratch import session_folder
from benchgate.loader.imports import module_name
from benchgate.loader.observer import never
from benchgate.loader.rubric_source import rubric_files
from benchgate.loader.system_checkpoint import SystemCheckpoint
from benchgate.loader.systems import (
    Declared,
    NamedSystem,
    checkpoint_of,
    find_entry,
    is_address,
    source_of,
)
from benchgate.registry import FLOORS
from benchgate.trials.calls import CallsHere, Told
from benchgate.wire.files import MAX_TREE_BYTES, file_sha256

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from benchgate.loader.loaded_class import LoadedClass
    from benchgate.models import BenchCase, Outcome
    from benchgate.registry import SystemEntry

PASSED: Final = (
    "PATH LANG LANGUAGE TZ TERM VIRTUAL_ENV LD_LIBRARY_PATH PYTHONHASHSEED SSL_CERT_FILE SSL_CERT_DIR "
    "REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY "
    "http_proxy https_proxy all_proxy no_proxy OMP_NUM_THREADS OPENBLAS_NUM_THREADS"
)
"""What processes have of the environment, and all names that begin with LC_; ``pass_env`` and ``observer_env`` add."""

MOST_DEATHS: Final = 3
"""Deaths in a row of those who watch trials, after which no more are run."""

MOST_OF_A_JUDGE: Final = 2
"""Times that the process of one may be ended by somebody else: once a machine may have run out of memory."""

DECLARED: Final = TypeAdapter(Declared)
"""Reads what a system says of itself, which may be anything."""

MAIN: Final = (
    "import json, sys; installed, path, *starts = json.load(open(sys.argv[1])); sys.path[:] = installed; "
    "from benchgate.isolation.keeper import main; main(path, starts)"
)


@dataclass(slots=True)
class Slot:
    """
    A place in which one call of a system runs at a time, after its import.

    :param watcher: the socket of what watches it.
    :param folder: has the folders of its trials.
    :param prints: a file for what a trial prints.
    :param is_ready: whether the system is imported.
    """

    watcher: socket.socket
    folder: Path
    prints: IO[bytes]
    is_ready: bool = False


class Isolated:
    """
    The processes of one class; :meth:`close` ends them.

    :param systems: what the registration, or gate.toml, says of each by its name; imported there, never here.
    :param level: that of the run, without what a single system may do.
    :param jobs: trials that may run at once.
    :param limit: seconds that an import may take.
    :param out: the output folder, which no system may read.
    :raises EvalError: the level cannot be had, or system or rubric cannot be found by their names.
    """

    def __init__(
        self,
        bench: LoadedClass,
        systems: Mapping[str, SystemEntry],
        level: str,
        *,
        jobs: int,
        limit: float,
        out: Path | None,
    ) -> None:
        check_level(level)
        self._bench = bench
        self._level = level
        self._jobs = jobs
        self._limit = limit
        self._out = out
        self._entries = dict(systems)
        self._declared: dict[str, Declared] = {}
        self._judges: dict[str, socket.socket] = {}
        self._idle: dict[str, queue.LifoQueue[Slot]] = {}
        self._prints: queue.LifoQueue[IO[bytes]] = queue.LifoQueue()
        self._deaths = 0
        self._ended = dict.fromkeys((RUBRIC, OBSERVER), 0)
        with ExitStack() as stack:
            self._folder = stack.enter_context(session_folder())
            self._sweeper = stack.enter_context(ThreadPoolExecutor(1))
            try:
                self._start(stack)
            except OSError as error:
                why = f"processes for jobs={jobs} cannot be had: {error}"
                raise EvalError(f"isolation={level}: {why}") from error
            for name, judge in self._judges.items():
                self._meet(name, judge)
            for name in systems:
                self._declared[name] = self._first_import(name)
            self._exit = stack.pop_all()

    def named_system(self, name: str) -> NamedSystem:
        """
        Return a system as a run knows it.

        :raises EvalError: it names a checkpoint of its own.
        """
        entry = self._entries[name]
        declared = self._declared[name]
        checkpoint = checkpoint_of(self._bench.task_class, entry)
        if declared.checkpoint is not None and checkpoint is None:
            what = f"names the checkpoint {declared.checkpoint} by itself"
            where = "'checkpoint' stands beside its name in registration.py"
            raise EvalError(f"isolation={self._level}: {name} {what}; {where}")
        return NamedSystem(
            name=name,
            call=never,
            digest=declared.digest,
            checkpoint=SystemCheckpoint(checkpoint) if checkpoint else None,
            source=source_of(self._bench.task_class, name, entry),
            concurrency=declared.concurrency,
            network=entry.network,
            reads=entry.reads,
            needs_served=declared.needs_served,
        )

    def calls(
        self, system: str, left: Callable[[float], float] = lambda limit: limit
    ) -> CallsApart:
        """
        Return what calls a system, the observer and the rubric.

        :param left: returns how many seconds a call has, by the limit of its trial.
        """
        return CallsApart(self, system, left)

    @property
    def is_spent(self) -> bool:
        """Whether so many of its processes have died that it runs no trials any more."""
        if max(self._ended.values()) >= MOST_OF_A_JUDGE:
            return True
        return self._deaths >= MOST_DEATHS

    def close(self) -> None:
        """End all that runs, and remove its folders."""
        self._exit.close()

    # Starting

    def _start(self, stack: ExitStack) -> None:
        """Start the process that keeps all others, and have the stack end it."""
        starts: list[Start] = []
        with ExitStack() as theirs:

            def socket_pair() -> tuple[socket.socket, int]:
                ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                return stack.enter_context(ours), theirs.enter_context(its).fileno()

            for _ in range(self._jobs):
                self._prints.put(stack.enter_context(TemporaryFile()))
            for name, start in self._of_judges().items():
                self._judges[name], number = socket_pair()
                starts.append(replace(start, socket=number))
            for name, entry in self._entries.items():
                self._idle[name] = queue.LifoQueue()
                start = self._of_system(name, entry)
                for _ in range(self._jobs):
                    ours, number = socket_pair()
                    folder = self._folder / f"{len(starts)}"
                    folder.mkdir(0o700)
                    prints = stack.enter_context(TemporaryFile())
                    self._idle[name].put(Slot(ours, folder, prints))
                    starts.append(replace(start, socket=number, folder=str(folder)))
            # In a file: an argument has at most 128 KiB.
            sent = self._folder / "starts.json"
            sent.write_text(
                json.dumps([installed(), sys.path, *(start.as_json() for start in starts)])
            )
            process = subprocess.Popen(  # noqa: S603 - this very Python
                [sys.executable, "-P", "-c", MAIN, str(sent)],
                env=environment(self._bench.run.pass_env or ()),
                stdin=subprocess.PIPE,
                stdout=sys.__stderr__.fileno() if sys.__stderr__ else None,
                pass_fds=[start.socket for start in starts],
                start_new_session=True,
            )
        stack.callback(_end, process)

    def _of_judges(self) -> dict[str, Start]:
        bench = self._bench
        files = {
            str(path): file_sha256(path, limit=MAX_TREE_BYTES) for path in rubric_files(bench.path)
        }
        rubric = Start(
            bench=str(bench.path),
            name=RUBRIC,
            call=rubric_name(bench),
            socket=0,
            digests=files,
            jobs=self._jobs,
        )
        found = {RUBRIC: rubric}
        observer = bench.observer()
        if observer is not None:
            identity = observer.identity.model_dump(mode="json")
            found[OBSERVER] = replace(
                rubric, name=OBSERVER, call="", digests=None, observer=identity
            )
        return found

    def _of_system(self, name: str, entry: SystemEntry) -> Start:
        path = self._bench.path
        layer = None
        if self._level == "sandbox":
            layer = Layer(
                reads=granted(path, name, entry, self._out),
                hidden=tuple(str(one) for one in hidden(path, self._out)),
                network=entry.network,
            )
        call = name
        first = ""
        if isinstance(entry.call, str):
            call = entry.call
            if is_address(name):
                first = os.getcwd()
            else:
                call = module_name(path.name, call)
        return Start(
            bench=str(path),
            name=name,
            call=call,
            socket=0,
            first=first,
            layer=layer,
            limit=self._limit,
            limits={str(name): most for name, most in (self._bench.run.limits or {}).items()},
        )

    def _meet(self, name: str, judge: socket.socket) -> None:
        """Give a judge its environment, and wait until it has imported what it needs."""
        send(judge, environment(self._bench.run.observer_env or ()))
        judge.settimeout(self._limit + PATIENCE)
        said: dict[str, Any] = {"fault": "its process died"}
        with suppress(OSError):
            said = receive(judge) or said
        judge.settimeout(None)
        if said.get("fault"):
            raise EvalError(f"isolation={self._level}: {name}: {said['fault']}")

    def _first_import(self, name: str) -> Declared:
        with self._slot(name) as slot:
            declared, fault = self._imported(slot)
        if declared is None:
            raise EvalError(f"isolation={self._level}: {name}: {fault}")
        return declared

    def _imported(self, slot: Slot) -> tuple[Declared | None, str]:
        """Have a system imported in a slot; return what it declares, or what is wrong."""
        said: dict[str, Any] = {}
        report, its_report = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with report, suppress(OSError, ValueError):
            with its_report:
                socket.send_fds(slot.watcher, [b"import"], [its_report.fileno()])
            report.settimeout(self._limit + PATIENCE)
            said = receive(report)
        if not said:
            return None, "what watches it died"
        sys.stderr.write(printable(said.pop("prints", ""), "\n"))
        if "fault" in said:
            return None, str(said["fault"])
        try:
            declared = DECLARED.validate_json(json.dumps(said), strict=True)
        except ValidationError:
            return None, "it says of itself what no system says"
        slot.is_ready = True
        return declared, ""

    # Calling

    @contextmanager
    def _slot(self, name: str) -> Iterator[Slot]:
        """Yield an idle slot: the one that was used last, so that no more of them import than run at once."""
        slot = self._idle[name].get()
        try:
            yield slot
        finally:
            self._idle[name].put(slot)

    def answered(self, system: str, case: BenchCase, limit: float) -> Told:
        """Return what a system says, in a slot that has imported it."""
        with self._slot(system) as slot:
            if self._deaths >= MOST_DEATHS:
                return Told(
                    failed="not_run", detail=f"its process died {MOST_DEATHS} times in a row"
                )
            if not slot.is_ready:
                declared, fault = self._imported(slot)
                if declared is None:
                    self._deaths += 1
                if declared != self._declared[system]:
                    fault = fault or "it declares something else than when the run began"
                    return Told(failed="not_run", detail=f"it was imported again: {fault}")
            try:
                return self._in_its_folder(slot, system, case, limit)
            except OSError as error:
                return Told(failed="not_run", detail=f"its folder: {error}")

    def _in_its_folder(self, slot: Slot, system: str, case: BenchCase, limit: float) -> Told:
        with scratch(slot.folder, self._sweeper) as folder:
            work = folder / "home" / "work"
            own = handed(case, folder).model_dump_json()
            job = Job(case=own, limit=limit, work=str(work), folder=str(folder))
            call = Call(system, case, with_http(job, case))
            try:
                told = call.run(slot.watcher, slot.prints)
            finally:
                slot.is_ready = call.end.is_ready
                if call.end.status is None:
                    self._deaths += 1
                else:
                    self._deaths = 0
            if told.failed is None and case.work_path is not None:
                hand_back(work, case.work_path, most_disk(self._bench.run.limits or {}))
        return told

    def judged(self, judge: str, case: BenchCase, job: Job) -> Told:
        """Return what the rubric or the observer says."""
        if self._ended[judge] >= MOST_OF_A_JUDGE:
            why = f"its process was ended {MOST_OF_A_JUDGE} times by somebody else"
            return Told(failed="not_run", detail=f"{judge} is not asked any more: {why}")
        call = Call(judge, case, job)
        prints = self._prints.get()
        try:
            return call.run(self._judges[judge], prints)
        finally:
            self._prints.put(prints)
            self._ended[judge] += call.end.is_unexplained


@dataclass(frozen=True, slots=True)
class CallsApart:
    """
    Calls a system, and the observer and the rubric of its class, each in a process of its own.

    :param left: returns how many seconds a call has, by the limit of its trial.
    """

    processes: Isolated
    system: str
    left: Callable[[float], float]

    def answer(self, case: BenchCase, limit: float) -> Told:
        """Have the system answer, within some seconds."""
        return with_told(case, self.processes.answered(self.system, case, self.left(limit)))

    def observe(self, case: BenchCase, output: str, limit: float) -> Told:
        """Have an output observed once."""
        job = with_http(self._job(case, output, limit), case)
        return with_told(case, self.processes.judged(OBSERVER, case, job))

    def score(self, case: BenchCase, output: str, limit: float) -> Told:
        """Have an output scored."""
        return self.processes.judged(RUBRIC, case, self._job(case, output, limit))

    def failed(self, error: BaseException, outcome: Outcome) -> Told:
        """Return what came of calls that an exception ended between two of them."""
        return CallsHere(task_class="").failed(error, outcome)

    def _job(self, case: BenchCase, output: str, limit: float) -> Job:
        return Job(
            case=case.model_dump_json(),
            limit=self.left(limit),
            work=str(case.work_path),
            output=output,
        )


def with_http(job: Job, case: BenchCase) -> Job:
    """Return a job that asks by HTTP on the terms of the trial of a case."""
    terms = case._http.terms  # type: ignore[union-attr]  # noqa: SLF001 - not a field: it is no data
    record = terms.record and str(terms.record)
    return replace(job, system=terms.system, record=record, number=terms.number)


def with_told(case: BenchCase, told: Told) -> Told:
    """Note what a process says of the HTTP of a trial, if it ended well."""
    if told.failed is None:
        case._http.told = told  # type: ignore[union-attr]  # noqa: SLF001 - not a field: it is no data
    return told


def check_level(level: str) -> None:
    """Check that this machine can isolate; :raises EvalError: says what is missing."""
    if sys.platform != "linux" or not os.path.exists(f"/proc/self/task/{os.getpid()}/children"):
        what = "needs Linux with /proc, as in a container"
        raise EvalError(f"isolation={level} {what}; this is {sys.platform}")
    if level == "sandbox":
        sandbox.check()


def grants(bench: LoadedClass, wanted: object) -> tuple[str, SystemEntry]:
    """
    Return name and entry of a system that is to be imported in a process of its own.

    :raises EvalError: no other process can find it.
    """
    if wanted is not None and not isinstance(wanted, str):
        name = str(
            getattr(wanted, "name", None) or getattr(wanted, "__qualname__", type(wanted).__name__)
        )
        why = "it is given as an object; register it, or name it as module:attr"
        raise EvalError(f"system {name} cannot be found by a name in a process of its own: {why}")
    name, entry = find_entry(bench.task_class, wanted)
    if is_address(name):
        if name.startswith("conftest:"):
            raise EvalError(f"system {name} cannot be found by a name in a process of its own")
        run = bench.run
        entry = replace(entry, network=run.network is True, reads=run.reads or ())
    elif not isinstance(entry.call, str) and name not in FLOORS:
        why = f"register its name: systems={{{name!r}: 'module:attr'}}"
        raise EvalError(
            f"system {name} cannot be found by a name in a process of its own: it is registered as an object; {why}"
        )
    return name, entry


def installed() -> list[str]:
    """Return where Python, benchgate and what they need are found: no folder of a system, which could shadow them."""
    own = str(Path(__file__).parents[2])
    prefixes = tuple(f"{prefix}{os.sep}" for prefix in (sys.prefix, sys.base_prefix))
    return [path for path in sys.path if path.startswith(prefixes) or path == own]


def environment(names: Iterable[str]) -> dict[str, str]:
    """Return what a process has of the environment, and some names besides."""
    passed = {*PASSED.split(), *names}
    return {k: v for k, v in os.environ.items() if k in passed or k.startswith("LC_")}


def rubric_name(bench: LoadedClass) -> str:
    """Return module and name of the class that scores; :raises EvalError: it is in the registration, or partly."""
    scores, *bases = bench.task_class.rubric_type.__mro__
    here = scores.__module__
    if here.endswith(".registration"):
        # Such a class may combine what others define, but define nothing: the registration is not in the digest.
        own = [n for n, value in vars(scores).items() if n[:2] != "__" or callable(value)]
        scores = next(base for base in bases if base.__module__ != here)
        if own or scores is object:
            what = ", ".join(own) or "the rubric"
            why = "move it into rubric.py, which alone is imported where outputs are scored"
            raise EvalError(f"isolation: registration.py defines {what}; {why}")
    return f"{scores.__module__}:{scores.__qualname__}"


def _end(process: subprocess.Popen[bytes]) -> None:
    """Close the standard input of the process of all helpers, which ends them and itself."""
    with suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=PATIENCE)
    process.kill()
    process.wait()
