"""Gives the trials of items to the service that runs them: each in its turn, or many ahead of it."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import pytest

from benchgate.errors import EvalError
from benchgate.pytest_plugin.ahead import Ahead
from benchgate.runner.service import TrialService
from benchgate.trials.time_limit import Backstop
from benchgate.wire.usage import total

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchgate.pytest_plugin.ahead import CaseRun
    from benchgate.runner.settings import RunRequest
    from benchgate.trials.calls import Scorer
    from benchgate.trials.executor import TrialRecord, TrialRequest


TRACEBACK: Final = "benchgate-traceback"
"""Tells a worker into which file the backstop of its time limit writes its traceback."""


class ItemTrials:
    """
    The trials of one process of a session, a worker's or the only one.

    :param requests: the run of each class, once its systems are known.
    """

    def __init__(self, config: pytest.Config, requests: Mapping[str, RunRequest]) -> None:
        self._config = config
        self._requests = requests
        self._worker: Mapping[str, Any] | None = getattr(config, "workerinput", None)
        self._first: dict[str, CaseRun] = {}
        self._ahead: Ahead | None = None
        self._exit = ExitStack()
        number = 0
        count = 1
        if self._worker is not None:
            number = int(self._worker["workerid"].removeprefix("gw"))
            count = int(self._worker["workercount"])
        scored = {
            name: replace(request, scoring=partial(self._scoring, name))
            for name, request in requests.items()
        }
        self.service = TrialService(
            scored,
            backstop=self._backstop(),
            is_timeout=_is_timeout,
            workers=count,
            is_replacement=number >= count,
        )
        self._exit.callback(self.service.close)

    def open(self) -> None:
        """
        Find who runs the trials.

        :raises pytest.UsageError: a system cannot run beside itself, or the cluster cannot be used.
        """
        config = self._config
        requests = self._requests.values()
        address = next((request.settings.executor for request in requests), None)
        connects = address is not None and not config.option.collectonly
        is_xdist = config.getoption("dist", "no") != "no"
        # In a worker of xdist --dist is "no", and its controller runs no item.
        runs_items = self._worker is not None or not is_xdist
        if is_xdist or self._worker is not None:
            self._refuse_beside_xdist(address if connects else None)
        own = None
        is_replay = any(request.recording for request in requests)
        if runs_items and not connects and not is_replay:
            # A replay calls no system, and an engine may be expensive to reach.
            own = config.hook.pytest_bench_executor(config=config)
        try:
            self.service.open(own, connects=runs_items and not config.option.collectonly)
        except EvalError as error:
            prefix = "--bench-executor: " if connects else "--bench-"
            raise pytest.UsageError(f"{prefix}{error}") from error

    def _refuse_beside_xdist(self, address: str | None) -> None:
        """Refuse what works in one process only; ``address`` is that of a cluster which is to be reached."""
        if any(request.settings.stop == "decided" for request in self._requests.values()):
            raise pytest.UsageError("--bench-stop=decided: for runs in one process, without -n")
        if address is not None:
            msg = f"--bench-executor={address}: its workers take the place of those of pytest-xdist; run it without -n"
            raise pytest.UsageError(msg)

    def check_scorers(self, items: Iterable[pytest.Item]) -> None:
        """
        Refuse what scores in the place of a rubric, which workers do not have, of a cluster or of a class here.

        :raises pytest.UsageError: names it.
        """
        for item in cast("Iterable[CaseRun]", items):
            request = self._requests.get(getattr(item, "task_class", ""))
            if request is None or item.scored_by() == request.bench.rubric_digest:
                continue
            option = None
            if request.settings.executor is not None:
                option = "executor"
            elif request.settings.isolation != "none":
                option = "isolation"
            if option is not None:
                msg = f"--bench-{option}: {item.nodeid} is scored by a hook, and workers have the rubric alone"
                raise pytest.UsageError(msg)

    def record_of(self, item: CaseRun) -> TrialRecord:
        """Run the trial of an item, or wait for it; what it printed is printed now."""
        if self.service.in_turn(item.case.task_class):
            record = self.service.submit(self._request(item), again=item.attempts > 1).result()
        else:
            if self._ahead is None:
                self._ahead = Ahead(item.session, self.service, self._request)
            record = self._ahead.record_of(item)
            sys.stdout.write(record.printed)  # where pytest captures it for this item
        if item.attempts == 1:
            return record
        usage = total((item.used, record.result.usage))  # a plugin runs the item again
        again = {"reruns": item.attempts - 1, "usage": usage}
        record = replace(record, result=record.result.model_copy(update=again))
        return self.service.keep(record, self._request(item))

    def over(self, nodeid: str) -> None:
        """Forget an item that is over."""
        if self._ahead is not None:
            self._ahead.drop(nodeid)

    def close(self) -> None:
        """End what still runs."""
        self._exit.close()

    def _request(self, item: CaseRun) -> TrialRequest:
        self._first.setdefault(item.case.task_class, item)
        return self.service.request(item.case, item.trial, item.side)

    def _scoring(self, name: str) -> tuple[Scorer, str]:
        return self._first[name].score, self._first[name].scored_by()

    def _backstop(self) -> Backstop | None:
        """Return ``None`` if the user has set pytest's own timer; Python has one alone."""
        if timer_is_taken(self._config):
            return None
        descriptor = _traceback_file((self._worker or {}).get(TRACEBACK))
        self._exit.callback(os.close, descriptor)
        # A worker of xdist may wait for its next item.
        return Backstop(descriptor, keep=self._worker is None)


def timer_is_taken(config: pytest.Config) -> bool:
    """Whether pytest sets the one timer of faulthandler."""
    plugin = config.pluginmanager.has_plugin("faulthandler")
    return plugin and float(config.getini("faulthandler_timeout") or 0) > 0


def _traceback_file(path: str | None) -> int:
    """Return the descriptor to which a backstop writes why it ended the process."""
    with suppress(OSError):  # of a worker on another machine
        if path is not None:
            return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    return os.dup(2)  # while a trial runs, pytest captures what is written to 2


def _is_timeout(error: BaseException) -> bool:
    # pytest-timeout raises what pytest.fail raises; its text is all that tells it apart.
    return isinstance(error, pytest.fail.Exception) and str(error).endswith("from pytest-timeout.")
