"""
One task class in one session, from its plan to its record: the engine behind pytest and the command line.

Both open a run, add results to it as they come, and finish it. A disk error on the way becomes a problem of the run, so
that no result is lost to it.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING

from benchgate.artifacts.record import RunTerms, record_entry
from benchgate.audit.store import RunStore
from benchgate.errors import ArtifactError, EvalError, TierFileError
from benchgate.gates.baseline import read_baseline
from benchgate.gates.judge import judge
from benchgate.gates.notes import advantages_note
from benchgate.promotion.tiers import TIER_FILE, TierConfig
from benchgate.wire import clock
from benchgate.wire.writing import model_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from benchgate.audit.store import Published
    from benchgate.gates.baseline import Baseline, BaselineChoice
    from benchgate.gates.exit_status import ExitRule
    from benchgate.gates.judge import Gate, Judgement
    from benchgate.models import TrialResult
    from benchgate.trials.ledger import Key, Ledger


@dataclass(slots=True, kw_only=True)
class ClassRun:
    """
    A run of one task class.

    :param out: output folder; ``None`` writes nothing.
    :param judgement: what was decided, once the run is finished.
    :param problems: what could not be written or judged; a run with problems fails the session.
    :param warnings: what a person should look at, but what fails nothing.
    :param tier_problem: why the file of tiers could not be used; a run is otherwise unaffected by it.
    """

    ledger: Ledger
    choice: BaselineChoice
    out: Path | None
    judgement: Judgement | None = None
    published: Published | None = None
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    tier_problem: str | None = None
    _tiers: TierConfig | None = None
    _baseline: Baseline | None = None
    _store: RunStore | None = None

    @property
    def failures(self) -> list[str]:
        """Why the session must fail because of this run."""
        return [*(self.judgement.failures if self.judgement else ()), *self.problems]

    def open(self, keys: Iterable[Key]) -> None:
        """
        Fix which trials run, and read baseline and tiers before a system can change them.

        :raises ArtifactError: the output folder is not writable, or its chain of records is damaged.
        """
        self.ledger.plan(keys)
        if self.choice.path and self.ledger.scope == "full":
            self._baseline = read_baseline(self.choice.path)
        self._read_tiers(self.ledger.bench.path.parents[1] / TIER_FILE)
        if self.out is not None:
            name, scope = self.ledger.bench.name, self.ledger.scope
            self._store = RunStore(self.out, name, scope, clock.now())
            try:
                self.warnings += self._store.open(scope)
            except OSError as error:
                raise ArtifactError(self.out, f"cannot be used: {error}") from error
        if stale := self.ledger.stale(clock.now()):
            self.warnings.append(f"not validated for more than 90 days: {', '.join(stale[:5])}")

    def _read_tiers(self, path: Path) -> None:
        if not os.path.lexists(path):
            return
        try:
            self._tiers = TierConfig.read(path)
        except TierFileError as error:
            self.tier_problem = str(error)

    def record(
        self, result: TrialResult, output_json: str | None, *, scorer: str | None = None
    ) -> None:
        """Record a result and write its file."""
        self.ledger.record(result, output_json, scorer=scorer)
        if self._store is None:
            return
        try:
            self._store.write_trial(result, output_json)
        except ArtifactError as error:
            self.problems.append(str(error))
            self._store = None

    def finish(self, gates: Iterable[Gate] = (), exit_rule: ExitRule = "strict") -> None:
        """Judge and write; a report that cannot be written goes to stderr, so that nothing measured is lost."""
        try:
            self._judge(gates, exit_rule)
        except EvalError as error:
            self.problems.append(str(error))
        if self.judgement is None or self.out is None:
            return
        try:
            self._publish(self.judgement)
        except (ArtifactError, OSError, ValueError) as error:
            self.problems.append(f"the run is not recorded: {error}")
            sys.stderr.write(model_bytes(self.judgement.report).decode())

    def _judge(self, gates: Iterable[Gate], exit_rule: ExitRule) -> None:
        ledger, baseline = self.ledger, self._baseline
        report = ledger.report(
            harness_version=version("pytest-benchgate"),
            baseline=baseline.sha256 if baseline else None,
        )
        self.judgement = judge(
            report,
            policy=ledger.bench.policy,
            choice=self.choice,
            baseline=baseline,
            gates=gates,
            checkpoints=ledger.checkpoints,
            checkpoint_problems=ledger.checkpoint_problems(),
            noted=tuple(advantages_note(ledger.without_advantages())),
            exit_rule=exit_rule,
        )

    def _publish(self, judgement: Judgement) -> None:
        store = self._store
        if store is None:
            raise ArtifactError(str(self.out), "writing failed before")
        finished = clock.now()
        if judgement.decision is None:
            self.published = store.publish_selected(judgement.report, finished)
        else:
            terms = self._terms()
            self.published = store.publish(
                judgement.report, lambda slot: record_entry(judgement, terms, finished, slot)
            )
            if self.published.problem is not None:
                self.problems.append(self.published.problem)

    def _terms(self) -> RunTerms:
        bench = self.ledger.bench
        return RunTerms(
            harness_version=version("pytest-benchgate"),
            severities=bench.taxonomy.severities,
            min_cases=bench.task_class.min_cases_for_promotion,
            tiers=self._tiers,
        )
