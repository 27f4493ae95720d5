"""The controller's side of a Dask cluster: sends classes and attempts, and decides what becomes of lost ones."""

from __future__ import annotations

import math
import threading
import time
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from benchgate.errors import EvalError, brief
from benchgate.live.executor import LiveExecutor
from benchgate.loader.case_digest import files_digest
from benchgate.loader.loaded_class import find_system
from benchgate.remote.attempt import Attempt, SentClass, SentSystem, versions
from benchgate.remote.connection import Gone, connect, wrong_versions
from benchgate.remote.packing import pack
from benchgate.remote.worker import receive, run_attempt
from benchgate.wire.canonical import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from benchgate.loader.loaded_class import LoadedClass, NamedSystem
    from benchgate.remote.attempt import Answer
    from benchgate.trials.executor import TrialRecord, TrialRequest
    from benchgate.trials.pacing import Pacing
    from benchgate.trials.spending import Spending


CHECK_SECONDS: Final = 60.0
"""How long a worker may take to load a class before the run begins; a busier one is checked when it is first used."""

NO_WORKER_SECONDS: Final = 60.0
"""How long a trial waits for a worker where there is none."""

POLL: Final = 5.0
"""Seconds between two looks whether there still are workers."""


class Cluster:
    """
    Runs trials on the workers of a Dask cluster, one attempt after the other in each thread that asks.

    :param address: as ``dask://HOST:PORT``, of the scheduler.
    :param systems: each class with each of its systems that will run.
    :raises EvalError: a system has no name by which a worker could find it.
    """

    def __init__(self, address: str, systems: Iterable[tuple[LoadedClass, NamedSystem]]) -> None:
        self._address = address
        self._benches: dict[str, LoadedClass] = {}
        self._packed: dict[str, tuple[SentClass, bytes]] = {}
        self._systems: dict[str, dict[str, SentSystem]] = {}
        for bench, system in systems:
            _check_name(bench, system)
            self._benches[bench.name] = bench
            sent = SentSystem(
                name=system.name, digest=system.digest, checkpoint=system.checkpoint_sha256()
            )
            self._systems.setdefault(bench.name, {})[system.name] = sent
        self._client: Any = None
        self._refused: dict[str, str] = {}
        self._files: dict[tuple[str, str], tuple[str, str | None]] = {}
        self._sending = threading.Lock()
        self._gone = ""
        self.jobs = 1

    def open(self) -> None:
        """
        Connect, and send the classes to the workers that are there.

        :raises EvalError: there is no scheduler or worker, or one of them could not run the trials.
        """
        for name, bench in self._benches.items():
            data = pack(bench.path)
            sent = SentClass(name=name, sha256=sha256_hex(data), versions=versions())
            self._packed[name] = (sent, data)
        self._client = connect(self._address)
        threads = self._client.nthreads()
        # More than run at once, so that none waits for the way of the next one from here.
        self.jobs = math.ceil(2.0 * sum(threads.values()))
        wrong = wrong_versions(self._client)
        for name in () if wrong else self._packed:
            wrong += self._send(name, list(threads), CHECK_SECONDS)
        if wrong:
            self.close()
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
        Run one trial on any worker. One whose worker is lost is tried once more, and its record says so.

        :param lost: is told of such a trial; returns whether another may be paid for.
        """
        times_lost = 0
        while True:
            attempt = self._attempt(request)
            try:
                with self._reaching():
                    answer = self._ask(attempt)
                    if answer is not None and answer.kind == "lacks":
                        self._send(attempt.sent.name, [answer.worker], math.inf)
                        continue
            except Gone as gone:
                return request.not_run(str(gone), times_lost)
            if answer is None or answer.kind == "elsewhere":
                times_lost += 1
                if times_lost > 1 or not lost():
                    again = "again" if times_lost > 1 else "and the cap of costs allows no other"
                    return request.not_run(f"lost with its worker, {again}", times_lost)
            elif answer.kind == "changed":
                return request.not_run("its case was changed after the class was sent", times_lost)
            elif answer.kind == "refused":
                self._refused[answer.worker] = answer.why
            else:
                home = self._benches[request.case.task_class].path
                return _recorded(answer, home, times_lost)

    def _attempt(self, request: TrialRequest) -> Attempt:
        case = request.case
        key = case.task_class, case.case_id
        if key not in self._files:
            self._files[key] = files_digest(case)
        return Attempt(
            id=f"benchgate-{uuid4().hex}",
            sent=self._packed[case.task_class][0],
            system=self._systems[case.task_class][request.system],
            case_id=case.case_id,
            trial=case.trial,
            seed=case.seed,
            limit=request.limit,
            side=request.side,
            files=self._files[key],
        )

    def _ask(self, attempt: Attempt) -> Answer | None:
        """Return what a worker says; ``None`` if there is none any more that could."""
        from distributed import CancelledError, KilledWorker, Queue

        if self._gone:
            raise Gone(self._gone)
        try:
            # It is there until the answer is, so that no second worker finds it empty.
            with closing(Queue(attempt.id, client=self._client, maxsize=1)):
                future = self._client.submit(
                    run_attempt, attempt, key=attempt.id, pure=False, **self._allowed()
                )
                return self._wait(future)
        except (CancelledError, KilledWorker):
            self._check_connection()
            return None

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self._check_connection()
            raise Gone(f"the scheduler cannot be reached: {error}") from error

    def _wait(self, future: Any) -> Answer:
        alone_since = math.inf
        while True:
            try:
                answer: Answer = future.result(timeout=POLL)
            except TimeoutError:
                if future.done():
                    raise
                self._check_connection()
                now = time.monotonic()
                alone_since = math.inf if self._client.nthreads() else min(alone_since, now)
                if now - alone_since > NO_WORKER_SECONDS:
                    future.cancel()
                    raise Gone(f"no worker for {NO_WORKER_SECONDS:g} s") from None
            except (ImportError, AttributeError) as error:  # of the function itself
                raise Gone(f"a worker without benchgate: {error}") from error
            else:
                return answer

    def _check_connection(self) -> None:
        """Once it is lost no later trial waits for it: Dask forgets what a client that left has asked for."""
        if self._client.status != "running":
            self._gone = self._gone or "the connection to the scheduler was lost"
            raise Gone(self._gone)

    def _allowed(self) -> dict[str, Any]:
        if not self._refused:
            return {}
        left = [address for address in self._client.nthreads() if address not in self._refused]
        if not left:
            refusals = (f"worker {address}: {why}" for address, why in self._refused.items())
            raise Gone(f"no worker can run it: {brief(refusals, '; ')}")
        return {"workers": left, "allow_other_workers": False}

    def _send(self, name: str, addresses: list[str], seconds: float) -> list[str]:
        """Send a class to workers; return why some of those that answer in time cannot run its trials."""
        from distributed import CancelledError, KilledWorker

        sent, data = self._packed[name]
        systems = tuple(self._systems[name].values())
        with self._sending:
            copies = {
                address: self._client.scatter(data, workers=[address], hash=False)
                for address in addresses
            }
            answers = [
                self._client.submit(receive, sent, systems, copy, workers=[address], pure=False)
                for address, copy in copies.items()
            ]
            deadline, wrong = time.monotonic() + seconds, []
            for future in answers:
                left = deadline - time.monotonic()
                # A worker that is gone, or busy with the tasks of others, is none that is used now.
                with suppress(CancelledError, KilledWorker, TimeoutError):
                    answer = future.result(timeout=None if left == math.inf else max(0.0, left))
                    if answer.kind == "refused":
                        wrong.append(f"worker {answer.worker}: {answer.why}")
                        self._refused[answer.worker] = answer.why
            return wrong


def _recorded(answer: Answer, home: Path, times_lost: int) -> TrialRecord:
    """Return the record in an answer; ``home`` is the folder of its class here."""
    if answer.kind == "interrupted" or answer.record is None:
        raise KeyboardInterrupt
    record = answer.record
    if record.raised_at is not None:
        where = (home / answer.raised_in, record.raised_at[1]) if answer.raised_in else None
        record = replace(record, raised_at=where)
    if not times_lost:
        return record
    return replace(record, result=record.result.model_copy(update={"retries": times_lost}))


def _check_name(bench: LoadedClass, system: NamedSystem) -> None:
    try:
        if find_system(bench.task_class, system.name).call is system.call:
            return
    except EvalError:
        pass
    msg = f"system {system.name} cannot be found by a name on a worker; register it, or name it as module:attr"
    raise EvalError(msg)
