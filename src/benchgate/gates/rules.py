"""
The number of the rules by which a decision follows from the facts of a record.

A better test decides otherwise on the same facts, and a record that was decided before is no forgery for that. So a
record says by which rules it was decided, and ``benchgate verify`` computes only the decisions of its own rules again.
The table of all numbers is in ``docs/reference/audit.md``.

Raise :data:`RULES` whenever the same facts may give another decision, or other figures or notes beside it: after a
change of :func:`~benchgate.gates.decide.decide` or what it calls, such as
:class:`~benchgate.gates.comparison.Comparison` and :func:`~benchgate.gates.weigh.weigh`, and of how looks are counted
(:mod:`benchgate.looks`). Once is enough for what is released together. The aggregates of a report and the verdict on a
tier do not follow these rules: ``verify`` computes those of every record again.
"""

from __future__ import annotations

from typing import Final

from benchgate.sentences.says import says

RULES: Final = 1


def not_computed(rules: int) -> str | None:
    """Return why a decision by these rules is not computed again; ``None`` if it is."""
    if rules == RULES:
        return None
    return says("other_rules", rules=rules, today=RULES).text
