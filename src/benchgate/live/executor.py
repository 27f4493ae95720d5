"""Runs trials side by side in threads of this process."""

from __future__ import annotations

import math
import os
import threading
import time
from collections import deque
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from types import FunctionType
from typing import TYPE_CHECKING, Final

from benchgate.live.prints import printing
from benchgate.trials.containment import process_kept

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.live.prints import PrintRouter
    from benchgate.trials.executor import TrialRecord, TrialRequest
    from benchgate.trials.pacing import Pause
    from benchgate.trials.time_limit import Backstop


GRACE: Final = 0.2
"""Seconds that a trial has after its limit, by default: one on the event loop ends in less."""


class _Closed(BaseException):
    """Ends a trial that waits to be tried again or observed, when it was given up or everything ends."""


@dataclass(eq=False, slots=True)
class _Job:
    request: TrialRequest
    future: Future[TrialRecord]
    deadline: float


class LiveExecutor:
    """
    Runs up to ``jobs`` trials at once, each in a daemon thread, so that a hung one cannot keep the process alive.

    Python cannot end a thread. One that is over its limit is given up: its trial is a timeout, a new thread takes its
    place, and what it returns later is dropped.

    :param run: runs one trial in the calling thread; a system's own errors are part of its result. It is given a way to
        wait that its time limit does not count.
    :param prints: keeps apart what trials print, each in its record; whoever gives it closes it.
    :param backstop: ends the process if a trial is over its limit and holds the interpreter, so that no thread runs
        that could give it up. What the process prints then names the trials that ran.
    :param grace: seconds that a trial has to end by itself after its limit, as one on the event loop does. Infinite: no
        trial is given up, as whoever runs it elsewhere keeps the limit.
    """

    def __init__(
        self,
        run: Callable[[TrialRequest, Pause], TrialRecord],
        jobs: int,
        *,
        prints: PrintRouter | None = None,
        backstop: Backstop | None = None,
        grace: float = GRACE,
    ) -> None:
        self._run = run
        self._jobs = jobs
        self._prints = prints
        self._backstop = backstop
        self._grace = grace
        self._changed = threading.Condition()
        self._waiting: deque[tuple[TrialRequest, Future[TrialRecord]]] = deque()
        self._running: set[_Job] = set()
        self._threads = 0
        self._idle = 0
        self._started = False
        self._closed = False
        self._closing = threading.Event()
        self._contained = ExitStack()

    def submit(self, request: TrialRequest) -> Future[TrialRecord]:
        """Run a trial as soon as fewer than ``jobs`` run."""
        future: Future[TrialRecord] = Future()
        if self._prints is not None:
            self._prints.watch()
        with self._changed:
            if not self._started:
                self._start()
            self._waiting.append((request, future))
            self._staff()
            self._changed.notify_all()
        return future

    def close(self) -> None:
        """Cancel what waits, and give up what runs."""
        with self._changed:
            self._closed = True
            waiting = list(self._waiting)
            self._waiting.clear()
            self._running.clear()
            self._changed.notify_all()
        self._closing.set()
        for _, future in waiting:
            future.cancel()
        self._contained.close()

    def guard(self) -> None:
        """Set the backstop again, after somebody else has cancelled it."""
        with self._changed:
            self._nearest()

    def _start(self) -> None:
        self._started = True
        # Once for all trials: each of them would restore what the one before it had changed.
        self._contained.enter_context(process_kept())
        self._contained.callback(os.chdir, os.getcwd())
        threading.Thread(target=self._watch, name="benchgate-limits", daemon=True).start()

    def _staff(self) -> None:
        """Start a thread if a trial waits for one; called under the lock."""
        if self._idle < len(self._waiting) and self._threads < self._jobs and not self._closed:
            self._threads += 1
            threading.Thread(target=self._work, name="benchgate-trial", daemon=True).start()

    def _work(self) -> None:
        while (job := self._next()) is not None:
            record = None
            error = None
            try:
                record = self._record(job)
            except BaseException as raised:  # what must end the session does so where it is awaited
                error = raised
            with self._changed:
                if job not in self._running:
                    return  # given up: another thread has taken this one's place
                self._running.remove(job)
            if record is not None:
                job.future.set_result(record)
            else:
                job.future.set_exception(error)

    def _record(self, job: _Job) -> TrialRecord:
        case = job.request.case
        pause = partial(self._pause, job)
        # A name of code is all that faulthandler prints of a thread besides files and lines.
        code = _call.__code__.replace(co_name=f"case {case.case_id} trial {case.trial}")
        call: Callable[[Callable[[], TrialRecord]], TrialRecord] = FunctionType(code, {})
        run = partial(call, partial(self._run, job.request, pause))
        if self._prints is None:
            return run()
        with printing() as printed:
            record = run()
        return replace(record, printed=printed.getvalue())

    def _next(self) -> _Job | None:
        with self._changed:
            while True:
                self._idle += 1
                while not self._waiting and not self._closed:
                    self._changed.wait()
                self._idle -= 1
                if self._closed:
                    return None
                request, future = self._waiting.popleft()
                if future.set_running_or_notify_cancel():
                    job = _Job(request, future, time.monotonic() + request.limit + self._grace)
                    self._running.add(job)
                    self._nearest()  # here, for the thread that watches may never run again
                    self._changed.notify_all()
                    return job

    def _pause(self, job: _Job, seconds: float, following: TrialRequest | None = None, /) -> None:
        with self._changed:
            if job not in self._running:  # given up: nobody waits for what it would come to
                raise _Closed
            job.request = following or job.request
        self._limit(job, math.inf)
        if self._closing.wait(seconds):
            raise _Closed
        self._limit(job, time.monotonic() + job.request.limit + self._grace)

    def _limit(self, job: _Job, deadline: float) -> None:
        with self._changed:
            job.deadline = deadline
            self._changed.notify_all()

    def _nearest(self) -> float:
        """Return when the first trial is over its limit, and set the backstop to it; called under the lock."""
        ends = ((job.deadline, job.request.limit) for job in self._running)
        deadline, limit = min(ends, default=(math.inf, 0.0))
        if self._backstop is not None:
            self._backstop.until(deadline, limit)
        return deadline

    def _watch(self) -> None:
        """Give up the trials that are over their limits."""
        while not self._closed:
            with self._changed:
                now = time.monotonic()
                late = [job for job in self._running if job.deadline <= now]
                for job in late:
                    self._running.remove(job)
                    self._threads -= 1
                    self._staff()
                if not late:
                    deadline = self._nearest()
                    self._changed.wait(None if deadline == math.inf else deadline - now)
            for job in late:
                job.future.set_result(job.request.timed_out())
        if self._backstop is not None:
            self._backstop.release()


def _call(run: Callable[[], TrialRecord]) -> TrialRecord:
    return run()
