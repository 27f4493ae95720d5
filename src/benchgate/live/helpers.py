"""The threads behind ``asyncio.to_thread`` and name look-ups of async systems."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable


MOST: Final = 32
"""Threads; as many as an event loop has by default on a machine of many cores."""


class _Call(Future[Any]):
    """A call; one that cannot be cancelled any more has taken its thread for good, as far as anybody knows."""

    def __init__(self, lost: Callable[[], None]) -> None:
        super().__init__()
        self._lost = lost

    def cancel(self) -> bool:
        """Cancel it, or give its thread up."""
        cancelled = super().cancel()
        if not cancelled and not self.done():
            self._lost()
        return cancelled


class HelperThreads(ThreadPoolExecutor):
    """
    A pool of daemon threads. Python waits at its exit for those of its own pool, and so for ever for one that hangs.

    It is a ThreadPoolExecutor because an event loop takes nothing else.
    """

    def __init__(self) -> None:
        super().__init__()
        self._calls: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._free = threading.Semaphore(0)
        self._started = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call a function once a thread is free."""
        future = _Call(self._lose)
        self._calls.put((future, partial(fn, *args, **kwargs)))
        if not self._free.acquire(blocking=False) and self._started < MOST:
            self._started += 1
            threading.Thread(target=self._serve, name="benchgate-helper", daemon=True).start()
        return future

    def _lose(self) -> None:
        # Else hung calls of trials that timed out would keep all later ones waiting.
        self._started -= 1

    def shutdown(self, *_: Any, **__: Any) -> None:
        """End each thread once it is free, and wait for none."""
        self._calls.put(None)

    def _serve(self) -> None:
        while (waiting := self._calls.get()) is not None:
            future, call = waiting
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(call())
                except BaseException as error:
                    future.set_exception(error)
            del waiting, future, call  # what they hold must not live on while this thread is idle
            self._free.release()
        self._calls.put(None)  # for the next one
