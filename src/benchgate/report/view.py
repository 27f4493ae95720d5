"""One run or proof, arranged for a reader: what was decided and why, then what it rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.aggregate import axis_means, case_figures
from benchgate.audit.chain import FOLDER_NAME
from benchgate.gates.run_diff import changes
from benchgate.report import words
from benchgate.report.cases import groups, sides
from benchgate.report.history import past_runs
from benchgate.report.outputs import outputs_of
from benchgate.report.tiles import tiles_of
from benchgate.wording.decision import DecisionView

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.aggregate import CaseFigures
    from benchgate.gates.run_diff import RunChanges
    from benchgate.report.cases import Group
    from benchgate.report.history import PastRun
    from benchgate.report.source import Source
    from benchgate.report.tiles import Tile


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """
    What a report shows of a run or a proof.

    :param case_count: cases of the candidate with an id.
    :param axes: the mean of each part of the score, in the baseline if that ran in the same session, and now.
    :param changes: case by case, against the baseline; ``None`` if there is none.
    :param history: the runs of the class in the same store; empty if the record is not in one.
    """

    source: Source
    title: str
    candidate: str
    baseline: str | None
    decided: DecisionView
    tiles: tuple[Tile, ...]
    changes: RunChanges | None
    groups: Mapping[str, Group]
    case_count: int
    score_range: tuple[float, float]
    axes: tuple[tuple[str, float | None, float], ...]
    baseline_outputs: bool
    history: tuple[PastRun, ...]

    @property
    def marks(self) -> list[tuple[float, str]]:
        """The lines that a difference is compared with."""
        policy, lines = self.source.policy, [(0.0, "no difference")]
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
    before, after = sides(source)
    compared = changes(before, after) if before is not None and after is not None else None
    figures = [case_figures(side.per_case) if side else [] for side in (before, after)]
    candidate, baseline = _names(source)
    is_log = source.report is not None and source.report.source is not None
    names = (baseline or "its baseline", candidate)
    tests = source.significance.significance if source.significance else None
    has_penalties = source.safety is not None and source.safety.safety_regression_delta is not None
    evidence = (tests, has_penalties)
    decided = DecisionView.of(source.decision, source.policy, names, evidence=evidence)
    folder = source.folder if outputs and not is_log else None  # a log has no outputs
    shown = outputs_of(folder, source.record, history)
    suite = source.proof.benchmark_suite.name if source.proof else ""
    return RunView(
        source=source,
        title=source.report.task_class if source.report else suite,
        candidate=candidate,
        baseline=baseline,
        decided=decided,
        tiles=tuple(tiles_of(source, compared, figures[0])),
        changes=compared,
        groups=groups(source, compared, figures, shown),
        case_count=len(figures[1]),
        score_range=_range(source, [*figures[0], *figures[1]]),
        axes=tuple(_axes(source)),
        baseline_outputs=shown.before is not None,
        history=tuple(history),
    )


def _axes(source: Source) -> list[tuple[str, float | None, float]]:
    rerun = source.record.rerun if source.record else None
    before = axis_means(rerun.per_case) if rerun else {}
    after = axis_means(source.report.per_case) if source.report else {}
    return [(name, before.get(name), mean) for name, mean in after.items()]


def _history(source: Source) -> list[PastRun]:
    if source.record is None or source.folder is None:
        return []
    folder = source.folder.resolve()
    return past_runs(folder.parent) if FOLDER_NAME.fullmatch(folder.name) else []


def _names(source: Source) -> tuple[str, str | None]:
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


def _range(source: Source, cases: Sequence[CaseFigures]) -> tuple[float, float]:
    scores = [case.score for case in cases]
    if source.policy is not None and source.policy.score_range is not None:
        return source.policy.score_range
    return (min(scores, default=0.0), max(scores, default=1.0)) if source.proof else (0.0, 1.0)
