"""What the decision would be over the cases that the first look at a baseline had, whatever came and went since."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.artifacts.evidence_kinds import ArmReport
from benchgate.artifacts.run_kinds import RunRecord
from benchgate.audit.chain import RECORD_FILE
from benchgate.gates.baseline import arm
from benchgate.gates.decide import decide
from benchgate.gates.decision import GateInput
from benchgate.gates.looks import judged_at
from benchgate.gates.vectors import weigh_arms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.gates.decision import Outcome
    from benchgate.gates.policy import GatePolicy
    from benchgate.models import BenchRunReport, TrialResult


def over_first(
    looks: Sequence[Path], asked: tuple[BenchRunReport, GatePolicy] | Path | None, number: int
) -> Outcome | None:
    """
    Return the outcome over the first look's cases, with earlier results of the candidate's system on those it lacks.

    :param looks: folders of the earlier looks at the baseline, in their order.
    :param asked: report and policy of the candidate, or its record.
    :returns: ``None`` if its system has no results on some of them, or a record cannot be read.
    """
    first = ArmReport.read_or_none(looks[0] / "evidence" / "baseline.json")
    if isinstance(asked, Path):
        record = RunRecord.read_or_none(asked)
        asked = (record.report, record.policy) if record else None
    if asked is None or first is None or first.arm.case_ids is None:
        return None
    (report, policy), number = asked, int(number)  # of this number nothing more is known
    results: dict[str, tuple[TrialResult, ...]] = _by_case(report)
    for folder in reversed(looks):
        earlier = RunRecord.read_or_none(folder / RECORD_FILE)
        if earlier is not None and earlier.report.system == report.system:
            results = _by_case(earlier.report) | results
    if not results.keys() >= {*first.arm.case_ids}:
        return None
    rows = tuple(result for case_id in first.arm.case_ids for result in results[case_id])
    after = arm(report.model_copy(update={"per_case": rows}))
    after = replace(after, clusters=first.arm.clusters)
    figures, blockers = weigh_arms(first.arm, after, judged_at(policy, number))
    return decide(GateInput(policy=policy, figures=figures, look=number, blockers=blockers)).outcome


def _by_case(report: BenchRunReport) -> dict[str, tuple[TrialResult, ...]]:
    rows = groupby(report.per_case, key=attrgetter("case_id"))
    return {case_id: tuple(of_case) for case_id, of_case in rows}
