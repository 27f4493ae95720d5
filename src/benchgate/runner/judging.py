"""From what is known of a finished run to its decision, and from that to its record."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING

from benchgate.audit.store import RunStore, unfinished_name
from benchgate.gates.baseline import BaselineChoice, baseline_beside
from benchgate.gates.judge import judge
from benchgate.ids import RunPlan
from benchgate.looks.chain import ChainLooks, looked_at
from benchgate.wire import clock
from benchgate.wire.writing import make_folder, write_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime
    from pathlib import Path

    from benchgate.artifacts.record import ChainSlot, Entry, RunTerms
    from benchgate.artifacts.sealed_plan import SealedPlan
    from benchgate.audit.store import Published
    from benchgate.gates.baseline import Baseline
    from benchgate.gates.exit_status import ExitRule
    from benchgate.gates.judge import Gate, Judgement
    from benchgate.gates.policy import GatePolicy
    from benchgate.looks.tally import Looked
    from benchgate.models import BenchRunReport, Side
    from benchgate.runner.settings import Grounds, RunRequest
    from benchgate.training.checkpoints import Checkpoints
    from benchgate.trials.planned import PlannedTrials

    Counting = Callable[[Looked], int]
    """Returns the number of a look at a baseline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """
    What is judged: a report, and what else is known of its run; :func:`~benchgate.gates.judge.judge` says more.

    :param started: when the candidate was run, as far as it is known.
    :param sealed: the plan that the run cites.
    :param is_beside: the baseline is a run of the same session, or a log of its own.
    """

    report: BenchRunReport
    policy: GatePolicy
    choice: BaselineChoice
    baseline: Baseline | None
    started: datetime
    sealed: SealedPlan | None = None
    checkpoints: Checkpoints | None = None
    checkpoint_problems: tuple[str, ...] = ()
    without_advantages: int = 0
    replays: object | None = None
    exit_rule: ExitRule = "gate"
    is_beside: bool = False
    is_part: bool = False

    @classmethod
    def of_run(
        cls,
        request: RunRequest,
        grounds: Grounds,
        sides: Mapping[Side, PlannedTrials],
        baseline: Baseline | None,
        started: datetime,
    ) -> RunFacts:
        """Return what is known of a run once no trial of it runs any more."""
        candidate, beside = sides["candidate"], sides.get("baseline")
        harness, recording = version("pytest-benchgate"), request.recording
        problems = candidate.checkpoint_problems()
        if beside is not None:
            baseline = baseline_beside(beside.report(harness_version=harness, baseline=None))
            problems += tuple(f"baseline: {why}" for why in beside.checkpoint_problems())
        sha256 = baseline.sha256 if baseline else None
        return cls(
            report=candidate.report(harness_version=harness, baseline=sha256),
            policy=request.bench.policy,
            choice=grounds.choice,
            baseline=baseline,
            started=started,
            sealed=grounds.sealed,
            checkpoints=grounds.checkpoints,
            checkpoint_problems=problems,
            without_advantages=candidate.without_advantages(),
            replays=recording and recording.source,
            exit_rule=request.settings.exit_rule,
            is_beside=beside is not None,
            is_part=request.settings.shard is not None,
        )

    @classmethod
    def of_logs(
        cls,
        before: BenchRunReport,
        after: BenchRunReport,
        policy: GatePolicy,
        started: datetime,
        sealed: SealedPlan | None = None,
    ) -> RunFacts:
        """Return what two logs say, a baseline's and a candidate's, which were read as reports."""
        choice = BaselineChoice(path=None, binding=True, requested=True, system=before.system)
        return cls(
            report=after,
            policy=policy,
            choice=choice,
            baseline=baseline_beside(before),
            started=started,
            sealed=sealed,
            is_beside=True,
        )

    def looked_at(self, before: BenchRunReport) -> Looked:
        """Return what a comparison with a baseline looks at."""
        return looked_at(before, self.report, is_beside=self.is_beside)


