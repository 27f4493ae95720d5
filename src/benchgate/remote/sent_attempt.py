"""An attempt that was given to a Dask cluster: whether a worker started it, and what was answered."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from benchgate.remote.attempt import Answer
from benchgate.remote.connection import POLL, Gone, ask
from benchgate.remote.worker import run_attempt

if TYPE_CHECKING:
    import threading

    from benchgate.remote.attempt import Attempt

LOST: Final = "lost with its worker"

FULL_SECONDS: Final = 0.1
"""How long is waited for room in the queue of an attempt; there is none if a worker has started it."""


class SentAttempt:
    """
    One attempt on the cluster.

    Its queue has room for one word, which the worker that starts it takes, or whoever withdraws it. It is there until
    the trial has its result, and without it nobody starts the attempt. When there is an answer, ``woken`` is set.
    """

    def __init__(
        self, client: Any, attempt: Attempt, woken: threading.Event, allowed: dict[str, Any]
    ) -> None:
        self.attempt = attempt
        self.is_started = False
        self._is_withdrawn = False
        self._answer: Answer | None = None
        self._client = client
        ask(client, "queue_create", name=attempt.id, maxsize=1)
        # A session's first trials take priority over another session's hundredth.
        order = {"key": attempt.id, "priority": -len(client.futures)}
        self._future = client.submit(run_attempt, attempt, pure=False, **order, **allowed)
        self._future.add_done_callback(lambda _: woken.set())

    def answer(self) -> Answer | None:
        """Return what a worker says, or that nobody will say anything; ``None`` as long as that is open."""
        if self._answer is None:
            self._answer = self._found()
        return self._answer

    def _found(self) -> Answer | None:
        status = self._future.status
        if status == "finished":
            return self._fetched()
        if status not in {"error", "cancelled"}:
            return None
        error = None
        if status == "error":
            error = self._future.exception()
        if isinstance(error, (ImportError, AttributeError)):  # of the function itself
            raise Gone(f"a worker without benchgate: {error}") from error
        why = ""
        # By its name: Dask is imported only where it is used.
        if error is not None and type(error).__name__ != "KilledWorker":
            why = f"failed on its worker with {type(error).__name__}: {error}"
        return Answer(kind="elsewhere", worker="", why=why)

    def _fetched(self) -> Answer | None:
        # Not future.result(): Dask fetches the answers of many at once, so that a silent worker holds up those of all,
        # and who does not wait for one any longer cancels them for all.
        fetch = self._client.scheduler.gather
        key = self._future.key
        try:
            found = self._client.sync(fetch, keys=[key], callback_timeout=POLL)
        except (OSError, UnboundLocalError):
            return None
        answer: Answer | None = found.get("data", {}).get(key)
        return answer

    def has_started(self) -> bool:
        """Return whether a worker has started it."""
        if not self.is_started:
            self.is_started = ask(self._client, "queue_qsize", name=self.attempt.id) > 0
        return self.is_started

    def withdraw(self) -> bool:
        """See to it that no worker starts it any more; return whether one had."""
        if not self.is_started and not self._is_withdrawn:
            try:
                word = {"name": self.attempt.id, "data": "withdrawn", "timeout": FULL_SECONDS}
                ask(self._client, "queue_put", full=TimeoutError, **word)
            except TimeoutError:
                self.is_started = True
        self._is_withdrawn = True
        return self.is_started

    def close(self) -> None:
        """Forget it: nobody waits for it any more."""
        with suppress(OSError):
            self._future.release()
            if self._client.status == "running":
                self._client._send_to_scheduler(  # noqa: SLF001 - as Dask's own Queue does
                    {"op": "queue_release", "name": self.attempt.id}
                )
