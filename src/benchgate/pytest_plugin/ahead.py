"""Runs the trials of coming items ahead of their turn; pytest still reports item by item, in its own order."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol, cast

from benchgate.errors import Unreadable
from benchgate.models import BenchCase
from benchgate.pytest_plugin.layout import is_case_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from concurrent.futures import Future
    from pathlib import Path

    import pytest

    from benchgate.models import Side
    from benchgate.trials.executor import TrialRecord
    from benchgate.wire.usage import Usage


HELD_BACK = ("skip", "skipif", "xfail")
"""Markers by which an item may not run at all; it is submitted in its own turn only."""


class CaseRun(Protocol):
    """What running a trial needs of its item, :class:`~.nodes.CaseItem`."""

    path: Path
    session: pytest.Session
    trial: int
    side: Side

    @property
    def nodeid(self) -> str:
        """The item's id."""

    @property
    def case(self) -> BenchCase:
        """The case."""

    @property
    def attempts(self) -> int:
        """How often it was set up: more than once if a plugin runs it again."""

    @property
    def used(self) -> Usage | None:
        """What earlier attempts have used."""

    def scored_by(self) -> str:
        """Return the digest of what scores it."""

    def score(self, case: BenchCase, harness_output: Mapping[str, Any]) -> object:
        """Score an output."""


class Ahead:
    """
    Keeps a bounded number of coming items submitted.

    :param submit: submits an item; returns ``None`` for one that runs in its own turn, beside no other.
    :param give_up: cancels what was submitted, of which nobody is to know.
    :param finished: whether the trial of an item has a result already.
    :param has_room: whether a cap on costs lets an item start now.
    :param window: items that were submitted and not yet reported. More than run at once, so that one slow item at the
        head does not leave the others waiting; bounded, because what was submitted is paid for if the session stops.
    """

    def __init__(
        self,
        session: pytest.Session,
        *,
        submit: Callable[[CaseRun], Future[TrialRecord] | None],
        give_up: Callable[[Future[TrialRecord]], None],
        finished: Callable[[CaseRun], bool],
        has_room: Callable[[CaseRun], bool],
        window: int,
    ) -> None:
        self._session = session
        self._submit = submit
        self._give_up = give_up
        self._finished = finished
        self._has_room = has_room
        self._window = window
        self._places = {item.nodeid: place for place, item in enumerate(session.items)}
        self._futures: dict[str, Future[TrialRecord]] = {}

    def __contains__(self, item: CaseRun) -> bool:
        return item.nodeid in self._futures

    def record_of(self, item: CaseRun) -> TrialRecord:
        """Return the result of an item, once it is there; another call for the same item runs it again."""
        self._start(item)
        # Of a checkpoint: the item that it concerns says so in its own turn.
        with suppress(Unreadable):
            for coming in self._coming(item):
                if len(self._futures) >= self._window or not self._has_room(coming):
                    break
                if not self._start(coming):
                    break
        return self._futures.pop(item.nodeid).result()

    def drop(self, nodeid: str) -> None:
        """Forget an item that is over and never asked for its result, as one that was skipped when it was set up."""
        future = self._futures.pop(nodeid, None)
        if future is not None:
            self._give_up(future)

    def _start(self, item: CaseRun) -> bool:
        future = self._futures.get(item.nodeid) or self._submit(item)
        if future is not None:
            self._futures[item.nodeid] = future
        return future is not None

    def _coming(self, item: CaseRun) -> Iterator[CaseRun]:
        for place in self._order(item):
            coming = self._session.items[place]
            readable = isinstance(getattr(coming, "loaded", None), BenchCase)
            if not (is_case_file(coming.path) and readable) or coming.nodeid in self._futures:
                continue
            run = cast("CaseRun", coming)
            held = any(coming.get_closest_marker(name) for name in HELD_BACK)
            if not held and not self._finished(run):
                yield run

    def _order(self, item: CaseRun) -> list[int]:
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
