"""One trial of one case: a system answers, its output is observed and scored, and what happens is a result."""

from __future__ import annotations

import json
import math
import time
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from benchgate.ids import run_id
from benchgate.models import BenchScore, Observed
from benchgate.trials.calls import Told
from benchgate.trials.containment import WorkFolder, process_kept, signals_kept
from benchgate.trials.executor import ANSWER, SCORE, TrialRecord
from benchgate.trials.inputs import MODIFIED
from benchgate.trials.observing import FINGERPRINT, combined
from benchgate.trials.time_limit import time_left
from benchgate.trials.trial_http import TrialHttp
from benchgate.wire.canonical import sha256_hex
from benchgate.wire.frozen import freeze_json
from benchgate.wire.secrets import Masked
from benchgate.wire.usage import total

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchgate.models import BenchCase, FailureMode, Observer, Outcome, TrialResult
    from benchgate.taxonomy import Taxonomy
    from benchgate.trials.calls import Calls
    from benchgate.trials.executor import TrialRequest
    from benchgate.trials.trial_http import HttpTerms
    from benchgate.wire.secrets import Masker


def contained(
    ask: Callable[[WorkFolder], Told],
    limit: float,
    failed: Callable[[BaseException, Outcome], Told],
    *,
    alone: bool = True,
    work: Path | None = None,
) -> tuple[Told, float]:
    """
    Make calls that share a work folder and leave no trace in this process.

    The caller sets the alarm; calls that caught it and ran on are still over their limit. Only KeyboardInterrupt
    propagates.

    :param failed: see :class:`~benchgate.trials.calls.Calls`.
    :param alone: one trial at a time runs in this process, so that what the process has once can be kept for it.
    :param work: the folder that is ``work_path``, which is left when they are over; by default a fresh one.
    :returns: what came of them, and how many seconds they took.
    """
    started = time.perf_counter()
    left = time_left(limit)
    try:
        with (
            WorkFolder(alone=alone, path=work) as folder,
            process_kept() if alone else nullcontext(),
            signals_kept() if alone else nullcontext(),
        ):
            told = ask(folder)
    except BaseException as error:  # the alarm rang between two calls, or the clean-up failed
        told = failed(error, "harness_error")
    duration = time.perf_counter() - started
    if duration >= left:
        told = Told(failed="timeout")
    return told, duration


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRunner:
    """
    Runs trials of one task class with one system. Used by pytest and the command line, so that both record the same.

    :param calls: the system, the observer and the rubric.
    :param alone: see :func:`contained`.
    :param http: what is done with the requests of the system's own HTTP clients.
    :param observer: what observes outputs, as a record says it; ``None``: nothing does.
    :param masker: takes keys out of all that the trial says; ``None``: whoever reads what it says does so.
    """

    task_class: str
    calls: Calls
    taxonomy: Taxonomy
    alone: bool = True
    http: HttpTerms | None = None
    observer: Observer | None = None
    masker: Masker | None = None

    def run(self, request: TrialRequest) -> TrialRecord:
        """
        Run the next stage of a trial, and score its output if nothing else is to be asked before that.

        Only KeyboardInterrupt propagates; any other exception becomes a result.
        """
        http = None
        if self.http is not None and request.stage != SCORE:
            terms = self.http
            if request.stage != ANSWER:
                terms = replace(terms, number=request.stage.number)
            http = TrialHttp(terms, request.case)
        stage = _Stage(self, request, http)
        told, duration = contained(stage.go, request.limit, self.calls.failed, alone=self.alone)
        if http is not None:
            told = http.ended(told)
        return stage.record(told, duration)


