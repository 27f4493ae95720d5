"""The process of one trial: calls the system, or the rubric, and tells the session what came of it."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import socket
import sys
import tempfile
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, NoReturn

from benchgate.cassettes.shelf import ClassCassettes
from benchgate.isolation import sandbox
from benchgate.isolation.isolated import Job, Start
from benchgate.live.loop import SessionLoop
from benchgate.models import BenchCase, BenchScore
from benchgate.trials.executor import RECORDS, TrialRequest
from benchgate.trials.time_limit import alarm
from benchgate.trials.trial import TrialRunner
from benchgate.trials.trial_http import HttpTerms
from benchgate.wire.usage import UsageMeter

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.wire.usage import Usage

PRCTL: Final = ctypes.CDLL(None).prctl
DEATH_SIGNAL: Final = 1
NO_NEW_PRIVILEGES: Final = 38

LIMITS: Final = {
    resource.RLIMIT_FSIZE: 2**30,
    resource.RLIMIT_NOFILE: 1024,
    resource.RLIMIT_CORE: 0,
}
NAMED: Final = {"memory": resource.RLIMIT_AS, "processes": resource.RLIMIT_NPROC}
HOMES: Final = (
    "TMPDIR HOME XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_RUNTIME_DIR"
)

SCORED: Final = BenchScore(passed=True, score=1.0)
"""Stands for what the rubric, in a process of its own, will say."""

CASE: Final = """{"case_id": "none", "task_class": "none", "disposition": "positive",
"difficulty": "easy", "source": "curated", "added_at": "2000-01-01T00:00:00Z",
"last_validated_at": "2000-01-01T00:00:00Z", "input_path": "/", "expected_path": null}"""

_EXIT: Final = os._exit
"""As it was before a system could replace it."""


def warm() -> None:
    """Run a trial of nothing, so that no process of a trial has to build what each of them needs."""
    start = Start(bench="/none", cwd="/", target="none")
    _run(Job(case=CASE, limit=9.0, work="/"), start, lambda _: {}, lambda *_: None)


def run_child(start: Start, called: Any, channel: int, prints: int) -> NoReturn:
    """Run the trial that comes by a channel, and end this process."""
    status = 1
    try:
        os.setsid()
        PRCTL(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        PRCTL(DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        os.dup2(prints, 1)
        os.dup2(prints, 2)
        os.closerange(3, channel)
        os.closerange(channel + 1, 2**16)
        session, lock = socket.socket(fileno=channel).makefile("rwb"), threading.RLock()

        def tell(kind: str, value: Any = None) -> None:
            with lock:
                session.write(json.dumps([kind, value]).encode() + b"\n")
                session.flush()

        job = Job(**json.loads(session.readline()))
        _settle(job)
        if start.reads is not None:
            sandbox.close(start, str(job.folder))
        tell("called")
        told = _run(job, start, called, tell)
        sys.stdout.flush()
        lock.acquire()  # threads that are left say nothing after this
        tell("result", told)
        status = 0
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode(errors="replace"))
    finally:
        _EXIT(status)


def _settle(job: Job) -> None:
    """Live in a folder, and within limits."""
    if job.folder is None:
        return
    home = f"{job.folder}/home"
    os.chdir(home)
    os.environ |= dict.fromkeys(HOMES.split(), home)
    tempfile.tempdir = None
    for limit, most in (LIMITS | {NAMED[name]: most for name, most in job.limits.items()}).items():
        hard = resource.getrlimit(limit)[1]
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(limit, (least, least))


def _run(job: Job, start: Start, called: Any, tell: Callable[[str, Any], None]) -> str:
    """Return the record of the trial as JSON; its score is that of the rubric, or stands for it."""
    case, path = BenchCase.model_validate_json(job.case), Path(start.bench)
    case._shelf, case._usage = ClassCassettes(path), _Meter(tell)  # noqa: SLF001 - they are no data
    record = Path(job.record) if job.record else None
    runner = TrialRunner(
        task_class=path.name,
        system=called if job.output is None else lambda _: json.loads(job.output or ""),
        score=(lambda *_: SCORED) if job.output is None else called.score,
        taxonomy=SimpleNamespace(classify=lambda _: ()),  # type: ignore[arg-type] # the session does
        wait=SessionLoop().wait,
        work=Path(job.work),
        http=HttpTerms(system=start.target, class_path=path, record=record),
    )
    with alarm(job.limit):
        try:
            told = runner.run(TrialRequest(case=case, system=start.target, limit=job.limit))
        except KeyboardInterrupt:
            raise RuntimeError("KeyboardInterrupt") from None
    return RECORDS.dump_json(told).decode()


class _Meter(UsageMeter):
    """Reports what is used at once: a trial that is killed has paid for it too."""

    def __init__(self, tell: Callable[[str, Any], None]) -> None:
        super().__init__()
        self._tell = tell

    def include(self, usage: Usage) -> None:
        super().include(usage)
        self._tell("usage", usage.model_dump(mode="json"))
