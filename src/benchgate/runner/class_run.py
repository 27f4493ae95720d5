"""
One task class in one session, from its plan to its record: the engine behind pytest and the command line.

Both open a run, add results to it as they come, and finish it. A disk error on the way becomes a problem of the run, so
that no result is lost to it.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

from benchgate.aggregate import INCOMPLETE, cost_of, set_aside
from benchgate.audit.store import RunStore
from benchgate.errors import ArtifactError, EvalError, TierFileError, few
from benchgate.gates.choice import MAX_AGE
from benchgate.gates.unscored import incompleteness
from benchgate.ids import TrialKey, system_digest, trial_seed
from benchgate.promotion.tiers import TIER_FILE, TierConfig
from benchgate.results.folder import Results
from benchgate.runner.judging import finished_run, floor_notes, judged, publish, stopping
from benchgate.runner.settings import check_run, set_scope
from benchgate.trials.planned import PlannedTrials
from benchgate.wire import clock
from benchgate.wire.parsing import collector_paused
from benchgate.wire.writing import model_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from benchgate.artifacts.provenance import Provenance
    from benchgate.artifacts.record import RunTerms
    from benchgate.artifacts.trial_kinds import PlanFile
    from benchgate.audit.store import Published
    from benchgate.gates.baseline import Baseline
    from benchgate.gates.judge import Gate, Judgement
    from benchgate.ids import RunPlan
    from benchgate.looks.chain import ChainLooks
    from benchgate.looks.tally import Counted, Looked
    from benchgate.models import Side, TrialResult
    from benchgate.runner.settings import Grounds, RunRequest
    from benchgate.trials.executor import TrialRecord
    from benchgate.trials.planned import Key

TWO_SCORERS: Final = (
    "trials were scored by different code, though their scores are compared: a hook or another rubric scored some of "
    "them; begin a new run"
)


class ClassRun:
    """
    An open run of one task class.

    ``judgement`` is there once it is finished, ``published`` and ``recorded``, the folder of its cassette, once they
    are written. ``problems`` say what could not be judged or written, and fail the session; ``warnings`` and
    ``tier_problem`` fail nothing. ``store`` is ``None`` if nothing is to be written, and closed once writing failed.
    ``stopped`` says why no other trial is to begin; it is empty until then. ``provenance`` is there once a full run is
    open.
    """

    provenance: Provenance

    def __init__(self, request: RunRequest, grounds: Grounds) -> None:
        self.request = request
        self.grounds = grounds
        given = request.settings
        files = grounds.checkpoints
        own = {"candidate": files, "baseline": None}
        if files is not None:
            own["baseline"] = files.baseline
        self.sides: dict[Side, PlannedTrials] = {
            side: PlannedTrials(
                request.bench, system, trials=given.trials, seed=given.seed, checkpoints=own[side]
            )
            for side, system in request.systems.items()
        }
        observer = request.observed_by()
        for side, trials in self.sides.items():
            trials.isolation_class = request.isolation(side)
            trials.reads = request.reads(side)
            if observer is not None:
                trials.observer = observer.identity
        self.judgement: Judgement | None = None
        self.published: Published | None = None
        self.recorded: Path | None = None
        self.problems: list[str] = []
        self.warnings: list[str] = []
        self.tier_problem: str | None = None
        self.store: RunStore | None = None
        self.taken_over = 0
        self.stopped = ""
        self._has_warned_of_costs = False
        self._tiers: TierConfig | None = None
        self._baseline: Baseline | None = None
        self._runs: Path | None = None
        self._resumed: int | None = None
        self._check: Callable[[], str] = (
            str  # which returns "": no run without a baseline stops early
        )
        self._started = clock.now()

    @property
    def name(self) -> str:
        """The name of the class."""
        return self.request.bench.name

    @property
    def candidate(self) -> PlannedTrials:
        """The trials of the candidate."""
        return self.sides["candidate"]

    @property
    def failures(self) -> list[str]:
        """Why the session must fail because of this run."""
        if self.judgement is None:
            return [*self.problems]
        return [*self.judgement.failures, *self.problems]

    @property
    def exit_status(self) -> int:
        """0, 1, or 10 if all that failed is that the gate holds."""
        if self.problems:
            return 1
        if self.judgement is None:
            return 0
        return self.judgement.exit_status

    def interrupt(self) -> None:
        """Note that the session ended early."""
        for trials in self.sides.values():
            trials.interrupted = True

    @collector_paused()
    def open(self, keys: Iterable[Key], beside: Iterable[Key] = ()) -> None:
        """
        Fix which trials run, and read baseline and tiers before a system can change them.

        :param beside: the trials of a baseline that runs too.
        :raises ArtifactError: the output folder is not writable, or its chain of records is damaged.
        """
        given = self.request.settings
        choice = self.grounds.choice
        for trials, planned in zip(self.sides.values(), (keys, beside), strict=False):
            trials.plan(planned)
        set_scope(self.sides.values(), self.request)
        if choice.path and (self.candidate.scope == "full" or given.shard):
            from benchgate.gates.baseline import baseline_notes, read_baseline

            self._baseline = read_baseline(choice.path)
            level = self.candidate.isolation_class
            notes = baseline_notes(self._baseline, self.request.bench.policy, level)
            self.warnings += [one.text for one in notes]
        self.warnings += floor_notes(given.out, self._plan(), self.candidate.cases)
        self._read_tiers()
        check_run(self.request, self.grounds, self._plan(), self.candidate.keys)
        if given.out is not None:
            try:
                self._open_store(given.out)
            except OSError as error:
                raise ArtifactError(given.out, f"cannot be used: {error}") from error
        if given.stop == "decided" and self._baseline and self._baseline.report:
            self._check = stopping(self.request, self.candidate, self._baseline, self._number)
        self._warn_of_stale_cases()

    def _read_tiers(self) -> None:
        tier_file = self.request.bench.path.parents[1] / TIER_FILE
        if not os.path.lexists(tier_file):
            return
        try:
            self._tiers = TierConfig.read(tier_file)
        except TierFileError as error:
            self.tier_problem = str(error)

    def _warn_of_stale_cases(self) -> None:
        oldest = clock.now() - MAX_AGE
        stale = [case.case_id for case in self.candidate.cases if case.last_validated_at < oldest]
        if stale:
            self.warnings.append(f"not validated for more than 90 days: {few(stale)}")

    def _plan(self) -> RunPlan:
        sha256 = None
        if self._baseline is not None:
            sha256 = self._baseline.sha256
        if "baseline" in self.sides:
            sha256 = system_digest(self.sides["baseline"].run_plan())
        return self.candidate.run_plan(sha256)

    def _open_store(self, out: Path) -> None:
        request = self.request
        given = request.settings
        scope = self.candidate.scope
        store = RunStore(out, self.name, scope, request.unfinished, given.shard)
        self.store = store
        # A part of the cases replaces no floor.
        if given.floor and self.candidate.every_key() <= {*self.candidate.keys}:
            store.folder = out / "runs" / self.name / given.floor.replace(":", "/")
        if scope == "full" or given.shard is not None:
            self._begin(store)
        else:
            self.warnings += store.open_selected()
        self.taken_over = len(os.listdir(store.folder / "cases"))

    def _begin(self, store: RunStore) -> None:
        """Open the folder of a full run or of a shard, with its plan and with what is there already."""
        from benchgate.artifacts.plan import plan_file

        request = self.request
        given = request.settings
        replays = None
        if request.recording is not None:
            replays = request.recording.replays
        baseline_system = None
        if "baseline" in request.systems:
            baseline_system = request.systems["baseline"].name
        plan = plan_file(
            self._plan(),
            timeout=given.timeout,
            started=self._started,
            replays=replays,
            baseline_system=baseline_system,
            shard=given.shard,
        )
        # Before the folder is opened: an extension that is refused leaves nothing behind.
        if self.candidate.scope == "full":
            self._read_provenance()
        self.warnings += store.open(plan, given.sources())
        if store.plan is not None:
            self._take_from_plan(store, store.plan)
        self._score_taken_over(store)

    def _read_provenance(self) -> None:
        """
        Note who runs this and which code.

        :raises ArtifactError: the code is not that of the run that is extended.
        """
        from benchgate.artifacts.provenance import Provenance

        request = self.request
        system = request.systems["candidate"]
        # Only the source of a system that is called, and that declares no digest of its own, says which code ran.
        if request.is_recorded or request.settings.parts or system.digest is not None:
            self.provenance = Provenance.here(request.bench.path)
            return
        self.provenance = Provenance.here(request.bench.path, system.source)
        extended = request.settings.extends
        if extended is None or extended.record is None:
            return
        source = self.provenance.system_source
        # A source that cannot be read is nobody's, also if the pinned run could not read it either.
        if source is None or source != extended.record.provenance.system_source:
            raise ArtifactError(f"system {system.name}", "its source is not the pinned run's")

    def _take_from_plan(self, store: RunStore, plan: PlanFile) -> None:
        """Take the start time from the plan in the folder: a run that is resumed began earlier."""
        self._started = plan.started_at
        self._runs = store.folder.parent
        if plan.resumes is not None:
            self._resumed = plan.resumes.seq

    @cached_property
    def _looks(self) -> ChainLooks:
        """What counts looks; imported here, for most runs are none."""
        from benchgate.looks.chain import ChainLooks

        return ChainLooks(self._runs, self._resumed)

    def _number(self, looked: Looked) -> Counted:
        """Count a look of this run."""
        return self._looks.number(looked)

    def _score_taken_over(self, store: RunStore) -> None:
        """Score again what other runs left, if this one takes it over."""
        if not store.sources:
            return
        from benchgate.runner.scored_again import score_again

        is_expected = bool(self.request.settings.expect)
        try:
            score_again(self.sides, store.folder, store.sources, is_expected=is_expected)
        except ArtifactError:
            store.close()
            raise

    def record(self, record: TrialRecord, side: Side) -> TrialResult:
        """Record a trial as it counts, and write its file unless whoever finished the trial has done so."""
        trials = self.sides[side]
        result = record.result
        if result.outcome == "not_run":  # its file may be there, from the run that is resumed
            trials.not_run(
                (result.case_id, result.trial),
                result.detail or "not run",
                why=result.why,
                cap_usd=result.cap_usd,
                usage=result.usage,
            )
            return result
        if self.stopped:
            result = set_aside(result)
        if self.request.settings.max_cost_usd is not None:
            self._warn_of_no_cost(result)
        scorer = record.scorer or self.request.bench.rubric_digest
        trials.record(result, record.output_json, scorer=scorer)
        self.stopped = self.stopped or self._check()
        if self.store is not None and not self.store.is_closed:
            try:
                self.store.keep(replace(record, result=result, scorer=scorer), side)
            except ArtifactError as error:
                self.problems.append(str(error))
                self.store.close()
        return result

    def _warn_of_no_cost(self, result: TrialResult) -> None:
        """Warn once, by the first trial that says nothing of its cost."""
        is_known = result.outcome in INCOMPLETE or cost_of(result) is not None
        if is_known or self._has_warned_of_costs:
            return
        self._has_warned_of_costs = True
        self.warnings.append(
            f"max_cost_usd: trial {result.case_id} reported no cost, and a cap cannot bind what is not reported; "
            "until a cost is known, one trial runs at a time"
        )

    @collector_paused()
    def finish(self, gates: Iterable[Gate] = ()) -> None:
        """Judge and write; a report that cannot be written goes to stderr, so that nothing measured is lost."""
        store = self.store
        try:
            if store is not None and not store.is_closed and self.candidate.scope == "full":
                self._add_finished(store)
            if len(self.candidate.scorers) > 1:
                self.warnings.append(TWO_SCORERS)
            run = finished_run(self.request, self.grounds, self.sides, self._baseline)
            count = None
            if store is not None and self.candidate.scope == "full":
                count = self._number
            self.judgement = judged(run, count, gates)
            if store is not None:
                self._publish(store, self.judgement)
        except EvalError as error:
            self.problems.append(str(error))
        finally:
            if store is not None:
                store.close()

    def _add_finished(self, store: RunStore) -> None:
        """Record trials that are on disk but were not reported: the session stopped before, or their worker died."""
        try:
            results = Results.of_run(store.detach())
        except ArtifactError as error:
            self.problems.append(str(error))
            store.close()
            return
        for side, trials in self.sides.items():
            for case_id, trial in trials.missing():
                seed = trial_seed(self.name, case_id, trial, trials.seed)
                record = results.get(TrialKey(self.name, case_id, trial, seed, side))
                if record is None:
                    continue
                reason = trials.reason((case_id, trial))
                if record.awaits_score and reason is not None and not self.stopped:
                    # Such as a cap; what the file says is why it ended before.
                    told = record.result.model_copy(update={"detail": reason})
                    record = replace(record, result=told, file_sha256=None)
                self.record(record, side)

    def _publish(self, store: RunStore, judgement: Judgement) -> None:
        given = self.request.settings
        if given.extends and not judgement.report.complete:
            lacking = incompleteness(judgement.report).shown("texts")
            why = f"{lacking}; the next --extend takes over what finished"
            self.problems.append(f"no extension is recorded: {why}")
            return
        try:
            self.judgement, self.published = publish(
                store, judgement, self._number, partial(_terms, self, self._tiers)
            )
        except (ArtifactError, OSError, ValueError) as error:
            self.problems.append(f"the run is not recorded: {error}")
            sys.stderr.write(model_bytes(judgement.report).decode())
            return
        if self.published.problem is not None:
            self.problems.append(self.published.problem)
        recorder = self.request.recorder
        if recorder is not None and given.out is not None:
            try:
                self.recorded = recorder.write(judgement.report, self.published.folder, given.out)
            except (ArtifactError, OSError) as error:
                self.problems.append(str(error))


def _terms(run: ClassRun, tiers: TierConfig | None) -> RunTerms:
    # Imported here: only a full run leaves evidence, and its models take a tenth of the time to start.
    from benchgate.artifacts.record import RunTerms

    bench = run.request.bench
    return RunTerms(
        severities=bench.taxonomy.severities,
        meanings=bench.taxonomy.meanings,
        cases=run.candidate.texts,
        min_cases=bench.task_class.min_cases_for_promotion,
        tiers=tiers,
        provenance=run.provenance,
    )
