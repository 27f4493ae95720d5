"""A decision in words, and the figures that a reader looks at first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.gates.claim_reasons import confidence
from benchgate.gates.decision import Remark
from benchgate.gates.reason_codes import PREFIX, REJECTING
from benchgate.report import words
from benchgate.wording.block import answer, limits, looks, notes_of, question

if TYPE_CHECKING:
    from benchgate.gates.figures import Significance
    from benchgate.gates.looks import Look
    from benchgate.gates.policy import GatePolicy
    from benchgate.gates.run_diff import RunChanges
    from benchgate.report.source import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """
    A decision in words.

    :param outcome: ``promote``, ``hold``, ``reject``, or ``none`` if nothing was judged.
    :param looks: how often the baseline was looked at; empty at a first look.
    :param found: the difference with what the test says of it.
    :param reasons: why it is not ``promote``; ``notes`` never block.
    """

    outcome: str
    headline: str
    question: str
    limits: str
    looks: str
    answer: str
    found: str
    reasons: tuple[Remark, ...]
    notes: tuple[Remark, ...]
    next_step: str | None

    @property
    def mark(self) -> str:
        """A sign for the outcome, so that it does not depend on colour."""
        return words.MARKS[self.outcome]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """One figure with its name and what it is to be compared with."""

    name: str
    value: str
    beside: str = ""
    tone: str = ""


def decided_of(source: Source, candidate: str, baseline: str | None) -> Decided:
    """Return what was decided; of a proof, which has no outcome, what its reasons come to."""
    figures = source.significance.significance if source.significance else None
    if source.proof is not None:
        return _proven(source, candidate, baseline or "the baseline", figures)
    decision = source.record.decision if source.record else None
    names = (baseline or "its baseline", candidate)
    outcome = decision.outcome if decision else "none"
    remarks = decision.remarks if decision else ()
    reasons = decision.reason_codes if decision else ()
    return Decided(
        outcome=outcome,
        headline=words.headline(outcome, candidate, baseline),
        question=question(source.record.policy, names) if source.record and decision else "",
        limits="; ".join(limits(source.record.policy, None)) if source.record and decision else "",
        looks=_looks(
            decision.look if decision else None, source.record.policy if source.record else None
        ),
        answer=answer(decision) if decision else "",
        found=words.found(figures),
        reasons=tuple(remark for remark in remarks if remark.code in reasons),
        notes=tuple(notes_of(decision)) if decision else (),
        next_step=decision.next_step if decision else None,
    )


def _proven(source: Source, candidate: str, baseline: str, figures: Significance | None) -> Decided:
    failed = source.proof.failure_analysis if source.proof else None
    codes = failed.reasons if failed else ()
    rejects = any(code.removeprefix(PREFIX) in REJECTING for code in codes)
    outcome = ("reject" if rejects else "hold") if failed else "promote"
    policy = source.significance.policy if source.significance else None
    details = zip(codes, failed.details, strict=False) if failed else ()
    return Decided(
        outcome=outcome,
        headline=words.headline(outcome, candidate, baseline),
        question=question(policy, (baseline, candidate)) if policy else "",
        limits="; ".join(limits(policy, None)) if policy else "",
        looks=_looks(source.proof.look if source.proof else None, policy),
        answer="",
        found=words.found(figures),
        reasons=tuple(Remark(code=code, message=text) for code, text in details),
        notes=(),
        next_step=None,
    )


def _looks(look: Look | None, policy: GatePolicy | None) -> str:
    return " ".join(line.text for line in looks(look, policy)) if policy else ""


def tiles_of(source: Source, changes: RunChanges | None) -> list[Tile]:
    """Return the figures that stand first."""
    figures = source.significance.significance if source.significance else None
    report = source.report
    tiles = []
    if figures is not None:
        between = words.interval(figures.delta_ci_low, figures.delta_ci_high)
        beside = (
            f"{confidence(figures.alpha)} interval {between}"
            if figures.test != "none"
            else "on these cases"
        )
        tiles.append(Tile(name="Change", value=words.signed(figures.mean_delta), beside=beside))
        beside = f"baseline {words.number(figures.baseline_mean_reward)}"
        tiles.append(
            Tile(name="Mean score", value=words.number(figures.trained_mean_reward), beside=beside)
        )
    elif report is not None:
        bound = report.score_lower_bound_95
        beside = f"95% lower bound {words.number(bound)}" if bound is not None else ""
        tiles.append(Tile(name="Mean score", value=words.number(report.mean_score), beside=beside))
    if report is not None:
        passed = f"{report.passed_count} of {report.case_count}"
        tiles.append(
            Tile(
                name="Cases passed",
                value=passed,
                beside="" if report.complete else "the run is incomplete",
            )
        )
    if changes is not None and report is not None:
        count = len(changes.newly_failing)
        beside = f"{len(changes.newly_passing)} newly passing"
        tiles.append(
            Tile(name="Newly failing", value=str(count), beside=beside, tone="bad" if count else "")
        )
    return [*tiles, *_safety_tile(source), *_cost_tile(source)]


def _safety_tile(source: Source) -> list[Tile]:
    safety = source.safety
    if safety is not None and safety.safety_regression_delta is not None:
        return [
            Tile(
                name="Safety penalty",
                value=words.signed(safety.safety_regression_delta),
                beside=f"allowed rise {safety.max_safety_regression:g}",
                tone="bad" if safety.promotion_allowed is False else "",
            )
        ]
    report = source.report
    measured = report.mean_safety_penalty if report else None
    return [
        Tile(
            name="Safety penalty",
            value="not measured" if measured is None else words.number(measured),
            tone="word" if measured is None else "",
        )
    ]


def _cost_tile(source: Source) -> list[Tile]:
    text = words.cost(source.report) if source.report else ""
    first, _, rest = text.partition(", ")
    return [Tile(name="Cost", value=first, beside=rest)] if text else []
