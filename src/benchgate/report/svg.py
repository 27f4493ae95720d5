"""
Plots as SVG without scripts, styles or fixed widths.

Horizontal places are percentages, so that a plot fills its column on any screen while its text keeps its size.
Colours come from the classes of the page.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.errors import printable
from benchgate.report.words import signed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Maps values to percentages of the width."""

    low: float
    high: float
    margin: float = 4.0

    def __call__(self, value: float) -> str:
        """Return where a value is; one beyond the ends is at the end."""
        span = self.high - self.low or 1.0
        share = min(max((value - self.low) / span, 0.0), 1.0)
        return f"{self.margin + share * (100 - 2 * self.margin):.2f}%"


def _markup(template: str, **values: object) -> Markup:
    """Fill in a template; what is no markup is escaped, and what is not visible in it shown."""
    from markupsafe import Markup

    shown = {k: printable(v) if type(v) is str else v for k, v in values.items()}
    return Markup(template).format(**shown)  # noqa: S704 - the templates are those below


def _joined(parts: Sequence[Markup]) -> Markup:
    from markupsafe import Markup

    return Markup("").join(parts)


def _figure(height: int, label: str, parts: Sequence[Markup], kind: str) -> Markup:
    return _markup(
        '<svg class="{kind}" width="100%" height="{height}" role="img" aria-label="{label}">{parts}</svg>',
        kind=kind,
        height=height,
        label=label,
        parts=_joined(parts),
    )


def _text(x: str, y: int, text: str, kind: str, anchor: str = "middle") -> Markup:
    return _markup(
        '<text x="{x}" y="{y}" class="{kind}" text-anchor="{anchor}">{text}</text>',
        x=x,
        y=y,
        kind=kind,
        anchor=anchor,
        text=text,
    )


def _anchor(x: str) -> str:
    place = float(x[:-1])
    return "start" if place < 15 else "end" if place > 85 else "middle"


def difference(
    *, delta: float, low: float | None, high: float | None, marks: Sequence[tuple[float, str]]
) -> Markup:
    """
    Plot a difference with its interval against lines such as zero and a margin.

    :param marks: value and label of each line; at most three, of which each label has a row of its own.
    """
    values = [delta, *(v for v in (low, high) if v is not None), *(value for value, _ in marks)]
    spread = (max(values) - min(values)) or 0.1
    scale = Scale(low=min(values) - 0.06 * spread, high=max(values) + 0.06 * spread)
    top = 16 * len(marks) + 6
    parts = []
    for row, (value, label) in enumerate(marks):
        x = scale(value)
        parts.append(
            _markup(
                '<line x1="{x}" x2="{x}" y1="{y}" y2="{end}" class="mark"/>',
                x=x,
                y=16 * row + 16,
                end=top + 44,
            )
        )
        parts.append(_text(x, 16 * row + 12, label, "label", _anchor(x)))
    y = top + 24
    if low is not None and high is not None:
        parts.append(
            _markup(
                '<line x1="{a}" x2="{b}" y1="{y}" y2="{y}" class="interval"/>',
                a=scale(low),
                b=scale(high),
                y=y,
            )
        )
        for value in (low, high):
            x = scale(value)
            parts.append(
                _markup(
                    '<line x1="{x}" x2="{x}" y1="{a}" y2="{b}" class="interval"/>',
                    x=x,
                    a=y - 6,
                    b=y + 6,
                )
            )
            parts.append(_text(x, y + 34, signed(value), "value", _anchor(x)))
    x = scale(delta)
    parts.append(_markup('<circle cx="{x}" cy="{y}" r="6" class="point"/>', x=x, y=y))
    parts.append(_text(x, y - 12, signed(delta), "strong", _anchor(x)))
    lines = ", ".join(f"{label} at {value:g}" for value, label in marks)
    between = f", interval {signed(low)} to {signed(high)}" if low is not None else ""
    return _figure(
        top + 64, f"difference {signed(delta)}{between}; lines: {lines}", parts, "difference"
    )