class _Stage:
    """The state of a stage in progress."""

    def __init__(self, runner: TrialRunner, request: TrialRequest, http: TrialHttp | None) -> None:
        self._runner = runner
        self._request = request
        self._http = http
        self._masked = Masked(runner.masker)
        if runner.masker is not None:
            runner.masker.look()
        self._output: str | None = None
        self._texts: tuple[str, ...] = ()
        self._seen: Observed | None = None
        self._left_files = False
        if request.then is not None:
            self._output = request.then.output_json
            self._texts = request.then.observations
            self._seen = request.then.result.observed

    def go(self, work: WorkFolder) -> Told:
        """Ask the system or the observer, and then the rubric, unless there is more to ask before."""
        case = self._request.case.working_in(work.path)
        then = self._request.then
        wanted = self._request.observations
        told = Told()
        if then is None:
            told = self._answer(case, work)
        if case.served is not None:  # another port in every run, and no score may depend on it
            case = case.model_copy(update={"served": None})
        if then is not None and len(self._texts) < wanted:
            told = self._observe(case)
        if told.failed or len(self._texts) < wanted:
            return told
        return self._score(case)

    def _answer(self, case: BenchCase, work: WorkFolder) -> Told:
        handed = case.model_copy(update={"expected_path": None})
        told = self._asked(self._runner.calls.answer, handed)
        if told.text is None:
            return told
        self._left_files = work.has_files() and self._runner.observer is None
        # Masked before anything else reads it, so that what is scored is what is recorded.
        self._output = self._masked.json(told.text)
        if self._runner.observer is not None:
            self._seen = Observed(output=sha256_hex(self._output.encode()))
        return told

    def _observe(self, case: BenchCase) -> Told:
        own = case.for_trial()
        seen = self._seen or Observed(output=sha256_hex(str(self._output).encode()))
        try:
            told = self._asked(self._runner.calls.observe, own, str(self._output))
        finally:
            used = total((seen.usage, own.usage.total()))
            self._seen = seen.model_copy(update={"usage": used})
        if told.text is None:
            return self._of_observer(told)
        self._texts = (*self._texts, self._masked.json(told.text))
        return told

    def _asked(self, call: Callable[..., Told], case: BenchCase, *output: str) -> Told:
        case._http = self._http  # noqa: SLF001 - not a field: it is no data
        return call(case, *output, self._request.limit)

    def _of_observer(self, told: Told) -> Told:
        """Return the failure of an observer, which says nothing of the system."""
        observer = self._runner.observer
        if told.failed == "timeout" or observer is None:
            return told
        detail = told.detail
        waits = told.retry_after
        if told.failed != "unavailable":  # only what is declared is worth another try at once
            detail = detail or "; ".join(str(mode.detail) for mode in told.modes)
            waits = math.inf
        detail = f"observer {observer.name}: {detail}"
        return replace(told, failed="unavailable", modes=(), detail=detail, retry_after=waits)

    def _score(self, case: BenchCase) -> Told:
        cases = [case]
        if self._runner.observer is not None:
            seen = (freeze_json(json.loads(text)) for text in self._texts)
            cases = [case.model_copy(update={"observation": one}) for one in seen]
        scores = []
        for one in cases:
            told = self._runner.calls.score(one, str(self._output), self._request.limit)
            if told.failed == "not_run":
                # The output is there, and whoever resumes the run scores it.
                return replace(told, failed="unavailable", retry_after=math.inf)
            if told.score is None:
                return told
            scores.append(self._without_keys(told.score))
        if self._seen is not None and len(scores) > 1:
            verdicts = tuple((one.passed, one.score) for one in scores)
            self._seen = self._seen.model_copy(update={"verdicts": verdicts})
        taxonomy = self._runner.taxonomy
        score = combined(scores, taxonomy).kept()
        return Told(score=score, modes=taxonomy.classify(score.failure_modes))

    def _without_keys(self, score: BenchScore) -> BenchScore:
        explanation = score.explanation
        if explanation is not None:
            explanation = self._masked.text(explanation)
        evidence = {name: self._masked.text(text) for name, text in score.evidence.items()}
        if explanation == score.explanation and evidence == dict(score.evidence):
            return score
        return BenchScore(**{**vars(score), "explanation": explanation, "evidence": evidence})

    def record(self, told: Told, duration: float) -> TrialRecord:
        """Return what is known of the trial now."""
        then = self._request.then
        # An observation does not count if it came too late, or if its HTTP could not be recorded.
        is_lost = len(self._texts) < self._request.observations or told.failed == "not_run"
        if then is not None and told.failed and is_lost:
            self._texts = then.observations
        told = self._of_trial(told)
        new: dict[str, Any] = {
            "outcome": told.failed or "scored",
            "score": told.score,
            # Of a process of its own, too, which knows no variables but those that it is given.
            "failure_modes": tuple(map(self._mode_without_keys, told.modes)),
            "detail": self._text_without_keys(told.detail),
            "violation": told.violation is not None,
            "http_cassettes": told.recordings,
        }
        new["masked"] = self._masked.has_any or told.masked
        if then is None:
            new |= {"duration_seconds": duration, "left_files": self._left_files}
            new |= {"http_sha256": told.http, "observed": self._seen}
            result = self._request.result(**new)
        else:
            result = self._added(then, new, told.http)
        return TrialRecord(
            result=result,
            output_json=self._output,
            violation=told.violation,
            raised_at=told.raised_at,
            retry_after=told.retry_after,
            observations=self._texts,
        )

    def _of_trial(self, told: Told) -> Told:
        """Return what came of the trial so far, by what came of its last call."""
        request = self._request
        if told.score is not None:
            return told
        if told.failed is None:
            seen = f"observed {len(self._texts)} of {request.observations} times"
            return replace(told, failed="unavailable", detail=seen)
        if told.failed not in {"timeout", "not_run"}:
            return told
        ended = request.timed_out()
        if told.failed == "not_run":
            ended = request.not_run(str(told.detail))
        return replace(
            told,
            failed=ended.result.outcome,
            modes=ended.result.failure_modes,
            detail=ended.result.detail,
            retry_after=ended.retry_after,
        )

    def _text_without_keys(self, text: str | None) -> str | None:
        if text is None:
            return None
        return self._masked.text(text)

    def _mode_without_keys(self, mode: FailureMode) -> FailureMode:
        detail, error = map(self._text_without_keys, (mode.detail, mode.error))
        return mode.model_copy(update={"detail": detail, "error": error})

    def _added(self, then: TrialRecord, new: dict[str, Any], http: str | None) -> TrialResult:
        """Return the result of a trial whose system had answered before: what it was then, it stays."""
        before = then.result
        seen = self._seen
        if seen is not None and len(self._texts) > len(then.observations):
            named = json.loads(self._texts[-1]).get(FINGERPRINT)
            prints = {*seen.fingerprints}
            if named is not None:
                prints.add(str(named))
            made = {"fingerprints": tuple(sorted(prints)), "http": (*seen.http, http)}
            seen = Observed(**{**dict(seen), **made})
        new["http_cassettes"] = tuple(sorted({*before.http_cassettes, *new["http_cassettes"]}))
        new["failure_modes"] += tuple(m for m in before.failure_modes if m.code == MODIFIED)
        new["masked"] = new["masked"] or before.masked
        result = before.model_copy(update=new | {"observed": seen})
        if then.before is None:
            return result
        # Ids have all of a result that counts, and leave out times and costs.
        differs = run_id("", [then.before]) != run_id("", [result])
        return result.model_copy(update={"differs": differs})
