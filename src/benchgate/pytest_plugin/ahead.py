"""Runs the trials of coming items ahead of their turn; pytest still reports item by item, in its own order."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol, cast

from benchgate.errors import Unreadable
from benchgate.models import BenchCase
from benchgate.pytest_plugin.layout import is_case_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from concurrent.futures import Future
    from pathlib import Path

    import pytest

    from benchgate.models import Side
    from benchgate.runner.service import TrialService
    from benchgate.trials.executor import TrialRecord, TrialRequest
    from benchgate.wire.usage import Usage


HELD_BACK = ("skip", "skipif", "xfail")
"""Markers by which an item may not run at all; it is submitted in its own turn only."""


class CaseRun(Protocol):
    """What running a trial needs of its item, :class:`~.nodes.CaseItem`."""

    path: Path
    session: pytest.Session
    trial: int
    side: Side
    attempts: int
    used: Usage | None

    @property
    def nodeid(self) -> str:
        """The item's id."""

    @property
    def case(self) -> BenchCase:
        """The case."""

    def scored_by(self) -> str:
        """Return the digest of what scores it."""

    def score(self, case: BenchCase, harness_output: Mapping[str, Any]) -> object:
        """Score an output."""


class Ahead:
    """
    Keeps a bounded number of coming items submitted.

    :param request: returns what runs the trial of an item.
    """

    def __init__(
        self,
        session: pytest.Session,
        service: TrialService,
        request: Callable[[CaseRun], TrialRequest],
    ) -> None:
        self._session = session
        self._service = service
        self._request = request
        self._places = {item.nodeid: place for place, item in enumerate(session.items)}
        self._futures: dict[str, Future[TrialRecord]] = {}

    def record_of(self, item: CaseRun) -> TrialRecord:
        """Return the result of an item, once it is there; another call for the same item runs it again."""
        self._start(item)
        # Of a checkpoint: the item that it concerns says so in its own turn.
        with suppress(Unreadable):
            for coming in self._coming(item):
                name = coming.case.task_class
                is_full = len(self._futures) >= self._service.window
                if is_full or self._service.in_turn(name) or not self._service.has_room(name):
                    break
                self._start(coming)
        return self._futures.pop(item.nodeid).result()

    def drop(self, nodeid: str) -> None:
        """Forget an item that is over and never asked for its result, as one that was skipped when it was set up."""
        future = self._futures.pop(nodeid, None)
        if future is not None:
            self._service.drop(future)

    def _start(self, item: CaseRun) -> None:
        if item.nodeid not in self._futures:
            again = item.attempts > 1  # a plugin runs it again
            self._futures[item.nodeid] = self._service.submit(self._request(item), again=again)

    def _coming(self, item: CaseRun) -> Iterator[CaseRun]:
        for place in self._order(item):
            coming = self._session.items[place]
            # First, for most of the next hundreds are submitted already.
            if coming.nodeid in self._futures or not is_case_file(coming.path):
                continue
            if not isinstance(getattr(coming, "loaded", None), BenchCase):
                continue
            if not any(coming.get_closest_marker(name) for name in HELD_BACK):
                yield cast("CaseRun", coming)

    def _order(self, item: CaseRun) -> Sequence[int]:
        """Return the places of the items that this process will run after this one, as far as they are known."""
        config = self._session.config
        if not hasattr(config, "workerinput"):
            return range(self._places[item.nodeid] + 1, len(self._session.items))
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
