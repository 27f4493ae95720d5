"""The figures that a reader looks at first."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from benchgate.gates.claim_reasons import confidence
from benchgate.report import words

if TYPE_CHECKING:
    from benchgate.gates.figures import Figures
    from benchgate.gates.run_diff import RunChanges
    from benchgate.report.source import Source


class Tile(NamedTuple):
    """One figure with its name and what it is to be compared with."""

    name: str
    value: str
    beside: str = ""
    tone: str = ""


def tiles_of(
    source: Source,
    figures: Figures | None,
    changes: RunChanges | None,
    passed_before: int | None,
) -> list[Tile]:
    """Return the figures that stand first."""
    tests, report = figures.significance if figures else None, source.report
    tiles = []
    if report is not None and not report.complete:
        tiles.append(Tile("Mean score", "not known", "the run is incomplete", "word"))
    elif tests is not None:
        level = f"{confidence(tests.alpha)} interval"
        between = words.interval(tests.delta_ci_low, tests.delta_ci_high)
        beside = "on these cases" if tests.test == "none" else f"{level} {between}"
        tiles.append(Tile("Change", words.signed(tests.mean_delta), beside))
        beside = f"before {words.number(tests.baseline_mean_reward)}"
        tiles.append(Tile("Mean score", words.number(tests.trained_mean_reward), beside))
    elif report is not None:
        bound = report.score_lower_bound_95
        beside = f"95% lower bound {words.number(bound)}" if bound is not None else ""
        tiles.append(Tile("Mean score", words.number(report.mean_score), beside))
    if report is not None:
        passed = f"{report.passed_count} of {report.case_count}"
        beside = "" if passed_before is None else f"before {passed_before}"
        tiles.append(Tile("Cases passed", passed, beside))
    if changes is not None and report is not None:
        count = len(changes.newly_failing)
        beside = f"{len(changes.newly_passing)} newly passing"
        tiles.append(Tile("Newly failing", str(count), beside, "bad" if count else ""))
    tiles.append(_safety_tile(source))
    cost, _, used = words.cost(report).partition(", ") if report else ("", "", "")
    change = figures.cost if figures else None
    if change is not None and change.increase is not None:
        used = f"{change.increase:+.1%} a case"
    return [*tiles, Tile("Cost", cost, used, "word")] if cost else tiles


def _safety_tile(source: Source) -> Tile:
    safety, report = source.safety, source.report
    if safety is not None and safety.safety_regression_delta is not None:
        before = words.number(safety.baseline_mean_safety_penalty)
        beside = f"before {before}; a rise of {safety.max_safety_regression:g} is allowed"
        tone = "bad" if safety.promotion_allowed is False else ""
        after = words.number(safety.trained_mean_safety_penalty)
        return Tile("Safety penalty", after, beside, tone)
    if report is None or report.mean_safety_penalty is None:
        return Tile("Safety penalty", "not measured", tone="word")
    return Tile("Safety penalty", words.number(report.mean_safety_penalty))
