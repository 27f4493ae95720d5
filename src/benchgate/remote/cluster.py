"""The controller's side of a Dask cluster: sends classes and attempts, and decides what becomes of lost ones."""

from __future__ import annotations

import math
import threading
import time
from collections import defaultdict
from contextlib import suppress
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from benchgate.errors import EvalError, brief
from benchgate.live.executor import LiveExecutor
from benchgate.loader.case_digest import files_digest
from benchgate.loader.systems import check_importable
from benchgate.remote.attempt import Answer, Attempt, SentClass, pack, versions
from benchgate.remote.connection import (
    POLL,
    Gone,
    Lost,
    Watch,
    ask,
    check_connection,
    connect,
    imported_packages,
    steady,
    version_faults,
)
from benchgate.remote.sent_attempt import LOST, SentAttempt
from benchgate.remote.worker import receive
from benchgate.remote.worker_bench import declared
from benchgate.wire.canonical import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from benchgate.loader.loaded_class import LoadedClass
    from benchgate.loader.systems import NamedSystem
    from benchgate.remote.attempt import Apart
    from benchgate.trials.executor import TrialRecord, TrialRequest
    from benchgate.trials.pacing import Pacing
    from benchgate.trials.spending import Spending


CHECK_SECONDS: Final = 60.0
"""How long a worker may take to load a class before the run begins; a busier one is checked when it is first used."""

MARGIN: Final = 30.0
"""Seconds after its limit in which the answer to an attempt may arrive; then another one is sent."""

AHEAD: Final = 100
"""Trials that are given to a small cluster at once: by what waits at its scheduler an adaptive one decides to grow."""


