"""The process of one trial: calls the system, or the rubric, and tells the session what came of it."""

from __future__ import annotations

import base64
import json
import os
import random
import resource
import signal
import socket
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast

from benchgate.http.exchange import HttpAnswer
from benchgate.isolation import linux
from benchgate.isolation.frames import Caller
from benchgate.live.loop import SessionLoop
from benchgate.models import BenchCase, BenchScore
from benchgate.models.case import Cassette
from benchgate.trials.executor import TrialRequest
from benchgate.trials.time_limit import alarm
from benchgate.trials.trial import TrialRunner
from benchgate.wire import clock
from benchgate.wire.usage import UsageMeter

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchgate.http.exchange import HttpRequest
    from benchgate.isolation.job import Job
    from benchgate.trials.executor import TrialRecord
    from benchgate.wire.usage import Usage

MOST_FILES: Final = 1024
MOST_BYTES: Final = 2**30
SCORED: Final = BenchScore(passed=True, score=1.0)
"""Stands for what the rubric, in a process of its own, will say."""

RUNNER: Final = TrialRunner(
    task_class="none",
    system=lambda _: {},
    score=lambda *_: SCORED,
    taxonomy=cast("Any", SimpleNamespace(classify=lambda _: ())),  # the session classifies
    wait=lambda *_: None,
)


def run_job(job: Job, load: Callable[[], Any]) -> int:
    """Run a trial, and return the exit status of this process."""
    caller = Caller(socket.socket(fileno=3))
    try:
        _settle(job)
        called = load()
        if job.fence is not None and job.scratch is not None:
            from benchgate.isolation import sandbox

            sandbox.close(job.fence, job.scratch)
            if job.probe is not None:
                found = json.dumps({"open": sandbox.probe(job.probe)})
                caller.end({"outcome": "scored", "output": found, "text": None})
                return 0
        random.seed()
        record = _run(job, called, caller)
        caller.end(_told(record))
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode(errors="replace"))
        return 1
    return 0


def warm() -> None:
    """Run a trial of nothing, so that no process of a trial has to import or build what each of them needs."""
    case = BenchCase.made(
        {
            "case_id": "none",
            "task_class": "none",
            "disposition": "positive",
            "difficulty": "easy",
            "source": "curated",
            "added_at": clock.now(),
            "last_validated_at": clock.now(),
            "input_path": Path("/"),
            "expected_path": None,
        },
        None,
    )
    request = TrialRequest(case=case, system="none", limit=1.0)
    _told(replace(RUNNER, system=lambda _: {}).run(request))


