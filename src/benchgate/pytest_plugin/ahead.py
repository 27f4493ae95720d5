"""Runs the trials of coming items ahead of their turn; pytest still reports item by item, in its own order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.errors import BenchCaseLoadError
from benchgate.pytest_plugin.nodes import CaseItem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future

    import pytest

    from benchgate.trials.executor import TrialExecutor, TrialRecord, TrialRequest


HELD_BACK = ("skip", "skipif", "xfail")
"""Markers by which an item may not run at all; it is submitted in its own turn only."""


class Ahead:
    """
    Keeps a bounded number of coming items submitted.

    :param request: makes the request for an item.
    :param window: items that were submitted and not yet reported. More than run at once, so that one slow item at the
        head does not leave the others waiting; bounded, because what was submitted is paid for if the session stops.
    """

    def __init__(
        self,
        session: pytest.Session,
        executor: TrialExecutor,
        request: Callable[[CaseItem], TrialRequest],
        window: int,
    ) -> None:
        self._session = session
        self._executor = executor
        self._request = request
        self._window = window
        self._places = {item.nodeid: place for place, item in enumerate(session.items)}
        self._futures: dict[str, Future[TrialRecord]] = {}

    def record_of(self, item: CaseItem) -> TrialRecord:
        """Return the result of an item, once it is there; another call for the same item runs it again."""
        self._submit(item)
        for coming in self._coming(item):
            if len(self._futures) >= self._window:
                break
            self._submit(coming)
        return self._futures.pop(item.nodeid).result()

    def _submit(self, item: CaseItem) -> None:
        if item.nodeid not in self._futures:
            self._futures[item.nodeid] = self._executor.submit(self._request(item))

    def _coming(self, item: CaseItem) -> Iterator[CaseItem]:
        for place in self._order(item):
            coming = self._session.items[place]
            if isinstance(coming, CaseItem) and not isinstance(coming.loaded, BenchCaseLoadError):
                held = any(coming.get_closest_marker(name) for name in HELD_BACK)
                if not held and coming.nodeid not in self._futures:
                    yield coming

    def _order(self, item: CaseItem) -> list[int]:
        """Return the places of the items that this process will run after this one, as far as they are known."""
        config = self._session.config
        if not hasattr(config, "workerinput"):
            return list(range(self._places[item.nodeid] + 1, len(self._session.items)))
        return worker_queue(config)


def worker_queue(config: pytest.Config) -> list[int]:
    """
    Return the places of the items that were given to this worker of pytest-xdist.

    There is no public way to ask. Without the two attributes the worker runs one trial at a time, which is slow and
    right. With ``--dist=worksteal`` items may be taken away again, so none counts as given.
    """
    for plugin in config.pluginmanager.get_plugins():
        queue = getattr(plugin, "torun", None)
        if queue is not None and config.getoption("dist", "no") != "worksteal":
            following = getattr(plugin, "nextitem_index", None)
            with queue.lock() as places:
                return [p for p in (following, *places) if isinstance(p, int)]
    return []
