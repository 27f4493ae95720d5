"""How often an unchanged system would be rejected for single cases, as far as the baseline's own trials say it."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from benchgate.aggregate import mean
from benchgate.gates.claim_reasons import critical_failing, regressions
from benchgate.sentences.says import says

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.gates.figures import Arm, CaseFacts
    from benchgate.gates.policy import GatePolicy
    from benchgate.sentences.says import Says

RUNS: Final = 200


def unchanged(baseline: Arm, policy: GatePolicy, trials: int) -> Says | None:
    """
    Return what an unchanged system has to fear, by drawing both sides from the baseline's trials.

    :param trials: of each case of the candidate.
    :returns: ``None`` if no single case decides, or no case has two trials.
    """
    asked = _asked(baseline, policy)
    if not any(len(row) > 1 for row in asked.rows):
        return None
    cases = enumerate(zip(asked.rows, asked.facts or (), strict=True))
    differ = [place for place, (row, facts) in cases if _disagree(row, facts)]
    rejected = 0
    if differ:
        rejected = _rejections(asked.at(differ), policy, trials)
    of_100 = round(100 * rejected / RUNS)
    count = len(asked.scores)
    if policy.claim == "no_regression":
        return says("unchanged_system.cases", rejected=of_100, differing=len(differ), cases=count)
    return says("unchanged_system.critical", rejected=of_100, differing=len(differ), cases=count)


def _asked(baseline: Arm, policy: GatePolicy) -> Arm:
    """Return the baseline with the cases that decide on their own: the critical ones, or all."""
    of_all = policy.claim == "no_regression"
    facts = baseline.facts or ()
    return baseline.at([place for place, one in enumerate(facts) if of_all or one.critical])


def _disagree(row: Sequence[float], facts: CaseFacts) -> bool:
    """Whether the trials of a case differ in their scores, or in whether they pass."""
    return len({*row}) > 1 or 0 < len(facts.failed) < len(row)


def _rejections(baseline: Arm, policy: GatePolicy, trials: int) -> int:
    """Return in how many runs an unchanged system is rejected; cases whose trials agree never do it."""
    draw = random.Random(0)  # noqa: S311 - for statistics
    rejected = 0
    for _ in range(RUNS):
        before = _drawn(baseline, None, draw)
        after = _drawn(baseline, trials, draw)
        rejected += _is_rejected(before, after, policy)
    return rejected


def _is_rejected(before: Arm, after: Arm, policy: GatePolicy) -> bool:
    """Whether single cases of these two sides would reject the candidate."""
    if critical_failing(before, after, policy):
        return True
    return policy.claim == "no_regression" and any(regressions(before, after, policy))


def _drawn(arm: Arm, trials: int | None, draw: random.Random) -> Arm:
    """Return so many trials of each case, or as many as it has, drawn with replacement; harm is left out."""
    rows = []
    facts = []
    for row, one in zip(arm.rows, arm.facts or (), strict=True):
        picked = draw.choices(range(len(row)), k=trials or len(row))
        failed = tuple(n for n, at in enumerate(picked) if at in one.failed)
        rows.append(tuple(row[at] for at in picked))
        facts.append(one.model_copy(update={"failed": failed, "passed": not failed, "errors": ()}))
    scores = tuple(mean(row) for row in rows)
    return replace(arm, scores=scores, trials=tuple(rows), facts=tuple(facts), penalties=None)
