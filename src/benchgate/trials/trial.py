"""One trial of one case: run the system, score its output, and turn whatever happens into a result."""

from __future__ import annotations

import json
import math
import os
import sys
import sysconfig
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from inspect import isawaitable
from pathlib import Path
from traceback import walk_tb
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from benchgate.errors import MAX_MESSAGE, EvalError, RubricViolation, excerpt
from benchgate.models import BenchScore, FailureMode
from benchgate.trials.containment import WorkFolder, process_kept, signals_kept
from benchgate.trials.executor import FailedElsewhere, TrialRecord
from benchgate.trials.observing import Observing, combined, without_usage
from benchgate.trials.pacing import is_unavailable, retry_after
from benchgate.trials.time_limit import TrialTimeout, time_left
from benchgate.trials.trial_http import TrialHttp
from benchgate.wire.plain import output_json

if TYPE_CHECKING:
    from benchgate.loader.observer import ClassObserver
    from benchgate.models import BenchCase, Outcome
    from benchgate.registry import System
    from benchgate.taxonomy import Taxonomy
    from benchgate.trials.executor import TrialRequest
    from benchgate.trials.trial_http import HttpTerms
    from benchgate.wire.secrets import Masker


FOREIGN: Final = tuple(
    f"{path}{os.sep}"
    for path in (
        Path(__file__).parents[1],
        *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    )
)
"""Folders of benchgate, of Python's library and of installed packages."""

Scorer = Callable[["BenchCase", Mapping[str, Any]], object]


