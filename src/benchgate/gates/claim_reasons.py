"""Why a claim does not hold, as far as it depends on single cases, a margin, or what the cases cost."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from benchgate.errors import counted, few
from benchgate.gates.policy import TOLERANCE
from benchgate.wire.usage import usd

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from collections.abc import Set as AbstractSet

    from benchgate.gates.claim_figures import Increase
    from benchgate.gates.decision import Blocker
    from benchgate.gates.figures import Arm, Figures, Significance
    from benchgate.gates.policy import GatePolicy


def critical_objections(baseline: Arm, candidate: Arm, policy: GatePolicy) -> Iterator[Blocker]:
    """Yield that cases newly fail which must not under any claim."""
    lost = critical_failing(baseline, candidate, policy)
    if lost:
        most = " in most trials" if policy.critical_rule == "majority" else ""
        yield "critical_case_regressed", f"critical cases newly fail{most}: {few(lost, 3)}"
    critical = _critical(baseline, candidate)
    yield from _unknown(baseline, candidate, critical, "critical cases", policy.critical_rule)


def critical_failing(baseline: Arm, candidate: Arm, policy: GatePolicy) -> list[str]:
    """Return the critical cases that newly fail."""
    critical = _critical(baseline, candidate)
    return [c for c in _newly_failing(baseline, candidate, policy.critical_rule) if c in critical]


def _critical(*arms: Arm) -> set[str]:
    """Return the critical cases of either side: the other one may be a file of plain scores, or lack the case."""
    return {
        case_id
        for arm in arms
        for case_id, facts in zip(arm.case_ids or (), arm.facts or (), strict=False)
        if facts.critical
    }


def _unknown(
    baseline: Arm, candidate: Arm, cases: AbstractSet[str], what: str, rule: str = "any"
) -> Iterator[Blocker]:
    """Yield that nobody knows whether cases newly fail: the baseline erred there, or a file has no passes."""
    before = passed(baseline, rule)
    after = passed(candidate, rule)
    erred = sorted(c for c in cases if before.get(c, True) is None and not after.get(c))
    if erred:
        text = f"{what}: {few(erred, 3)} ended in an error in the baseline"
        yield "too_many_unscored", f"{text}, so that nobody knows whether they newly fail"
    unsaid = None
    if not before:
        unsaid = "baseline"
    elif not after:
        unsaid = "candidate"
    if cases and unsaid:
        yield "case_mismatch", f"{what}: the {unsaid} does not say which cases passed"


def regressions(baseline: Arm, candidate: Arm, policy: GatePolicy) -> Iterator[Blocker]:
    """Yield what got worse on exactly these cases; nothing is concluded about others."""
    failing = _newly_failing(baseline, candidate)
    erred = {case_id for case_id, has_passed in passed(baseline).items() if has_passed is None}
    yield from _unknown(baseline, candidate, erred, "cases")
    if len(failing) > policy.max_newly_failing:
        verb = "newly fails" if len(failing) == 1 else "newly fail"
        text = f"on these cases {len(failing)} {verb} ({few(failing, 3)})"
        yield "newly_failing_cases", f"{text}; allowed: {policy.max_newly_failing}"
    losses = [
        f"{pair.case_id} {pair.after - pair.before:+.3g}"
        for pair in baseline.paired_with(candidate) or ()
        if pair.before - pair.after > policy.tolerance + TOLERANCE and pair.case_id not in failing
    ]
    if losses:
        text = f"on these cases {len(losses)} lost more than {policy.tolerance:g}"
        yield "case_regressed", f"{text}: {few(losses, 3)}"
    yield from _harm_objection(baseline, candidate)


def _harm_objection(baseline: Arm, candidate: Arm) -> Iterator[Blocker]:
    """Yield which cases do more harm."""
    rises = risen(penalties_of(baseline), penalties_of(candidate))
    if rises:
        named = [f"{case_id} {now - was:+.3g}" for case_id, was, now in rises]
        text = f"harm rose in {counted(len(rises), 'case')}"
        yield "safety_regression", f"{text}: {few(named, 3)}"


def _newly_failing(baseline: Arm, candidate: Arm, rule: str = "any") -> list[str]:
    before = passed(baseline, rule)
    after = passed(candidate, rule)
    return sorted(c for c in before.keys() & after.keys() if before[c] and not after[c])


def passed(arm: Arm, rule: str = "any") -> Mapping[str, bool | None]:
    """Return which cases passed, by a rule: a run says so, and so do scores of 0 and 1; else, or without ids, none."""
    ids = arm.case_ids
    if ids is None:
        return {}
    if arm.facts is not None:
        rows = zip(ids, arm.facts, arm.rows, strict=True)
        return {case_id: facts.passes(rule, len(row)) for case_id, facts, row in rows}
    if any(score not in (0.0, 1.0) for row in arm.rows for score in row):
        return {}
    least = 1.0 if rule == "any" else 0.5
    return {c: sum(row) >= least * len(row) for c, row in zip(ids, arm.rows, strict=False)}


def penalties_of(arm: Arm) -> dict[str, float | None]:
    """Return the penalty of each case; nothing without ids."""
    return dict(zip(arm.case_ids or (), arm.penalties or (), strict=False))


def risen(
    before: Mapping[str, float | None], after: Mapping[str, float | None]
) -> list[tuple[str, float, float]]:
    """Return the cases whose penalty rose, with both, the largest rise first; what is not known rose by nothing."""
    pairs = ((case_id, before.get(case_id), now) for case_id, now in after.items())
    rows = [
        (case_id, was, now)
        for case_id, was, now in pairs
        if was is not None and now is not None and now - was > TOLERANCE
    ]
    return sorted(rows, key=lambda row: (row[1] - row[2], row[0]))


def margin_objections(figures: Significance, policy: GatePolicy) -> Iterator[Blocker]:
    """Yield that the candidate is worse by more than the margin, or that this was not excluded."""
    margin = policy.margin or 0.0
    low = figures.delta_ci_low
    high = figures.delta_ci_high
    level = f"{confidence(policy.alpha / 2, 1)} bound"
    if low is None or high is None:
        yield "margin_not_shown", "the difference cannot be bounded: no score_range is given"
    elif high < -margin:
        text = f"its score changed by {figures.mean_delta:+.3f}, at best by {high:+.3f} ({level})"
        yield "worse_than_margin", f"{text}; a loss of {margin:g} is allowed"
    elif not figures.passed:
        text = f"its true score may be lower by {-low:.3f} ({level}); {margin:g} is allowed"
        if figures.smallest_margin is not None:
            least = f"{figures.smallest_margin:.3g}"
            text += f"; if no case changed, so many cases would show a margin of {least}"
        yield "margin_not_shown", text


def cost_objections(figures: Figures, policy: GatePolicy) -> Iterator[Blocker]:
    """Yield that the cost rose by more than is allowed, or that it is not known whether it did."""
    change = figures.cost
    limit = policy.max_cost_increase
    if limit is None:
        return
    if change is None:
        yield "cost_increase", "what it costs is not known of every case of both sides"
    elif change.increase is None or change.increase > limit + TOLERANCE:
        yield "cost_increase", f"a case costs {spent(change)}; {limit:+.1%} is allowed"


def confidence(alpha: float, decimals: int = 0) -> str:
    """Return 1 - alpha in percent, with more decimals than these where it would else be rounded to 100."""
    needed = max(decimals, -math.floor(math.log10(100 * alpha)))
    return f"{1 - alpha:.{needed}%}"


def spent(change: Increase) -> str:
    """Return both means and the relative change with its interval, as a text."""
    text = f"from {usd(change.baseline_mean)} to {usd(change.candidate_mean)}"
    if change.increase is None:
        return text
    interval = ""
    if change.ci_low is not None and change.ci_high is not None:
        interval = f" [{change.ci_low:+.1%}, {change.ci_high:+.1%}]"
    return f"{text}, {change.increase:+.1%}{interval}"
