"""
How often one baseline was looked at, and what that does to the level of a look.

The more candidates are tried against one baseline, the likelier one of them passes by luck. With ``looks = "spend"``
the k-th look has the level alpha * 6 / (pi**2 * k**2). These sum to alpha over any number of looks. So if no candidate
depends on what earlier looks showed, and none is worth it, one of them is promoted with a probability of at most
alpha / 2, however long the series is and whenever it stops (by Boole's inequality; alpha spending with weights of a
convergent series, Foster and Stine 2008). With ``spend:K`` each of K looks has alpha / K, and everything holds after
them. A search that builds candidates from what earlier looks said of each case errs more often: 15 % was measured
(docs/how-to/search-in-a-loop.md); :mod:`benchgate.looks.acceptor` is for those.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from benchgate.wire.model import Count, Number, Text, WireModel

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchgate.gates.figures import Figures
    from benchgate.gates.policy import GatePolicy


class LookNumber(int):
    """
    Number of a look as it was counted.

    :param otherwise: how the first look of the series said that alpha is divided, if this one says it otherwise.
    :param relabelled: how cases were labelled otherwise at the last look at the same results.
    :param over_seen: the outcome over the cases of all looks, if some are gone now, or are no longer what they were.
    :param new_series: why a person began the series that this look is of; ``uncounted`` are the looks before that.
    :param earlier: folders of the earlier looks.
    :param unlike: of those, folders of looks that had other cases, labels or results of the baseline.
    """

    otherwise: str | None = None
    relabelled: tuple[str, ...] = ()
    over_seen: str | None = None
    new_series: str | None = None
    uncounted: int = 0
    earlier: tuple[Path, ...] = ()
    unlike: tuple[Path, ...] = ()


class Look(WireModel):
    """
    A comparison with a baseline, as one of a series of them.

    :param number: 1 for the first; a candidate whose results were seen before has the number that it had then.
    :param alpha: two-sided level of this look.
    :param chance: largest probability that so many worthless candidates had a promotion among them, if none of them
        depended on earlier looks.
    :param relabelled: how cases were labelled otherwise at the last look at the same results, each with both values.
    :param over_seen: the outcome over the cases of all looks, if some are gone now, or are no longer what they were.
    :param can_promote: whether the best scores that there can be would be promoted at this level.
    :param new_series: why a person began this series, in which the looks before it do not count; left out if nobody
        did. ``uncounted`` is how many these are.
    """

    number: Annotated[Count, Field(ge=1)]
    alpha: Number
    chance: Number
    can_promote: bool
    relabelled: tuple[Text, ...] = Field(default=(), exclude_if=lambda texts: not texts)
    over_seen: str | None = Field(default=None, exclude_if=lambda outcome: outcome is None)
    new_series: Text | None = Field(default=None, exclude_if=lambda reason: reason is None)
    uncounted: Count = Field(default=0, exclude_if=lambda count: count == 0)


def number_of(look: Look | None) -> LookNumber | None:
    """Return the number of a look that there may be."""
    if look is None:
        return None
    number = LookNumber(look.number)
    number.relabelled = look.relabelled
    number.over_seen = look.over_seen
    number.new_series = look.new_series
    number.uncounted = look.uncounted
    return number


def spent_alpha(alpha: float, number: int) -> float:
    """
    Return the level of a look where alpha is spent over all of them.

    :param alpha: two-sided level of all looks together, in (0, 1).
    :param number: of the look, from 1.
    """
    return alpha * 6.0 / (math.pi * number) ** 2


def look_objection(policy: GatePolicy, number: int | None) -> Iterator[tuple[str, str]]:
    """Yield why nothing is promoted at a look, whatever the scores are."""
    declared = declared_looks(policy)
    if isinstance(number, LookNumber) and number.otherwise is not None:
        first = f"the first look at this baseline declared looks = {number.otherwise}"
        yield "looks_mismatch", f"{first}, this one {policy.looks}"
    if number is not None and declared is not None and number > declared:
        text = f"this is look {number}, and the first declared looks = {policy.looks}"
        yield "looks_exhausted", text


def declared_looks(policy: GatePolicy) -> int | None:
    """Return the K of ``spend:K``."""
    if not policy.looks.startswith("spend:"):
        return None
    return int(policy.looks.removeprefix("spend:"))


def judged_at(policy: GatePolicy, number: int | None) -> GatePolicy:
    """Return the policy with the level that a look has; ``None`` is a comparison that is no look."""
    if policy.looks == "count" or number is None:
        return policy
    declared = declared_looks(policy)
    if declared is not None:
        level = policy.alpha / declared
    else:
        level = spent_alpha(policy.alpha, number)
    return policy.model_copy(update={"alpha": level})


def make_look(policy: GatePolicy, number: int, figures: Figures) -> Look:
    """
    Return what a decision says of its look.

    :param policy: as it was stated, with the level of all looks.
    """
    level = judged_at(policy, number).alpha
    declared = declared_looks(policy)
    is_over = declared is not None and number > declared
    return Look(
        number=number,
        relabelled=getattr(number, "relabelled", ()),
        over_seen=getattr(number, "over_seen", None),
        new_series=getattr(number, "new_series", None),
        uncounted=getattr(number, "uncounted", 0),
        alpha=level,
        chance=series_chance(policy, number),
        can_promote=not is_over and can_promote(policy, level, figures),
    )


def series_chance(policy: GatePolicy, number: int) -> float:
    """
    Return a bound of the probability that one of the first looks promoted, if no candidate is worth it.

    No candidate may depend on earlier looks either. Of looks at a fixed level it is that of independent ones, which is
    the largest: that they share a baseline makes them agree (Sidak 1967). Looks that spend alpha are simply added up.
    """
    half = policy.alpha / 2
    if policy.looks == "count":
        return -math.expm1(number * math.log1p(-half))
    declared = declared_looks(policy)
    if declared is not None:
        return half * min(number / declared, 1.0)
    return math.fsum(spent_alpha(half, k) for k in range(1, number + 1))


def another_look(policy: GatePolicy, number: int) -> str:
    """
    Return what one more look at the baseline costs.

    :param policy: as it was stated, with the level of all looks.
    :param number: of the look that there was, 1 if nobody counts.
    """
    later = number + 1
    declared = declared_looks(policy)
    if declared is not None:
        if later > declared:
            return (
                f"but it would be look {later}, and {declared} were declared: it promotes nothing"
            )
        return f"it would be look {later} of the {declared} that were declared"
    if policy.looks == "spend":
        return f"it would be look {later}, whose level is {spent_alpha(policy.alpha, later):.2g}"
    chance = series_chance(policy, later)
    if number > 1:
        return f"with look {later} the chance of a promotion by luck is up to {chance:.1%} in all"
    text = f"a second look raises the chance of a promotion by luck to at most {chance:.1%}"
    return f"{text}, or {policy.alpha / 2:.1%} if looks = spend:2 was declared before the first"


def can_promote(policy: GatePolicy, level: float, figures: Figures) -> bool:
    """
    Return whether some scores of so many cases would pass at a level.

    The smallest two-sided p that n pairs can have is 2 * 2**-n, where the signs of all are for the candidate. With a
    margin it is 2 * ((1 - margin / w) / 2)**n, for differences up to the width w of the range: where every case gains
    all of it, this is the level at which the lower bound of the difference reaches -margin. Nothing limits two samples.
    """
    clusters = figures.significance.clusters
    is_limited = figures.significance.paired is not None and policy.test != "welch"
    if not is_limited or (policy.margin and clusters is not None):
        return True
    share = 0.0
    if policy.margin is not None and policy.width is not None:
        share = policy.margin / policy.width
    pairs = clusters
    if pairs is None:
        pairs = figures.compared
    return bool(2.0 * ((1.0 - share) / 2.0) ** pairs <= level)
