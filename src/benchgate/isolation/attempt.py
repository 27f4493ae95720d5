"""One call, in the process that was forked for it: of a system, or of what observes or scores its output."""

from __future__ import annotations

import gc
import json
import os
import socket
import sys
import threading
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchgate.cassettes.shelf import ClassCassettes
from benchgate.errors import EvalError
from benchgate.isolation import place
from benchgate.isolation.descendants import forked, keep_open
from benchgate.isolation.messages import IMPORT, OBSERVER, RUBRIC, TOLD, Job, Start
from benchgate.isolation.sandbox import OF_THE_MACHINE, restrict_files
from benchgate.live.loop import SessionLoop
from benchgate.models import BenchCase
from benchgate.trials.calls import CallsHere, Told
from benchgate.trials.time_limit import alarm
from benchgate.trials.trial import contained
from benchgate.trials.trial_http import HttpTerms, TrialHttp

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.trials.containment import WorkFolder

    Tell = Callable[[str, Any], None]

GRACE: Final = 1.5
"""Seconds that a call has to end by itself after its limit; with what it takes to kill it, it is over within 2."""

CASE: Final = """{"case_id": "none", "task_class": "none", "disposition": "positive",
"difficulty": "easy", "source": "curated", "added_at": "2000-01-01T00:00:00Z",
"last_validated_at": "2000-01-01T00:00:00Z", "input_path": "/", "expected_path": null}"""


def rehearse() -> None:
    """Run a trial of nothing, which builds what trials need: all processes that are forked have it then."""
    none = Start(bench="/none", name="none", call="none:none", socket=0)
    _attempt(none, Job(case=CASE, limit=9.0, work="/"), lambda _: {}, lambda *_: None)


def ready_to_fork() -> None:
    """
    Prepare this process to be forked for each call.

    :raises EvalError: it has threads, which a fork would lack.
    """
    gc.collect()
    gc.freeze()  # what a call does not change stays shared
    # Numeric libraries end their threads for a fork, and start them again when they need them: so fork once, to be
    # rid of these.
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    if len(os.listdir("/proc/self/task")) > 1:
        raise EvalError("importing it starts threads, which trials lack: start them in a call")


class Waiting:
    """
    A child that waits for its call. It is forked before there is one: a fork takes milliseconds.

    :ivar pid: of its process.
    """

    def __init__(self, start: Start, called: Any) -> None:
        self._socket, its = socket.socketpair()
        with its:
            self.pid = forked(partial(_wait, start, called, its))

    def run(self, channel: int, prints: int) -> None:
        """
        Hand it a call.

        :param channel: the socket of the session.
        :param prints: a file for what is printed.
        :raises OSError: it is gone.
        """
        socket.send_fds(self._socket, [b"call"], [channel, prints])
        self.close()

    def close(self) -> None:
        """Have it end, unless it has a call."""
        self._socket.close()


def _wait(start: Start, called: Any, waiting: socket.socket) -> None:
    keep_open({waiting.fileno()})
    _, descriptors, _, _ = socket.recv_fds(waiting, 9, 2)
    if descriptors:
        _run(start, called, *descriptors)


def _run(start: Start, called: Any, channel: int, prints: int) -> None:
    """Run the call that the session describes, and tell it what came of it."""
    os.setsid()
    for number in (1, 2):
        os.dup2(prints, number)
    keep_open({channel})
    session = socket.socket(fileno=channel).makefile("rwb")
    lock = threading.RLock()

    def tell(kind: str, value: Any = None) -> None:
        with lock:
            session.write(json.dumps([kind, value]).encode() + b"\n")
            session.flush()

    job = Job(**json.loads(session.readline()))
    if job.folder is not None:
        _settle(start, job.folder)
    tell("called")
    told = _attempt(start, job, called, tell)
    sys.stdout.flush()
    lock.acquire()  # threads that are left say nothing after this
    tell("result", told)


def _settle(start: Start, folder: str) -> None:
    """Live in the folder of a trial; what its importing process can reach besides is out of reach from here on."""
    home = f"{folder}/home"
    place.settle(home)
    if start.layer is not None:
        made = f"{start.folder}/{IMPORT}"  # such as a cache that a library keeps the path of
        own = (folder, made, f"/proc/{os.getpid()}", *OF_THE_MACHINE)
        restrict_files((*start.layer.reads, *own), home)


def _attempt(start: Start, job: Job, called: Any, tell: Tell) -> str:
    """Return what came of the call, as JSON."""
    case = BenchCase.model_validate_json(job.case)
    path = Path(start.bench)
    record = None
    if job.record is not None:
        record = Path(job.record)
    case._shelf = ClassCassettes(path)  # noqa: SLF001 - not a field: it is no data
    case.usage.told = lambda usage: tell("usage", usage.model_dump(mode="json"))
    terms = HttpTerms(system=job.system, class_path=path, record=record, number=job.number)
    http = TrialHttp(terms, case)
    calls = CallsHere(task_class=path.name, wait=SessionLoop().wait)

    def ask(work: WorkFolder) -> Told:
        own = case.working_in(work.path)
        if start.name == RUBRIC:
            return replace(calls, rubric=called.score).score(own, str(job.output), job.limit)
        own._http = http  # noqa: SLF001 - not a field: it is no data
        if start.name == OBSERVER:
            return replace(calls, observer=called).observe(own, str(job.output), job.limit)
        return replace(calls, call=called).answer(own, job.limit)

    with alarm(job.limit):
        told, _ = contained(ask, job.limit, calls.failed, work=Path(job.work))
    return TOLD.dump_json(http.ended(told)).decode()
