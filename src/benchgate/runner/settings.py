"""What a run of one task class is asked for, through whichever door, and what it is judged by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchgate.audit.chain import RECORD_FILE
from benchgate.audit.runs import run_of_class
from benchgate.audit.store import shard_folder, unfinished_name
from benchgate.errors import ArtifactError, EvalError
from benchgate.gates.choice import choose_baseline, rerun_system
from benchgate.gates.labels import Label, read_labels
from benchgate.gates.policy import parse_options
from benchgate.loader.observer import ClassObserver, never
from benchgate.loader.serving import served
from benchgate.loader.systems import find_system, is_address
from benchgate.options.kinds import RECORDING
from benchgate.options.table import RUN_OPTIONS
from benchgate.registry import FLOORS
from benchgate.training.checkpoints import CheckpointFiles, read_checkpoints
from benchgate.wire import clock

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from typing import Any

    from benchgate.audit.runs import KnownRun
    from benchgate.audit.sources import Sources
    from benchgate.gates.choice import BaselineChoice
    from benchgate.gates.exit_status import ExitRule
    from benchgate.ids import RunPlan
    from benchgate.isolation.isolated import Isolated
    from benchgate.loader.loaded_class import LoadedClass
    from benchgate.loader.serving import Serving
    from benchgate.loader.systems import NamedSystem
    from benchgate.models import BenchCase, Isolation, Side
    from benchgate.registry import System
    from benchgate.replay.recorder import CassetteRecorder
    from benchgate.replay.recording import Recording
    from benchgate.training.checkpoints import Checkpoints
    from benchgate.trials.calls import Scorer
    from benchgate.trials.planned import PlannedTrials
    from benchgate.wire.shard import Shard


DEFAULTS: Final = {option.key: option.default for option in RUN_OPTIONS}

CaseFilter = Callable[["BenchCase"], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """
    The settings of a run of one task class; the options in :mod:`benchgate.options.table` say what they mean.

    :param task_class: of a merge, that of its parts.
    :param baseline: ``None``, of a merge, for what its parts were run with.
    :param parts: folders of the shards that the run is put together from; none of its trials are run.
    :param extends: a complete run that this one takes all results from but those of new cases.
    :param recorded: a cassette or a run that is taken over, by its option in :data:`~benchgate.results.rules.RECORDED`.
    :param expect: the digest of each part by its number, as it printed it; others are refused.
    """

    task_class: str = ""
    system: System | str | None = None
    case_filter: CaseFilter | str | None = None
    timeout: float = DEFAULTS["timeout"]
    out: Path | None = None
    bench_root: Path = Path("bench")
    trials: int = DEFAULTS["trials"]
    seed: int = DEFAULTS["seed"]
    jobs: int = DEFAULTS["jobs"]
    executor: str | None = None
    isolation: Isolation = DEFAULTS["isolation"]
    allow_mixed_workers: str = DEFAULTS["allow_mixed_workers"]
    retries: int = DEFAULTS["retries"]
    max_rpm: int | None = None
    max_cost_usd: float | None = None
    stop: str = DEFAULTS["stop"]
    resume: str | Path = DEFAULTS["resume"]
    shard: Shard | None = None
    extends: KnownRun | None = None
    parts: tuple[Path, ...] = ()
    expect: Mapping[int, str] = field(default_factory=dict)
    record: str | None = None
    recorded: Mapping[str, str | Path] = field(default_factory=dict)
    baseline: str | Path | None = "none"
    policy: Mapping[str, Any] | None = None
    exit_rule: ExitRule = "strict"
    checkpoints: CheckpointFiles = field(default_factory=CheckpointFiles)

    @classmethod
    def of_options(cls, values: Mapping[str, Any], **own: Any) -> RunSettings:
        """
        Return the settings that options say, by their keys; other options are left out.

        :param own: settings that are no options, or win over them.
        :raises PolicyError: a threshold of the policy is none.
        """
        attributes = {one.name: values[one.name] for one in fields(cls) if one.name in values}
        is_floor = values.get("system") in FLOORS  # most of whose cases are to fail
        attributes["exit_rule"] = "gate" if is_floor else values.get("exit", "gate")
        given = {one.key: values.get(one.key) for one in RUN_OPTIONS if one.kind is RECORDING}
        attributes["recorded"] = {name: what for name, what in given.items() if what is not None}
        attributes["policy"] = parse_options(values.get("policy") or ())
        attributes["checkpoints"] = CheckpointFiles(
            checkpoint=values["checkpoint"],
            baseline=values["baseline_checkpoint"],
            lineage=values["lineage"],
        )
        return cls(**attributes | own)

    @property
    def floor(self) -> str:
        """The system that does nothing, by its name; empty for any other."""
        if isinstance(self.system, str) and self.system in FLOORS:
            return self.system
        return ""

    def sources(self) -> Sources:
        """Return what finds the results that are there already and count."""
        from benchgate.audit.sources import extended, nothing, own_shard, resumed, shards

        if self.parts:
            return partial(shards, self.parts)
        if self.extends is not None:
            return partial(extended, self.extends)
        if self.resume == "none":
            return nothing
        if self.shard is not None:
            return own_shard
        return partial(resumed, self.resume)

    def limit(self, case: BenchCase) -> float:
        """Return the time limit of a case in seconds."""
        return case.timeout_seconds or self.timeout


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """
    A run of a task class, as a door asks for it.

    :param systems: by the side that they are of; a baseline is there if it runs too.
    :param unfinished: name of the folder that a full run has until it is recorded.
    :param recording: what was recorded and is taken over.
    :param scoring: returns what scores outputs, and its digest, asked when a trial is run; ``None``: the rubric does.
    :param processes: of systems, rubric and observer, above level ``none``.
    :param serving: what the class serves to systems; ``None`` if none of them may use it.
    """

    bench: LoadedClass
    systems: Mapping[Side, NamedSystem]
    settings: RunSettings
    unfinished: str
    recording: Recording | None = None
    scoring: Callable[[], tuple[Scorer, str]] | None = None
    processes: Isolated | None = None
    serving: Serving | None = None

    @classmethod
    def of(cls, bench: LoadedClass, settings: RunSettings, unfinished: str = "") -> RunRequest:
        """
        Find the systems and the recording that settings name; :meth:`close` ends what was started for that.

        :raises EvalError: one of them does not exist, or cannot be used.
        """
        recording = _recording(bench, settings)
        asked: dict[Side, System | str | None] = {"candidate": settings.system}
        if beside := rerun_system(settings.baseline):
            asked["baseline"] = beside
        recorded: dict[Side, NamedSystem] = {}
        if recording is not None and not recording.rule.asks_system:
            from benchgate.replay.recording import RecordedSystem

            recorded["candidate"] = RecordedSystem.of(recording, asked.pop("candidate"))
        systems, processes = found_systems(bench, settings, asked)
        found = cls(
            bench=bench,
            systems={**recorded, **systems},
            settings=settings,
            unfinished=unfinished or unfinished_name(clock.now(), settings.extends),
            recording=recording,
            processes=processes,
        )
        try:
            is_elsewhere = settings.executor is not None
            serving = served(bench.task_class, systems.values(), is_elsewhere=is_elsewhere)
        except BaseException:
            found.close()
            raise
        return replace(found, serving=serving)

    def close(self) -> None:
        """End the processes and what the class serves, and remove the copies of checkpoints."""
        if self.processes is not None:
            self.processes.close()
        if self.serving is not None:
            self.serving.close()
        for system in self.systems.values():
            system.close()

    @property
    def folder(self) -> Path | None:
        """The folder that a full run has until it is recorded, or a shard."""
        out = self.settings.out
        shard = self.settings.shard
        if out is None:
            return None
        if shard is not None:
            return shard_folder(out, self.bench.name, shard)
        return out / "runs" / self.bench.name / self.unfinished

    @property
    def recorder(self) -> CassetteRecorder | None:
        """What records a cassette, if one is asked for."""
        if self.settings.record is None:
            return None
        from benchgate.replay.recorder import CassetteRecorder

        return CassetteRecorder(self.bench.path, self.settings.record)

    @property
    def is_recorded(self) -> bool:
        """Whether the system is not called, for all of its outputs were recorded."""
        return self.recording is not None and not self.recording.rule.asks_system

    @property
    def is_second_chance(self) -> bool:
        """Whether cases that failed are asked again, and those that passed are not: then it is never judged."""
        return self.recording is not None and self.recording.rule.is_second_chance

    def check_recorded(self, folder: Path) -> None:
        """
        Check that a cassette of it may be written: a replay of that is judged.

        :raises ArtifactError: it may not.
        """
        if self.is_second_chance:
            raise ArtifactError(folder, "not recorded: cases that failed have a second chance here")

    def isolation(self, side: Side) -> Isolation:
        """Return where the trials of a side run, or ran, if they are taken over."""
        if self.recording is not None and self.is_recorded:
            return self.recording.plan.isolation_class
        level = self.settings.isolation
        if level == "sandbox" and self.systems[side].network:
            return "sandbox+network"
        return level

    def served(self, case: BenchCase, side: Side) -> str | None:
        """Return the address of a case for the system of a side, if that may use it."""
        if self.serving is None or not self.systems[side].network:
            return None
        return self.serving.address(case.case_id)

    def reads(self, side: Side) -> tuple[str, ...]:
        """Return what the system of a side may read besides its own code, where that is not everything."""
        is_shut_in = self.settings.isolation == "sandbox" and not self.is_recorded
        return self.systems[side].reads if is_shut_in else ()

    def notes(self) -> Iterator[str]:
        """Yield what to know of a second chance, and of the keys that processes are given."""
        if self.is_second_chance:
            yield "cases that failed have a second chance in this run, so it is not judged and not recorded"
        run = self.bench.run
        both = {*(run.pass_env or ())} & {*(run.observer_env or ())}
        if self.processes is not None and both:
            names = ", ".join(sorted(both))
            yield f"benchgate: {names}: in pass_env and in observer_env, so the system gets the judge's key too"

    def observed_by(self) -> ClassObserver | None:
        """Return what observes outputs; of a replay what did, and it is not called. Errors as of loading it."""
        if self.recording is None or not self.recording.rule.asks_nobody:
            return self.bench.observer()
        then = self.recording.plan.observer
        return None if then is None else ClassObserver(never, then)

    def scored_by(self) -> tuple[Scorer, str]:
        """Return what scores outputs, and its digest."""
        if self.scoring is not None:
            return self.scoring()
        return self.bench.rubric.score, self.bench.rubric_digest


def _recording(bench: LoadedClass, settings: RunSettings) -> Recording | None:
    """Return what was recorded and is taken over; errors as of :meth:`RunRequest.of`."""
    if not settings.recorded:
        return None
    if len(settings.recorded) > 1:
        raise EvalError(f"{' and '.join(settings.recorded)}: one recording at a time is taken over")
    option, wanted = next(iter(settings.recorded.items()))
    if settings.shard is not None:  # else a second chance would be merged, and judged
        raise EvalError(f"{option} and shard: what was recorded is taken over by a whole run")
    from benchgate.replay.recording import find_recording
    from benchgate.results.rules import RECORDED

    recording = find_recording(bench.path, settings.out, wanted, RECORDED[option])
    is_observed = bench.task_class.observe is not None
    if "answer" in {recording.rule.passed, recording.rule.failed} and not is_observed:
        raise EvalError(f"{option}: class {bench.name} has no observer")
    if recording.rule.asks_nobody and is_observed and recording.plan.observer is None:
        raise EvalError(f"nothing observed the outputs of {wanted}: --bench-reobserve={wanted}")
    return recording


def found_systems(
    bench: LoadedClass, settings: RunSettings, asked: Mapping[Side, System | str | None]
) -> tuple[dict[Side, NamedSystem], Isolated | None]:
    """
    Find systems: imported here at level ``none``, and asked in processes of their own above it.

    :returns: them, and the processes, which also judge.
    :raises EvalError: one does not exist, or cannot be used, or the level cannot be had.
    """
    if settings.isolation == "none":
        return {side: _found_here(bench, one) for side, one in asked.items()}, None
    from benchgate.isolation.isolated import Isolated, grants

    entries = {side: grants(bench, one) for side, one in asked.items()}
    jobs = settings.jobs
    if settings.executor is not None:  # here a system is only asked what it declares
        jobs = 1
    processes = Isolated(
        bench,
        dict(entries.values()),
        settings.isolation,
        jobs=jobs,
        limit=settings.timeout,
        out=settings.out,
    )
    try:
        return {
            side: processes.named_system(name) for side, (name, _) in entries.items()
        }, processes
    except BaseException:
        processes.close()
        raise


def _found_here(bench: LoadedClass, wanted: System | str | None) -> NamedSystem:
    """Return a system that is imported here; what the registration does not grant it, gate.toml may."""
    system = find_system(bench.task_class, wanted)
    if is_address(system.name) or not system.is_by_name:
        return replace(system, network=bench.run.network is True)
    return system


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounds:
    """
    What a run is judged by, read before a case runs.

    :param checkpoints: the checkpoint that is the subject, if one is.
    :param labels: what people say of outputs of the class.
    """

    choice: BaselineChoice
    checkpoints: Checkpoints | None
    labels: tuple[Label, ...]

    @classmethod
    def read(cls, settings: RunSettings, class_path: Path) -> Grounds:
        """
        Read what the settings name.

        :raises EvalError: the baseline is missing, or a file is not what it should be.
        """
        baseline = "none" if settings.floor else settings.baseline or "auto"
        if isinstance(baseline, str) and baseline.isdecimal():
            run = run_of_class(settings.out, class_path.name, baseline)
            baseline = run.folder / RECORD_FILE
        return cls(
            choice=choose_baseline(baseline, class_path),
            checkpoints=read_checkpoints(settings.checkpoints),
            labels=read_labels(class_path),
        )


def set_scope(sides: Collection[PlannedTrials], request: RunRequest) -> None:
    """
    Note whether the planned trials are all of a class: those of each side, and not as a shard or of a floor.

    A run that gives cases a second chance is none of all either, so that it is never judged, recorded or pinned.

    :raises ArtifactError: the trials of a side are not those of the shard.
    """
    shard = request.settings.shard
    floor = request.settings.floor
    is_planned = all(trials.scope == "full" for trials in sides)
    is_whole = is_planned and not (shard or floor or request.is_second_chance)
    for trials in sides:
        # Shard 1/1 has all trials, and is not full all the same: benchgate merge records it.
        trials.scope = "full" if is_whole else "selected"
        if shard is not None and set(trials.keys) != trials.every_key(shard):
            why = "it is every case of its part; here a part of these is selected"
            raise ArtifactError(f"shard {shard}", why)


def check_run(
    request: RunRequest, grounds: Grounds, plan: RunPlan, keys: Iterable[tuple[str, int]]
) -> None:
    """
    Check that a run of these trials, with this policy, can do what it is asked for.

    Options that exclude each other whatever is run are refused before, by :mod:`benchgate.options.conflicts`.

    :raises ArtifactError: it cannot.
    """
    given = request.settings
    policy = request.bench.policy
    if given.out is None and grounds.choice.binding and policy.looks != "count":
        why = f"looks = '{policy.looks}' counts the records of runs, and this run would write none"
        raise ArtifactError("output folder", why)
    if given.resume != "none" and plan.scope != "full" and given.shard is None:
        why = "only a full run can be resumed; here a part of the cases is selected"
        raise ArtifactError(f"resume {given.resume}", why)
    if given.stop == "decided" and (policy.test == "welch" or policy.score_range is None):
        raise ArtifactError("stop = 'decided'", "it needs a score_range, and not test = 'welch'")
    if request.recording is not None:
        request.recording.check_trials(plan, keys)
    recorder = request.recorder
    if recorder is not None:
        request.check_recorded(recorder.folder)
        recorder.check(plan, given.out, resume=given.resume != "none")
