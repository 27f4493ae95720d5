"""The planned trials of a run and what became of each; whether they are all of the class, and on unchanged inputs."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchgate.aggregate import build_report
from benchgate.ids import RunPlan
from benchgate.models import FailureMode, RunDigests
from benchgate.training.episodes import Episode
from benchgate.trials.inputs import PlannedCase, marked_modified, unscored
from benchgate.trials.time_limit import ends_after
from benchgate.wire.canonical import digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchgate.loader.loaded_class import LoadedClass
    from benchgate.loader.systems import NamedSystem
    from benchgate.models import (
        BenchCase,
        BenchRunReport,
        Isolation,
        Observer,
        Scope,
        TrialResult,
        WhyNotRun,
    )
    from benchgate.training.checkpoints import Checkpoints
    from benchgate.wire.shard import Shard
    from benchgate.wire.usage import Usage


Key = tuple[str, int]
"""Case id and trial number: what a record is filed under, never a pytest node id."""

AFTER_VIOLATION = "not run after: "
"""Begins what people read of a trial that is ``after_violation``."""
NO_RESULT = "no result came back: the process ended or was stopped"


@dataclass(slots=True)
class Entry:
    """
    What became of a trial.

    :param reason: why it has no result, for people; ``why``, and the ``cap_usd`` that it names, as a result has them.
    :param usage: what it used all the same.
    :param foreign: why its output is not evidence about the checkpoint that is the subject.
    :param episode: that in its output.
    """

    result: TrialResult | None = None
    reruns: int = 0
    reason: str | None = None
    why: WhyNotRun | None = None
    cap_usd: float | None = None
    usage: Usage | None = None
    foreign: str | None = None
    episode: Episode | None = None


class PlannedTrials:
    """
    The trials of one system in a run. One without a result is ``not_run``, so that none is lost unnoticed.

    :param trials: how many trials each case has.
    :param checkpoints: the checkpoint that the evidence must belong to, if one is the subject.

    ``scorers`` has the digest of each rubric or hook that scored a trial.
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
        self.isolation_class: Isolation = "none"
        self.reads: tuple[str, ...] = ()
        self.observer: Observer | None = None
        self.scope: Scope = "selected"
        self.interrupted = False
        self.keys: tuple[Key, ...] = ()
        self._entries: defaultdict[Key, Entry] = defaultdict(Entry)
        self._cases: dict[str, PlannedCase] = {}
        self.scorers: set[str] = set()
        self._handed: str | None = None
        self._handed_elsewhere: set[str | None] = set()

    def every_key(self, shard: Shard | None = None) -> set[Key]:
        """Return all trials of all cases on disk, or of those in a shard."""
        case_ids = shard.of(self.bench.folders) if shard else self.bench.folders
        return {(case_id, trial) for case_id in case_ids for trial in range(self.trials)}

    def plan(self, keys: Iterable[Key]) -> None:
        """
        Fix which trials are to run, and digest their inputs before a system can change them.

        :raises Unreadable: the checkpoint cannot be read.
        """
        self._handed = self.system.checkpoint_sha256()
        self.keys = tuple(sorted(set(keys)))
        self.scope = "full" if self.every_key() <= set(self.keys) else "selected"
        for case_id in sorted({case_id for case_id, _ in self.keys}):
            self._cases[case_id] = PlannedCase.read(self.bench, case_id)

    @property
    def cases(self) -> tuple[BenchCase, ...]:
        """The planned cases that could be read, sorted by id."""
        return tuple(case for case, _ in self.texts)

    @property
    def texts(self) -> tuple[tuple[BenchCase, Mapping[str, str]], ...]:
        """These cases, each with the beginnings of its input files by name."""
        planned = self._cases.values()
        return tuple((c.case, c.texts) for c in planned if c.case and c.problem is None)

    def record(self, result: TrialResult, output_json: str | None, *, scorer: str) -> None:
        """
        File a result; a second one for the same trial counts as a rerun and replaces the first.

        :param output_json: what the system returned; compared with the checkpoint, if one is the subject.
        :param scorer: digest of what scored it.
        """
        entry = self._entries[result.case_id, result.trial]
        entry.reruns = max(entry.reruns + (entry.result is not None), result.reruns)
        entry.result = result
        entry.foreign = None
        entry.episode = None
        self.scorers.add(scorer)
        if result.outcome != "scored":
            return
        output = {}
        # Looked for as text first: most outputs have no payload, and may be large.
        if output_json is not None and '"rl_payload"' in output_json:
            output = json.loads(output_json)
        entry.episode = Episode.of(result.case_id, result.trial, output)
        if self.checkpoints is not None:
            from benchgate.training.checkpoints import foreign

            entry.foreign = foreign(
                self.checkpoints.candidate, result.case_id, output, self._handed
            )

    def episodes(self) -> tuple[Episode, ...]:
        """Return the episodes in the RL payloads of scored trials, in the order of a report: not that of the run."""
        scored = [key for key, one in zip(self.keys, self.results(), strict=True) if one.score]
        found = (self._entries[key].episode for key in sorted(scored))
        return tuple(episode for episode in found if episode is not None)

    def handed(self, sha256: str | None) -> None:
        """Note which checkpoint the process of a trial handed over: each worker reads the file itself."""
        if sha256 != self._handed:
            self._handed_elsewhere.add(sha256)

    def checkpoint_problems(self) -> tuple[str, ...]:
        """
        Return why it is not known which checkpoint played, or that it is not the one that is the subject.

        The checkpoint is digested once more.
        """
        problems = [
            f"a worker handed over {sha256!r}; recorded is {self._handed!r}"
            for sha256 in sorted(self._handed_elsewhere, key=str)
        ]
        if self.system.checkpoint is not None:
            change = self.system.checkpoint.change()
            if change is not None:
                problems.append(change)
        if self.checkpoints is not None:
            from benchgate.training.checkpoints import untied

            problems += untied(self.checkpoints, self._handed)
            problems += self.checkpoints.problems
            problems += (
                entry.foreign for _, entry in sorted(self._entries.items()) if entry.foreign
            )
        return tuple(problems)

    def rerun(self, key: Key) -> None:
        """Note that a trial was run again."""
        self._entries[key].reruns += 1

    def not_run(
        self,
        key: Key,
        reason: str,
        *,
        why: WhyNotRun | None = None,
        cap_usd: float | None = None,
        usage: Usage | None = None,
    ) -> None:
        """Note why a trial has no result, of which the first reason counts, and what it used all the same."""
        entry = self._entries[key]
        if entry.reason is None:
            entry.reason = reason
            entry.why = why
            entry.cap_usd = cap_usd
        entry.usage = usage or entry.usage

    def reason(self, key: Key) -> str | None:
        """Return why a trial was not run, for people."""
        return self._entries[key].reason

    def results(self) -> list[TrialResult]:
        """Return one result for each planned trial."""
        return [self._result(key, self._entries[key]) for key in self.keys]

    def _result(self, key: Key, entry: Entry) -> TrialResult:
        # A case that could not be digested was not run on known inputs, whatever came back.
        problem = self._cases[key[0]].problem
        result = entry.result
        if result is None or problem is not None:
            fields: dict[str, Any] = {
                "detail": entry.reason or NO_RESULT,
                "why": entry.why,
                "cap_usd": entry.cap_usd,
            }
            if problem is not None:
                fields = {"detail": problem}
            result = self._unscored(key, outcome="not_run", usage=entry.usage, **fields)
        return result.model_copy(update={"reruns": entry.reruns}) if entry.reruns else result

    def ended(self, key: Key, limit: float) -> TrialResult:
        """Return the result of a trial whose process the backstop of its limit ended."""
        detail = f"timed out after {limit:g} s; its process had to be ended"
        modes = (FailureMode(code="timeout", detail=detail),)
        after = ends_after(limit)
        return self._unscored(key, outcome="timeout", failure_modes=modes, duration_seconds=after)

    def _unscored(self, key: Key, **fields: Any) -> TrialResult:
        planned = self._cases.get(key[0])
        return unscored(self.bench.name, key, self.seed, planned and planned.case, **fields)

    def report(self, baseline: str | None = None) -> BenchRunReport:
        """
        Aggregate the run. All inputs are digested again first, to find those that a system changed.

        :param baseline: SHA-256 of the baseline's file, if the run is compared with one.
        """
        modified = {case_id for case_id, planned in self._cases.items() if planned.is_modified()}
        for (case_id, _), entry in self._entries.items():
            if case_id in modified and entry.result is not None:
                entry.result = marked_modified(entry.result)
        return build_report(
            self.run_plan(baseline),
            self.results(),
            self.bench.taxonomy,
            interrupted=self.interrupted,
            critical=[c for c, p in self._cases.items() if p.case is not None and p.case.critical],
            clusters={c.case_id: c.cluster for c in self.cases if c.cluster is not None},
            retired=self.bench.retired,
        )

    def run_plan(self, baseline: str | None = None) -> RunPlan:
        """Return what is run; what scores the trials is known only once there are results."""
        scorers = sorted(self.scorers) or [self.bench.rubric_digest]
        return RunPlan(
            task_class=self.bench.name,
            case_ids=tuple(self._cases),
            scope=self.scope,
            system=self.system.name,
            trial_count=self.trials,
            seed=self.seed,
            isolation_class=self.isolation_class,
            reads=self.reads,
            observer=self.observer,
            digests=RunDigests(
                cases={c: p.digest for c, p in self._cases.items() if p.problem is None},
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
        missing = []
        for key in self.keys:
            entry = self._entries[key]
            is_readable = self._cases[key[0]].problem is None
            if entry.result is None and is_readable and entry.why != "after_violation":
                missing.append(key)
        return missing