def _settle(job: Job) -> None:
    """Live in the folder of the trial, with its limits."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_IGN if number == signal.SIGXFSZ else signal.SIG_DFL)
    linux.prctl(linux.NO_NEW_PRIVS)
    if job.scratch is None:
        os.chdir("/")
        return
    os.chdir(job.scratch)
    home = job.scratch / "home"
    os.environ |= {"TMPDIR": str(job.scratch / "tmp"), "HOME": str(home)}
    for name in ("CACHE", "CONFIG", "DATA", "STATE"):
        os.environ[f"XDG_{name}_HOME"] = str(home / name.lower())
    os.environ["XDG_RUNTIME_DIR"] = str(home)
    tempfile.tempdir = None
    sys.breakpointhook = _no_breakpoint
    limits = {
        resource.RLIMIT_FSIZE: MOST_BYTES,
        resource.RLIMIT_NOFILE: MOST_FILES,
        resource.RLIMIT_CORE: 0,
    }
    named = {"memory": resource.RLIMIT_AS, "processes": resource.RLIMIT_NPROC}
    for limit, most in (limits | {named[name]: n for name, n in job.limits.items()}).items():
        hard = resource.getrlimit(limit)[1]
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(limit, (least, least))


def _no_breakpoint(*_: object, **__: object) -> NoReturn:
    raise RuntimeError(
        "breakpoint() in a process of its own has no terminal; run it with -s or --pdb"
    )


def _run(job: Job, called: Any, caller: Caller) -> TrialRecord:
    case = BenchCase.made(job.case, _Shelf(caller, job.work.parent / "cassettes"))
    case._usage = _Meter(caller)  # noqa: SLF001 - not a field: it is no data
    runner = replace(RUNNER, task_class=case.task_class, wait=SessionLoop().wait, work=job.work)
    if job.output is None:
        runner = replace(runner, system=_Called(called, caller))
    else:
        runner = _scoring(runner, called, caller, job.output)
    with alarm(job.limit):
        try:
            return runner.run(TrialRequest(case=case, system=job.system, limit=job.limit))
        except KeyboardInterrupt:
            raise RuntimeError("KeyboardInterrupt") from None


def _scoring(runner: TrialRunner, rubric: Any, caller: Caller, output: str) -> TrialRunner:
    def score(case: BenchCase, produced: Mapping[str, Any]) -> object:
        caller.tell("called")
        return rubric.score(case, produced)

    return replace(runner, system=lambda _: json.loads(output), score=score)


def _told(record: TrialRecord) -> dict[str, Any]:
    """Return what the session is to know of a trial; see :func:`.parent._checked`."""
    result, raised = record.result, record.raised_at
    mode = result.failure_modes[0] if result.failure_modes else None
    return {
        "outcome": result.outcome,
        "output": record.output_json,
        "score": result.score.model_dump(mode="json") if result.score else None,
        "code": mode and mode.code,
        "text": mode.detail if mode else result.detail,
        "retry_after": record.retry_after,
        "violation": record.violation,
        "raised_at": [str(raised[0]), raised[1]] if raised else None,
    }


class _Called:
    """The system, which says when it is called; of its case HTTP and usage go by the session."""

    def __init__(self, system: Any, caller: Caller) -> None:
        self._system = system
        self._caller = caller
        self.unavailable = getattr(system, "unavailable", ())

    def __call__(self, case: BenchCase) -> Any:
        case._http = _Http(self._caller)  # noqa: SLF001 - not a field: it is no data
        self._caller.tell("called")
        return self._system(case)


class _Meter(UsageMeter):
    """Reports what is used at once: a trial that is killed has paid for it too."""

    def __init__(self, caller: Caller) -> None:
        super().__init__()
        self._caller = caller

    def include(self, usage: Usage) -> None:
        super().include(usage)
        self._caller.tell("usage", usage.model_dump(mode="json"))


class _Shelf:
    """Copies what was recorded of a trial into its own folder."""

    def __init__(self, caller: Caller, folder: Path) -> None:
        self._caller = caller
        self._folder = folder

    def find(self, name: str, case_id: str, trial: int) -> Cassette | None:
        found = self._caller.ask("cassette", name, case_id, trial)
        if found is None:
            return None
        path = self._folder / name / found["name"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(found["base64"]))
        return Cassette(path=path, sha256=found["sha256"])


class _Http:
    """Has the session answer requests, or note what was answered."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def transport(self, name: str | None, inner: Any) -> Any:
        from benchgate.http.transport import Transport

        number, is_replay = self._caller.ask("http", name)
        conversation: Any = (_replay if is_replay else _Recording)(self._caller, number)
        return Transport(conversation, inner)


def _replay(caller: Caller, number: int) -> Any:
    from benchgate.http.conversation import Replay

    class Elsewhere(Replay):
        def __init__(self) -> None: ...

        def ask(self, request: HttpRequest) -> HttpAnswer:
            answer = caller.ask("replay", number, request.model_dump(mode="json"))
            return HttpAnswer.model_validate(answer)

    return Elsewhere()


class _Recording:
    def __init__(self, caller: Caller, number: int) -> None:
        self._caller = caller
        self._number = number

    def ask(self, request: HttpRequest, headers: Any) -> Any:
        """Return the number under which a request is sent."""
        fields = request.model_dump(mode="json")
        return self._caller.ask("send", self._number, fields, [list(one) for one in headers])

    def answered(self, number: int, answer: HttpAnswer) -> HttpAnswer:
        """Note an answer, and return it."""
        self._caller.ask("sent", self._number, number, answer.model_dump(mode="json"))
        return answer
