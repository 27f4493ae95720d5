"""The event loop of a session, on which all async systems run."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from benchgate.trials.time_limit import TrialTimeout

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable


CLOSING: Final = 2.0
"""Seconds that cancelled coroutines have for their clean-up when the session ends."""


class SessionLoop:
    """
    One event loop for a whole session, so that a client which belongs to a loop can serve all trials.

    It runs in a thread of its own: the session's thread may have a loop already, as in a notebook.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    def wait(self, awaitable: Awaitable[Any], limit: float) -> Any:
        """
        Run an awaitable on the loop, and wait for its result in the calling thread.

        It is cancelled if it takes longer, or if this thread is interrupted.

        :param limit: in seconds.
        :raises TrialTimeout: it took longer.
        """
        import asyncio

        loop = self._started()
        future = asyncio.run_coroutine_threadsafe(_contained(awaitable), loop)
        try:
            value, error = future.result(limit)
        except TimeoutError:
            future.cancel()
            msg = f"timed out after {limit:g} s"
            raise TrialTimeout(msg) from None
        except BaseException:
            future.cancel()
            raise
        if error is not None:
            raise error
        return value

    def close(self) -> None:
        """Cancel what runs, and end the loop."""
        with self._lock:
            loop = self._loop
            self._loop = None
            self._closed = True
        if loop is None:
            return
        import asyncio

        with suppress(Exception):  # of a coroutine that does not end when it is cancelled
            asyncio.run_coroutine_threadsafe(_cancel_all(), loop).result(CLOSING)
        loop.call_soon_threadsafe(loop.stop)
        if self._thread is not None:
            self._thread.join(CLOSING)
        if not loop.is_running():  # else a coroutine blocks it; its thread ends with the process
            loop.close()

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        """Run the loop until the session is over: a system that stops it, or a task that exits, ends no other trial."""
        while True:
            with suppress(BaseException):
                loop.run_forever()
            if self._closed or loop.is_closed():
                return

    def _started(self) -> asyncio.AbstractEventLoop:
        import asyncio

        from benchgate.live.helpers import HelperThreads

        with self._lock:
            if self._closed:  # a trial that was given up must not start another
                msg = "the session is over"
                raise TrialTimeout(msg)
            if self._loop is None or self._loop.is_closed():  # by a system
                self._loop = asyncio.new_event_loop()
                self._loop.set_default_executor(HelperThreads())
                self._thread = threading.Thread(
                    target=self._run, args=(self._loop,), name="benchgate-loop", daemon=True
                )
                self._thread.start()
            return self._loop


async def _contained(awaitable: Awaitable[Any]) -> tuple[Any, BaseException | None]:
    """Return a result or an error. An error such as SystemExit would otherwise end the loop, and so all trials."""
    import asyncio

    try:
        return await awaitable, None
    except asyncio.CancelledError:
        raise
    except BaseException as error:
        return None, error


async def _cancel_all() -> None:
    import asyncio

    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    if others:
        await asyncio.wait(others, timeout=CLOSING / 2)
    await asyncio.get_running_loop().shutdown_asyncgens()
