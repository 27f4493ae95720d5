"""What the decision would be over the cases that the first look at a baseline had, whatever came and went since."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchgate.gates.looks import LookNumber
    from benchgate.gates.policy import GatePolicy
    from benchgate.models import BenchRunReport


def over_first(number: LookNumber, report: BenchRunReport, policy: GatePolicy) -> LookNumber:
    """
    Add to the number of a candidate's look the outcome over the first look's cases, if it had others.

    Earlier results of the candidate's system stand for those that it lacks. Nothing is added if there are none of some
    case, or the first look's record cannot be read.
    """
    if not number.earlier:
        return number
    from benchgate.artifacts.evidence_kinds import ArmReport
    from benchgate.artifacts.run_kinds import RunRecord
    from benchgate.audit.chain import RECORD_FILE
    from benchgate.gates.baseline import arm
    from benchgate.gates.decide import decide
    from benchgate.gates.decision import GateInput
    from benchgate.gates.looks import judged_at
    from benchgate.gates.vectors import weigh_arms

    first = ArmReport.read_or_none(number.earlier[0] / "evidence" / "baseline.json")
    records = [RunRecord.read_or_none(folder / RECORD_FILE) for folder in number.earlier]
    reports = [
        record.report for record in records if record and record.report.system == report.system
    ]
    results = {
        case_id: tuple(rows)
        for one in (*reports, report)
        for case_id, rows in groupby(one.per_case, key=attrgetter("case_id"))
    }
    ids = (first and first.arm.case_ids) or ()
    if first is None or not ids or not results.keys() >= {*ids}:
        return number
    rows = tuple(result for case_id in ids for result in results[case_id])
    after = replace(arm(report.model_copy(update={"per_case": rows})), clusters=first.arm.clusters)
    look = int(number)  # of this number nothing more is known
    figures, blockers = weigh_arms(first.arm, after, judged_at(policy, look))
    inputs = GateInput(policy=policy, figures=figures, look=look, blockers=blockers)
    number.over_first = decide(inputs).outcome
    return number
