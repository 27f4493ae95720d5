"""The three calls that a trial consists of: a system answers, its output is observed, and a rubric scores it."""

from __future__ import annotations

import json
import os
import sys
import sysconfig
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from inspect import isawaitable
from pathlib import Path
from traceback import walk_tb
from typing import TYPE_CHECKING, Any, Final, Protocol

from pydantic import ValidationError

from benchgate.errors import MAX_MESSAGE, RubricViolation, excerpt
from benchgate.loader.observer import never
from benchgate.models import BenchScore, FailureMode, Outcome
from benchgate.trials.observing import without_usage
from benchgate.trials.pacing import is_unavailable, retry_after
from benchgate.trials.time_limit import TrialTimeout
from benchgate.wire.plain import output_json
from benchgate.wire.secrets import Masked

if TYPE_CHECKING:
    from benchgate.models import BenchCase
    from benchgate.registry import System
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
class Told:
    """
    What came of a call: in this process, or as a process of its own tells it.

    :param text: what a system or an observer returned, as JSON text.
    :param score: what a rubric returned.
    :param failed: the outcome of a call that returned neither; ``None``: it ended well.
    :param modes: why a call failed; ``detail`` says it if that says nothing about the system.
    :param violation: how the rubric broke its contract.
    :param raised_at: file and line of the user's code that raised.
    :param retry_after: seconds that a service asked to wait.
    :param masked: a key or token was taken out of what it says.
    :param recordings: what answered its HTTP in the place of a service; ``http`` is the SHA-256 of that or of what was
        recorded.
    """

    text: str | None = None
    score: BenchScore | None = None
    failed: Outcome | None = None
    modes: tuple[FailureMode, ...] = ()
    detail: str | None = None
    violation: str | None = None
    raised_at: tuple[Path, int] | None = None
    retry_after: float | None = None
    masked: bool = False
    recordings: tuple[str, ...] = ()
    http: str | None = None


