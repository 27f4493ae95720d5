"""The one interface of all ways to run a trial: in this thread, in many, and later in other processes or machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from concurrent.futures import Future

    from benchgate.models import BenchCase
    from benchgate.trials.trial import TrialRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRequest:
    """
    A trial to run. It can be pickled: whoever runs it elsewhere finds system and rubric by their names.

    :param case: the case as the system gets it, but whole: with its trial, its seed and ``expected_path``.
    :param system: a registered name or ``module:attr``.
    :param limit: in seconds, from the start of the trial, not from its submission.
    """

    case: BenchCase
    system: str
    limit: float


class TrialExecutor(Protocol):
    """
    Runs trials; :class:`~benchgate.live.executor.LiveExecutor` does so in threads of this process.

    A future has a result whatever the system did. It has an exception only for what must end the session, such as
    KeyboardInterrupt.
    """

    def submit(self, request: TrialRequest) -> Future[TrialRecord]:
        """Run a trial once there is room for it."""

    def close(self) -> None:
        """End what runs and drop what waits; nothing is submitted afterwards."""
