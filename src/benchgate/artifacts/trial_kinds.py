"""
What a run writes before it is judged: its plan, its trials, and the report of a part of the cases.

Apart from the record, which has all that a decision rests on, because most runs decide nothing: an editor that runs one
case waits for these models alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AwareDatetime, Field

from benchgate.ids import TrialKey, trial_file_name, trial_seed
from benchgate.models import BenchRunReport, Isolation, Observer, RunDigests, Side, TrialResult
from benchgate.wire.model import Artifact, Count, Seconds, Sha256, Text, WireModel

if TYPE_CHECKING:
    from collections.abc import Iterator


class Resumed(WireModel):
    """The run that another one completes: its folder, and its number if it has a record."""

    folder: str
    seq: Count | None


class Replayed(WireModel):
    """
    What the outputs of a run were taken from.

    :param name: of the cassette, or of the folder of the run.
    :param sha256: of the cassette's manifest, or of the run's record.
    :param seq: number of the run; ``None`` for a cassette.
    :param observed: they were observed anew; left out if what was recorded was scored.
    """

    kind: Literal["cassette", "run"]
    name: Text
    sha256: Sha256
    seq: Count | None
    observed: bool = Field(default=False, exclude_if=lambda anew: not anew)

    def __repr__(self) -> str:
        text = f"{self.kind} {self.name} ({self.sha256[:12]})"
        if self.observed:
            text += ", observed again"
        return text

    __str__ = __repr__


class PlanDigests(RunDigests):
    """
    What a run depends on, as far as it is known before the first trial.

    :param scorer: empty, and left out of files: what scores a trial is asked when it is scored.
    """

    scorer: Literal[""] = Field(default="", exclude_if=lambda scorer: not scorer)


class PlanFile(Artifact):
    """
    ``plan.json``: what a full run is going to do, written before its first trial. A run that is resumed must agree.

    :param started_at: when the run began; of a resumed one, when that which it completes began.
    :param case_ids: all cases; those that cannot be read have no digest.
    :param timeout_seconds: the limit of trials whose case names none.
    :param baseline_system: the system of ``run:SYSTEM``, left out if there is none.
    :param observer: what observes the outputs, left out if nothing does.
    :param shard: ``I/N`` of a part of a run, which has the cases of its part alone; left out otherwise.
    """

    report_kind: Literal["plan"]
    task_class: str
    started_at: AwareDatetime
    benchgate: str
    system: str
    case_ids: tuple[Text, ...]
    trial_count: Annotated[Count, Field(ge=1)]
    seed: Count
    timeout_seconds: Seconds
    isolation_class: Isolation
    digests: PlanDigests
    resumes: Resumed | None
    replays: Replayed | None
    baseline_system: str | None = Field(default=None, exclude_if=lambda name: name is None)
    reads: tuple[Text, ...] = Field(default=(), exclude_if=lambda paths: not paths)
    observer: Observer | None = Field(default=None, exclude_if=lambda one: one is None)
    shard: str | None = Field(default=None, exclude_if=lambda shard: shard is None)

    @property
    def sides(self) -> tuple[Side, ...]:
        """The sides of which each case is run."""
        if self.baseline_system:
            return "candidate", "baseline"
        return ("candidate",)

    def trial_keys(self) -> Iterator[TrialKey]:
        """Yield the key of each trial."""
        for case_id in self.case_ids:
            for trial in range(self.trial_count):
                seed = trial_seed(self.task_class, case_id, trial, self.seed)
                for side in self.sides:
                    yield TrialKey(self.task_class, case_id, trial, seed, side)


class SelectedRecord(Artifact):
    """``report.json`` of a part of the cases, in ``last-selected/<class>/``, or of a floor; nothing was judged."""

    report_kind: Literal["selected"]
    finished_at: AwareDatetime
    report: BenchRunReport


class TrialFile(Artifact):
    """
    ``cases/<case_id>[-baseline][-t<k>].json``: a trial's result and the full output of the system.

    :param scorer: digest of what scored it, the rubric or a hook; ``None`` if it was not run.
    :param worker: of a cluster, that ran it, by its address; left out for one that the session ran itself.
    :param observations: what the observer of the class said of the output; left out if nothing observed it.
    """

    report_kind: Literal["case"]
    task_class: str
    case_id: str
    result: TrialResult
    output: Any
    scorer: Sha256 | None
    worker: Text | None = Field(default=None, exclude_if=lambda worker: worker is None)
    observations: tuple[Any, ...] = Field(default=(), exclude_if=lambda seen: not seen)


class Head(Artifact):
    """``HEAD.json``: the newest record of a class."""

    seq: Count
    sha256: Sha256


def case_file_name(result: TrialResult, side: Side = "candidate") -> str:
    """Return the name of a trial's file: the id of its pytest item."""
    return trial_file_name(result.case_id, result.trial, side)
