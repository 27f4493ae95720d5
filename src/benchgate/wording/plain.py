"""Reasons and notes of a comparison as plain clauses with its numbers; ``it`` is the candidate."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from benchgate.wire.run_options import RUN_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.gates.figures import Figures
    from benchgate.gates.policy import GatePolicy

CLAUSES: Final[Mapping[str, str]] = {
    "delta_below_minimum": "its gain is {t.mean_delta:+.3f}, not above {p.min_delta:g}",
    "gain_excluded": "its gain is at most {t.delta_ci_high:+.3f}; you asked for {p.target_effect:.2f}",
    "not_significant": "it may be chance, though so many cases would have shown a gain of "
    "{t.minimum_detectable_effect:.2f}",
    "inconclusive_underpowered": "it may be chance: so few cases show only gains above "
    "{t.minimum_detectable_effect:.2f}, not {p.target_effect:.2f}",
    "safety_upper_bound": "so few cases do not exclude that harm rose by {s.upper_bound:.3f}; "
    "{p.max_safety_regression:.3f} is allowed",
    "margin_not_shown": "its score may have changed by {t.delta_ci_low:+.3f}; a loss of {p.margin:g} is allowed",
    "worse_than_margin": "its score changed by {t.mean_delta:+.3f}; a loss of {p.margin:g} is allowed",
    "significant_regression": "its score changed by {t.mean_delta:+.3f}, a larger loss than chance explains",
    "cost_increase": "a case costs {f.cost.increase:+.1%}; {p.max_cost_increase:+.1%} is allowed",
    "safety_power": "harm that rose by {s.pass_chances[0][0]:.2f} would slip through in "
    "{s.pass_chances[0][1]:.0%} of such runs",
    "unseen_failure_bound": "a failure in up to {t.unseen_failure_ucb95:.1%} of such cases may not have shown here",
}
"""With t the figures of the test, s those of the penalties, f all, and p the policy."""

OPTIONS: Final = re.compile(
    rf"(?<![\w-])--(?=(?:{'|'.join(option.name for option in RUN_OPTIONS)})\b)"
)


def at_door(text: str, prefix: str) -> str:
    """Return a text with the options of ``benchgate run`` as they are called elsewhere, as ``--bench-resume``."""
    return OPTIONS.sub(prefix, text)


def clause(code: str, figures: Figures | None, policy: GatePolicy | None) -> str:
    """Return a reason or a note with its numbers; empty if one of them is not known."""
    if figures is None or policy is None:
        return ""
    parts = {"t": figures.significance, "s": figures.safety, "f": figures, "p": policy}
    try:
        return CLAUSES.get(code, "").format(**parts)
    except (TypeError, IndexError, AttributeError):  # of None, or of no chances
        return ""
