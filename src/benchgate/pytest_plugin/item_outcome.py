"""What reporters get of a finished item: the text of a failure, reason first, and the JUnit properties."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from benchgate.errors import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from benchgate.models import BenchScore, Side, TrialResult, WhyNotRun
    from benchgate.trials.executor import TrialRecord


OF_BASELINE: Final = ("bench.side", "baseline")
"""The property by which every process knows the report of a baseline's trial."""


class BenchCaseFailed(AssertionError):
    """A case was run and did not pass."""


class Obstacle(NamedTuple):
    """Why an item cannot be run: for people, and for code as a result has it."""

    reason: str
    why: WhyNotRun | None = None


def failure_text(
    record: TrialRecord, meanings: Mapping[str, str], shown: Callable[[Path], str], output: Path
) -> str:
    """
    Return the text of a failed case: the reason, then what helps to understand it.

    Short summaries, IDE lists and GitHub reporters show the first line only.

    :param meanings: what failure codes mean.
    :param shown: returns a path as people are to see it.
    :param output: where the trial's file will be.
    """
    result = record.result
    lines = [_reason(result)]
    if record.raised_at is not None:
        file, line = record.raised_at
        lines.append(f"  raised at {shown(file)}:{line}")
    if result.score is not None:
        said = _joined(result.score.explanation or "")
        parts = result.score.evidence.values()
        if said and not (parts and all(_joined(part) in said for part in parts)):
            lines.append(f"  {said}")  # else the lines of the parts say it
        lines += _axes(result.score)
        if result.score.safety_penalty:
            lines.append(f"  harm: {result.score.safety_penalty:g}")
    lines += [
        f"  {mode.code}: {' '.join(meanings[mode.code].split())}"
        for mode in result.failure_modes
        if mode.code in meanings
    ]
    if record.output_json is not None:
        lines.append(f"  output: {shown(output)}")
    return "\n".join(map(printable, lines))


def _axes(score: BenchScore) -> Iterator[str]:
    """Yield the parts of a score, each with what it rests on; what has all of its points is no news."""
    evidence = dict(score.evidence)
    for axis, value in score.breakdown.items():
        why = _joined(evidence.pop(axis, ""))
        if value != 1:
            line = f"  {axis}: {value:g}"
            if why:
                line += f", {why}"
            yield line
    yield from (f"  {axis}: {_joined(why)}" for axis, why in evidence.items())


def _joined(text: str) -> str:
    return " ".join(text.split())


def _reason(result: TrialResult) -> str:
    modes = [
        f"{mode.code} ({mode.detail})" if mode.detail else mode.code
        for mode in result.failure_modes
    ]
    if result.score is not None:
        return f"not passed, score {result.score.score:.3f}: {', '.join(modes) or 'no failure mode named'}"
    unscored = f"{result.outcome} ({result.detail})" if result.detail else result.outcome
    return ", ".join(modes) or unscored


def properties(result: TrialResult, side: Side) -> list[tuple[str, object]]:
    """Return the JUnit properties of a trial: exact builtin types, each key once."""
    from benchgate.aggregate import cost_of

    properties: list[tuple[str, object]] = [
        ("bench.outcome", result.outcome),
        ("bench.passed", result.passed),
        ("bench.failure_modes", printable(",".join(mode.code for mode in result.failure_modes))),
    ]
    if side == "baseline":
        properties.append(OF_BASELINE)
    if result.score is not None:
        properties.append(("bench.score", result.score.score))
        if result.score.safety_penalty is not None:
            properties.append(("bench.safety_penalty", result.score.safety_penalty))
    used = result.usage.model_dump() if result.usage else {}
    used["cost_usd"] = cost_of(result) or (0.0 if result.score else used.get("cost_usd"))
    for name, value in used.items():
        if isinstance(value, str):
            properties.append((f"bench.{name}", printable(value)))
        elif value is not None:
            properties.append((f"bench.{name}", value))
    return properties


def scorer_digest(rubric: str, plugins: list[object]) -> str:
    """Return the digest of what scores: of the rubric, and of every plugin that may score in its place."""
    from benchgate.wire.canonical import digest

    if not plugins:
        return rubric
    return digest([rubric, *map(_source_digest, plugins)])


def _source_digest(plugin: object) -> str:
    from benchgate.wire.files import MAX_TREE_BYTES, file_sha256

    path = getattr(plugin, "__file__", None)
    if path is None:
        return str(getattr(plugin, "__name__", type(plugin).__qualname__))
    return file_sha256(path, limit=MAX_TREE_BYTES)
