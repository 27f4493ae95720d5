"""
Accepts what a search found, on cases that the search never sees.

A search that is told how each look at the held cases came out climbs on them, and then no division of alpha helps. Here
it is told one bit. Until the first acceptance all bits are "no", so that what the search tries next does not depend on
the held cases, and K looks at alpha / K err as K looks at candidates that were fixed before.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from benchgate.errors import EvalError, counted
from benchgate.gates.looks import declared_looks, judged_at
from benchgate.gates.policy import VECTOR_DEFAULTS, make_policy
from benchgate.gates.steps import clusters_needed
from benchgate.gates.weigh import weigh_arms
from benchgate.looks.accept import KnownBy, Samples, judge_samples, looked_at_arms, samples_of
from benchgate.looks.tally import LookDecision, Looked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from benchgate.gates.figures import Arm
    from benchgate.looks.ledger import LookLedger


Candidate = TypeVar("Candidate")


class Answer(NamedTuple):
    """All that a search is told: whether its candidate was accepted, the look's number, trials that were run for it."""

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
    :param ledger: counts the looks and keeps what was decided at each.
    :param name: of this search in the ledger: a search that begins again continues its count.
    :raises EvalError: a threshold cannot be used, or too few cases are held back.
    """

    def __init__(
        self,
        cases: Iterable[str] | Mapping[str, str | None],
        measure: Callable[[Candidate, tuple[str, ...]], Samples],
        incumbent: Candidate,
        *,
        policy: Mapping[str, Any],
        ledger: LookLedger,
        confirm: float = 0.5,
        name: str = "search",
    ) -> None:
        self._policy = make_policy({**VECTOR_DEFAULTS, "test": "auto", "min_cases": 10, **policy})
        if not declared_looks(self._policy) or self._policy.claim == "no_regression":
            why = "looks is 'spend:K' for a search, K being the looks it may take, and its claim has an alpha"
            raise EvalError(f"policy: {why}")
        if not 0 < confirm < 1:
            raise EvalError(f"confirm is {confirm!r}; expected a share between 0 and 1")
        self._clusters = _clusters(cases)
        groups = {case: cluster or case for case, cluster in self._clusters.items()}
        held = {case for case in groups if _place(groups[case]) < confirm}
        self._held = tuple(sorted(held))
        self.search = tuple(case for case in groups if case not in held)
        self._check_sizes(len({groups[case] for case in self._held}))
        self._measure = measure
        self._known = KnownBy(name=name)
        self._ledger = ledger
        self.incumbent = incumbent
        self._before: Arm | None = None
        self._cost = 0
        # The name alone: with another case or without one it is the same search.
        at = self._known.at["at"]
        self._series = Looked(**self._known.at, results=(at, at))
        self._lock = threading.Lock()

    def look(self, candidate: Candidate) -> Answer:
        """
        Measure a candidate on the held cases, and accept it or not.

        :raises EvalError: :meth:`details` was called, or a score is missing or no number.
        """
        with self._lock:
            # It raises if details() ended this search: then nothing is measured any more.
            self._ledger.has(self._series)
            if self._before is None:
                self._before = self._arm(self.incumbent)
            after = self._arm(candidate)
            sides = (self._before, after)
            policy = self._policy
            decided = judge_samples(sides, policy, self._ledger, self._known)
            decision = LookDecision.of(decided, self._cost)
            looked = looked_at_arms(*sides, policy, self._known)
            # The look was counted before it was judged. Added again with its decision, it keeps its number.
            look = self._ledger.add(looked.model_copy(update={"decision": decision})).look
            self._cost = 0
            if decision.promotion_allowed:
                self.incumbent = candidate
                self._before = after
            return Answer(decision.promotion_allowed, look.number, decision.cost)

    def more_cases(self, before: Samples, after: Samples) -> int | None:
        """Return how many more held cases would show the ``target_effect``, by scores of the search's own cases."""
        if not {*before, *after} <= {*self.search}:
            raise EvalError("more_cases: expected scores by the ids of the search's own cases")
        sides = (self._side(before, "before"), self._side(after, "after"))
        figures, _ = weigh_arms(*sides, judged_at(self._policy, 1))
        needed = figures.significance.cases_needed
        if needed is None:
            return None
        return max(0, needed - len(self._held))

    def details(self) -> tuple[LookDecision, ...]:
        """Return the decision at each look with its figures, and end the search: a further look is refused."""
        self._ledger.add(self._series.model_copy(update={"over": True}))
        looks = self._ledger.looks_of(self._series)
        return tuple(look.decision for look in looks if look.decision is not None)

    def _arm(self, candidate: Candidate) -> Arm:
        scores = self._measure(candidate, self._held)
        if not isinstance(scores, Mapping) or scores.keys() != set(self._held):
            raise EvalError(
                "measure: expected a score for each case that it was given, and no other"
            )
        arm = self._side(scores, "measure")
        self._cost += sum(map(len, arm.rows))
        return arm

    def _side(self, scores: Samples, name: str) -> Arm:
        arm = samples_of(scores, name)
        clusters = tuple(self._clusters[case] for case in arm.case_ids or ())
        if not any(clusters):
            return arm
        return replace(arm, clusters=clusters)

    def _check_sizes(self, clusters: int) -> None:
        there = f"{counted(len(self._held), 'case')} in {counted(clusters, 'cluster')} held back"
        # The signs of fewer have no p below .05, or none below the level of a look.
        least = max(6, clusters_needed(judged_at(self._policy, 1)))
        if clusters < least:
            needed = f"at least {least} are needed, of one case or more each"
            raise EvalError(f"{there}; {needed}: raise confirm, declare fewer looks, or add cases")
        if not self.search:
            raise EvalError(f"{there}, and none is left to search on: lower confirm")


def _clusters(cases: Iterable[str] | Mapping[str, str | None]) -> dict[str, str | None]:
    """Return the cluster of each case."""
    if isinstance(cases, Mapping):
        rows = list(cases.items())
    else:
        rows = [(case, None) for case in cases]
    names = [name for row in rows for name in row if name is not None]
    # A text is iterable too, and each of its characters would be a case.
    if isinstance(cases, str) or not all(isinstance(name, str) and name for name in names):
        raise EvalError("cases: expected ids and names of clusters, each of them a text")
    if len(dict(rows)) < len(rows):
        raise EvalError("cases: an id is there more than once")
    return dict(rows)


def _place(name: str) -> float:
    """Return where a name lies in [0, 1) by its SHA-256: the same wherever and however often it is asked."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:6], "big") / 2**48
