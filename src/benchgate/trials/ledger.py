"""Planned trials and their results: one ledger for each task class of a session."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchgate.aggregate import build_report
from benchgate.errors import BenchCaseLoadError, Unreadable
from benchgate.ids import RunPlan, trial_seed
from benchgate.loader.case_digest import case_digest, files_digest
from benchgate.models import FailureMode, RunDigests, TrialResult
from benchgate.training.checkpoints import foreign, lacks_advantages, untied
from benchgate.trials.time_limit import ends_after
from benchgate.wire.canonical import digest

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from benchgate.loader.loaded_class import LoadedClass, NamedSystem
    from benchgate.models import BenchCase, BenchRunReport, Scope
    from benchgate.training.checkpoints import Checkpoints
    from benchgate.wire.usage import Usage


Key = tuple[str, int]
"""Case id and trial number: what a record is filed under, never a pytest node id."""

MODIFIED = "input_modified"
MODIFIED_DETAIL = "input/ or expected/ changed while the session ran"
AFTER_VIOLATION = "not run after: "
"""Begins the reason of a trial that was not run because the rubric broke its contract in another."""
MAX_AGE = timedelta(days=90)


class Ledger:
    """
    Reconciles planned trials with recorded ones. One without a result is ``not_run``, so that none is lost unnoticed.

    :param trials: how many trials each case has.
    :param checkpoints: the checkpoint that the evidence must belong to, if one is the subject.
    """

    def __init__(
        self,
        bench: LoadedClass,
        system: NamedSystem,
        *,
        trials: int,
        seed: int,
        checkpoints: Checkpoints | None = None,
    ) -> None:
        self.bench = bench
        self.system = system
        self.trials = trials
        self.seed = seed
        self.checkpoints = checkpoints
        self.scope: Scope = "selected"
        self.interrupted = False
        self._planned: list[Key] = []
        self._results: dict[Key, TrialResult] = {}
        self._reruns: dict[Key, int] = {}
        self._reasons: dict[Key, str] = {}
        self._used: dict[Key, Usage] = {}
        self._scorers: set[str] = set()
        self._foreign: dict[Key, str] = {}
        self._lacks_advantages: dict[Key, bool] = {}
        self._handed: str | None = None
        self._handed_elsewhere: set[str | None] = set()
        self._cases: dict[str, BenchCase] = {}
        self._broken: dict[str, str] = {}
        self._files: dict[str, tuple[str, str | None]] = {}
        self._digests: dict[str, str] = {}

    def beside(self, system: NamedSystem) -> Ledger:
        """Return the ledger of a baseline that runs in the same session; its checkpoint is the baseline's."""
        return Ledger(
            self.bench,
            system,
            trials=self.trials,
            seed=self.seed,
            checkpoints=self.checkpoints.of_baseline() if self.checkpoints else None,
        )

    def every_key(self) -> set[Key]:
        """Return all trials of all cases on disk."""
        return {(case_id, trial) for case_id in self.bench.folders for trial in range(self.trials)}

    def plan(self, keys: Iterable[Key]) -> None:
        """
        Fix which trials are to run, and digest their cases and the system's checkpoint before a system can change them.

        :raises Unreadable: the checkpoint cannot be read.
        """
        self._handed = self.system.checkpoint_sha256()
        self._planned = sorted(set(keys))
        self.scope = "full" if self.every_key() <= set(self._planned) else "selected"
        for case_id in sorted({case_id for case_id, _ in self._planned}):
            try:
                case = self._cases[case_id] = self.bench.load(case_id)
                self._files[case_id] = files_digest(case)
                self._digests[case_id] = case_digest(case, self._files[case_id])
            except BenchCaseLoadError as error:
                self._broken[case_id] = error.describe(f"cases/{case_id}/{Path(error.path).name}")
            except (Unreadable, ValueError) as error:  # or facts that are nested too deeply
                self._broken[case_id] = str(error)

    @property
    def planned(self) -> tuple[Key, ...]:
        """The trials that are to run, sorted."""
        return tuple(self._planned)

    @property
    def cases(self) -> tuple[BenchCase, ...]:
        """The planned cases that could be read, sorted by id."""
        return tuple(self._cases[case_id] for case_id in sorted(self._digests))

    def stale(self, now: datetime) -> tuple[str, ...]:
        """Return the planned cases that nobody has validated for more than 90 days, sorted."""
        return tuple(case.case_id for case in self.cases if now - case.last_validated_at > MAX_AGE)

    def record(self, result: TrialResult, output_json: str | None, *, scorer: str) -> None:
        """
        File a result; a second one for the same trial counts as a rerun and replaces the first.

        :param output_json: what the system returned; compared with the checkpoint, if one is the subject.
        :param scorer: digest of what scored it.
        """
        key = (result.case_id, result.trial)
        if key in self._results:
            self.rerun(key)
        self._reruns[key] = max(self._reruns.get(key, 0), result.reruns)
        self._results[key] = result
        self._scorers.add(scorer)
        if result.outcome == "scored":
            self._check_payload(key, output_json or "")

    def _check_payload(self, key: Key, output_json: str) -> None:
        output = json.loads(output_json) if '"rl_payload"' in output_json else {}
        self._lacks_advantages[key] = lacks_advantages(output)
        if self.checkpoints is not None:
            wrong = foreign(self.checkpoints.candidate, key[0], output, self._handed)
            if wrong is not None:
                self._foreign[key] = wrong

    @property
    def scorer_count(self) -> int:
        """How many different rubrics or hooks scored the trials."""
        return len(self._scorers)

    def without_advantages(self) -> int:
        """Return how many scored trials have an RL payload without advantages."""
        scored = (r for r in self.results() if r.outcome == "scored")
        return sum(self._lacks_advantages[result.case_id, result.trial] for result in scored)

    def handed(self, sha256: str | None) -> None:
        """Note which checkpoint the process of a trial handed over: each worker reads the file itself."""
        if sha256 != self._handed:
            self._handed_elsewhere.add(sha256)

    def checkpoint_problems(self) -> tuple[str, ...]:
        """
        Return why it is not known which checkpoint played, or that it is not the one that is the subject.

        The checkpoint is digested once more.
        """
        found = [
            f"a worker handed over {sha256!r}; recorded is {self._handed!r}"
            for sha256 in sorted(self._handed_elsewhere, key=str)
        ]
        if self.system.checkpoint and (change := self.system.checkpoint.change()):
            found.append(change)
        if self.checkpoints is not None:
            found += untied(self.checkpoints, self._handed)
            found += self.checkpoints.problems
            found += (self._foreign[key] for key in sorted(self._foreign))
        return tuple(found)

    def rerun(self, key: Key) -> None:
        """Note that a trial was run again."""
        self._reruns[key] = self._reruns.get(key, 0) + 1

    def not_run(self, key: Key, reason: str, usage: Usage | None = None) -> None:
        """
        Note why a trial has no result.

        :param usage: what it used all the same.
        """
        self._reasons.setdefault(key, reason)
        if usage is not None:
            self._used[key] = usage

    def results(self) -> list[TrialResult]:
        """Return one result for each planned trial."""
        return [self._result(key) for key in self._planned]

    def _result(self, key: Key) -> TrialResult:
        # A case that could not be digested was not run on known inputs, whatever came back.
        found = None if key[0] in self._broken else self._results.get(key)
        if found is None:
            reason = self._reasons.get(key, "no result came back: the process ended or was stopped")
            detail = self._broken.get(key[0], reason)
            used = self._used.get(key)
            found = self._unscored(key, outcome="not_run", detail=detail, usage=used)
        if reruns := self._reruns.get(key, 0):
            return found.model_copy(update={"reruns": reruns})
        return found

    def ended(self, key: Key, limit: float) -> TrialResult:
        """Return the result of a trial whose process the backstop of its limit ended."""
        detail = f"timed out after {limit:g} s; its process had to be ended"
        modes = (FailureMode(code="timeout", detail=detail),)
        after = ends_after(limit)
        return self._unscored(key, outcome="timeout", failure_modes=modes, duration_seconds=after)

    def _unscored(self, key: Key, **fields: Any) -> TrialResult:
        case_id, trial = key
        return TrialResult(
            case_id=case_id,
            trial=trial,
            seed=trial_seed(self.bench.name, case_id, trial, self.seed),
            held_out=case_id in self._cases and self._cases[case_id].held_out,
            **fields,
        )

    def _check_inputs(self) -> None:
        """Mark the results of every case whose files changed since the run began."""
        modified = {case_id for case_id in self._digests if not self._unchanged(case_id)}
        for key, result in self._results.items():
            codes = {mode.code for mode in result.failure_modes}
            if key[0] in modified and MODIFIED not in codes:
                mode = FailureMode(code=MODIFIED, detail=MODIFIED_DETAIL)
                modes = (*result.failure_modes, mode)
                self._results[key] = result.model_copy(update={"failure_modes": modes})

    def _unchanged(self, case_id: str) -> bool:
        try:
            return files_digest(self._cases[case_id]) == self._files[case_id]
        except Unreadable:
            return False

    def report(self, *, harness_version: str, baseline: str | None) -> BenchRunReport:
        """
        Aggregate the run. All inputs are digested again first, to find those that a system changed.

        :param baseline: SHA-256 of the baseline's file, if the run is compared with one.
        """
        self._check_inputs()
        plan = self.run_plan(harness_version=harness_version, baseline=baseline)
        return build_report(
            plan,
            self.results(),
            self.bench.taxonomy,
            interrupted=self.interrupted,
            critical=[case_id for case_id, case in self._cases.items() if case.critical],
        )

    def run_plan(self, *, harness_version: str, baseline: str | None) -> RunPlan:
        """Return what is run; what scores the trials is known only once there are results."""
        scorers = sorted(self._scorers) or [self.bench.rubric_digest]
        return RunPlan(
            task_class=self.bench.name,
            case_ids=tuple(sorted({case_id for case_id, _ in self._planned})),
            scope=self.scope,
            system=self.system.name,
            trial_count=self.trials,
            seed=self.seed,
            harness_version=harness_version,
            clusters={c.case_id: c.cluster for c in self.cases if c.cluster is not None},
            digests=RunDigests(
                cases=self._digests,
                rubric=self.bench.rubric_digest,
                scorer=scorers[0] if len(scorers) == 1 else digest(scorers),
                taxonomy=self.bench.taxonomy.digest,
                system=self.system.digest,
                policy=self.bench.policy.digest,
                baseline=baseline,
                checkpoint=self._handed,
            ),
        )

    def missing(self) -> list[Key]:
        """Return the planned trials that have no result, though their case can be read and their rubric be trusted."""
        reasons = self._reasons
        return [
            key
            for key in self._planned
            if key not in self._results
            and key[0] not in self._broken
            and not reasons.get(key, "").startswith(AFTER_VIOLATION)
        ]
