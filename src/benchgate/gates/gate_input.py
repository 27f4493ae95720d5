"""
From the facts of a run to what its decision depends on.

A run is compared with its baseline; or it stopped early, and a certificate takes the place of the comparison; or there
is no baseline.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from benchgate.errors import brief
from benchgate.gates.baseline import arm
from benchgate.gates.blockers import baseline_blockers, run_blockers
from benchgate.gates.certificate import certificate, ordered
from benchgate.gates.cures import cure
from benchgate.gates.decision import GateInput
from benchgate.gates.labels import agreement
from benchgate.gates.looks import judged_at, number_of
from benchgate.gates.missing import counted_as_best, without_new
from benchgate.gates.notes import observer_noise, run_notes
from benchgate.gates.over_seen import over_seen
from benchgate.gates.run_diff import relabelled_note, since_pin
from benchgate.gates.unscored import too_many, unscored_note
from benchgate.gates.vectors import weigh_arms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from benchgate.gates.case_labels import LabelChange
    from benchgate.gates.decision import Blocker, Facts, Remark
    from benchgate.gates.figures import Arm, Figures
    from benchgate.gates.run_side import RunSide


AGAINST: Final = frozenset({"case_regressed", "newly_failing_cases", "critical_case_regressed"})
"""Reasons of a certificate that single results give: no later one takes them back, so the decision has them too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Weighed:
    """
    What came of weighing a run; its last five fields are those of the input of the gate.

    :param candidate: the cases of it that were weighed; all where none was.
    :param baseline: what it was weighed against; ``None`` if it was not.
    """

    candidate: Arm
    baseline: Arm | None = None
    figures: Figures | None = None
    with_new: Figures | None = None
    of_size: Figures | None = None
    certificate: tuple[Remark, ...] = ()
    blockers: tuple[Blocker, ...] = ()


def input_of(facts: Facts) -> GateInput:
    """Return what the decision on a run depends on, with the figures of its comparison if there is one."""
    report = facts.report
    whole = arm(report)
    incomparable = tuple(baseline_blockers(report, facts.baseline))
    before = None
    if facts.baseline is not None and not incomparable:
        before = facts.baseline.run
    compared = None
    if before is not None:
        compared = arm(before, report)
    weighed = _weighed(facts, compared, whole)
    agreed, said = agreement(facts.labels, report.clusters)
    blockers = (
        *run_blockers(report),
        *incomparable,
        *_checkpoint_blocker(facts.checkpoint_problems),
        *weighed.blockers,
        *_unscored_blockers(facts, whole, weighed.baseline),
        *_trust_blocker(agreed, facts.policy.observer_min_agreement),
    )
    return GateInput(
        policy=facts.policy,
        trial_count=report.trial_count,
        figures=weighed.figures,
        look=facts.look,
        over_seen=over_seen(facts, compared, whole),
        blockers=blockers,
        objections=facts.objections,
        is_log=report.source is not None,
        cure=_cure(facts),
        noted=tuple(_noted(facts, before, weighed, said)),
        with_new=weighed.with_new,
        of_size=weighed.of_size,
        certificate=weighed.certificate,
    )


def _weighed(facts: Facts, before: Arm | None, whole: Arm) -> _Weighed:
    """Return what came of weighing a run; ``before`` is ``None`` if there is nothing to weigh it against."""
    if before is None:
        return _Weighed(candidate=whole)
    order = facts.report.stopped
    # In another order it stopped by another baseline: no certificate of this one says that it might.
    if order and order == ordered(before):
        return _stopped(facts, before, whole)
    return _compared(facts, before, whole)


def _stopped(facts: Facts, before: Arm, whole: Arm) -> _Weighed:
    """Return what is to be said of a run that stopped early: why no result of the rest could have promoted it."""
    part = arm(facts.report.shown)
    found = certificate(before, part, facts.policy, number_of(facts.look))
    blockers = [(one.code, one.message) for one in found if one.code in AGAINST]
    if not found:
        blockers.append(("incomplete_run", "the rest might have promoted it"))
    size, _ = weigh_arms(before, before, facts.policy)
    return _Weighed(
        candidate=whole,
        of_size=size,
        certificate=tuple(found),
        blockers=tuple(blockers),
    )


def _compared(facts: Facts, before: Arm, whole: Arm) -> _Weighed:
    """Return the comparison of a run with its baseline, over the cases that the baseline has too."""
    policy = judged_at(facts.policy, number_of(facts.look))
    candidate = whole
    if facts.report.source is None:  # of a log every case counts
        candidate = without_new(before, whole)
    figures, blockers = weigh_arms(before, candidate, policy)
    with_new = None
    if candidate is not whole:
        solved = counted_as_best(whole, before, facts.policy)
        with_new, _ = weigh_arms(solved, whole, policy, advice=False)
    return _Weighed(
        candidate=candidate,
        baseline=before,
        figures=figures,
        with_new=with_new,
        blockers=blockers,
    )


def _unscored_blockers(facts: Facts, whole: Arm, baseline: Arm | None) -> Iterator[Blocker]:
    """Yield which side has too many trials without a score; cases that are new count too."""
    limit = facts.policy.max_unscored
    text = too_many(whole, limit, facts.report)
    if text is not None:
        yield "too_many_unscored", f"candidate: {text}"
    if baseline is None:
        return
    text = too_many(baseline, limit, facts.beside)
    if text is not None:
        yield "too_many_unscored", f"baseline: {text}"


def _checkpoint_blocker(problems: Sequence[str]) -> Iterator[Blocker]:
    if problems:
        yield "checkpoint_mismatch", brief(problems, "; ")


def _trust_blocker(agreed: float, needed: float | None) -> Iterator[Blocker]:
    if needed is not None and agreed < needed:
        text = f"observer and people are known to agree on {agreed:.3f}; needed is {needed:g}"
        yield "observer_not_trusted", text


def _noted(
    facts: Facts, before: RunSide | None, weighed: _Weighed, said: Iterable[Blocker]
) -> Iterator[Blocker]:
    """
    Yield the notes that follow from the runs.

    :param before: what the run was compared with; ``None`` if it was not.
    :param said: notes on what people say of outputs.
    """
    yield from run_notes(facts, before)
    if weighed.baseline is not None:
        yield from unscored_note(weighed.baseline, "baseline")
    yield from unscored_note(weighed.candidate, "candidate")
    yield from said
    yield from observer_noise(facts.report, weighed.figures)
    since_look: tuple[LabelChange, ...] = ()
    if facts.look is not None:
        since_look = facts.look.relabelled
    changed: tuple[LabelChange, ...] = ()
    if before is not None:
        changed = since_pin(before, facts.report)
    yield from relabelled_note(changed, since_look)


def _cure(facts: Facts) -> str | None:
    """Return what makes the run complete, or else its baseline, if it is not."""
    for report in (facts.report, facts.beside):
        if report is not None and not report.complete and not report.stopped:
            return cure(report)
    return None