class Cluster:
    """
    Runs trials on the workers of a Dask cluster, one attempt after the other in each thread that asks.

    :param address: as ``dask://HOST:PORT``, of the scheduler.
    :param systems: each class with each of its systems that will run.
    :param apart: how they run in processes of their own, by the names of the classes that name a level.
    :raises EvalError: a system has no name by which a worker could find it.
    """

    def __init__(
        self,
        address: str,
        systems: Iterable[tuple[LoadedClass, NamedSystem]],
        apart: Mapping[str, Apart] = MappingProxyType({}),
    ) -> None:
        self._address = address
        self._apart = apart
        self._benches: dict[str, LoadedClass] = {}
        self._packed: dict[str, tuple[SentClass, Callable[[bytes], Answer], bytes]] = {}
        self._systems: dict[str, dict[str, dict[str, str | None]]] = defaultdict(dict)
        for bench, system in systems:
            check_importable(system, "on a worker")
            self._benches[bench.name] = bench
            self._systems[bench.name][system.name] = declared(system, bench.observer())
        self._client: Any = None
        self._refused: dict[str, str] = {}
        self._files: dict[tuple[str, str], tuple[str, str | None]] = {}
        self._sending = threading.Lock()
        self._gone = ""
        self._watch = Watch()
        self.notes: list[str] = []
        self.jobs = 1

    def open(self, *, may_be_mixed: bool = False) -> None:
        """
        Connect, and send the classes to the workers that are there.

        :param may_be_mixed: whether they may have other versions of packages, or be of another platform.
        :raises EvalError: there is no scheduler or worker, or one of them could not run the trials.
        """
        session = uuid4().hex
        here = versions(imported_packages())
        for name, bench in self._benches.items():
            data = pack(bench.path)
            apart = self._apart.get(name)
            sent = SentClass(name=name, sha256=sha256_hex(data), session=session, apart=apart)
            call = partial(receive, sent, self._systems[name], here, may_be_mixed=may_be_mixed)
            self._packed[name] = sent, call, data
        self._client = connect(self._address)
        threads = self._client.nthreads()
        # More than run at once, so that none waits for the way of the next one from here.
        self.jobs = max(AHEAD, 2 * sum(threads.values()))
        wrong = version_faults(self._client)
        if not wrong:  # a worker of another version could not read what it is sent
            for name in self._packed:
                wrong += self._send(name, list(threads))
        if wrong:
            raise EvalError(f"executor {self._address}: {brief(wrong, '; ')}")

    def lane(self, pacing: Pacing, spending: Spending, jobs: int) -> LiveExecutor:
        """Return an executor with a pace and a cap of its own; ``jobs`` above 1 bounds what it has under way."""
        run = partial(self.run, lost=spending.lost)
        most = jobs if jobs > 1 else self.jobs
        return LiveExecutor(partial(pacing.run, run), most, grace=math.inf)

    def close(self) -> None:
        """Drop what has not started; what runs ends by itself, and nobody is told."""
        self._gone = self._gone or "the session is over"
        if self._client is not None:
            self._client.close(timeout=2)

    def run(self, request: TrialRequest, lost: Callable[[], bool]) -> TrialRecord:
        """
        Run one trial on any worker. One whose worker is lost or silent is tried once more, and its record says so.

        :param lost: is told of such a trial; returns whether another may be paid for.
        """
        sent: list[SentAttempt] = []
        try:
            return self._run(request, lost, sent)
        except Gone as gone:
            if isinstance(gone, Lost):
                self._gone = self._gone or str(gone)
            return request.not_run(str(gone), sum(one.is_started for one in sent))
        finally:
            for one in sent:
                one.close()

    def _run(
        self, request: TrialRequest, lost: Callable[[], bool], sent: list[SentAttempt]
    ) -> TrialRecord:
        woken = threading.Event()
        losses = 0
        while True:
            if self._gone:
                raise Gone(self._gone)
            attempt = self._attempt(request)
            sent.append(SentAttempt(self._client, attempt, woken, self._allowed()))
            one, answer = self._answer(sent, woken)
            if answer is None:  # withdrawn before a silent worker could start it
                continue
            if answer.kind in {"ran", "interrupted"}:
                home = self._benches[request.case.task_class].path
                others = sum(other.withdraw() for other in sent if other is not one)
                return _recorded(answer, home, others)
            started = sum(other.withdraw() for other in sent)
            if answer.kind == "elsewhere":
                losses += 1
                if losses > 1 or not lost():
                    again = "again" if losses > 1 else "and the cap of costs allows no other"
                    return request.not_run(f"{answer.why or LOST}, {again}", started)
            elif self._has_changed(answer, attempt):
                return request.not_run("its case was changed after the class was sent", started)

    def _has_changed(self, answer: Answer, attempt: Attempt) -> bool:
        """Return whether no worker can run a trial; else see to it that the next attempt is not answered the same."""
        if answer.kind == "refused":
            self._refused[answer.worker] = answer.why
        elif answer.kind == "lacks":
            self._send(attempt.sent.name, [answer.worker])
        return answer.kind == "changed"

    def _answer(
        self, sent: list[SentAttempt], woken: threading.Event
    ) -> tuple[SentAttempt, Answer | None]:
        """
        Wait until the newest attempt is answered, or is silent for longer than its limit allows, or an earlier one is.

        A late answer counts only if the system kept its limit although its worker was silent.
        """
        newest = sent[-1]
        deadline = math.inf
        while True:
            is_answered = woken.wait(POLL)
            woken.clear()
            check_connection(self._client)
            for one in sent:
                answer = one.answer()
                if answer is not None and (one is newest or _kept_its_limit(answer, one.attempt)):
                    return one, answer
            if is_answered:
                continue
            stuck = self._watch.look(self._client)
            if newest.has_started():
                deadline = min(deadline, time.monotonic() + newest.attempt.limit + MARGIN)
                if time.monotonic() > deadline:
                    why = f"no answer {MARGIN:g} s after its limit of {newest.attempt.limit:g} s"
                    return newest, Answer(kind="elsewhere", worker="", why=why)
            elif newest.attempt.id in stuck and not newest.withdraw():
                return newest, None

    def _attempt(self, request: TrialRequest) -> Attempt:
        case = request.case
        key = case.task_class, case.case_id
        if key not in self._files:
            self._files[key] = files_digest(case)
        return Attempt(
            id=f"benchgate-{uuid4().hex}",
            sent=self._packed[case.task_class][0],
            system=request.system,
            case_id=case.case_id,
            trial=case.trial,
            seed=case.seed,
            limit=request.limit,
            side=request.side,
            files=self._files[key],
            then=request.then,
        )

    def _allowed(self) -> dict[str, Any]:
        if not self._refused and not self._watch.silent:
            return {}
        left = ask(self._client, "ncores").keys() - self._refused.keys()
        if not left:
            refusals = (f"worker {address}: {why}" for address, why in self._refused.items())
            raise Gone(f"no worker can run it: {brief(refusals, '; ')}")
        # Silent ones too if all are: they may speak again, and else nobody is left.
        workers = left - self._watch.silent or left
        return {"workers": list(workers), "allow_other_workers": False}

    def _send(self, name: str, addresses: list[str]) -> list[str]:
        """Send a class to workers; return why some of those that answer in time cannot run its trials."""
        from distributed import CancelledError, KilledWorker

        client = self._client
        _, call, data = self._packed[name]
        with self._sending:
            answers: dict[str, Any] = {}
            for address in addresses:
                scatter = partial(client.scatter, data, workers=[address], hash=False)
                with suppress(KeyError):  # it has left
                    copy = steady(client, scatter)
                    answers[address] = client.submit(call, copy, workers=[address], pure=False)
            wrong: list[str] = []
            deadline = time.monotonic() + CHECK_SECONDS
            for address, future in answers.items():
                left = max(0.0, deadline - time.monotonic())
                # A worker that is gone, or busy with the tasks of others, is none that is used now.
                with suppress(CancelledError, KilledWorker, OSError, UnboundLocalError):
                    answer = future.result(timeout=left)
                    line = f"worker {address}: {answer.why}"
                    if answer.kind == "refused":
                        wrong.append(line)
                        self._refused[address] = answer.why
                    elif answer.why and line not in self.notes:
                        self.notes.append(line)
            return wrong


def _kept_its_limit(answer: Answer, attempt: Attempt) -> bool:
    """Whether an answer is about the system, whatever happened to its worker meanwhile."""
    record = answer.record
    if record is None:
        return False
    return record.result.outcome != "timeout" and record.result.duration_seconds <= attempt.limit


def _recorded(answer: Answer, home: Path, times_lost: int) -> TrialRecord:
    """Return the record in an answer; ``home`` is the folder of its class here."""
    if answer.kind == "interrupted" or answer.record is None:
        raise KeyboardInterrupt
    record = answer.record
    where = None
    if record.raised_at is not None and answer.raised_in:
        where = home / answer.raised_in, record.raised_at[1]
    result = record.result.model_copy(update={"retries": times_lost})
    return replace(record, result=result, raised_at=where, worker=answer.worker)
