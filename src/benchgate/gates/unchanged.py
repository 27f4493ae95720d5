"""How often an unchanged system would be rejected for single cases, as far as the baseline's own trials say it."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from benchgate.aggregate import mean
from benchgate.gates.claim_reasons import critical_failing, regressions

if TYPE_CHECKING:
    from benchgate.gates.figures import Arm
    from benchgate.gates.policy import GatePolicy

RUNS: Final = 200


def unchanged(baseline: Arm, policy: GatePolicy, trials: int) -> str | None:
    """
    Return what an unchanged system has to fear, by drawing both sides from the baseline's trials.

    :param trials: of each case of the candidate.
    :returns: ``None`` if no single case decides, or no case has two trials.
    """
    of_all, facts = policy.claim == "no_regression", baseline.facts or ()
    asked = baseline.at([n for n, one in enumerate(facts) if one.critical or of_all])
    if not any(len(row) > 1 for row in asked.rows):
        return None
    both = enumerate(zip(asked.rows, asked.facts or (), strict=True))
    differ = [n for n, (row, one) in both if len({*row}) > 1 or 0 < len(one.failed) < len(row)]
    rejected, drawn_from, draw = 0, asked.at(differ), random.Random(0)  # noqa: S311 - for statistics
    for _ in range(RUNS if differ else 0):
        sides = _drawn(drawn_from, None, draw), _drawn(drawn_from, trials, draw)
        fails = any(critical_failing(*sides, policy))
        rejected += fails or (of_all and any(regressions(*sides, policy)))
    text = f"rejected in {round(100 * rejected / RUNS)} of 100 such runs: its trials disagree on {len(differ)}"
    what = f"{len(asked.scores)} {'' if of_all else 'critical '}cases"
    return f"an unchanged system would be {text} of {what}"


def _drawn(arm: Arm, trials: int | None, draw: random.Random) -> Arm:
    """Return so many trials of each case, or as many as it has, drawn with replacement; harm is left out."""
    rows, facts = [], []
    for row, one in zip(arm.rows, arm.facts or (), strict=True):
        picked = draw.choices(range(len(row)), k=trials or len(row))
        failed = tuple(n for n, at in enumerate(picked) if at in one.failed)
        rows.append(tuple(row[at] for at in picked))
        facts.append(one.model_copy(update={"failed": failed, "passed": not failed, "errors": ()}))
    scores = tuple(mean(row) for row in rows)
    return replace(arm, scores=scores, trials=tuple(rows), facts=tuple(facts), penalties=None)
