"""
Where a run finds results that are there already: each way to ask for them has a function here that returns its sources.

What is believed of a source is in :mod:`benchgate.results.rules`, and what is done with its files in
:mod:`benchgate.audit.unfinished`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from benchgate.artifacts.trial_kinds import PlanFile, Replayed, Resumed
from benchgate.audit.chain import EXTENDING, PLAN_FILE
from benchgate.audit.runs import resumable
from benchgate.cassettes.manifest import file_faults
from benchgate.errors import ArtifactError, Unreadable
from benchgate.ids import TrialKey, trial_file_name, trial_seed
from benchgate.models import Observed
from benchgate.results.folder import CASES, Results, record_of
from benchgate.results.rules import EXTEND, MERGE, RESUME
from benchgate.results.whole_files import WHOLE_FILES, read_whole
from benchgate.trials.executor import TrialRecord
from benchgate.trials.inputs import MODIFIED
from benchgate.wire.files import file_sha256
from benchgate.wire.holding import is_held
from benchgate.wire.parsing import MAX_JSON_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from benchgate.audit.runs import KnownRun
    from benchgate.cassettes.manifest import CassetteManifest
    from benchgate.ids import RunPlan
    from benchgate.models import Observer
    from benchgate.results.rules import Rule, Taken
    from benchgate.trials.executor import TrialRequest


P = TypeVar("P", "PlanFile", "CassetteManifest")


@dataclass(frozen=True, kw_only=True)
class Source(Generic[P]):
    """
    Results of another run, or of this one before it was killed, or a cassette.

    :param folder: of that run, or of the cassette.
    :param plan: that they are results of.
    :param digests: SHA-256 of each file, as the record or the manifest says it; ``None``: the run is not recorded, and
        says it itself.
    :param resumes: how the plan of the run that completes it names it; ``replays`` that of a run of what was recorded.
    :param is_moved: its folder becomes that of the run; else its files are copied.
    :param is_used_up: its folder is removed when they are.
    """

    rule: Rule
    folder: Path
    plan: P
    digests: Mapping[str, str] | None = None
    resumes: Resumed | None = None
    replays: Replayed | None = None
    is_moved: bool = False
    is_used_up: bool = False

    @property
    def results(self) -> Results:
        """Those of its trials."""
        if self.digests is None:
            return Results.left_in(self.folder)
        folder = self.folder / CASES
        if self.replays is not None and self.replays.kind == "cassette":
            folder = self.folder
        return Results(folder, self.digests)

    def check(self, plan: PlanFile) -> None:
        """Check that its results may be taken over; :raises PlanChanged: see :meth:`PlanRule.check`."""
        self.rule.check(self.folder, self.plan, plan)

    def files(self, plan: PlanFile) -> Iterator[tuple[str, bytes]]:
        """Yield name and bytes of each file of a trial that both plans have and that finished."""
        own = {*self.plan.case_ids}
        return self.results.all_of(key for key in plan.trial_keys() if key.case_id in own)

    def check_trials(self, plan: RunPlan, keys: Iterable[tuple[str, int]]) -> None:
        """
        Check that what was recorded has all that a run takes from it.

        :param keys: case id and trial of each trial that is to run.
        :raises PlanChanged: with a line for each thing that it lacks or that has changed since.
        """
        results = self.results
        most = self.plan.trial_count
        # A case that cannot be read is not run.
        there = {*self.plan.case_ids} & plan.digests.cases.keys()
        names = [trial_file_name(c, t) for c, t in keys if c in there and t < most]
        faults = file_faults(Path(results.folder), results.digests or {}, names)
        self.rule.check(self.folder, self.plan, plan, faults)

    def get(
        self, request: TrialRequest, scorer: str, observer: Observer | None
    ) -> TrialRecord | None:
        """
        Return what is taken over of a trial; one that awaits its score is observed or scored next.

        :param scorer: digest of what scores now, and ``observer`` what observes now: what these said is compared.
        :returns: ``None`` if it is asked of the system again.
        """
        taken = self._taken(request)
        if taken == "nothing":
            return None
        try:
            file, _ = self.results.read(request.key)
        except Unreadable as error:  # changed since the run began
            lost = request.result("unavailable", detail=str(error))
            return TrialRecord(result=lost, output_json=None, retry_after=math.inf)
        record = replace(record_of(file), worker=None)  # that was of then
        outcome = record.result.outcome
        if outcome not in {"scored", "rubric_error"} and not record.awaits_score:
            # Its output does not say what it is.
            if self.rule.otherwise != "believed":
                return None
            return replace(record, scorer=None)
        is_same = file.scorer == scorer
        if taken == "answer":
            return answer_of(record, is_same=is_same and self.plan.observer == observer)
        return unscored(record, is_same=is_same)

    def _taken(self, request: TrialRequest) -> Taken:
        """Return how much is taken over of a trial."""
        # The files of a case are read only if it makes a difference.
        if self.rule.passed == self.rule.failed or self._has_passed(request):
            return self.rule.passed
        return self.rule.failed

    def _has_passed(self, request: TrialRequest) -> bool:
        """Whether all trials of a case passed."""
        name = request.case.task_class
        case_id = request.case.case_id
        trials = range(self.plan.trial_count)
        seeds = ((trial, trial_seed(name, case_id, trial, self.plan.seed)) for trial in trials)
        keys = (TrialKey(name, case_id, trial, seed) for trial, seed in seeds)
        results = self.results
        try:
            return all(results.read(key)[0].result.passed for key in keys)
        except Unreadable:
            return False


def answer_of(record: TrialRecord, *, is_same: bool) -> TrialRecord:
    """
    Return a recorded trial as it was before its output was observed.

    :param is_same: whether the same observer and rubric look at it again: then what they said is known.
    """
    then = record.result
    said = None
    if is_same and then.observed is not None:
        said = Observed(output=then.observed.output, before=then.verdicts())
    new = {"observed": said, "http_sha256": None}
    result = unscored(record, is_same=False).result.model_copy(update=new)
    return replace(record, result=result, observations=())


def unscored(record: TrialRecord, *, is_same: bool) -> TrialRecord:
    """
    Return a recorded trial as it was before its output was scored.

    :param is_same: whether the same rubric scores it again: then the two scores are compared.
    """
    then = record.result
    kept = tuple(mode for mode in then.failure_modes if mode.code == MODIFIED)
    new = {"outcome": "unavailable", "score": None, "failure_modes": kept}
    before = None
    # Where the system left files, its output alone does not give the same score again.
    if is_same and then.outcome == "scored" and not then.left_files:
        before = then
    return replace(record, result=then.model_copy(update=new), before=before)


Sources = Callable[[Path, PlanFile], list[Source[PlanFile]]]
"""Returns the sources of a run by the folder that it is to have and its plan."""


def nothing(_folder: Path, _plan: PlanFile) -> list[Source[PlanFile]]:
    """Return no source: the run begins anew."""
    return []


def resumed(wanted: str | Path, folder: Path, _plan: PlanFile) -> list[Source[PlanFile]]:
    """
    Return the run that is to be completed.

    :param wanted: ``auto``, or which run, see :func:`~benchgate.audit.runs.resumable`.
    :raises ArtifactError: there is no such run, or it is not to be resumed.
    """
    run = resumable(folder.parent, wanted)
    if run is None:
        return []
    then = _plan_of(run, RESUME)
    resumes = Resumed(folder=run.folder.name, seq=run.seq)
    if run.record is None:
        resumes = then.resumes or resumes
        source = Source(rule=RESUME, folder=run.folder, plan=then, resumes=resumes, is_moved=True)
        return [source]
    digests = run.record.case_files
    return [Source(rule=RESUME, folder=run.folder, plan=then, digests=digests, resumes=resumes)]


def extended(run: KnownRun, folder: Path, plan: PlanFile) -> list[Source[PlanFile]]:
    """
    Return a complete run that is to have new cases, and what extensions of it by the same plan left of these.

    :raises ArtifactError: it has no plan.
    """
    digests = run.record.case_files if run.record else {}
    own = Source(rule=EXTEND, folder=run.folder, plan=_plan_of(run, EXTEND), digests=digests)
    left = []
    for path in folder.parent.glob(EXTENDING.format(seq=run.seq, stamp="*")):
        then = PlanFile.read_or_none(path / PLAN_FILE)
        if then and not is_held(path) and not list(RESUME.differences(then, plan)):
            left.append(Source(rule=EXTEND, folder=path, plan=then, is_used_up=True))
    return [own, *left]


def shards(parts: Sequence[Path], _folder: Path, _plan: PlanFile) -> list[Source[PlanFile]]:
    """Return the parts of a run; :raises ArtifactError: a folder is none."""
    return [Source(rule=MERGE, folder=part, plan=read_shard(part)) for part in parts]


def own_shard(folder: Path, _plan: PlanFile) -> list[Source[PlanFile]]:
    """Return what is in the folder of a shard already; :raises ArtifactError: it is none."""
    if not (folder / PLAN_FILE).exists():
        return []
    return [Source(rule=RESUME, folder=folder, plan=read_shard(folder))]


def read_shard(part: Path) -> PlanFile:
    """
    Return the plan of a shard by its folder.

    :raises ArtifactError: it is none.
    """
    plan = PlanFile.read_or_none(part / PLAN_FILE)
    if plan is None or plan.shard is None:
        raise ArtifactError(part, f"is no shard: it has no {PLAN_FILE} of one")
    if file_sha256(part / PLAN_FILE, limit=MAX_JSON_BYTES) != read_whole(part).get(PLAN_FILE):
        raise ArtifactError(part / PLAN_FILE, f"is not the one that {WHOLE_FILES} names")
    return plan


def _plan_of(run: KnownRun, rule: Rule) -> PlanFile:
    if run.plan is not None:
        return run.plan
    instead = "begin a new run"
    if run.seq is None:
        instead = "remove it"
    why = f"cannot be {rule.done}: it has no valid {PLAN_FILE}; {instead}"
    raise ArtifactError(run.folder, why)
