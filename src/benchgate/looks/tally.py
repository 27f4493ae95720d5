"""The number of a look: how many different results one thing was compared with before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchgate.errors import EvalError
from benchgate.gates.decision import PREFIX, CheckpointPromotionDecision, Remark
from benchgate.gates.looks import LookNumber
from benchgate.wire.canonical import digest
from benchgate.wire.model import Count, Number, Sha256, WireModel

if TYPE_CHECKING:
    from typing import Any

    from benchgate.gates.figures import Figures


Results = tuple[Sha256, Sha256]
MANY_BASELINES: Final = 20


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
    def of(
        cls,
        figures: Figures | None,
        decision: CheckpointPromotionDecision,
        cost: int,
        look: LookNumber | None = None,
    ) -> LookDecision:
        """Return a decision with its figures, and a note if very many baselines were at look 1 on these cases."""
        found = dict(decision)
        if look == 1 and look.baselines >= MANY_BASELINES:
            text = f"{look.baselines} baselines were compared on these cases, and each began a new count"
            note = Remark(code="note_many_baselines", message=text)
            found |= {"notes": (*decision.notes, note.code), "remarks": (*decision.remarks, note)}
        if figures is not None:
            seen = figures.significance
            found["interval"] = (seen.delta_ci_low, seen.delta_ci_high)
            found |= {"delta": seen.mean_delta, "p": seen.p_value}
        return cls(**found, cost=cost)


class Looked(WireModel):
    """
    What was looked at, see :func:`digest_of_look`, and the digests of the results of both sides.

    :param looks: how alpha is divided: if by ``spend:K``, the first look of a series says so for all.
    :param cases: digest of the cases alone, where somebody asks how many baselines they were compared with.
    :param decision: that of an Acceptor, which its search is not told.
    :param over: this is no look: it ends the series, for its decisions were shown.
    """

    at: Sha256
    results: Results
    looks: str = "count"
    cases: Sha256 | None = None
    decision: LookDecision | None = None
    over: bool = False


def digest_of_look(cases: Any, rubric: str | None, baseline: str | None) -> str:
    """Return the digest of what is looked at: cases, what scores them, and a baseline, by its results or its name."""
    return digest([cases, rubric, baseline])


class Tally:
    """
    Counts looks in their order.

    :param unknown: looks of which nothing is known; they count for everything that is looked at.
    """

    def __init__(self) -> None:
        self.unknown = 0
        self._seen: dict[str, dict[Results, int]] = {}
        self._declared: dict[str, str] = {}
        self._baselines: dict[str | None, set[str]] = {}
        self._decisions: dict[str, dict[Results, LookDecision]] = {}
        self._over: set[str] = set()

    def number(self, looked: Looked) -> LookNumber:
        """Return the number that a look has or would have; results that were seen have that of the first time."""
        seen = self._seen.get(looked.at, {})
        number = LookNumber(seen.get(looked.results, len(seen) + 1 + self.unknown))
        number.baselines = len(self._baselines.get(looked.cases, ()))
        first = self._declared.get(looked.at, looked.looks)
        if first != looked.looks and "spend:" in first + looked.looks:
            number.otherwise = first
        return number

    def check(self, at: str) -> None:
        """Raise an :class:`EvalError` if a series is over: it gets no further look."""
        if at in self._over:
            raise EvalError("details() ended this search: what it told would be searched on")

    def has(self, looked: Looked) -> bool:
        """Whether this was added before; :meth:`check` is asked first."""
        if looked.over:
            return looked.at in self._over
        self.check(looked.at)
        there = self._seen if looked.decision is None else self._decisions
        return looked.results in there.get(looked.at, {})

    def decisions(self, at: str) -> tuple[LookDecision, ...]:
        """Return the decisions of a series, in the order of its looks."""
        return tuple(self._decisions.get(at, {}).values())

    def add(self, looked: Looked) -> LookNumber:
        """Count a look, and return its number."""
        number = self.number(looked)
        if looked.over:
            self._over.add(looked.at)
            return number
        self._declared.setdefault(looked.at, looked.looks)
        self._seen.setdefault(looked.at, {}).setdefault(looked.results, number)
        self._baselines.setdefault(looked.cases, set()).add(looked.at)
        if looked.decision is not None:
            self._decisions.setdefault(looked.at, {})[looked.results] = looked.decision
        return number
