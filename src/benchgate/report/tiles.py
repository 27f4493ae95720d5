"""The figures that a reader looks at first."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from benchgate.gates.claim_reasons import confidence
from benchgate.report import words

if TYPE_CHECKING:
    from benchgate.aggregate import CaseFigures
    from benchgate.gates.run_diff import RunChanges
    from benchgate.report.source import Source


class Tile(NamedTuple):
    """One figure with its name and what it is to be compared with."""

    name: str
    value: str
    beside: str = ""
    tone: str = ""


def tiles_of(source: Source, changes: RunChanges | None, before: list[CaseFigures]) -> list[Tile]:
    """Return the figures that stand first, ``before`` those of the baseline's cases."""
    figures, report = source.figures, source.report
    tiles = []
    if report is not None and not report.complete:
        tiles.append(Tile("Mean score", "not known", "the run is incomplete", "word"))
    elif figures is not None:
        level = f"{confidence(figures.alpha)} interval"
        between = words.interval(figures.delta_ci_low, figures.delta_ci_high)
        beside = "on these cases" if figures.test == "none" else f"{level} {between}"
        tiles.append(Tile("Change", words.signed(figures.mean_delta), beside))
        beside = f"baseline {words.number(figures.baseline_mean_reward)}"
        tiles.append(Tile("Mean score", words.number(figures.trained_mean_reward), beside))
    elif report is not None:
        bound = report.score_lower_bound_95
        beside = f"95% lower bound {words.number(bound)}" if bound is not None else ""
        tiles.append(Tile("Mean score", words.number(report.mean_score), beside))
    if report is not None:
        passed = f"{report.passed_count} of {report.case_count}"
        beside = f"before {sum(case.passed for case in before)}" if changes is not None else ""
        tiles.append(Tile("Cases passed", passed, beside))
    if changes is not None and report is not None:
        count = len(changes.newly_failing)
        beside = f"{len(changes.newly_passing)} newly passing"
        tiles.append(Tile("Newly failing", str(count), beside, "bad" if count else ""))
    tiles.append(_safety_tile(source))
    cost, _, used = words.cost(report).partition(", ") if report else ("", "", "")
    return [*tiles, Tile("Cost", cost, used)] if cost else tiles


def _safety_tile(source: Source) -> Tile:
    safety, report = source.safety, source.report
    if safety is not None and safety.safety_regression_delta is not None:
        rise = words.signed(safety.safety_regression_delta)
        beside = f"allowed rise {safety.max_safety_regression:g}"
        tone = "bad" if safety.promotion_allowed is False else ""
        return Tile("Safety penalty", rise, beside, tone)
    if report is None or report.mean_safety_penalty is None:
        return Tile("Safety penalty", "not measured", tone="word")
    return Tile("Safety penalty", words.number(report.mean_safety_penalty))
