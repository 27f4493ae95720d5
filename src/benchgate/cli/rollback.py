"""``benchgate evaluate --rollback``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.cli.say import complain, say
from benchgate.cli.vectors import comparison_of, policy_of
from benchgate.wire import clock

if TYPE_CHECKING:
    import argparse

    from benchgate.artifacts.build import Comparison
    from benchgate.artifacts.run_kinds import RunRecord


def judge_rollback(given: argparse.Namespace) -> int:
    """Print whether what runs now must be taken back: 1 if so, 10 if a check could not be made, else 0."""
    from benchgate.artifacts.build import evaluation_report
    from benchgate.artifacts.reading import read_artifact
    from benchgate.artifacts.run_kinds import RunRecord
    from benchgate.gates.exit_status import HELD
    from benchgate.wire.writing import model_bytes, write_file

    if given.ledger is not None:
        raise ValueError("--ledger counts candidates; to judge a rollback is no look")
    given.policy_looks = "count"
    paths = (given.baseline_samples, given.trained_samples)
    before, after = (read_artifact(path, RunRecord) for path in paths)
    if before is not None and after is not None:
        made = _of_records(given, before, after)
    elif before is None and after is None:
        made = comparison_of(given)
    else:
        raise ValueError("one side is a record and the other is samples; expected two of a kind")
    report = evaluation_report(made)
    write_file(given.output_report, model_bytes(report))
    gate = report.rollback_gate
    if gate is None:  # a report that is built here has one
        raise ValueError("the comparison has no rollback gate")
    messages = {
        remark.code.rpartition("blocked_")[2]: remark.message for remark in made.decision.remarks
    }
    for code in gate.reason_codes:
        text = messages.get(code.partition("required_")[2] or code.partition("evaluated_")[2])
        complain(f"{code}: {text}" if text else code)
    status = "required" if gate.rollback_required else "not_required"
    say(
        f"rollback_status={status if gate.rollback_required or gate.evaluated else 'not_evaluated'}"
    )
    return 1 if gate.rollback_required else 0 if gate.evaluated else HELD


def _of_records(given: argparse.Namespace, before: RunRecord, after: RunRecord) -> Comparison:
    from benchgate.artifacts.build import Comparison
    from benchgate.gates.baseline import BaselineChoice, arm, baseline_beside
    from benchgate.gates.judge import judge
    from benchgate.gates.policy import make_policy, merged
    from benchgate.gates.vectors import weigh_arms
    from benchgate.ids import run_id

    if run_id(after.report.task_class, after.report.per_case) != after.report.run_id:
        raise ValueError(f"{given.trained_samples}: its results were edited: they have another id")
    options = {
        key.removeprefix("policy_"): value
        for key, value in vars(given).items()
        if key.startswith("policy_") and value is not None
    }
    recorded = after.policy.model_dump(mode="json")
    policy = policy_of(given) if given.policy else make_policy(merged(recorded, options))
    judgement = judge(
        after.report,
        policy=policy,
        choice=BaselineChoice(path=None, binding=True, requested=True),
        baseline=baseline_beside(before.report),
    )
    if judgement.decision is None:
        raise ValueError(f"{given.trained_samples}: a run of a part of the cases is not judged")
    # What cannot be compared is weighed all the same: the file has the figures, and says that they are none.
    figures = judgement.figures or weigh_arms(arm(before.report), arm(after.report), policy)[0]
    return Comparison(
        run_id=given.run_id,
        candidate_run_id=after.report.run_id,
        suite=after.report.suite,
        generated_at=clock.stamp(),
        names=(before.subject.id, after.subject.id),
        policy=policy,
        figures=figures,
        decision=judgement.decision,
    )
