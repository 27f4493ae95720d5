"""Why a claim does not hold, as far as it depends on single cases, a margin, or what the cases cost."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

from benchgate.errors import listed
from benchgate.gates.policy import TOLERANCE
from benchgate.sentences.says import Listing, names, says

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from benchgate.gates.claim_figures import Increase
    from benchgate.gates.decision import Blocker
    from benchgate.gates.figures import Arm, Figures, Significance
    from benchgate.gates.policy import GatePolicy
    from benchgate.sentences.says import Says


def critical_objections(baseline: Arm, candidate: Arm, policy: GatePolicy) -> Iterator[Blocker]:
    """Yield that cases newly fail which must not under any claim."""
    lost = critical_failing(baseline, candidate, policy)
    if lost:
        yield "critical_case_regressed", _newly_fail(lost, policy)
    critical = _critical(baseline, candidate)
    which = says("cases.critical")
    yield from _unknown(baseline, candidate, critical, which, policy.critical_rule)


def _newly_fail(lost: Sequence[str], policy: GatePolicy) -> Says:
    cases = names(lost, 3)
    if policy.critical_rule == "majority":
        return says("critical_case_regressed.majority", cases=cases)
    return says("critical_case_regressed.any", cases=cases)


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
    baseline: Arm, candidate: Arm, cases: AbstractSet[str], which: Says, rule: str = "any"
) -> Iterator[Blocker]:
    """Yield that nobody knows whether cases newly fail: the baseline erred there, or a file has no passes."""
    before = passed(baseline, rule)
    after = passed(candidate, rule)
    # A case that the baseline lacks is no error of it.
    erred = sorted(c for c in cases if before.get(c, True) is None and not after.get(c))
    if erred:
        said = says("too_many_unscored.hidden", which=which, cases=names(erred, 3))
        yield "too_many_unscored", said
    unsaid = None
    if not before:
        unsaid = "baseline"
    elif not after:
        unsaid = "candidate"
    if cases and unsaid:
        yield "case_mismatch", says("case_mismatch.unsaid", which=which, side=unsaid)


def regressions(baseline: Arm, candidate: Arm, policy: GatePolicy) -> Iterator[Blocker]:
    """Yield what got worse on exactly these cases; nothing is concluded about others."""
    failing = _newly_failing(baseline, candidate)
    erred = {case_id for case_id, has_passed in passed(baseline).items() if has_passed is None}
    yield from _unknown(baseline, candidate, erred, says("cases.all"))
    if len(failing) > policy.max_newly_failing:
        yield (
            "newly_failing_cases",
            says(
                "newly_failing_cases",
                count=len(failing),
                cases=names(failing, 3),
                allowed=policy.max_newly_failing,
            ),
        )
    losses = [
        (pair.case_id, pair.after - pair.before)
        for pair in baseline.paired_with(candidate) or ()
        if pair.before - pair.after > policy.tolerance + TOLERANCE and pair.case_id not in failing
    ]
    if losses:
        yield (
            "case_regressed",
            says(
                "case_regressed",
                count=len(losses),
                tolerance=policy.tolerance,
                losses=_changes(sorted(losses, key=itemgetter(1))),
            ),
        )
    yield from _harm_objection(baseline, candidate)


def _harm_objection(baseline: Arm, candidate: Arm) -> Iterator[Blocker]:
    """Yield which cases do more harm."""
    rises = risen(penalties_of(baseline), penalties_of(candidate))
    if rises:
        changes = [(case_id, now - was) for case_id, was, now in rises]
        said = says("safety_regression.cases", count=len(rises), rises=_changes(changes))
        yield "safety_regression", said


def _changes(changes: Sequence[tuple[str, float]]) -> Listing:
    """Return the first cases with what changed in each, in the order they have."""
    first = [says("case.change", case=listed(case), change=by) for case, by in changes[:3]]
    return Listing(first=tuple(first), more=len(changes) - len(first))


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
    least = 0.5  # as many failures as passes are no majority that fails
    if rule == "any":
        least = 1.0
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
    return sorted(rows, key=lambda row: (row[1] - row[2], row[0]))  # a fall is a negative rise


def margin_objections(figures: Significance, policy: GatePolicy) -> Iterator[Blocker]:
    """Yield that the candidate is worse by more than the margin, or that this was not excluded."""
    margin = policy.margin or 0.0
    level = policy.alpha / 2
    low = figures.delta_ci_low
    high = figures.delta_ci_high
    change = figures.mean_delta
    if low is None or high is None or change is None:
        yield "margin_not_shown", says("margin_not_shown.unbounded")
    elif high < -margin:
        said = says("worse_than_margin", change=change, high=high, alpha=level, margin=margin)
        yield "worse_than_margin", said
    elif not figures.passed:
        yield (
            "margin_not_shown",
            says("margin_not_shown.loss", loss=-low, alpha=level, margin=margin),
        )
        if figures.smallest_margin is not None:
            said = says("margin_not_shown.least", margin=figures.smallest_margin)
            yield "margin_not_shown", said


def cost_objections(figures: Figures, policy: GatePolicy) -> Iterator[Blocker]:
    """Yield that the cost rose by more than is allowed, or that it is not known whether it did."""
    change = figures.cost
    limit = policy.max_cost_increase
    if limit is None:
        return
    if change is None:
        yield "cost_increase", says("cost_increase.unknown")
    elif change.increase is None or change.increase > limit + TOLERANCE:
        said = says("cost_increase.rise", change=change_of_cost(change), allowed=limit)
        yield "cost_increase", said


def change_of_cost(change: Increase) -> Says:
    """Return both means, and the relative change with its interval as far as they are known."""
    before = change.baseline_mean
    after = change.candidate_mean
    if change.increase is None:
        return says("cost.means", before=before, after=after)
    if change.ci_low is None or change.ci_high is None:
        return says("cost.change", before=before, after=after, change=change.increase)
    return says(
        "cost.between",
        before=before,
        after=after,
        change=change.increase,
        low=change.ci_low,
        high=change.ci_high,
    )


def spent(change: Increase) -> str:
    """Return the same as a text."""
    return change_of_cost(change).text
