"""Judges two logs, and records the decision in a chain of runs as that of a run of a bench."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING

from benchgate.artifacts.plan import plan_file
from benchgate.artifacts.proof import PROOF_PARTS
from benchgate.artifacts.record import RunTerms, record_entry
from benchgate.artifacts.run_evidence import RunEvidence
from benchgate.artifacts.sealed_plan import SealedPlan, broken
from benchgate.audit.store import RunStore, unfinished_name
from benchgate.errors import ArtifactError
from benchgate.gates.baseline import BaselineChoice, baseline_beside
from benchgate.gates.judge import judge
from benchgate.ids import RunPlan
from benchgate.interop.reports import TAXONOMY
from benchgate.looks.chain import ChainLooks, looked_at
from benchgate.wire import clock
from benchgate.wire.writing import make_folder, write_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from benchgate.artifacts.record import ChainSlot, RecordEntry
    from benchgate.audit.store import Published
    from benchgate.gates.judge import Judgement
    from benchgate.gates.policy import GatePolicy
    from benchgate.looks.ledger import LookLedger
    from benchgate.models import BenchRunReport

TIMEOUT: float = 600.0
"""Time limit that a record states; what the other harness had is not known."""

FAMILY = (*PROOF_PARTS.values(), "evaluation.json", "proof.json", "promotion.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogGate:
    """
    Two logs that are compared.

    :param started: when the candidate was run, as far as it is known.
    :param sealed: the plan that the comparison cites.
    """

    before: BenchRunReport
    after: BenchRunReport
    policy: GatePolicy
    started: datetime
    sealed: SealedPlan | None = None

    def judged(self, count: Callable[[BenchRunReport, BenchRunReport], int] | None) -> Judgement:
        """
        Decide.

        :param count: returns the number of this look at the baseline; ``None`` if nobody counts.
        """
        problems: tuple[str, ...] = ()
        if self.sealed is not None:
            found = broken(
                self.sealed,
                self.after,
                self.policy,
                self.started,
                run_id=self.before.run_id,
                beside=self.before,
            )
            problems = tuple(found)
        return judge(
            self.after,
            policy=self.policy,
            choice=BaselineChoice(
                path=None, binding=True, requested=True, system=self.before.system
            ),
            baseline=baseline_beside(self.before),
            exit_rule="gate",
            count=count,
            plan_problems=problems,
        )

    def counted_by(self, ledger: LookLedger | None) -> Judgement:
        """
        Decide without a chain; looks are counted in a ledger, by the digests of both logs.

        :raises ArtifactError: looks are to be spent and nobody counts them, or the ledger cannot be written.
        """
        if ledger is None:
            if self.policy.looks == "spend":
                why = "looks = 'spend' needs --out or --ledger: without one nobody counts the looks"
                raise ArtifactError("looks", why)
            return self.judged(None)
        return self.judged(lambda b, a: ledger.add(looked_at(b, a, is_beside=True)))

    def recorded(self, out: Path) -> tuple[Judgement, Published]:
        """
        Decide, and record it as the next run of its class below a folder.

        :raises ArtifactError: it cannot be written, or the chain is damaged.
        """
        name = unfinished_name(clock.now())
        store = RunStore(out, self.after.task_class, "full", name)
        plan = plan_file(
            RunPlan.of_report(self.after, version("pytest-benchgate")),
            timeout=TIMEOUT,
            started=self.started,
            baseline_system=self.before.system,
        )
        store.open(plan)
        try:
            looks = ChainLooks(store.folder.parent)

            def judged() -> Judgement:
                return self.judged(lambda b, a: looks.number(looked_at(b, a, is_beside=True)))

            judgement = [judged()]

            def entry(slot: ChainSlot) -> RecordEntry:
                judgement[0] = judged()  # another comparison may have been recorded meanwhile
                return record_entry(judgement[0], self._terms(), clock.now(), slot)

            published = store.publish({"candidate": self.after, "baseline": self.before}, entry)
            return judgement[0], published
        finally:
            store.close()

    def _terms(self) -> RunTerms:
        return RunTerms(
            harness_version=version("pytest-benchgate"),
            severities=TAXONOMY.severities,
            meanings=TAXONOMY.meanings,
            cases=(),
            min_cases={},
            tiers=None,
            sealed=self.sealed,
        )

    def write_evidence(self, judgement: Judgement, folder: Path) -> list[Path]:
        """
        Write the evidence into a folder, and return its files; what an earlier comparison left there is removed.

        :raises ArtifactError: it cannot be written.
        """
        if judgement.decision is None:
            return []
        evidence = RunEvidence.of(judgement, judgement.decision, clock.now(), self.sealed)
        files = evidence.files("not_evaluated", None)
        make_folder(folder)
        for name in FAMILY:
            if name not in files and os.path.lexists(folder / name):
                os.unlink(folder / name)
        for name, data in files.items():
            write_file(folder / name, data)
        return [folder / name for name in files]
