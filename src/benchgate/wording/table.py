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
    beside = judgement.run.beside.per_case if judgement.run.beside else ()
    rows = [(result, "") for result in judgement.report.per_case]
    rows += [(result, "-baseline") for result in beside]
    rows.sort(key=lambda row: (row[0].case_id not in failed, row[0].case_id, row[0].trial))
    yield from _rows(rows)
    yield Line("", "")


def _rows(rows: Sequence[tuple[TrialResult, str]]) -> Iterator[Line]:
    width = max(map(len, ("case", *(_trial_name(*row) for row in rows))))
    spent = any(result.usage for result, _ in rows)
    usage = "    cost  tokens in     out  " if spent else ""
    yield Line(None, f"{'case':{width}}  score     harm  {usage}result", "quiet")
    for result, side in rows:
        score = result.score
        points = "    -" if score is None else f"{score.score:5.3f}"
        harm = score.safety_penalty if score else None
        penalty = "      -" if harm is None else f"{harm:7.3f}"
        usage = _spent(result) if spent else ""
        tone: Tone = "plain" if result.passed or side else "bad" if score else "caution"
        text = f"{_trial_name(result, side):{width}}  {points}  {penalty}  {usage}{_ending(result)}"
        yield Line(None, f"{text}{_codes(result)}", tone)


def _spent(result: TrialResult) -> str:
    cost, used = cost_of(result), result.usage or Usage()
    tokens = ["-" if count is None else str(count) for count in (used.tokens_in, used.tokens_out)]
    return f"{'-' if cost is None else usd(cost):>8}  {tokens[0]:>9}  {tokens[1]:>6}  "


def _trial_name(result: TrialResult, side: str) -> str:
    return f"{result.case_id}{side}{f'-t{result.trial}' if result.trial else ''}"


def _ending(result: TrialResult) -> str:
    ending = "passed" if result.passed else "failed" if result.score else result.outcome
    attempts = f" (run {result.reruns + 1} times)" if result.reruns else ""
    attempts += f" (tried {result.retries + 1} times)" if result.retries else ""
    return f"{ending}{attempts}"


def _codes(result: TrialResult) -> str:
    codes = ", ".join(_label(mode) for mode in result.failure_modes if mode.code != result.outcome)
    return f": {codes}" if codes else ""


def _label(mode: FailureMode) -> str:
    return f"{mode.code} {mode.detail!r}" if mode.code == "unknown_failure_mode" else mode.code
