"""The figures that a reader looks at first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.gates.claim_reasons import confidence
from benchgate.report import words

if TYPE_CHECKING:
    from benchgate.gates.run_diff import RunChanges
    from benchgate.report.source import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """One figure with its name and what it is to be compared with."""

    name: str
    value: str
    beside: str = ""
    tone: str = ""


def tiles_of(source: Source, changes: RunChanges | None) -> list[Tile]:
    """Return the figures that stand first."""
    figures, report = source.figures, source.report
    tiles = []
    if figures is not None:
        between = words.interval(figures.delta_ci_low, figures.delta_ci_high)
        beside = (
            f"{confidence(figures.alpha)} interval {between}"
            if figures.test != "none"
            else "on these cases"
        )
        tiles.append(Tile(name="Change", value=words.signed(figures.mean_delta), beside=beside))
        beside = f"baseline {words.number(figures.baseline_mean_reward)}"
        tiles.append(
            Tile(name="Mean score", value=words.number(figures.trained_mean_reward), beside=beside)
        )
    elif report is not None:
        bound = report.score_lower_bound_95
        beside = f"95% lower bound {words.number(bound)}" if bound is not None else ""
        tiles.append(Tile(name="Mean score", value=words.number(report.mean_score), beside=beside))
    if report is not None:
        passed = f"{report.passed_count} of {report.case_count}"
        tiles.append(
            Tile(
                name="Cases passed",
                value=passed,
                beside="" if report.complete else "the run is incomplete",
            )
        )
    if changes is not None and report is not None:
        count = len(changes.newly_failing)
        beside = f"{len(changes.newly_passing)} newly passing"
        tiles.append(
            Tile(name="Newly failing", value=str(count), beside=beside, tone="bad" if count else "")
        )
    return [*tiles, *_safety_tile(source), *_cost_tile(source)]


def _safety_tile(source: Source) -> list[Tile]:
    safety = source.safety
    if safety is not None and safety.safety_regression_delta is not None:
        return [
            Tile(
                name="Safety penalty",
                value=words.signed(safety.safety_regression_delta),
                beside=f"allowed rise {safety.max_safety_regression:g}",
                tone="bad" if safety.promotion_allowed is False else "",
            )
        ]
    report = source.report
    measured = report.mean_safety_penalty if report else None
    return [
        Tile(
            name="Safety penalty",
            value="not measured" if measured is None else words.number(measured),
            tone="word" if measured is None else "",
        )
    ]


def _cost_tile(source: Source) -> list[Tile]:
    text = words.cost(source.report) if source.report else ""
    first, _, rest = text.partition(", ")
    return [Tile(name="Cost", value=first, beside=rest)] if text else []
