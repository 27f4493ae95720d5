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
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, NoReturn

from benchgate.cassettes.shelf import ClassCassettes
from benchgate.isolation import sandbox
from benchgate.isolation.messages import Channel, Job, Start
from benchgate.live.loop import SessionLoop
from benchgate.models import BenchCase, BenchScore
from benchgate.trials.executor import RECORDS, TrialRequest
from benchgate.trials.time_limit import alarm
from benchgate.trials.trial import TrialRunner
from benchgate.wire.usage import UsageMeter

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.http.exchange import HttpAnswer, HttpRequest
    from benchgate.wire.usage import Usage

PRCTL: Final = ctypes.CDLL(None).prctl
DEATH_SIGNAL: Final = 1
SUBREAPER: Final = 36
NO_NEW_PRIVILEGES: Final = 38

LIMITS: Final = {
    resource.RLIMIT_FSIZE: 2**30,
    resource.RLIMIT_NOFILE: 1024,
    resource.RLIMIT_CORE: 0,
}
NAMED: Final = {"memory": resource.RLIMIT_AS, "processes": resource.RLIMIT_NPROC}
HOMES: Final = ("TMPDIR", "HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
HOMES_TOO: Final = ("XDG_STATE_HOME", "XDG_RUNTIME_DIR")

SCORED: Final = BenchScore(passed=True, score=1.0)
"""Stands for what the rubric, in a process of its own, will say."""

NOTHING: Final = json.dumps(
    {
        **{"case_id": "none", "task_class": "none", "disposition": "positive"},
        **{"difficulty": "easy", "source": "curated", "added_at": "2000-01-01T00:00:00Z"},
        **{"last_validated_at": "2000-01-01T00:00:00Z", "input_path": "/", "expected_path": None},
    }
)
"""A case."""

_EXIT: Final = os._exit
"""As it was before a system could replace it."""


def warm() -> None:
    """Run a trial of nothing, so that no process of a trial has to build what each of them needs."""
    start = Start(task_class="none", bench_root="/", cwd="/", target="none")
    session: Any = SimpleNamespace(send=lambda *_: None)
    _run(Job(case=NOTHING, limit=9.0, work="/"), start, lambda _: {}, session)


def run_child(start: Start, load: Callable[[], Any], channel: int, prints: int) -> NoReturn:
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
        session = Channel(socket.socket(fileno=channel))
        _, fields = session.receive() or ("", {})
        job = Job(**fields)
        _settle(job)
        called = load()
        if start.reads is not None:
            sandbox.close(start, job.home)
        told = _run(job, start, called, session)
        sys.stdout.flush()
        session.lock.acquire()  # threads that are left say nothing after this
        session.send("result", told)
        status = 0
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode(errors="replace"))
    finally:
        _EXIT(status)


def _settle(job: Job) -> None:
    """Live in a folder, within limits."""
    os.chdir(job.home)
    if job.output is not None:
        return
    os.environ |= dict.fromkeys((*HOMES, *HOMES_TOO), job.home)
    tempfile.tempdir = None
    sys.breakpointhook = _no_breakpoint
    for limit, most in (LIMITS | {NAMED[name]: most for name, most in job.limits.items()}).items():
        hard = resource.getrlimit(limit)[1]
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(limit, (least, least))


def _no_breakpoint(*_: object, **__: object) -> NoReturn:
    raise RuntimeError("breakpoint() has no terminal in a process of its own; run it with -s")


def _run(job: Job, start: Start, called: Any, session: Channel) -> str:
    """Return the record of the trial as JSON; its score is that of the rubric, or stands for it."""
    case = BenchCase.model_validate_json(job.case)
    case._shelf = ClassCassettes(Path(start.bench_root, start.task_class))  # noqa: SLF001
    case._usage = _Meter(session)  # noqa: SLF001
    runner = TrialRunner(
        task_class=case.task_class,
        system=_Called(called, session, job.output),
        score=called.score if job.output is not None else lambda *_: SCORED,
        taxonomy=SimpleNamespace(classify=lambda _: ()),  # type: ignore[arg-type] # the session has it
        wait=SessionLoop().wait,
        work=Path(job.work),
    )
    with alarm(job.limit):
        try:
            record = runner.run(TrialRequest(case=case, system=start.target, limit=job.limit))
        except KeyboardInterrupt:
            raise RuntimeError("KeyboardInterrupt") from None
    return RECORDS.dump_json(record).decode()


class _Called:
    """The system, or the output that it has returned; the session is told when it is called."""

    def __init__(self, system: Any, session: Channel, output: str | None) -> None:
        self._system = system
        self._session = session
        self._output = output
        self.unavailable = getattr(system, "unavailable", ())

    def __call__(self, case: BenchCase) -> Any:
        self._session.send("called")
        if self._output is not None:
            return json.loads(self._output)
        case._http = _Http(self._session)  # noqa: SLF001
        return self._system(case)


class _Meter(UsageMeter):
    """Reports what is used at once: a trial that is killed has paid for it too."""

    def __init__(self, session: Channel) -> None:
        super().__init__()
        self._session = session

    def include(self, usage: Usage) -> None:
        super().include(usage)
        self._session.send("usage", usage.model_dump(mode="json"))


class _Http:
    """Has the session answer requests from a recording."""

    def __init__(self, session: Channel) -> None:
        self._session = session

    def transport(self, name: str | None, inner: Any) -> Any:
        from benchgate.http.conversation import Replay
        from benchgate.http.exchange import HttpAnswer
        from benchgate.http.transport import Transport

        session = self._session

        class Replayed(Replay):
            def __init__(self) -> None: ...

            def ask(self, request: HttpRequest) -> HttpAnswer:
                answer = session.ask("http", name, request.model_dump_json())
                return HttpAnswer.model_validate_json(answer)

        session.ask("http", name, None)
        return Transport(Replayed(), inner)
