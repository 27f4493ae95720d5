"""
Accepts what a search found, on cases that the search never sees.

A search that is told how each look at the held cases came out climbs on them, and then no division of alpha helps. Here
it is told one bit. Until the first acceptance all bits are "no", so that what the search tries next does not depend on
the held cases, and K looks at alpha / K err as K looks at candidates that were fixed before.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

from benchgate.errors import EvalError, counted
from benchgate.gates.looks import declared_looks, judged_at
from benchgate.gates.policy import VECTOR_DEFAULTS, make_policy
from benchgate.gates.vectors import Judged, compare_vectors, weigh_arms
from benchgate.looks.accept import Samples, number_of_arms, samples_of
from benchgate.looks.ledger import LookLedger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from benchgate.gates.figures import Arm


Candidate = TypeVar("Candidate")

FEWEST_CLUSTERS: Final = 6
"""With fewer, the signs of all of them for the candidate have no p below .05."""


class Answer(NamedTuple):
    """All that a search is told: whether its candidate was accepted, the look's number, cases measured for it."""

    accepted: bool
    look: int
    cost: int


class Acceptor(Generic[Candidate]):
    """
    Accepts candidates of a search on cases that are held back from it.

    :param cases: ids; or the cluster of each id, ``None`` for a case without one. A cluster lies whole on one side.
    :param measure: takes a candidate and case ids, and returns a score, or scores of trials, for each id.
    :param incumbent: what the first candidate is compared with; an accepted candidate takes its place.
    :param confirm: share of the clusters that are held back, by the SHA-256 of their names.
    :param policy: thresholds by key, with the defaults of vectors; ``looks = "spend:K"`` is required.
    :param ledger: counts the looks; by default in memory.
    :param name: of this search in the ledger: a search that is begun again goes on with its count.
    :raises EvalError: a threshold cannot be used, or too few cases are held back.
    """

    def __init__(
        self,
        cases: Iterable[str] | Mapping[str, str | None],
        measure: Callable[[Candidate, tuple[str, ...]], Samples],
        incumbent: Candidate,
        *,
        policy: Mapping[str, Any],
        confirm: float = 0.5,
        ledger: LookLedger | None = None,
        name: str = "search",
    ) -> None:
        self._policy = make_policy({**VECTOR_DEFAULTS, "test": "auto", "min_cases": 10, **policy})
        if not declared_looks(self._policy):
            raise EvalError(
                "policy: looks is 'spend:K' for a search, K being the looks it may take"
            )
        if not 0 < confirm < 1:
            raise EvalError(f"confirm is {confirm!r}; expected a share between 0 and 1")
        self._clusters = dict(cases) if isinstance(cases, Mapping) else dict.fromkeys(cases)
        if isinstance(cases, str) or not all(isinstance(case, str) for case in self._clusters):
            raise EvalError("cases: expected ids, each of them a text")
        held = {case for case in self._clusters if _place(self._cluster(case)) < confirm}
        self._held = tuple(sorted(held))
        self.search = tuple(case for case in self._clusters if case not in held)
        self._check_sizes()
        self._measure, self._name, self._ledger = measure, name, ledger or LookLedger()
        self.incumbent = incumbent
        self._before: Arm | None = None
        self._seen: list[Judged] = []
        self._is_over = False

    def look(self, candidate: Candidate) -> Answer:
        """
        Measure a candidate on the held cases, and accept it or not.

        :raises EvalError: :meth:`details` was called, or a score is missing or no number.
        """
        if self._is_over:
            raise EvalError("details() ended this search: what it told would be searched on")
        cost = len(self._held)
        if self._before is None:
            self._before, cost = self._arm(self.incumbent), 2 * cost
        after = self._arm(candidate)
        number = number_of_arms(self._before, after, self._policy, self._ledger, self._name)
        judged = compare_vectors(self._before, after, self._policy, look=number)
        self._seen.append(judged)
        accepted = judged.decision.promotion_allowed
        if accepted:
            self.incumbent, self._before = candidate, after
        return Answer(accepted, number or 1, cost)

    def more_cases(self, before: Samples, after: Samples) -> int | None:
        """Return how many more held cases would show the ``target_effect``, by scores of the search's own cases."""
        sides = samples_of(before, "before"), samples_of(after, "after")
        figures, _ = weigh_arms(*sides, judged_at(self._policy, 1))
        needed = figures.significance.cases_needed
        return None if needed is None else max(0, needed - len(self._held))

    def details(self) -> tuple[Judged, ...]:
        """Return figures and decision of each look, and end the search: a further look is refused."""
        self._is_over = True
        return tuple(self._seen)

    def _arm(self, candidate: Candidate) -> Arm:
        scores = self._measure(candidate, self._held)
        if not isinstance(scores, Mapping) or scores.keys() != set(self._held):
            raise EvalError(
                "measure returned no score for each of the cases that it was given, and no other"
            )
        arm = samples_of(scores, "measure")
        clusters = tuple(self._clusters[case] for case in self._held)
        return replace(arm, clusters=clusters if any(clusters) else None)

    def _cluster(self, case: str) -> str:
        cluster = self._clusters[case]
        return case if cluster is None else cluster

    def _check_sizes(self) -> None:
        clusters = {self._cluster(case) for case in self._held}
        cases, least = len(self._held), self._policy.min_cases
        there = f"{counted(cases, 'case')} in {counted(len(clusters), 'cluster')} held back"
        if cases < least or len(clusters) < FEWEST_CLUSTERS:
            needed = f"at least {counted(least, 'case')} and {FEWEST_CLUSTERS} clusters are needed"
            raise EvalError(f"{there}; {needed}: raise confirm, or add cases")
        if not self.search:
            raise EvalError(f"{there}, and none is left to search on: lower confirm")


def _place(name: str) -> float:
    """Return where a name lies in [0, 1) by its SHA-256: the same wherever and however often it is asked."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:6], "big") / 2**48
