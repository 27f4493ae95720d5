"""
What facts come to together: the sides of a comparison, and the figures of each of its variants.

A decision asks how things stand, and then whether that still holds if something that nobody knows were otherwise. Each
such variant has a name here. Its figures are made when a condition first asks for them, and kept: to weigh 10,000 cases
takes two seconds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, Self

from benchgate.gates.baseline import arm, compared_with
from benchgate.gates.blockers import baseline_blockers, how_to_observe, run_blockers
from benchgate.gates.certificate import certificate, ordered
from benchgate.gates.cures import cure
from benchgate.gates.facts import RunFacts, VectorFacts
from benchgate.gates.labels import agreement
from benchgate.gates.looks import judged_at, look_objection, number_of
from benchgate.gates.missing import counted_as_best, without_new
from benchgate.gates.observer_noise import observer_noise
from benchgate.gates.over_seen import over_seen
from benchgate.gates.run_diff import relabelled_note, since_pin
from benchgate.gates.run_notes import run_notes
from benchgate.gates.unscored import too_many, unscored_baseline, unscored_candidate
from benchgate.gates.weigh import p_of_loss, weigh, weigh_arms
from benchgate.gates.worst import against_candidate, unscored
from benchgate.sentences.says import clauses, says

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from benchgate.gates.case_labels import LabelChange
    from benchgate.gates.decision import Blocker, Remark
    from benchgate.gates.facts import Facts
    from benchgate.gates.figures import Arm, Figures
    from benchgate.gates.looks import Look
    from benchgate.gates.policy import GatePolicy
    from benchgate.gates.run_side import BaselineFacts, RunSide
    from benchgate.models import BenchRunReport
    from benchgate.sentences.says import Says


AGAINST: Final = frozenset({"case_regressed", "newly_failing_cases", "critical_case_regressed"})
"""Reasons of a certificate that single results give: no later one takes them back, so the decision has them too."""

OF_A_LOOK: Final = ("facts", "judged", "blockers", "over_seen")
"""Attributes that depend on the look itself, not only on its level: a comparison at another look makes them again."""


class Comparison(ABC):
    """
    A comparison of two sides: :class:`VectorComparison` or :class:`RunComparison`.

    :param advice: with those figures that no decision depends on, and that take long: the chances of the safety note.
    """

    def __init__(self, facts: Facts, *, advice: bool = True) -> None:
        self.facts = facts
        self._advice = advice

    @staticmethod
    def of(facts: RunFacts | VectorFacts, *, advice: bool = True) -> Comparison:
        """Return the comparison of these facts."""
        if isinstance(facts, RunFacts):
            return RunComparison(facts, advice=advice)
        return VectorComparison(facts, advice=advice)

    def at(self, look: Look | None) -> Self:
        """Return the comparison at another look; what was made stays if that has the same level."""
        other = type(self)(replace(self.facts, look=look), advice=self._advice)
        if other.judged == self.judged:
            kept = {name: made for name, made in vars(self).items() if name not in OF_A_LOOK}
            vars(other).update(kept)
        return other

    @cached_property
    def judged(self) -> GatePolicy:
        """The policy at the level of the look."""
        return judged_at(self.facts.policy, number_of(self.facts.look))

    @property
    @abstractmethod
    def sides(self) -> tuple[Arm, Arm] | None:
        """Baseline and candidate; ``None`` if nothing is compared."""

    @property
    @abstractmethod
    def trial_count(self) -> int:
        """Trials of each case of the candidate."""

    @property
    @abstractmethod
    def noted(self) -> tuple[Blocker, ...]:
        """Notes that follow from what was compared, and not from the figures."""

    @property
    def is_log(self) -> bool:
        """Whether the results were read from the log of another harness."""
        return False

    @property
    def cure(self) -> Says | None:
        """What makes complete what is incomplete, the run or else its baseline; ``None`` if both are complete."""
        return None

    @property
    def how_to_observe(self) -> Says | None:
        """What gives a baseline that the observer of today observed; ``None`` if there is none to observe again."""
        return None

    @cached_property
    def blockers(self) -> tuple[Blocker, ...]:
        """The conditions that fail whatever the figures are."""
        return (
            *self._of_run(),
            *_checkpoint_blocker(self.facts.checkpoint_problems),
            *self._weighed[1],
            *look_objection(self.facts.policy, self.facts.look),
        )

    @abstractmethod
    def _of_run(self) -> Iterable[Blocker]:
        """Return what keeps the run from promotion, whatever a comparison shows."""

    @cached_property
    def _weighed(self) -> tuple[Figures | None, tuple[Blocker, ...]]:
        if self.sides is None:
            return None, ()
        return weigh_arms(*self.sides, self.judged, advice=self._advice)

    @property
    def figures(self) -> Figures | None:
        """Those of the comparison as it is; ``None`` if nothing is compared."""
        return self._weighed[0]

    @property
    def unscored(self) -> Says | None:
        """The trials without a score on which a promotion may depend, by side; ``None`` if there are none."""
        if self.figures is None:
            return None
        return unscored(self.figures, self.judged)

    @cached_property
    def with_unscored_against(self) -> Figures | None:
        """
        The figures if the trials without a score had the values that speak most against the candidate.

        ``None`` if nobody knows which values these are.
        """
        if self.figures is None:
            return None
        sides = against_candidate(self.figures, self.judged)
        if sides is None:
            return None
        return weigh(*sides, self.judged, advice=False)

    @property
    def new_cases(self) -> tuple[str, ...]:
        """The ids of the cases that the baseline lacks, and that were not compared."""
        return ()

    @property
    def with_new_solved(self) -> Figures | None:
        """The figures with the new cases, as if the baseline had solved them; ``None`` if there are none."""
        return None

    @property
    def new_cases_said(self) -> tuple[Blocker, ...]:
        """What a proof says of the new cases of its run; empty where the run itself is there."""
        return ()

    @property
    @abstractmethod
    def over_seen(self) -> VectorFacts | str | None:
        """The facts over the cases of all looks, or their outcome; ``None`` if all cases are as they were."""

    @property
    def with_rest_at_best(self) -> tuple[Remark, ...]:
        """Of a run that stopped early, why the best results of the rest would not promote it; empty if they might."""
        return ()

    @property
    def stopped_against(self) -> Arm | None:
        """The baseline of a run that stopped early because of it; ``None`` of any other comparison."""
        return None

    @property
    def of_size(self) -> Figures | None:
        """The figures that say whether a comparison of this size can promote at its look; ``None`` if there is none."""
        return self.figures

    @cached_property
    def p_of_loss(self) -> float | None:
        """One-sided p of "the candidate is worse", whatever the claim is; ``None`` if there is none."""
        if self.figures is None:
            return None
        return p_of_loss(self.figures, self.judged)


class VectorComparison(Comparison):
    """A comparison of two lists of scores."""

    facts: VectorFacts

    @property
    def sides(self) -> tuple[Arm, Arm]:
        """Baseline and candidate."""
        return self.facts.sides

    @property
    def trial_count(self) -> int:
        """Trials of each case of the candidate; 1 if nobody knows."""
        _, candidate = self.facts.sides
        return max((len(row) for row in candidate.trials or ()), default=1)

    @property
    def noted(self) -> tuple[Blocker, ...]:
        """Notes on what the scores were read from."""
        return self.facts.noted

    def _of_run(self) -> tuple[Blocker, ...]:
        """Return what the run that the scores are of said; nothing where nobody knows one."""
        return self.facts.blockers

    @property
    def over_seen(self) -> str | None:
        """The outcome over the cases of all looks, as that run said."""
        return self.facts.over_seen

    @property
    def new_cases_said(self) -> tuple[Blocker, ...]:
        """What that run said of its new cases."""
        return self.facts.new_cases


class RunComparison(Comparison):
    """
    A comparison of a run with its baseline.

    A run that stopped early because of that baseline has no figures; a certificate takes their place.
    """

    facts: RunFacts

    @property
    def report(self) -> BenchRunReport:
        """The results of the run."""
        return self.facts.report

    @cached_property
    def baseline(self) -> BaselineFacts | None:
        """The baseline, in the one shape of both kinds; ``None`` if there is none."""
        return compared_with(self.facts.baseline)

    @cached_property
    def _incomparable(self) -> tuple[Blocker, ...]:
        return tuple(baseline_blockers(self.report, self.baseline))

    @property
    def before(self) -> RunSide | None:
        """The run that this one can be compared with; ``None`` if there is none."""
        if self.baseline is None or self._incomparable:
            return None
        return self.baseline.run

    @cached_property
    def baseline_side(self) -> Arm | None:
        """The run of the baseline as a side, with the cases that there are now."""
        if self.before is None:
            return None
        return arm(self.before, self.report)

    @cached_property
    def whole(self) -> Arm:
        """The candidate with all cases of its run."""
        return arm(self.report)

    @cached_property
    def stopped_against(self) -> Arm | None:
        """The baseline, if the run stopped early because of it."""
        order = self.report.stopped
        if not order or self.baseline_side is None:
            return None
        # A baseline gives the order of the cases. In any other order the run stopped by another baseline, and this one
        # cannot certify that it was right to stop.
        if order != ordered(self.baseline_side):
            return None
        return self.baseline_side

    @cached_property
    def sides(self) -> tuple[Arm, Arm] | None:
        """Baseline and candidate, with the cases that the baseline has; of a log every case counts."""
        if self.baseline_side is None or self.stopped_against is not None:
            return None
        if self.is_log:
            return self.baseline_side, self.whole
        return self.baseline_side, without_new(self.baseline_side, self.whole)

    @property
    def trial_count(self) -> int:
        """Trials of each case."""
        return self.report.trial_count

    @property
    def is_log(self) -> bool:
        """Whether the results were read from the log of another harness."""
        return self.report.source is not None

    @property
    def how_to_observe(self) -> Says | None:
        """What gives a baseline that the observer of today observed; ``None`` if there is none to observe again."""
        if self.baseline is None:
            return None
        return how_to_observe(self.baseline)

    @property
    def cure(self) -> Says | None:
        """What makes complete what is incomplete, the run or else its baseline; ``None`` if both are complete."""
        for report in (self.report, self.facts.beside):
            if report is not None and not report.complete and not report.stopped:
                return cure(report)
        return None

    def _of_run(self) -> Iterator[Blocker]:
        """Yield what keeps a run from promotion, whatever a comparison shows."""
        yield from run_blockers(self.report)
        yield from self._incomparable
        if self.stopped_against is not None:
            yield from self._blockers_of_certificate()
        yield from self._too_many_unscored()
        agreed, _ = self._agreement
        yield from _trust_blocker(agreed, self.facts.policy.observer_min_agreement)

    def _blockers_of_certificate(self) -> Iterator[Blocker]:
        for remark in self.with_rest_at_best:
            if remark.code in AGAINST:
                for said in remark.says:
                    yield remark.code, said
        if not self.with_rest_at_best:
            yield "incomplete_run", says("incomplete_run.may_promote")

    def _too_many_unscored(self) -> Iterator[Blocker]:
        """Yield which side has too many trials without a score; cases that are new count too."""
        limit = self.facts.policy.max_unscored
        errors = too_many(self.whole, limit, self.report)
        if errors is not None:
            said = says("too_many_unscored", side="candidate", errors=errors)
            yield "too_many_unscored", said
        if self.sides is None:
            return
        errors = too_many(self.sides[0], limit, self.facts.beside)
        if errors is not None:
            said = says("too_many_unscored", side="baseline", errors=errors)
            yield "too_many_unscored", said

    @cached_property
    def _agreement(self) -> tuple[float, list[Blocker]]:
        """The lower bound of how far observer and people agree, and notes on that."""
        return agreement(self.facts.labels, self.report.clusters)

    @property
    def noted(self) -> tuple[Blocker, ...]:
        """Notes that follow from the runs."""
        return tuple(self._notes())

    def _notes(self) -> Iterator[Blocker]:
        yield from run_notes(self.facts, self.before)
        candidate = self.whole
        if self.sides is not None:
            baseline, candidate = self.sides
            yield from unscored_baseline(baseline)
        yield from unscored_candidate(candidate)
        _, said = self._agreement
        yield from said
        yield from observer_noise(self.report, self.figures)
        since_look: tuple[LabelChange, ...] = ()
        if self.facts.look is not None:
            since_look = self.facts.look.relabelled
        changed: tuple[LabelChange, ...] = ()
        if self.before is not None:
            changed = since_pin(self.before, self.report)
        yield from relabelled_note(changed, since_look)

    @property
    def new_cases(self) -> tuple[str, ...]:
        """The ids of the cases that the baseline lacks, and that were not compared."""
        if self.sides is None:
            return ()
        known = set(self.sides[1].case_ids or ())
        return tuple(case_id for case_id in self.whole.case_ids or () if case_id not in known)

    @cached_property
    def with_new_solved(self) -> Figures | None:
        """The figures with the new cases, as if the baseline had solved them; ``None`` if there are none."""
        if self.sides is None or not self.new_cases:
            return None
        solved = counted_as_best(self.whole, self.sides[0], self.facts.policy)
        figures, _ = weigh_arms(solved, self.whole, self.judged, advice=False)
        return figures

    @cached_property
    def over_seen(self) -> VectorFacts | None:
        """The facts over the cases of all looks; ``None`` if all cases are as they were."""
        if self.baseline_side is None:
            return None
        return over_seen(self.facts, self.baseline_side, self.whole)

    @cached_property
    def with_rest_at_best(self) -> tuple[Remark, ...]:
        """Of a run that stopped early, why the best results of the rest would not promote it; empty if they might."""
        if self.stopped_against is None:
            return ()
        part = arm(self.report.shown)
        number = number_of(self.facts.look)
        return tuple(certificate(self.stopped_against, part, self.facts.policy, number))

    @cached_property
    def of_size(self) -> Figures | None:
        """Of a run that stopped early those of its baseline against itself, else those of the comparison."""
        baseline = self.stopped_against
        if baseline is None:
            return self.figures
        figures, _ = weigh_arms(baseline, baseline, self.facts.policy, advice=False)
        return figures


def _checkpoint_blocker(problems: tuple[str, ...]) -> Iterator[Blocker]:
    if problems:
        yield "checkpoint_mismatch", says("checkpoint_mismatch", problems=clauses(problems))


def _trust_blocker(agreed: float, needed: float | None) -> Iterator[Blocker]:
    if needed is not None and agreed < needed:
        yield "observer_not_trusted", says("observer_not_trusted", agreed=agreed, needed=needed)
