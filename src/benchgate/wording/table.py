"""The trials of a run as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.aggregate import cost_of
from benchgate.wire.usage import Usage, usd
from benchgate.wording.lines import Line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchgate.gates.judge import Judgement
    from benchgate.models import FailureMode, TrialResult
    from benchgate.wording.lines import Tone


def table(judgement: Judgement) -> Iterator[Line]:
    """Yield a header and a line for each trial, those of cases that did not pass first, and an empty line."""
    failed = {result.case_id for result in judgement.report.per_case if not result.passed}
    rows = [(result, "") for result in judgement.report.per_case]
    if judgement.run.beside is not None:
        rows += [(result, "-baseline") for result in judgement.run.beside.per_case]
    rows.sort(key=lambda row: (row[0].case_id not in failed, row[0].case_id, row[0].trial))
    yield from _rows(rows)
    yield Line("", "")


def _rows(rows: Sequence[tuple[TrialResult, str]]) -> Iterator[Line]:
    width = max(map(len, ("case", *(_trial_name(*row) for row in rows))))
    spent = any(result.usage for result, _ in rows)
    usage = ""
    if spent:
        usage = "    cost  tokens in     out  "
    yield Line(None, f"{'case':{width}}  score     harm  {usage}result", "quiet")
    for result, side in rows:
        text = f"{_trial_name(result, side):{width}}  {_points(result)}  "
        if spent:
            text += _spent(result)
        yield Line(None, f"{text}{_ending(result)}{_codes(result)}", _tone(result, side))


def _points(result: TrialResult) -> str:
    """Return score and harm of a trial, as far as they are known."""
    score = result.score
    if score is None:
        return "    -        -"
    if score.safety_penalty is None:
        return f"{score.score:5.3f}        -"
    return f"{score.score:5.3f}  {score.safety_penalty:7.3f}"


def _tone(result: TrialResult, side: str) -> Tone:
    if result.passed or side:
        return "plain"
    if result.score is None:
        return "caution"
    return "bad"


def _spent(result: TrialResult) -> str:
    used = result.usage or Usage()
    shown = "-"
    cost = cost_of(result)
    if cost is not None:
        shown = usd(cost)
    return f"{shown:>8}  {_known(used.tokens_in):>9}  {_known(used.tokens_out):>6}  "


def _known(count: int | None) -> str:
    if count is None:
        return "-"
    return str(count)


def _trial_name(result: TrialResult, side: str) -> str:
    if not result.trial:
        return f"{result.case_id}{side}"
    return f"{result.case_id}{side}-t{result.trial}"


def _ending(result: TrialResult) -> str:
    ending: str = result.outcome
    if result.passed:
        ending = "passed"
    elif result.score is not None:
        ending = "failed"
    if result.reruns:
        ending += f" (run {result.reruns + 1} times)"
    if result.retries:
        ending += f" (tried {result.retries + 1} times)"
    return ending


def _codes(result: TrialResult) -> str:
    codes = ", ".join(_label(mode) for mode in result.failure_modes if mode.code != result.outcome)
    if not codes:
        return ""
    return f": {codes}"


def _label(mode: FailureMode) -> str:
    if mode.code == "unknown_failure_mode":
        return f"{mode.code} {mode.detail!r}"
    return mode.code
