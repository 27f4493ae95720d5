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
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from benchgate.gates.case_labels import LabelChange
from benchgate.gates.figures import CaseFacts
from benchgate.gates.policy import LOOKS
from benchgate.sentences.says import says
from benchgate.wire.model import Count, Name, NonNegative, Number, Sha256, Text, WireModel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.gates.figures import Figures
    from benchgate.gates.policy import GatePolicy
    from benchgate.sentences.says import Says


class SeenCase(CaseFacts):
    """
    One case of a side with its facts, as it was at an earlier look.

    :param scores: of its trials.
    :param penalty: mean safety penalty of its scored trials; ``None`` if none was measured.
    """

    case_id: Text
    scores: tuple[Number, ...]
    penalty: NonNegative | None
    cluster: Name | None = Field(default=None, exclude_if=lambda name: name is None)


KnownBy = Literal["name", "file", "system", "pin"]
"""What a baseline is known by, so that looks at it are counted together."""


class Look(WireModel):
    """
    A comparison with a baseline, as one of a series of them.

    :param number: 1 for the first; a candidate whose results were seen before has the number that it had then.
    :param declared: how the first look of the series said that alpha is divided, as ``looks`` of a policy; left out if
        it only counts.
    :param relabelled: what was labelled otherwise at the last look at the same results.
    :param new_series: why a person began this series, in which the looks before it do not count; left out if nobody
        did. ``uncounted`` is how many these are.
    """

    number: Annotated[Count, Field(ge=1)]
    declared: Annotated[str, Field(pattern=LOOKS)] = Field(
        default="count", exclude_if=lambda looks: looks == "count"
    )
    relabelled: tuple[LabelChange, ...] = Field(default=(), exclude_if=lambda changes: not changes)
    new_series: Text | None = Field(default=None, exclude_if=lambda reason: reason is None)
    uncounted: Count = Field(default=0, exclude_if=lambda count: count == 0)


class RecordedLook(Look):
    """
    A look as a fact: all that was counted and read of the looks before it.

    :param series: digest of what the baseline was known by at the first look of the series; ``known_by`` says what
        that is, and is ``None`` if an older version wrote that look.
    :param seen: the cases of the baseline of earlier looks that are gone now, or are no longer what they were, each as
        it was at the look that had it first.
    :param known: of those, the cases that the candidate lacks now, with the last results that its system had there.
    """

    series: Sha256
    known_by: KnownBy | None
    seen: tuple[SeenCase, ...] = Field(default=(), exclude_if=lambda cases: not cases)
    known: tuple[SeenCase, ...] = Field(default=(), exclude_if=lambda cases: not cases)


class JudgedLook(Look):
    """
    What a decision says of its look: the look, and what follows from it.

    :param alpha: two-sided level of this look.
    :param chance: largest probability that so many worthless candidates had a promotion among them, if none of them
        depended on earlier looks.
    :param can_promote: whether the best scores that there can be would be promoted at this level.
    :param over_seen: the outcome over the cases of all looks, if some are gone now, or are no longer what they were.
    """

    alpha: Number
    chance: Number
    can_promote: bool
    over_seen: str | None = Field(default=None, exclude_if=lambda outcome: outcome is None)


def number_of(look: Look | None) -> int | None:
    """Return the number of a look that there may be."""
    if look is None:
        return None
    return look.number


def spent_alpha(alpha: float, number: int) -> float:
    """
    Return the level of a look where alpha is spent over all of them.

    :param alpha: two-sided level of all looks together, in (0, 1).
    :param number: of the look, from 1.
    """
    return alpha * 6.0 / (math.pi * number) ** 2


def look_objection(policy: GatePolicy, look: Look | None) -> Iterator[tuple[str, Says]]:
    """Yield why nothing is promoted at a look, whatever the scores are."""
    if look is None:
        return
    if look.declared != policy.looks and "spend:" in look.declared + policy.looks:
        said = says("looks_mismatch", declared=look.declared, stated=policy.looks)
        yield "looks_mismatch", said
    declared = declared_looks(policy)
    if declared is not None and look.number > declared:
        said = says("looks_exhausted", number=look.number, declared=policy.looks)
        yield "looks_exhausted", said


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


def make_look(
    policy: GatePolicy, look: Look, figures: Figures, over_seen: str | None
) -> JudgedLook:
    """
    Return what a decision says of its look.

    :param policy: as it was stated, with the level of all looks.
    """
    level = judged_at(policy, look.number).alpha
    declared = declared_looks(policy)
    is_over = declared is not None and look.number > declared
    return JudgedLook(
        number=look.number,
        declared=look.declared,
        relabelled=look.relabelled,
        new_series=look.new_series,
        uncounted=look.uncounted,
        alpha=level,
        chance=series_chance(policy, look.number),
        can_promote=not is_over and can_promote(policy, level, figures),
        over_seen=over_seen,
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


def another_look(policy: GatePolicy, number: int) -> Says:
    """
    Return what one more look at the baseline costs.

    :param policy: as it was stated, with the level of all looks.
    :param number: of the look that there was, 1 if nobody counts.
    """
    later = number + 1
    declared = declared_looks(policy)
    if declared is not None:
        if later > declared:
            return says("look.beyond", number=later, declared=declared)
        return says("look.declared", number=later, declared=declared)
    if policy.looks == "spend":
        return says("look.spent", number=later, alpha=spent_alpha(policy.alpha, later))
    chance = series_chance(policy, later)
    if number > 1:
        return says("look.later", number=later, chance=chance)
    return says("look.second", chance=chance, declared=policy.alpha / 2)


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
