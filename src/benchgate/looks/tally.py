"""The number of a look: how many different results one baseline was compared with before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from benchgate.errors import EvalError
from benchgate.gates.case_labels import has_grown, relabelled
from benchgate.gates.decision import PREFIX, CheckpointPromotionDecision
from benchgate.gates.looks import KnownBy, RecordedLook
from benchgate.wire.model import Count, Number, Sha256, Text, WireModel, empty_mapping

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from benchgate.gates.case_labels import LabelChange, Labels
    from benchgate.gates.decide import Decided


Results = tuple[Sha256, Sha256]
Seen = tuple[Results, tuple[tuple[str, str, str], ...]]
"""What makes a look one of its own, of those at one baseline."""


class LookDecision(CheckpointPromotionDecision):
    """
    The decision at a look, with the figures that a loop needs.

    :param cost: trials that were run for this look: the candidate's; in an Acceptor the first incumbent's too.
    :param delta: the candidate's mean score minus the baseline's; no figure is there if nothing was compared.
    :param interval: of the difference, at 1 - alpha of the look; an end is ``None`` where there is none.
    :param p: two-sided, of the test that decides.
    """

    cost: Count
    delta: Number | None = None
    interval: tuple[Number | None, Number | None] = (None, None)
    p: Number | None = None

    @property
    def reasons(self) -> tuple[str, ...]:
        """The codes of the reasons without the prefix that they have in files."""
        return tuple(code.removeprefix(PREFIX) for code in self.reason_codes)

    @classmethod
    def of(cls, decided: Decided, cost: int) -> LookDecision:
        """Return a decision with its figures."""
        found = dict(decided.decision)
        if decided.figures is not None:
            seen = decided.figures.significance
            found["delta"] = seen.mean_delta
            found["interval"] = (seen.delta_ci_low, seen.delta_ci_high)
            found["p"] = seen.p_value
        return cls(**found, cost=cost)


class Looked(WireModel):
    """
    Which baseline was looked at, and the digests of the results of both sides.

    A baseline is known by its name, by the path of its file, by the digest of a system that ran beside the candidate,
    or by the system and the rubric of a pinned run. Which cases were compared plays no part.

    :param at: digest of what the baseline is known by; ``by`` says what that is, and is ``None`` in what an older
        version wrote, which knew baselines otherwise.
    :param results: the digests of both sides.
    :param alike: digests of the baseline's results, or of its bytes: it is the same baseline if it has one of them.
    :param becomes: that digest of the candidate: what the baseline is alike once the candidate has become it.
    :param promoted: the candidate was promoted at this look.
    :param new_series: why a person began a new series of looks at this baseline.
    :param looks: how alpha is divided: if by ``spend:K``, the first look of a series says so for all.
    :param decision: that of an Acceptor, which its search is not told.
    :param labels: of the cases, as :mod:`benchgate.gates.run_diff` has them; with others this is another look.
    :param relabelled: the first have changed since the pin, which counts as a look, as each change does.
    :param folder: of the record that says so.
    :param over: this is no look: it ends the series, for its decisions were shown.
    """

    at: Sha256
    results: Results
    by: KnownBy | None = None
    alike: Sha256 | None = None
    becomes: Sha256 | None = None
    promoted: bool = False
    new_series: Text | None = None
    looks: str = "count"
    decision: LookDecision | None = None
    labels: Mapping[str, Mapping[str, str]] = Field(default_factory=empty_mapping)
    relabelled: bool = False
    folder: Path | None = None
    over: bool = False

    @cached_property
    def seen(self) -> Seen:
        """What makes this a look of its own, of those at the same baseline."""
        labels = [
            (label, case_id, value)
            for label, cases in self.labels.items()
            for case_id, value in cases.items()
        ]
        return self.results, tuple(sorted(labels))

    @property
    def keys(self) -> Iterator[str]:
        """What the series of this look is found by, first what says most exactly which baseline it is."""
        if self.alike is not None:
            yield self.alike
        yield self.at


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """
    A look as it was counted, and where the earlier ones of its series are recorded.

    :param look: without cases of earlier looks, which nobody has read yet: :mod:`benchgate.looks.seen_cases`.
    :param earlier: folders of the earlier looks.
    :param unlike: of those, folders of looks that had other cases, labels or results of the baseline.
    """

    look: RecordedLook
    earlier: tuple[Path, ...] = ()
    unlike: tuple[Path, ...] = ()


class Series:
    """
    The looks at one baseline, in their order.

    It ends when a candidate that it promoted becomes the baseline, or when a person begins a new one.

    :param reason: why a person began it; ``None`` if nobody did.
    :param uncounted: the looks at this baseline before that.
    :param others: the series at this baseline by their reasons: one that was begun once is not begun again.
    :param after: how many looks by an older version, at whatever baseline, do not count because it began after them.
    """

    def __init__(
        self,
        reason: str | None = None,
        *,
        uncounted: int = 0,
        others: dict[str | None, Series] | None = None,
        after: int = 0,
    ) -> None:
        self.reason = reason
        self.uncounted = uncounted
        if others is None:
            others = {}
        self.others = others  # not a copy: all series at this baseline share it
        self.after = after
        self.looks: dict[Seen, Looked] = {}
        self.numbers: dict[Seen, int] = {}
        self.promoted: set[str] = set()

    def length(self, *more: Looked) -> int:
        """Return how many looks it has, if there are more than it knows; a change of labels counts as one."""
        looks = [*self.looks.values(), *more]
        count = len(looks)
        if looks and looks[0].relabelled:
            count += 1
        known: list[Labels] = []
        for look in looks:
            if look.labels in known:
                continue
            # New cases alone cost no more than the look at them: nobody has seen how the candidate does on them.
            if known and not has_grown(known[-1], look.labels):
                count += 1
            known.append(look.labels)
        return count

    @property
    def old(self) -> int:
        """How many of its looks an older version wrote."""
        return sum(look.by is None for look in self.looks.values())


class Tally:
    """
    Counts looks in their order.

    :param unknown: looks of which nothing is known; they count for everything that is looked at.
    """

    def __init__(self) -> None:
        self.unknown = 0
        self._old = 0
        self._is_over = False
        self._series: dict[str, Series] = {}

    def number(self, looked: Looked) -> Counted:
        """Return a look with the number that it has or would have; results that were seen have their first number."""
        series = self._series_of(looked)
        seen = series.looks
        count = series.length(looked) + self.unknown
        if looked.by is not None:
            # Looks by an older version may have been looks at this baseline.
            count += max(0, self._old - series.old - series.after)
        first = next(iter(seen.values()), looked)
        return Counted(
            look=RecordedLook(
                number=series.numbers.get(looked.seen, count),
                declared=first.looks,
                relabelled=_relabelled(seen, looked),
                new_series=series.reason,
                uncounted=series.uncounted,
                series=first.at,
                known_by=first.by,
            ),
            earlier=tuple(one.folder for one in seen.values() if one.folder is not None),
            unlike=tuple(_unlike(seen.values(), looked)),
        )

    def looks_of(self, looked: Looked) -> tuple[Looked, ...]:
        """Return the looks of the series that a look belongs to."""
        return tuple(self._series_of(looked).looks.values())

    def has(self, looked: Looked) -> bool:
        """
        Whether this was added before.

        :raises EvalError: the series is over, so that it gets no further look.
        """
        if self._is_over:
            # Of such a line nobody knows which search it ended.
            why = "an older version ended a search in this ledger; begin another ledger"
            raise EvalError(why)
        seen = self._series_of(looked).looks
        if seen and next(reversed(seen.values())).over and not looked.over:
            raise EvalError("details() ended this search: what it told would be searched on")
        there = seen.get(looked.seen)
        if there is None:
            return False
        # A look is added again when more is known of it: its decision, or that its candidate was promoted.
        adds_decision = looked.decision is not None and there.decision is None
        adds_promotion = looked.promoted and not there.promoted
        return not (adds_decision or adds_promotion)

    def add(self, looked: Looked) -> Counted:
        """Count a look."""
        counted = self.number(looked)
        series = self._series_of(looked)
        is_new = looked.seen not in series.looks
        series.others[series.reason] = series
        series.numbers.setdefault(looked.seen, counted.look.number)
        series.looks[looked.seen] = looked
        if looked.promoted and looked.becomes is not None:
            series.promoted.add(looked.becomes)
        for key in looked.keys:
            self._series[key] = series
        if looked.by is None and looked.over:
            self._is_over = True
        elif looked.by is None and is_new:
            self._old += 1
        return counted

    def _series_of(self, looked: Looked) -> Series:
        """Return the series that a look belongs to, which may be a new one."""
        found = next((self._series[key] for key in looked.keys if key in self._series), None)
        if found is None:
            found = Series()
            if any(looked.alike in series.promoted for series in self._series.values()):
                # A candidate of another series became this baseline: older looks cannot have been at it.
                found = Series(after=self._old)
        elif looked.alike in found.promoted:
            # A candidate of this very series became the baseline, which ends the series.
            found = Series(after=self._old)
        if looked.new_series is None:
            return found
        if looked.new_series in found.others:
            return found.others[looked.new_series]
        uncounted = found.uncounted + found.length()
        return Series(looked.new_series, uncounted=uncounted, others=found.others, after=self._old)


def _relabelled(seen: dict[Seen, Looked], looked: Looked) -> tuple[LabelChange, ...]:
    """Return what was labelled otherwise at the last look at the same results that had other labels."""
    for one in reversed(seen.values()):
        if one.results[1] == looked.results[1] and one.labels != looked.labels:
            return relabelled(one.labels, looked.labels)
    return ()


def _unlike(seen: Iterable[Looked], looked: Looked) -> Iterator[Path]:
    """Yield the folders of looks with other cases, labels or results of the baseline; the first of those that agree."""
    if looked.by == "file":  # of a log, a part of the rows may be another question
        return
    known = [_compared(looked)]
    for one in seen:
        if one.folder is not None and _compared(one) not in known:
            known.append(_compared(one))
            yield one.folder


def _compared(looked: Looked) -> tuple[str | None, Labels]:
    if looked.by == "system":
        return None, looked.labels  # a baseline that runs too has other results each time
    return looked.results[0], looked.labels