class Calls(Protocol):
    """
    Calls system, observer and rubric of a class: :class:`CallsHere`, or each in a process of its own.

    Whatever they do, something is returned; only KeyboardInterrupt propagates.
    """

    def answer(self, case: BenchCase, limit: float) -> Told:
        """Have the system answer, within some seconds."""

    def observe(self, case: BenchCase, output: str, limit: float) -> Told:
        """Have an output observed once."""

    def score(self, case: BenchCase, output: str, limit: float) -> Told:
        """Have an output scored."""

    def failed(self, error: BaseException, outcome: Outcome) -> Told:
        """Return what came of calls that an exception ended between two of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallsHere:
    """
    Calls them in this process.

    :param call: the system.
    :param rubric: the rubric's ``score``, or a hook in its place.
    :param observer: what observes outputs.
    :param wait: runs what an async system returns.
    :param is_timeout: recognises the exception with which the caller's alarm ends a trial.
    :param masker: takes keys out of all that an error says; ``None``: whoever reads it does so.
    """

    task_class: str
    call: System = never
    rubric: Scorer = never
    observer: Callable[..., Any] = never
    wait: Waiter = never
    is_timeout: Callable[[BaseException], bool] = lambda error: isinstance(error, TrialTimeout)
    masker: Masker | None = None

    def answer(self, case: BenchCase, limit: float) -> Told:
        """Have the system answer, within some seconds."""
        try:
            produced = self._called(self.call, case, limit)
            fault = _payload_fault(produced)
            if fault is not None:  # refused before it is serialised and scored
                return self.failed(fault, "harness_error", self.call, code="invalid_rl_payload")
            return Told(text=output_json(without_usage(produced, case.usage)))
        except BaseException as error:  # SystemExit or pytest.skip must never make a run green
            return self.failed(error, "harness_error", self.call)

    def observe(self, case: BenchCase, output: str, limit: float) -> Told:
        """Have an output observed once."""
        try:
            found = self._called(self.observer, case, limit, json.loads(output))
            return Told(text=output_json(without_usage(found, case.usage), "observation"))
        except BaseException as error:
            return self.failed(error, "harness_error", self.observer)

    def score(self, case: BenchCase, output: str, limit: float) -> Told:  # noqa: ARG002 - nothing waits
        """Have an output scored."""
        masked = Masked(self.masker)
        try:
            return Told(score=self._checked(self.rubric(case, json.loads(output)), case, masked))
        except BaseException as error:
            violation = self._violation_in(error, case, masked)
            told = self.failed(violation or error, "rubric_error")
            if violation is None:
                return told
            said = masked.text(str(violation))
            return replace(told, violation=said, masked=told.masked or masked.has_any)

    def failed(
        self,
        error: BaseException,
        outcome: Outcome,
        asked: object = None,
        *,
        code: str | None = None,
    ) -> Told:
        """
        Return what came of a call that raised.

        :param outcome: of its trial, unless nobody that is judged is at fault; ``code`` is that of its failure.
        :param asked: what was called; it may declare which errors are not its own.
        """
        if isinstance(error, KeyboardInterrupt):
            raise error
        if isinstance(error, TrialTimeout) or self.is_timeout(error):
            return Told(failed="timeout")
        masked = Masked(self.masker)
        text = f"{type(error).__name__}: {_excerpt(error, str, masked, MAX_MESSAGE)}"
        if is_unavailable(asked, error):
            waits = retry_after(error)
            told = Told(failed="unavailable", detail=text, retry_after=waits)
        else:
            mode = FailureMode(code=code or outcome, detail=text, error=type(error).__name__)
            told = Told(failed=outcome, modes=(mode,))
        return replace(told, raised_at=_raised_at(error), masked=masked.has_any)

    def _called(
        self, function: Callable[..., Any], case: BenchCase, limit: float, *args: Any
    ) -> Any:
        depth = sys.getrecursionlimit()
        try:
            found = function(case, *args)
            return self.wait(found, limit) if isawaitable(found) else found
        finally:
            # With a lower one than before nothing that comes next could run.
            if sys.getrecursionlimit() < depth:
                sys.setrecursionlimit(depth)
            if self.masker is not None:
                self.masker.look()  # it may have put a key into the environment

    def _checked(self, score: object, case: BenchCase, masked: Masked) -> BenchScore:
        if type(score) is not BenchScore:
            kind = f"{type(score).__module__}.{type(score).__qualname__}"
            shown = _excerpt(score, repr, masked)
            raise self._violated(case, f"returned {kind} {shown}; expected a BenchScore")
        # Validated once more, from its plain fields: model_construct and object.__setattr__ skip validation.
        return BenchScore.model_validate(dict(vars(score))).kept()

    def _violation_in(
        self, error: BaseException, case: BenchCase, masked: Masked
    ) -> RubricViolation | None:
        """Return how a rubric broke its contract; an invalid BenchScore does, wherever in it that was raised."""
        if isinstance(error, ValidationError) and error.title == "BenchScore":
            fault = error.errors(include_url=False)[0]
            where = ".".join(map(str, fault["loc"]))
            shown = _excerpt(fault["input"], repr, masked)
            found = self._violated(case, f"BenchScore.{where}: {fault['msg']}; found {shown}")
            return found.with_traceback(error.__traceback__)
        return error if isinstance(error, RubricViolation) else None

    def _violated(self, case: BenchCase, message: str) -> RubricViolation:
        return RubricViolation(self.task_class, case.case_id, message)


def _payload_fault(produced: object) -> Exception | None:
    """Return what is wrong with the RL payload in an output."""
    if not isinstance(produced, Mapping) or "rl_payload" not in produced:
        return None
    from benchgate.training_types import RlPayloadError, validate_rl_payload

    try:
        validate_rl_payload(produced["rl_payload"])
    except RlPayloadError as error:
        return error
    return None


def _excerpt(value: object, show: Callable[[object], str], masked: Masked, limit: int = 120) -> str:
    """Return the beginning of what a foreign object says of itself; masked first, or half a key would be left."""
    try:
        text = show(value)
    except Exception as error:  # repr and str of a foreign object may raise anything
        return f"<{show.__name__}() raised {type(error).__name__}>"
    text = text.encode(errors="backslashreplace").decode()
    return excerpt(masked.text(text), limit)


def _raised_at(error: BaseException) -> tuple[Path, int] | None:
    """Return file and line of the innermost frame that is neither benchgate's nor a library's, if there is one."""
    place = None
    for frame, line in walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        if os.path.isabs(file) and not file.startswith(FOREIGN):  # "<string>" is no file
            place = Path(file), line
    return place
