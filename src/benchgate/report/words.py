"""The sentences that page and Markdown share, each made from a decision and its figures as they are recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchgate.errors import printable
from benchgate.gates.rules import not_computed
from benchgate.wire.usage import usd
from benchgate.wording.lines import pieces

if TYPE_CHECKING:
    from markupsafe import Markup

    from benchgate.models import Aggregates
    from benchgate.report.source import Source
    from benchgate.wording.decision import DecisionView

MARKS: Final = {"promote": "✔", "hold": "‖", "reject": "✘", "none": "○"}
UNKNOWN: Final = "\N{EN DASH}"


def number(value: float | None, digits: int = 3) -> str:
    """Return a number for people; a dash for one that is not known."""
    if value is None:
        return UNKNOWN
    return f"{value:.{digits}f}"


def signed(value: float | None, digits: int = 3) -> str:
    """Return a difference for people, with its sign: the one that the sentences beside it have."""
    if value is None:
        return UNKNOWN
    return f"{value:+.{digits}f}"


def interval(low: float | None, high: float | None) -> str:
    """Return an interval for people."""
    if low is None or high is None:
        return "undefined"
    return f"{signed(low)} to {signed(high)}"


def sentence(text: str) -> str:
    """Return a text with a capital at its beginning, unless that is a symbol such as p."""
    if text.startswith("p "):
        return text
    return f"{text[:1].upper()}{text[1:]}"


def outcome(decided: DecisionView) -> str:
    """Return the outcome of a decision in capitals."""
    if decided.outcome == "none":
        return "NOT JUDGED"
    return decided.outcome.upper()


def named(text: str) -> Markup:
    """Return a text of the page with its quoted names as code."""
    from markupsafe import Markup, escape

    shown = Markup()
    for part, is_name in pieces(printable(text)):
        piece = escape(part)
        if is_name:
            piece = Markup("<code>{}</code>").format(part)
        shown += piece
    return shown


def other_rules(source: Source) -> str | None:
    """Return that nobody can compute a decision again here, if other rules made it."""
    decided = source.record or source.proof
    if decided is None:
        return None
    why = not_computed(decided.rules)
    if why is None:
        return None
    return sentence(why)


def costs(figures: Aggregates) -> list[str]:
    """Return what a run cost, and each of what it used, as far as it is known."""
    used = figures.usage
    parts = []
    if figures.total_cost_usd:
        parts.append(usd(figures.total_cost_usd))
    if used is not None:
        counts = {"tokens in": used.tokens_in, "tokens out": used.tokens_out, "calls": used.calls}
        parts += [f"{count:,} {name}" for name, count in counts.items() if count is not None]
    return parts
