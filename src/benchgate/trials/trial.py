"""One trial of one case: run the system, score its output, and turn whatever happens into a result."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from benchgate.errors import MAX_MESSAGE, RubricViolation, excerpt
from benchgate.ids import trial_seed
from benchgate.models import BenchScore, FailureMode, TrialResult
from benchgate.trials.containment import process_kept, signals_kept, work_folder
from benchgate.trials.origin import raised_at
from benchgate.trials.time_limit import TrialTimeout, time_left
from benchgate.wire.plain import output_json

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.models import BenchCase, HandedCheckpoint, Outcome
    from benchgate.registry import System
    from benchgate.taxonomy import Taxonomy


Scorer = Callable[["BenchCase", Mapping[str, Any]], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRecord:
    """
    The result of a trial, and what of the trial is not in the report.

    :param output_json: what the system returned, as JSON text; ``None`` if it returned nothing usable.
    :param violation: how the rubric broke its contract; its class must not be scored any further.
    :param raised_at: file and line of the user's code that raised; not recorded, since it has paths of this machine.
    """

    result: TrialResult
    output_json: str | None
    violation: str | None = None
    raised_at: tuple[Path, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRunner:
    """
    Runs trials of one task class with one system. Used by pytest and the command line, so that both record the same.

    :param score: the rubric's ``score``, or a hook in its place.
    :param is_timeout: recognises the exception with which the caller's alarm ends a trial.
    """

    task_class: str
    system: System
    score: Scorer
    taxonomy: Taxonomy
    bench_seed: int
    is_timeout: Callable[[BaseException], bool] = lambda error: isinstance(error, TrialTimeout)

    def run(
        self,
        case: BenchCase,
        trial: int,
        *,
        limit: float,
        checkpoint: HandedCheckpoint | None = None,
    ) -> TrialRecord:
        """
        Run one trial. Only KeyboardInterrupt propagates; any other exception becomes a result.

        :param limit: in seconds. The caller sets the alarm; a trial that caught it and ran on is still a timeout.
        """
        case = case.model_copy(
            update={
                "trial": trial,
                "seed": trial_seed(self.task_class, case.case_id, trial, self.bench_seed),
                "checkpoint": checkpoint,
            }
        )
        attempt = _Attempt(self, case)
        started, left = time.perf_counter(), time_left(limit)
        try:
            attempt.go()
        except KeyboardInterrupt:
            raise
        except (
            BaseException
        ) as error:  # SystemExit, pytest.skip and the like must never make a run green
            attempt.failed(error, limit)
        duration = time.perf_counter() - started
        if duration >= left:
            attempt.timed_out(limit)
        return attempt.record(duration)


class _Attempt:
    """The state of a trial in progress."""

    def __init__(self, runner: TrialRunner, case: BenchCase) -> None:
        self._runner = runner
        self._case = case
        self._outcome: Outcome = "harness_error"
        self._modes: tuple[FailureMode, ...] = ()
        self._score: BenchScore | None = None
        self._output: str | None = None
        self._violation: str | None = None
        self._raised_at: tuple[Path, int] | None = None
        self._code: str | None = None

    def go(self) -> None:
        with work_folder() as work, process_kept(), signals_kept():
            case = self._case.model_copy(update={"work_path": work})
            produced = self._runner.system(case.model_copy(update={"expected_path": None}))
            self._check_payload(produced)
            self._output = output_json(produced)
            self._outcome = "rubric_error"
            score = self._runner.score(case, json.loads(self._output))
            self._score = self._checked(score)
            self._outcome = "scored"
        self._modes = self._runner.taxonomy.classify(self._score.failure_modes)

    def _check_payload(self, produced: object) -> None:
        """Refuse an invalid RL payload before it is serialised and scored."""
        if isinstance(produced, Mapping) and "rl_payload" in produced:
            from benchgate.training_types import RlPayloadError, validate_rl_payload

            try:
                validate_rl_payload(produced["rl_payload"])
            except RlPayloadError:
                self._code = "invalid_rl_payload"
                raise

    def _checked(self, score: object) -> BenchScore:
        if type(score) is not BenchScore:
            kind = f"{type(score).__module__}.{type(score).__qualname__}"
            raise self._violated(f"returned {kind} {_excerpt(score, repr)}; expected a BenchScore")
        # Validated once more, from its plain fields: model_construct and object.__setattr__ skip validation.
        return BenchScore.model_validate(dict(vars(score)))

    def _violated(self, message: str) -> RubricViolation:
        return RubricViolation(self._runner.task_class, self._case.case_id, message)

    def failed(self, error: BaseException, limit: float) -> None:
        self._score = None
        if self._runner.is_timeout(error):
            self.timed_out(limit)
            return
        if self._outcome == "scored":  # scored, but the clean-up failed
            self._outcome = "harness_error"
        self._raised_at = raised_at(error)
        if self._outcome == "rubric_error":
            error = self._as_violation(error)
        text = f"{type(error).__name__}: {_excerpt(error, str, MAX_MESSAGE)}"
        self._modes = (FailureMode(code=self._code or self._outcome, detail=text),)

    def _as_violation(self, error: BaseException) -> BaseException:
        """Turn the error of an invalid BenchScore into a violation, wherever in the rubric it was raised."""
        if isinstance(error, ValidationError) and error.title == "BenchScore":
            fault = error.errors(include_url=False)[0]
            where = ".".join(map(str, fault["loc"]))
            found = _excerpt(fault["input"], repr)
            error = self._violated(f"BenchScore.{where}: {fault['msg']}; found {found}")
        if isinstance(error, RubricViolation):
            self._violation = str(error)
        return error

    def timed_out(self, limit: float) -> None:
        self._score = None
        self._outcome = "timeout"
        self._modes = (FailureMode(code="timeout", detail=f"timed out after {limit:g} s"),)

    def record(self, duration: float) -> TrialRecord:
        result = TrialResult(
            case_id=self._case.case_id,
            trial=self._case.trial,
            seed=self._case.seed,
            held_out=self._case.held_out,
            outcome=self._outcome,
            score=self._score,
            failure_modes=self._modes,
            duration_seconds=duration,
        )
        return TrialRecord(
            result=result,
            output_json=self._output,
            violation=self._violation,
            raised_at=self._raised_at,
        )


def _excerpt(value: object, show: Callable[[object], str], limit: int = 120) -> str:
    try:
        text = show(value)
    except Exception as error:  # repr and str of a foreign object may raise anything
        return f"<{show.__name__}() raised {type(error).__name__}>"
    return excerpt(text.encode(errors="backslashreplace").decode(), limit)