Waiter = Callable[[Awaitable[Any], float], Any]
"""Runs what an async system returned on an event loop, for at most some seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRunner:
    """
    Runs trials of one task class with one system. Used by pytest and the command line, so that both record the same.

    :param score: the rubric's ``score``, or a hook in its place.
    :param wait: runs what an async system returns.
    :param alone: one trial at a time runs in this process, so that what the process has once can be kept for it.
    :param work: the folder that is ``work_path``, which is left when the trial is over; by default a fresh one.
    :param http: what is done with the requests of the system's own HTTP clients.
    :param observer: what observes outputs, each observation in an attempt of its own; ``None``: nothing does.
    :param observes: an output, if the system is an observer in a process of its own, and is handed the whole case.
    :param is_timeout: recognises the exception with which the caller's alarm ends a trial.
    :param masker: takes keys out of all that the trial says; ``None``: whoever reads what it says does so.
    """

    task_class: str
    system: System
    score: Scorer
    taxonomy: Taxonomy
    wait: Waiter
    alone: bool = True
    work: Path | None = None
    http: HttpTerms | None = None
    observer: ClassObserver | None = None
    observes: tuple[object, ...] = ()
    is_timeout: Callable[[BaseException], bool] = lambda error: isinstance(error, TrialTimeout)
    masker: Masker | None = None

    def run(self, request: TrialRequest) -> TrialRecord:
        """
        Run one trial. Only KeyboardInterrupt propagates; any other exception becomes a result.

        The caller sets the alarm; a trial that caught it and ran on is still a timeout.
        """
        attempt = _Attempt(self, request)
        started, left = time.perf_counter(), time_left(request.limit)
        try:
            attempt.go()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit or pytest.skip must never make a run green
            attempt.failed(error)
        duration = time.perf_counter() - started
        if duration >= left:
            attempt.timed_out()
        attempt.hung_up()
        return attempt.record(duration)


class _Attempt:
    """The state of a trial in progress."""

    def __init__(self, runner: TrialRunner, request: TrialRequest) -> None:
        self._runner = runner
        self._request = request
        self._case = request.case
        self._outcome: Outcome = "harness_error"
        self._modes: tuple[FailureMode, ...] = ()
        self._score: BenchScore | None = None
        self._output: str | None = None
        self._violation: str | None = None
        self._raised_at: tuple[Path, int] | None = None
        self._left_files = False
        self._code: str | None = None
        self._detail: str | None = None
        self._retry_after: float | None = None
        self._asked: object = runner.system
        self._then = request.then
        self._is_masked = False
        if runner.masker is not None:
            runner.masker.look()
        self._observing = Observing(runner.observer, request.then, self._masked_json)
        number = len(self._observing.texts) + 1 if request.then else 0
        terms = runner.http and replace(runner.http, number=number)
        self._http = TrialHttp(terms, request.case) if terms else None
        self._http_sha256: str | None = None

    def go(self) -> None:
        alone = self._runner.alone
        with (
            WorkFolder(alone=alone, path=self._runner.work) as work,
            process_kept() if alone else nullcontext(),
            signals_kept() if alone else nullcontext(),
        ):
            case = self._case.working_in(work.path)
            then = self._then
            self._output = output = str(then.output_json) if then else self._answer(case, work)
            if case.served is not None:  # another port in every run, and no score may depend on it
                case = case.model_copy(update={"served": None})
            cases = self._observing.cases(case, output, self._called)
            self._asked, self._outcome = None, "rubric_error"
            scores = [self._checked(self._runner.score(one, json.loads(output))) for one in cases]
            self._observing.scored(scores)
            if scores:
                self._score = combined(scores, self._runner.taxonomy).kept()
                self._modes = self._runner.taxonomy.classify(self._score.failure_modes)
            self._outcome = "scored" if scores else "unavailable"

    def _called(self, function: Callable[..., Any], case: BenchCase, *args: Any) -> Any:
        self._asked = function
        case._http = self._http  # noqa: SLF001 - not a field: it is no data
        depth = sys.getrecursionlimit()
        try:
            found = function(case, *args)
            return self._runner.wait(found, self._request.limit) if isawaitable(found) else found
        finally:
            # With a lower one than before nothing that comes next could run.
            if sys.getrecursionlimit() < depth:
                sys.setrecursionlimit(depth)
            if self._runner.masker is not None:
                self._runner.masker.look()  # it may have put a key into the environment

    def _masked(self, text: str) -> str:
        """Return a text without keys, and note whether it had one."""
        if self._runner.masker is None:
            return text
        masked = self._runner.masker.text(text)
        self._is_masked = self._is_masked or masked != text
        return masked

    def _masked_json(self, text: str) -> str:
        """Return a JSON text without keys, and note whether it had one."""
        if self._runner.masker is None:
            return text
        masked = self._runner.masker.json(text)
        self._is_masked = self._is_masked or masked != text
        return masked

    def _answer(self, case: BenchCase, work: WorkFolder) -> str:
        output = self._runner.observes
        handed = case if output else case.model_copy(update={"expected_path": None})
        produced = self._called(self._runner.system, handed, *output)
        self._check_payload(produced)
        self._left_files = work.has_files() and self._runner.observer is None
        # Masked before anything else reads it, so that what is scored is what is recorded.
        return self._masked_json(output_json(without_usage(produced, self._case.usage)))

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
            shown = self._excerpt(score, repr)
            raise self._violated(f"returned {kind} {shown}; expected a BenchScore")
        # Validated once more, from its plain fields: model_construct and object.__setattr__ skip validation.
        checked = BenchScore.model_validate(dict(vars(score)))
        explanation = checked.explanation
        if explanation is not None:
            explanation = self._masked(explanation)
        evidence = {name: self._masked(text) for name, text in checked.evidence.items()}
        if explanation != checked.explanation or evidence != dict(checked.evidence):
            fields = {**vars(checked), "explanation": explanation, "evidence": evidence}
            checked = BenchScore.model_validate(fields)
        return checked.kept()

    def _excerpt(self, value: object, show: Callable[[object], str], limit: int = 120) -> str:
        """Return the beginning of what a foreign object says of itself; masked first, or half a key would be left."""
        try:
            text = show(value)
        except Exception as error:  # repr and str of a foreign object may raise anything
            return f"<{show.__name__}() raised {type(error).__name__}>"
        text = text.encode(errors="backslashreplace").decode()
        return excerpt(self._masked(text), limit)

    def _violated(self, message: str) -> RubricViolation:
        return RubricViolation(self._runner.task_class, self._case.case_id, message)

    def failed(self, error: BaseException) -> None:
        self._score = None
        told: TrialRecord | None = error.args[0] if isinstance(error, FailedElsewhere) else None
        is_late = isinstance(error, TrialTimeout) or self._runner.is_timeout(error)
        if is_late or (told and self._then and told.result.outcome == "timeout"):
            self.timed_out()
            return
        if self._outcome in {"scored", "unavailable"}:  # it ended, but the clean-up failed
            self._outcome, self._observing.goes_on = "harness_error", False
        if told is not None:
            self._take(told)
        else:
            self._raised_at = _raised_at(error)
            if self._outcome == "rubric_error":
                error = self._as_violation(error)
            text = f"{type(error).__name__}: {self._excerpt(error, str, MAX_MESSAGE)}"
            if is_unavailable(self._asked, error):
                self._outcome, self._detail = "unavailable", text
                self._retry_after = retry_after(error)
            else:
                code = self._code or self._outcome
                self._modes = (FailureMode(code=code, detail=text, error=type(error).__name__),)
        observer = self._runner.observer
        if observer is not None and self._asked is observer.call:
            # Whatever it was says nothing of the system. Only what is declared is worth another try at once.
            if self._outcome != "unavailable":
                self._detail = self._detail or "; ".join(str(mode.detail) for mode in self._modes)
                self._retry_after = math.inf
            self._outcome, self._modes = "unavailable", ()
            self._detail = f"observer {observer.identity.name}: {self._detail}"

    def _as_violation(self, error: BaseException) -> BaseException:
        """Turn the error of an invalid BenchScore into a violation, wherever in the rubric it was raised."""
        if isinstance(error, ValidationError) and error.title == "BenchScore":
            fault = error.errors(include_url=False)[0]
            where = ".".join(map(str, fault["loc"]))
            shown = self._excerpt(fault["input"], repr)
            error = self._violated(f"BenchScore.{where}: {fault['msg']}; found {shown}")
        if isinstance(error, RubricViolation):
            self._violation = self._masked(str(error))
        return error

    def hung_up(self) -> None:
        """
        End what the system asked by HTTP; without an answer that counts the trial says nothing about the system.

        That does not depend on what the client or the system made of the error.
        """
        if self._http is None:
            return
        try:
            is_done = self._outcome == "scored" or self._observing.goes_on
            self._http_sha256 = self._http.end(scored=is_done)
        except EvalError as error:
            told = self._request.not_run(str(error))
            self._take(told)
            self._observing.texts = told.observations

    def timed_out(self) -> None:
        self._take(self._request.timed_out())

    def _take(self, told: TrialRecord) -> None:
        """End as a record says that was made of this trial elsewhere."""
        self._score, self._observing.goes_on = None, False
        self._outcome, self._modes = told.result.outcome, told.result.failure_modes
        self._detail, self._violation = told.result.detail, told.violation or self._violation
        self._raised_at, self._retry_after = told.raised_at, told.retry_after

    def _masked_detail(self, text: str | None) -> str | None:
        return text if text is None else self._masked(text)

    def record(self, duration: float) -> TrialRecord:
        seen, http = self._observing, self._http
        # Of a process of its own, too, which knows no variables but those that it is given.
        modes = tuple(
            mode.model_copy(
                update={
                    "detail": self._masked_detail(mode.detail),
                    "error": self._masked_detail(mode.error),
                }
            )
            for mode in self._modes
        )
        detail = self._masked_detail(self._detail)
        now: dict[str, Any] = {
            "outcome": self._outcome,
            "score": self._score,
            "failure_modes": modes,
            "detail": detail,
            "violation": self._violation is not None,
            "masked": self._is_masked,
            "http_cassettes": http.replayed if http else (),
        }
        if self._then is not None:
            now["masked"] = now["masked"] or self._then.result.masked
            result = seen.result(self._then, self._http_sha256, now)
        else:
            now |= {"duration_seconds": duration, "left_files": self._left_files}
            result = self._request.result(**now, http_sha256=self._http_sha256, observed=seen.seen)
        return TrialRecord(
            result=result,
            output_json=self._output,
            violation=self._violation,
            raised_at=self._raised_at,
            retry_after=self._retry_after,
            observations=seen.texts,
            goes_on=seen.goes_on,
        )


def _raised_at(error: BaseException) -> tuple[Path, int] | None:
    """Return file and line of the innermost frame that is neither benchgate's nor a library's, if there is one."""
    place = None
    for frame, line in walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        if os.path.isabs(file) and not file.startswith(FOREIGN):  # "<string>" is no file
            place = Path(file), line
    return place
