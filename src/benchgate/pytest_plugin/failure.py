"""What a failed case says: the reason first, then the figures, then where the case stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchgate.models import TrialResult


class BenchCaseFailed(AssertionError):
    """A case was run and did not pass."""


def failure_text(result: TrialResult, location: str) -> str:
    """
    Return the text of a failed case.

    The first line stands alone in short summaries, IDE lists and GitHub reporters.
    """
    lines = [_reason(result)]
    if result.score is not None:
        lines += [f"  {key}: {value:g}" for key, value in sorted(result.score.breakdown.items())]
        if result.score.safety_penalty:
            lines.append(f"  safety penalty: {result.score.safety_penalty:g}")
    return "\n".join([*lines, location])


def _reason(result: TrialResult) -> str:
    modes = [
        f"{mode.code} ({mode.detail})" if mode.detail else mode.code
        for mode in result.failure_modes
    ]
    if result.score is not None:
        return f"not passed, score {result.score.score:.3f}: {', '.join(modes) or 'no failure mode named'}"
    return ", ".join(modes) or result.outcome
