"""The sentences that page and Markdown share, each made of a decision and its figures as they are recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchgate.gates.rules import not_computed
from benchgate.sentences.formats import confidence
from benchgate.wire.usage import usd
from benchgate.wording.block import p_value

if TYPE_CHECKING:
    from benchgate.gates.figures import Significance
    from benchgate.models import Aggregates
    from benchgate.report.source import Source

MARKS: Final = {"promote": "✔", "hold": "‖", "reject": "✘", "none": "○"}
UNKNOWN: Final = "\N{EN DASH}"


def number(value: float | None, digits: int = 3) -> str:
    """Return a number for people; a dash for one that is not known."""
    return UNKNOWN if value is None else f"{value:.{digits}f}"


def signed(value: float | None, digits: int = 3) -> str:
    """Return a difference for people, with its sign, a true minus among them."""
    return UNKNOWN if value is None else f"{value:+.{digits}f}".replace("-", "\N{MINUS SIGN}")


def interval(low: float | None, high: float | None) -> str:
    """Return an interval for people."""
    return "undefined" if low is None or high is None else f"{signed(low)} to {signed(high)}"


def sentence(text: str) -> str:
    """Return a text with a capital at its beginning, unless that is a symbol such as p."""
    return text if text.startswith("p ") else f"{text[:1].upper()}{text[1:]}"


def difference(figures: Significance | None, margin: float | None = None) -> str:
    """Return the difference with what the test says of it."""
    if figures is None or figures.mean_delta is None:
        return "the two sides were not compared"
    text = f"mean score {signed(figures.mean_delta)}"
    if figures.test == "none":
        return f"{text}, on exactly these cases"
    between = interval(figures.delta_ci_low, figures.delta_ci_high)
    test = {"pass_fail": "exact test of pass and fail"}.get(figures.test, f"{figures.test} test")
    level = confidence(figures.alpha)
    of = f" against a loss of {margin:g}" if margin and figures.p_value is not None else ""
    return f"{text}, {level} interval {between}; {p_value(figures.p_value, figures.alpha)}{of} ({test})"


def other_rules(source: Source) -> str | None:
    """Return that nobody can compute a decision again here, if other rules made it."""
    decided = source.record or source.proof
    why = None if decided is None else not_computed(decided.rules)
    return None if why is None else sentence(why)


def cost(figures: Aggregates) -> str:
    """Return what a run cost, and what it used."""
    return ", ".join(costs(figures))


def costs(figures: Aggregates) -> list[str]:
    """Return what a run cost, and each of what it used, as far as it is known."""
    used = figures.usage
    parts = [usd(figures.total_cost_usd)] if figures.total_cost_usd else []
    if used is not None:
        counts = {"tokens in": used.tokens_in, "tokens out": used.tokens_out, "calls": used.calls}
        parts += [f"{count:,} {name}" for name, count in counts.items() if count is not None]
    return parts
