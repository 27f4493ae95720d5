"""What reporters get of a finished item: the text of a failure, reason first, and the JUnit properties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchgate.errors import printable

if TYPE_CHECKING:
    from benchgate.models import TrialResult


class BenchCaseFailed(AssertionError):
    """A case was run and did not pass."""


@dataclass(frozen=True, slots=True)
class Crash:
    """Location and reason of a failed case, under the names that reporters read from ``reprcrash``."""

    path: str
    lineno: int
    message: str


class FailureRepr:
    """
    What pytest keeps of a failed case.

    Not a plain str: until pytest 9 the short summary names a reason only where there is a ``reprcrash``, and JUnit
    would put the whole text into its message. Under xdist only its text arrives.
    """

    def __init__(self, text: str, path: str, line: int) -> None:
        self.text = text
        self.reprcrash = Crash(path, line, text.partition("\n")[0])

    def __str__(self) -> str:
        return self.text

    def toterminal(self, tw: Any) -> None:
        """Write the text, the reason in red."""
        reason, *rest = self.text.splitlines()
        tw.line(reason, red=True, bold=True)
        for line in rest:
            tw.line(line)


def failure_text(result: TrialResult, location: str) -> str:
    """
    Return the text of a failed case.

    Short summaries, IDE lists and GitHub reporters show the first line only.
    """
    lines = [_reason(result)]
    if result.score is not None:
        lines += [f"  {key}: {value:g}" for key, value in sorted(result.score.breakdown.items())]
        if result.score.safety_penalty:
            lines.append(f"  safety penalty: {result.score.safety_penalty:g}")
    return "\n".join(map(printable, [*lines, location]))


def _reason(result: TrialResult) -> str:
    modes = [
        f"{mode.code} ({mode.detail})" if mode.detail else mode.code
        for mode in result.failure_modes
    ]
    if result.score is not None:
        return f"not passed, score {result.score.score:.3f}: {', '.join(modes) or 'no failure mode named'}"
    return ", ".join(modes) or result.outcome


def properties(result: TrialResult) -> list[tuple[str, object]]:
    """Return the JUnit properties of a trial: exact builtin types, each key once."""
    properties: list[tuple[str, object]] = [
        ("bench.outcome", result.outcome),
        ("bench.passed", result.passed),
        ("bench.failure_modes", printable(",".join(mode.code for mode in result.failure_modes))),
    ]
    if result.score is not None:
        properties += [
            ("bench.score", result.score.score),
            ("bench.cost_usd", result.score.cost_usd),
        ]
        if result.score.safety_penalty is not None:
            properties.append(("bench.safety_penalty", result.score.safety_penalty))
    return properties
