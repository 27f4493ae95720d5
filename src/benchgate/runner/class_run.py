"""
One task class in one session, from its plan to its record: the engine behind pytest and the command line.

Both open a run, add results to it as they come, and finish it. A disk error on the way becomes a problem of the run, so
that no result is lost to it.
"""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

from benchgate.aggregate import INCOMPLETE, cost_of
from benchgate.artifacts.plan import plan_file
from benchgate.audit.store import RunStore, unfinished_name
from benchgate.errors import ArtifactError, EvalError, TierFileError
from benchgate.gates.baseline import baseline_beside, read_baseline
from benchgate.gates.judge import judge
from benchgate.gates.notes import advantages_note, replay_note
from benchgate.ids import system_digest, trial_seed
from benchgate.looks.chain import ChainLooks, looked_at
from benchgate.promotion.tiers import TIER_FILE, TierConfig
from benchgate.runner.scored_again import score_again
from benchgate.runner.trial_files import TrialFiles
from benchgate.wire import clock
from benchgate.wire.writing import model_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime
    from pathlib import Path

    from benchgate.artifacts.run_kinds import Resumed
    from benchgate.artifacts.sealed_plan import SealedPlan
    from benchgate.audit.store import Published
    from benchgate.cassettes.recorder import CassetteRecorder
    from benchgate.gates.baseline import Baseline, BaselineChoice
    from benchgate.gates.exit_status import ExitRule
    from benchgate.gates.judge import Gate, Judgement
    from benchgate.ids import RunPlan
    from benchgate.models import BenchRunReport, Side, TrialResult
    from benchgate.replay.recording import Recording
    from benchgate.trials.planned import Key, PlannedTrials
    from benchgate.wire.shard import Shard

MAX_AGE: Final = timedelta(days=90)


def read_sealed(path: Path | None) -> SealedPlan | None:
    """
    Read the plan that a run cites, if it cites one.

    :raises ArtifactError: it is no sealed plan.
    """
    if path is None:
        return None
    from benchgate.artifacts.sealed_plan import SealedPlan

    return SealedPlan.read_file(path, "sealed plan")


