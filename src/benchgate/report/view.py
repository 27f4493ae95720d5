"""One run or proof, arranged for a reader: what was decided and why, then what it rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.audit.chain import FOLDER_NAME
from benchgate.gates.reason_codes import PREFIX
from benchgate.report import words
from benchgate.report.cases import changes_of, groups, sides
from benchgate.report.history import past_runs
from benchgate.report.outputs import outputs_of
from benchgate.report.slices import axis_rows, slice_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.aggregate import CaseFigures
    from benchgate.gates.decision import Remark
    from benchgate.gates.figures import Significance
    from benchgate.gates.policy import GatePolicy
    from benchgate.gates.run_diff import RunChanges
    from benchgate.report.cases import CaseGroup
    from benchgate.report.history import PastRun
    from benchgate.report.slices import AxisRow, SliceTable
    from benchgate.report.source import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """
    A decision in words.

    :param outcome: ``promote``, ``hold``, ``reject``, or ``none`` if nothing was judged.
    :param reasons: why it is not ``promote``; ``notes`` never block.
    """

    outcome: str
    headline: str
    question: str
    answer: str
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """
    What a report shows of a run or a proof.

    :param changes: case by case, against the baseline; ``compared`` says whether there is one.
    :param history: the runs of the class in the same store; empty if the record is not in one.
    """

    source: Source
    title: str
    candidate: str
    baseline: str | None
    decided: Decided
    tiles: tuple[Tile, ...]
    compared: bool
    changes: RunChanges
    groups: tuple[CaseGroup, ...]
    before: tuple[CaseFigures, ...]
    after: tuple[CaseFigures, ...]
    score_range: tuple[float, float]
    axes: tuple[AxisRow, ...]
    slices: tuple[SliceTable, ...]
    baseline_outputs: bool
    history: tuple[PastRun, ...]

    @property
    def figures(self) -> Significance | None:
        """What the tests found."""
        found = self.source.significance
        return found.significance if found else None

    @property
    def policy(self) -> GatePolicy | None:
        """The thresholds that the decision was made by."""
        if self.source.record is not None:
            return self.source.record.policy
        return self.source.significance.policy if self.source.significance else None

    @property
    def marks(self) -> list[tuple[float, str]]:
        """The lines that a difference is compared with."""
        policy, lines = self.policy, [(0.0, "no difference")]
        if policy is not None and policy.claim == "better" and policy.min_delta:
            lines.append((policy.min_delta, f"must exceed {policy.min_delta:g}"))
        if policy is not None and policy.claim == "not_worse" and policy.margin is not None:
            lines.append((-policy.margin, f"margin {words.signed(-policy.margin, 2)}"))
        return lines


def view_of(source: Source, *, outputs: bool = True) -> RunView:
    """
    Arrange a run or a proof for a reader.

    :param outputs: read outputs of the systems too, which takes time.
    """
    history = _history(source)
    changes = changes_of(source)
    before, after = sides(source)
    candidate, baseline = _names(source, history)
    decided = _decided(source, candidate, baseline)
    shown = outputs_of(source.folder if outputs else None, source.record, history)
    title = source.report.task_class if source.report else _suite(source)
    return RunView(
        source=source,
        title=title,
        candidate=candidate,
        baseline=baseline,
        decided=decided,
        tiles=tuple(_tiles(source, changes, compared=bool(before))),
        compared=bool(before),
        changes=changes,
        groups=tuple(groups(source, changes, shown)),
        before=tuple(before),
        after=tuple(after),
        score_range=_range(source, [*before, *after]),
        axes=tuple(axis_rows(source)),
        slices=tuple(slice_tables(source, before, after)),
        baseline_outputs=shown.before is not None,
        history=tuple(history),
    )


def _suite(source: Source) -> str:
    return source.proof.benchmark_suite.name if source.proof else ""


def _history(source: Source) -> list[PastRun]:
    if source.record is None or source.folder is None:
        return []
    folder = source.folder.resolve()
    return past_runs(folder.parent) if FOLDER_NAME.fullmatch(folder.name) else []


def _names(source: Source, history: Sequence[PastRun]) -> tuple[str, str | None]:
    """Return what candidate and baseline are called; ``None`` for no baseline."""
    if source.record is None:
        if source.proof is not None:
            return source.proof.trained.checkpoint_id, source.proof.baseline.checkpoint_id
        return (source.report.system if source.report else ""), None
    record = source.record
    if record.baseline is None:
        return record.subject.id, None
    if source.evaluation is not None:  # the one file that names the baseline
        return record.subject.id, source.evaluation.baseline_policy_id or "the baseline"
    return record.subject.id, record.rerun.system if record.rerun else "the baseline"


def _decided(source: Source, candidate: str, baseline: str | None) -> Decided:
    figures = source.significance.significance if source.significance else None
    if source.proof is not None:
        return _proven(source, candidate, baseline or "the baseline", figures)
    decision = source.record.decision if source.record else None
    outcome = decision.outcome if decision else "none"
    remarks = decision.remarks if decision else ()
    reasons = decision.reason_codes if decision else ()
    return Decided(
        outcome=outcome,
        headline=words.headline(outcome, candidate, baseline),
        question=words.question(source.record.policy) if source.record else "",
        answer=words.answer(figures) if decision else "",
        reasons=tuple(remark for remark in remarks if remark.code in reasons),
        notes=tuple(remark for remark in remarks if remark.code not in reasons),
        next_step=decision.next_step if decision else None,
    )


def _proven(source: Source, candidate: str, baseline: str, figures: Significance | None) -> Decided:
    from benchgate.gates.decision import Remark
    from benchgate.gates.reason_codes import REJECTING

    failed = source.proof.failure_analysis if source.proof else None
    codes = failed.reasons if failed else ()
    rejects = any(code.removeprefix(PREFIX) in REJECTING for code in codes)
    outcome = ("reject" if rejects else "hold") if failed else "promote"
    policy = source.significance.policy if source.significance else None
    details = zip(codes, failed.details, strict=False) if failed else ()
    return Decided(
        outcome=outcome,
        headline=words.headline(outcome, candidate, baseline),
        question=words.question(policy) if policy else "",
        answer=words.answer(figures),
        reasons=tuple(Remark(code=code, message=text) for code, text in details),
        notes=(),
        next_step=None,
    )


def _tiles(source: Source, changes: RunChanges, *, compared: bool) -> list[Tile]:
    figures = source.significance.significance if source.significance else None
    report = source.report
    tiles = []
    if figures is not None:
        between = words.interval(figures.delta_ci_low, figures.delta_ci_high)
        beside = f"{1 - figures.alpha:.0%} interval {between}" if figures.test != "none" else "on these cases"
        tiles.append(Tile(name="Change", value=words.signed(figures.mean_delta), beside=beside))
        beside = f"baseline {words.number(figures.baseline_mean_reward)}"
        tiles.append(Tile(name="Mean score", value=words.number(figures.trained_mean_reward), beside=beside))
    elif report is not None:
        bound = report.score_lower_bound_95
        beside = f"95% lower bound {words.number(bound)}" if bound is not None else ""
        tiles.append(Tile(name="Mean score", value=words.number(report.mean_score), beside=beside))
    if report is not None:
        passed = f"{report.passed_count} of {report.case_count}"
        tiles.append(Tile(name="Cases passed", value=passed, beside="" if report.complete else "the run is incomplete"))
    if compared and report is not None:
        count = len(changes.newly_failing)
        beside = f"{len(changes.newly_passing)} newly passing"
        tiles.append(Tile(name="Newly failing", value=str(count), beside=beside, tone="bad" if count else ""))
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
    return [Tile(name="Safety penalty", value="not measured" if measured is None else words.number(measured))]


def _cost_tile(source: Source) -> list[Tile]:
    text = words.cost(source.report) if source.report else ""
    first, _, rest = text.partition(", ")
    return [Tile(name="Cost", value=first, beside=rest)] if text else []


def _range(source: Source, cases: Sequence[CaseFigures]) -> tuple[float, float]:
    policy = source.record.policy if source.record else None
    if source.significance is not None and policy is None:
        policy = source.significance.policy
    scores = [case.score for case in cases]
    if policy is not None and policy.score_range is not None:
        return policy.score_range
    return (min(scores, default=0.0), max(scores, default=1.0)) if source.proof else (0.0, 1.0)