def judged(
    facts: RunFacts,
    count: Counting | None,
    gates: Iterable[Gate] = (),
    asked: Judgement | None = None,
) -> Judgement:
    """
    Decide.

    :param count: ``None`` if nobody counts looks.
    """
    return judge(
        facts.report,
        policy=facts.policy,
        choice=facts.choice,
        baseline=facts.baseline,
        gates=gates,
        asked=asked,
        checkpoints=facts.checkpoints,
        checkpoint_problems=facts.checkpoint_problems,
        without_advantages=facts.without_advantages,
        replays=facts.replays,
        exit_rule=facts.exit_rule,
        is_part=facts.is_part,
        count=None if count is None else lambda before, _: count(facts.looked_at(before)),
        plan_problems=_plan_problems(facts),
    )


def _plan_problems(facts: RunFacts) -> tuple[str, ...]:
    if facts.sealed is None or facts.report.scope != "full":
        return ()
    from benchgate.artifacts.sealed_plan import broken

    before = facts.baseline.report if facts.baseline else None
    return tuple(
        broken(
            facts.sealed,
            facts.report,
            facts.policy,
            facts.started,
            run_id=before.run_id if before else None,
            beside=before if facts.is_beside else None,
        )
    )


def publish(
    store: RunStore,
    facts: RunFacts,
    judgement: Judgement,
    count: Counting,
    terms: Callable[[], RunTerms],
) -> tuple[Judgement, Published]:
    """
    Record a judgement as the next run of its class.

    :returns: the judgement that is recorded: another run may have looked meanwhile.
    :raises ArtifactError: a file cannot be written, or the chain is damaged.
    """
    finished = clock.now()
    reports: dict[Side, BenchRunReport] = {"candidate": judgement.report}
    if judgement.beside is not None:
        reports["baseline"] = judgement.beside
    if judgement.decision is None:
        return judgement, store.publish_selected(reports, finished)
    from benchgate.artifacts.record import record_entry

    last = judgement

    def entry(slot: ChainSlot) -> Entry:
        nonlocal last
        before = judgement.baseline.report if judgement.baseline else None
        if judgement.look and before and count(facts.looked_at(before)) != judgement.look:
            last = judged(facts, count, asked=judgement)
        return record_entry(last, terms(), finished, slot)

    published = store.publish(reports, entry)
    return last, published


def record_reports(
    out: Path, facts: RunFacts, terms: RunTerms, timeout: float
) -> tuple[Judgement, Published]:
    """
    Judge reports that were read, and record them as the next run of their class.

    :param timeout: the time limit that the record states, in seconds.
    :raises ArtifactError: it cannot be written, or the chain is damaged.
    """
    from benchgate.artifacts.plan import plan_file

    store = RunStore(out, facts.report.task_class, "full", unfinished_name(clock.now()))
    plan = plan_file(
        RunPlan.of_report(facts.report, version("pytest-benchgate")),
        timeout=timeout,
        started=facts.started,
        baseline_system=facts.choice.system,
    )
    store.open(plan)
    try:
        count = ChainLooks(store.folder.parent).number
        return publish(store, facts, judged(facts, count), count, lambda: terms)
    finally:
        store.close()


def write_evidence(judgement: Judgement, sealed: SealedPlan | None, folder: Path) -> list[Path]:
    """
    Write the evidence into a folder, and return its files; what an earlier comparison left there is removed.

    :raises ArtifactError: it cannot be written.
    """
    from benchgate.artifacts.proof import PROOF_PARTS
    from benchgate.artifacts.run_evidence import RunEvidence

    if judgement.decision is None:
        return []
    evidence = RunEvidence.of(judgement, judgement.decision, clock.now(), sealed)
    files = evidence.files("not_evaluated", None)
    make_folder(folder)
    for name in (*PROOF_PARTS.values(), "evaluation.json", "proof.json", "promotion.json"):
        if name not in files and os.path.lexists(folder / name):
            os.unlink(folder / name)
    for name, data in files.items():
        write_file(folder / name, data)
    return [folder / name for name in files]