@dataclass(slots=True, kw_only=True)
class ClassRun:
    """
    A run of one task class.

    :param beside: of the baseline, if its system runs in the same session.
    :param out: output folder; ``None`` writes nothing.
    :param name: of the folder that a full run has until it is recorded; its workers know it too.
    :param timeout: in seconds, of trials whose case names none.
    :param resume: the full run to complete: ``none``, ``auto``, a number or a folder.
    :param shard: the part of a full run that this one is; the whole is judged once it is merged.
    :param parts: folders of the shards that this run is put together from; none of its trials are run.
    :param expects_parts: the digest of each of them was compared with the one that it printed.
    :param max_cost_usd: the cap, to warn of trials that it cannot count.
    :param sealed: the plan that the run cites.
    :param recorder: makes a cassette of the run.
    :param recording: what is played in the place of a system.
    :param files: of the trials of a full run that is written.
    :param taken_over: how many trials were finished in the run that this one completes.
    :param recorded: the folder of that cassette, once it is written.
    :param judgement: what was decided, once the run is finished.
    :param problems: what could not be written or judged; a run with problems fails the session.
    :param warnings: what a person should look at, but what fails nothing.
    :param tier_problem: why the file of tiers could not be used; a run is otherwise unaffected by it.
    """

    ledger: PlannedTrials
    choice: BaselineChoice
    out: Path | None
    timeout: float
    resume: str | Path = "none"
    shard: Shard | None = None
    parts: tuple[Path, ...] = ()
    expects_parts: bool = False
    max_cost_usd: float | None = None
    sealed: SealedPlan | None = None
    recorder: CassetteRecorder | None = None
    recording: Recording | None = None
    beside: PlannedTrials | None = None
    name: str = field(default_factory=lambda: unfinished_name(clock.now()))
    files: TrialFiles | None = None
    taken_over: int = 0
    recorded: Path | None = None
    judgement: Judgement | None = None
    published: Published | None = None
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    tier_problem: str | None = None
    _tiers: TierConfig | None = None
    _baseline: Baseline | None = None
    _store: RunStore | None = None
    _started: datetime = field(default_factory=clock.now)
    _looks: ChainLooks | None = None
    _judged: Callable[..., Judgement] | None = None
    _has_warned: bool = False

    @property
    def failures(self) -> list[str]:
        """Why the session must fail because of this run."""
        return [*(self.judgement.failures if self.judgement else ()), *self.problems]

    @property
    def ledgers(self) -> dict[Side, PlannedTrials]:
        """The ledger of each side that runs."""
        ledgers: dict[Side, PlannedTrials] = {"candidate": self.ledger}
        return ledgers if self.beside is None else {**ledgers, "baseline": self.beside}

    @property
    def exit_status(self) -> int:
        """0, 1, or 10 if all that failed is that the gate holds."""
        if self.problems or self.judgement is None:
            return 1 if self.problems else 0
        return self.judgement.exit_status

    def interrupt(self) -> None:
        """Note that the session ended early."""
        for ledger in self.ledgers.values():
            ledger.interrupted = True

    def open(self, keys: Iterable[Key], beside: Iterable[Key] = ()) -> None:
        """
        Fix which trials run, and read baseline and tiers before a system can change them.

        :param beside: the trials of a baseline that runs too.
        :raises ArtifactError: the output folder is not writable, or its chain of records is damaged.
        """
        self._started = clock.now()
        self.ledger.plan(keys)
        if self.beside is not None:
            self.beside.plan(beside)
            if self.beside.scope != self.ledger.scope:
                self.beside.scope = self.ledger.scope = "selected"
        self._check_shard()
        if self.choice.path and (self.ledger.scope == "full" or self.shard):
            self._baseline = read_baseline(self.choice.path)
        self._read_tiers(self.ledger.bench.path.parents[1] / TIER_FILE)
        self._check_options()
        if self.out is not None:
            try:
                self._open_store(self.out)
            except OSError as error:
                raise ArtifactError(self.out, f"cannot be used: {error}") from error
        oldest = clock.now() - MAX_AGE
        stale = [case.case_id for case in self.ledger.cases if case.last_validated_at < oldest]
        if stale:
            self.warnings.append(f"not validated for more than 90 days: {', '.join(stale[:5])}")

    def _check_shard(self) -> None:
        if self.shard is None:
            return
        whole = self.ledger.every_key()
        part = self.shard.of(case_id for case_id, _ in whole)
        asked = {key for key in whole if key[0] in part}
        if any(set(ledger.keys) != asked for ledger in self.ledgers.values()):
            why = "it is every case of its part; here a part of these is selected"
            raise ArtifactError(f"shard {self.shard}", why)
        for ledger in self.ledgers.values():
            ledger.scope = "selected"  # also the one shard of one: benchgate merge records the run

    def _check_options(self) -> None:
        if self.out is None and self.choice.binding and self.ledger.bench.policy.looks == "spend":
            why = (
                "looks = 'spend' counts looks in the records of runs, and this run would write none"
            )
            raise ArtifactError("output folder", why)
        if self.resume != "none" and (self.out is None or self.ledger.scope != "full"):
            why = "only a full run can be resumed; here " + (
                "a part of the cases is selected" if self.out else "nothing is written"
            )
            raise ArtifactError(f"resume {self.resume}", why)
        if self.recording is not None:
            self.recording.check(self._plan(), self.ledger.keys)
        if self.recorder is not None:
            self.recorder.check(self._plan(), self.out, resume=self.resume != "none")

    def _open_store(self, out: Path) -> None:
        bench, scope = self.ledger.bench, self.ledger.scope
        self._store = RunStore(out, bench.name, scope, self.name, self.shard)
        plan = plan_file(
            self._plan(),
            timeout=self.timeout,
            started=self._started,
            replays=self.recording.source if self.recording else None,
            baseline_system=self.beside.system.name if self.beside else None,
            shard=self.shard,
        )
        self.warnings += self._store.open(plan, self.resume, self.parts)
        self._started = self._store.started or self._started
        if scope == "full":
            self._looks = ChainLooks(self._store.folder.parent)
            self.files = TrialFiles(self._store.folder, bench.name, bench.rubric_digest)
            if self.parts or self.resume != "none":
                try:
                    self._score_again(self.files)
                except ArtifactError:
                    self._store.close()
                    raise
            self.taken_over = len(os.listdir(self._store.folder / "cases"))

    def _score_again(self, files: TrialFiles) -> None:
        for side, ledger in self.ledgers.items():
            for doubt in score_again(ledger, files, side):
                path, why = files.folder / "cases" / doubt.file, doubt.why
                if not (doubt.is_wrong or self.parts):
                    path.unlink()  # it is run again
                elif doubt.is_wrong or not self.expects_parts:
                    if self.parts:
                        shutil.rmtree(files.folder)  # all in it are copies
                        copied = (part / "cases" / path.name for part in self.parts)
                        path = next(path for path in copied if path.exists())
                    if not doubt.is_wrong:
                        why += ", so that it cannot be scored again: --expect I=SHA256 of its shard"
                    raise ArtifactError(path, why)

    def _plan(self) -> RunPlan:
        harness = version("pytest-benchgate")
        sha256 = self._baseline.sha256 if self._baseline else None
        if self.beside is not None:
            sha256 = system_digest(self.beside.run_plan(harness_version=harness, baseline=None))
        return self.ledger.run_plan(harness_version=harness, baseline=sha256)

    @property
    def resumes(self) -> Resumed | None:
        """The run that this one completes."""
        return self._store.resumes if self._store else None

    def _read_tiers(self, path: Path) -> None:
        if not os.path.lexists(path):
            return
        try:
            self._tiers = TierConfig.read(path)
        except TierFileError as error:
            self.tier_problem = str(error)

    def record(
        self,
        result: TrialResult,
        output_json: str | None,
        *,
        scorer: str | None = None,
        file_sha256: str | None = None,
        side: Side = "candidate",
    ) -> None:
        """Record a result, and write its file unless whoever finished the trial has done so."""
        ledger = self.ledgers[side]
        if result.outcome == "not_run":  # its file may be there, from the run that is resumed
            reason = result.detail or "not run"
            ledger.not_run((result.case_id, result.trial), reason, result.usage)
            return
        self._warn_of_no_cost(result)
        scorer = scorer or ledger.bench.rubric_digest
        ledger.record(result, output_json, scorer=scorer)
        if self._store is None:
            return
        try:
            if file_sha256 is None:
                self._store.write_trial(result, output_json, scorer, side)
            else:
                self._store.note(result, file_sha256, scorer, side)
        except ArtifactError as error:
            self.problems.append(str(error))
            self._store.close()
            self._store = None

    def _warn_of_no_cost(self, result: TrialResult) -> None:
        if self.max_cost_usd is None or self._has_warned or result.outcome in INCOMPLETE:
            return
        if cost_of(result) is None:
            self._has_warned = True
            self.warnings.append(
                f"max_cost_usd: trial {result.case_id} reported no cost, and a cap cannot bind what is not reported; "
                "until a cost is known, one trial runs at a time"
            )

    def finish(self, gates: Iterable[Gate] = (), exit_rule: ExitRule = "strict") -> None:
        """Judge and write; a report that cannot be written goes to stderr, so that nothing measured is lost."""
        store = self._store
        try:
            self._finish(gates, exit_rule)
        finally:
            if store is not None:
                store.close()

    def _finish(self, gates: Iterable[Gate], exit_rule: ExitRule) -> None:
        self._add_finished()
        if len(self.ledger.scorers) > 1:
            self.warnings.append(
                "trials were scored by different code, though their scores are compared: a hook or another rubric "
                "scored some of them; begin a new run"
            )
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
            return
        if self.recorder is not None and self.published is not None:
            try:
                self._check_recordable(self.recorder, self.judgement.report)
                folder = self.published.folder
                self.recorded = self.recorder.write(self.judgement.report, folder, self.out)
            except (ArtifactError, OSError) as error:
                self.problems.append(str(error))

    @staticmethod
    def _check_recordable(recorder: CassetteRecorder, report: BenchRunReport) -> None:
        if not any(result.outcome in {"scored", "rubric_error"} for result in report.per_case):
            raise ArtifactError(recorder.folder, "not recorded: no trial returned an output")

    def _add_finished(self) -> None:
        """Record trials that are on disk but were not reported: the session stopped before, or their worker died."""
        if self.files is None or self._store is None:
            return
        try:
            self.files = replace(self.files, folder=self._store.detach())
        except ArtifactError as error:
            self.problems.append(str(error))
            self._store = None
            return
        for side, ledger in self.ledgers.items():
            for case_id, trial in ledger.missing():
                seed = trial_seed(ledger.bench.name, case_id, trial, ledger.seed)
                found = self.files.find(case_id, trial, seed, side)
                if found is not None:
                    self.record(
                        found.result,
                        found.output_json,
                        scorer=found.scorer,
                        file_sha256=found.file_sha256,
                        side=side,
                    )

    def _judge(self, gates: Iterable[Gate], exit_rule: ExitRule) -> None:
        ledger, baseline, harness = self.ledger, self._baseline, version("pytest-benchgate")
        problems = ledger.checkpoint_problems()
        if self.beside is not None:
            baseline = baseline_beside(self.beside.report(harness_version=harness, baseline=None))
            problems += tuple(f"baseline: {why}" for why in self.beside.checkpoint_problems())
        report = ledger.report(
            harness_version=harness, baseline=baseline.sha256 if baseline else None
        )
        self._judged = partial(
            judge,
            report,
            policy=ledger.bench.policy,
            choice=self.choice,
            baseline=baseline,
            checkpoints=ledger.checkpoints,
            checkpoint_problems=problems,
            noted=(
                *advantages_note(ledger.without_advantages()),
                *replay_note(self.recording and self.recording.source),
            ),
            exit_rule=exit_rule,
            is_part=self.shard is not None,
            count=self._look if self._looks else None,
            plan_problems=self._plan_problems(report, baseline.report if baseline else None),
        )
        self.judgement = self._judged(gates=gates)

    def _plan_problems(
        self, report: BenchRunReport, baseline: BenchRunReport | None
    ) -> tuple[str, ...]:
        if self.sealed is None or self.ledger.scope != "full":
            return ()
        from benchgate.artifacts.sealed_plan import broken

        run_id = baseline.run_id if baseline else None
        beside = baseline if self.beside else None
        policy = self.ledger.bench.policy
        found = broken(self.sealed, report, policy, self._started, run_id=run_id, beside=beside)
        return tuple(found)

    def _look(self, before: BenchRunReport, report: BenchRunReport) -> int:
        looked = looked_at(before, report, is_beside=self.beside is not None)
        return self._looks.number(looked) if self._looks else 1

    def _judged_last(self, judgement: Judgement) -> Judgement:
        """Return the judgement of a run whose place in the chain is known: another may have looked meanwhile."""
        before = judgement.baseline.report if judgement.baseline else None
        if judgement.look is None or before is None or self._judged is None:
            return judgement
        if self._look(before, judgement.report) != judgement.look:
            self.judgement = judgement = self._judged(gates=judgement.said)
        return judgement

    def _publish(self, judgement: Judgement) -> None:
        store = self._store
        if store is None:
            raise ArtifactError(str(self.out), "writing failed before")
        finished = clock.now()
        reports: dict[Side, BenchRunReport] = {"candidate": judgement.report}
        if judgement.beside is not None:
            reports["baseline"] = judgement.beside
        if judgement.decision is None:
            self.published = store.publish_selected(reports, finished)
        else:
            # Imported here: only a full run leaves evidence, and its models take a tenth of the time to start.
            from benchgate.artifacts.record import RunTerms, record_entry

            bench = self.ledger.bench
            terms = RunTerms(
                harness_version=version("pytest-benchgate"),
                severities=bench.taxonomy.severities,
                meanings=bench.taxonomy.meanings,
                cases=self.ledger.cases,
                min_cases=bench.task_class.min_cases_for_promotion,
                tiers=self._tiers,
                sealed=self.sealed,
            )
            self.published = store.publish(
                reports,
                lambda slot: record_entry(self._judged_last(judgement), terms, finished, slot),
            )
            if self.published.problem is not None:
                self.problems.append(self.published.problem)
