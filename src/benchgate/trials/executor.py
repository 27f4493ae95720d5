"""The one interface of all ways to run a trial: in this thread, in many, and later in other processes or machines."""

from __future__ import annotations

import math
import os
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol

from benchgate.ids import TrialKey, trial_seed
from benchgate.models import FailureMode, TrialResult

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.models import BenchCase, HandedCheckpoint, Outcome, Side, WhyNotRun


class Stage(NamedTuple):
    """
    A stage of a trial: its system answers, its output is observed, perhaps several times, and scored.

    :param number: of the observation, from 1.
    """

    kind: Literal["answer", "observe", "score"]
    number: int = 0


ANSWER: Final = Stage("answer")
SCORE: Final = Stage("score")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRequest:
    """
    A trial to run. It can be pickled: whoever runs it elsewhere finds system and rubric by their names.

    :param case: with its trial, its seed and what the system is handed; with ``expected_path``, which the system is
        not to see.
    :param system: a registered name or ``module:attr``.
    :param limit: in seconds, from the start of the trial, not from its submission.
    :param starts: a file in which whoever starts the trial notes that by a byte, if it is there.
    :param side: ``baseline`` for the system that the candidate is compared with, where both run in one session.
    :param observations: how often its output is to be observed before it is scored.
    :param is_again: it has a result already, and is run once more all the same.
    :param then: what is done of it: the system has answered, and may be observed; ``None``: nothing is.
    """

    case: BenchCase
    system: str
    limit: float
    side: Side = "candidate"
    starts: str | None = None
    observations: int = 0
    is_again: bool = False
    then: TrialRecord | None = field(default=None, compare=False)

    @property
    def stage(self) -> Stage:
        """What is done next."""
        if self.then is None:
            return ANSWER
        done = len(self.then.observations)
        return Stage("observe", done + 1) if done < self.observations else SCORE

    def after(self, record: TrialRecord) -> TrialRequest:
        """Return what is left to run when this is done of the trial."""
        return replace(self, then=record)

    @property
    def key(self) -> TrialKey:
        """What its result is filed under."""
        case = self.case
        return TrialKey(case.task_class, case.case_id, case.trial, case.seed, self.side)

    @classmethod
    def of(
        cls,
        case: BenchCase,
        trial: int,
        *,
        bench_seed: int,
        checkpoint: HandedCheckpoint | None = None,
        served: str | None = None,
        **fields: Any,
    ) -> TrialRequest:
        """Return the request for a trial of a case as it was read; ``fields`` are its other ones."""
        seed = trial_seed(case.task_class, case.case_id, trial, bench_seed)
        own = case.for_trial(trial=trial, seed=seed, checkpoint=checkpoint, served=served)
        return cls(case=own, **fields)

    def result(self, outcome: Outcome, **fields: Any) -> TrialResult:
        """Return a result of the trial, with what it has used so far."""
        return TrialResult(
            case_id=self.case.case_id,
            trial=self.case.trial,
            seed=self.case.seed,
            held_out=self.case.held_out,
            outcome=outcome,
            usage=self.case.usage.total(),
            **fields,
        ).kept()

    def not_run(
        self,
        detail: str,
        retries: int = 0,
        *,
        why: WhyNotRun | None = None,
        cap_usd: float | None = None,
    ) -> TrialRecord:
        """Return what is recorded if nobody runs it; of one that had begun, what its system has answered is kept."""
        # A cap or a stop is told as what it is. No file is written for it, so the one with the answer stays.
        if self.then is not None and why not in {"capped", "stopped"}:
            return self._put_off(self.then, detail)
        told = {"detail": detail, "why": why, "cap_usd": cap_usd}
        result = self.result("not_run", retries=retries, **told)
        return TrialRecord(result=result, output_json=None)

    def timed_out(self) -> TrialRecord:
        """Return what is recorded if it was given up at its time limit; that of an observer is not its system's."""
        if self.then is not None:
            return self._put_off(self.then, f"neither observed nor scored within {self.limit:g} s")
        mode = FailureMode(code="timeout", detail=f"timed out after {self.limit:g} s")
        result = self.result("timeout", failure_modes=(mode,), duration_seconds=self.limit)
        return TrialRecord(result=result, output_json=None)

    def _put_off(self, then: TrialRecord, why: str) -> TrialRecord:
        """Return the record of a trial whose output is kept, to be observed or scored by another run."""
        new = {"outcome": "unavailable", "detail": why, "violation": False}
        result = then.result.model_copy(update=new | {"score": None, "failure_modes": ()})
        # For ever, so that this run does not try it again.
        return replace(then, result=result, retry_after=math.inf)

    def answered(self, record: TrialRecord) -> TrialRecord:
        """Return the record of an executor; a result that is invalid or of another trial is refused: not run."""
        asked = self.case
        try:  # whoever made it may have skipped validation
            result = TrialResult.model_validate(record.result.model_dump(warnings=False))
        except Exception as error:
            return self.not_run(f"refused: the executor answered with no valid result: {error}")
        if (result.case_id, result.trial, result.seed) == (asked.case_id, asked.trial, asked.seed):
            # Each start after the first is a retry, also of an engine that does not tell.
            retries = max(result.retries, self._starts_seen() - 1)
            return replace(record, result=result.model_copy(update={"retries": retries}))
        return self.not_run(
            f"refused: the executor answered with trial {result.trial} of case {result.case_id!r}, seed {result.seed}; "
            f"expected trial {asked.trial} of case {asked.case_id!r}, seed {asked.seed}"
        )

    def _starts_seen(self) -> int:
        if self.starts is None or not os.path.exists(self.starts):
            return 0
        return os.path.getsize(self.starts)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRecord:
    """
    The result of a trial, and what of the trial is not in the report.

    :param output_json: what the system returned, as JSON text; ``None`` if it returned nothing usable.
    :param violation: how the rubric broke its contract; its class must not be scored any further.
    :param raised_at: file and line of the user's code that raised; not recorded, since it has paths of this machine.
    :param retry_after: seconds that a service asked to wait.
    :param printed: what the trial printed, if that was kept apart from what others printed.
    :param scorer: digest of what scored it.
    :param file_sha256: SHA-256 of its file, if that is written already.
    :param worker: address of the worker that ran it, if this is not a process of the session.
    :param observations: of the output, each as JSON text.
    :param before: what it came to when it was recorded, if the same output is scored by the same code again.
    """

    result: TrialResult
    output_json: str | None
    violation: str | None = None
    raised_at: tuple[Path, int] | None = None
    retry_after: float | None = None
    printed: str = ""
    scorer: str | None = None
    file_sha256: str | None = None
    worker: str | None = None
    observations: tuple[str, ...] = ()
    before: TrialResult | None = None

    @property
    def awaits_score(self) -> bool:
        """Whether a system answered, and its output is not scored yet."""
        return self.result.outcome == "unavailable" and self.output_json is not None


def ended(record: TrialRecord) -> Future[TrialRecord]:
    """Return the future of a trial that is finished already."""
    future: Future[TrialRecord] = Future()
    future.set_result(record)
    return future


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