def dumbbell(before: float | None, after: float | None, low: float, high: float) -> Markup:
    """Plot the score of a case in the baseline, a ring, and now, a dot."""
    scale = Scale(low=low, high=high)
    parts = [
        _markup(
            '<line x1="{a}" x2="{b}" y1="11" y2="11" class="rail"/>', a=scale(low), b=scale(high)
        )
    ]
    if before is not None and after is not None and before != after:
        kind = "fall" if after < before else "rise"
        parts.append(
            _markup(
                '<line x1="{a}" x2="{b}" y1="11" y2="11" class="{k}"/>',
                a=scale(before),
                b=scale(after),
                k=kind,
            )
        )
    if before is not None:
        parts.append(_markup('<circle cx="{x}" cy="11" r="4.5" class="ring"/>', x=scale(before)))
    if after is not None:
        parts.append(_markup('<circle cx="{x}" cy="11" r="4.5" class="dot"/>', x=scale(after)))
    # Hidden from readers of the screen: the row has the numbers.
    return _markup(
        '<svg width="100%" height="22" aria-hidden="true">{parts}</svg>', parts=_joined(parts)
    )


def distributions(sides: Sequence[tuple[str, Sequence[float]]], low: float, high: float) -> Markup:
    """Plot how many cases have which score, a row of columns for each side."""
    bins, rows = 20, []
    counts = [_counts(values, low, high, bins) for _, values in sides]
    most = max((max(row) for row in counts), default=0) or 1
    scale = Scale(low=0, high=bins, margin=1.0)
    width = f"{98 / bins - 0.6:.2f}%"
    for number_, ((name, values), row) in enumerate(zip(sides, counts, strict=True)):
        base = 92 * number_ + 78
        rows.append(_text("1%", base - 64, f"{name}: {len(values)} cases", "label", "start"))
        for place, count in enumerate(row):
            if count:
                tall = max(round(46 * count / most), 2)
                rows.append(
                    _markup(
                        '<rect x="{x}" width="{w}" y="{y}" height="{h}" class="bar side{n}"><title>{t}</title></rect>',
                        x=scale(place),
                        w=width,
                        y=base - tall,
                        h=tall,
                        n=number_,
                        t=f"{count} cases",
                    )
                )
                rows.append(_text(scale(place + 0.45), base - tall - 3, str(count), "value"))
        rows.append(_markup('<line x1="1%" x2="99%" y1="{y}" y2="{y}" class="rail"/>', y=base))
    bottom = 92 * len(sides)
    ticks = [(low, "start", "1%"), ((low + high) / 2, "middle", "50%"), (high, "end", "99%")]
    rows += [_text(x, bottom + 2, f"{value:g}", "label", anchor) for value, anchor, x in ticks]
    names = " and ".join(name for name, _ in sides)
    return _figure(bottom + 8, f"distribution of the scores of {names}", rows, "distribution")


def _counts(values: Sequence[float], low: float, high: float, bins: int) -> list[int]:
    found = [0] * bins
    for value in values:
        place = math.floor((value - low) / ((high - low) or 1.0) * bins)
        found[min(max(place, 0), bins - 1)] += 1
    return found


def share(value: float, kind: str) -> Markup:
    """Plot a share of 1 as a bar."""
    return _figure(
        10,
        f"{value:.0%}",
        [
            _markup('<rect x="0" y="2" width="100%" height="6" rx="3" class="rest"/>'),
            _markup(
                '<rect x="0" y="2" width="{w}" height="6" rx="3" class="{k}"/>',
                w=f"{100 * value:.1f}%",
                k=kind,
            ),
        ],
        "share",
    )


def line_of(values: Sequence[float]) -> Markup:
    """Plot values in [0, 1] as a line, the oldest first, with a dot for the newest."""
    if len(values) < 2:
        return _markup("")
    step = 100 / (len(values) - 1)
    points = [(1 + 0.98 * index * step, 34 - 28 * value) for index, value in enumerate(values)]
    parts = [
        _markup(
            '<line x1="{a}%" y1="{b}" x2="{c}%" y2="{d}" class="line"/>',
            a=f"{x1:.2f}",
            b=f"{y1:.1f}",
            c=f"{x2:.2f}",
            d=f"{y2:.1f}",
        )
        for (x1, y1), (x2, y2) in zip(points, points[1:], strict=False)
    ]
    parts += [
        _markup('<circle cx="{x}%" cy="{y}" r="3" class="dot"/>', x=f"{x:.2f}", y=f"{y:.1f}")
        for x, y in points
    ]
    return _figure(
        40,
        f"mean score of {len(values)} runs, from {values[0]:.3f} to {values[-1]:.3f}",
        parts,
        "trend",
    )
