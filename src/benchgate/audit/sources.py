"""
Where a run finds results that are there already: each way to ask for them has a function here that returns its sources.

What is believed of a source is in :mod:`benchgate.results.rules`, and what is done with its files in
:mod:`benchgate.audit.unfinished`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.artifacts.run_kinds import PlanFile, Resumed
from benchgate.audit.chain import EXTENDING, PLAN_FILE
from benchgate.audit.runs import resumable
from benchgate.errors import ArtifactError
from benchgate.results.folder import CASES, Results
from benchgate.results.rules import EXTEND, MERGE, RESUME
from benchgate.results.whole_files import WHOLE_FILES, read_whole
from benchgate.wire.files import file_sha256
from benchgate.wire.holding import is_held
from benchgate.wire.parsing import MAX_JSON_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchgate.audit.runs import KnownRun
    from benchgate.results.rules import Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """
    Results of another run, or of this one before it was killed.

    :param folder: of that run.
    :param plan: that they are results of.
    :param digests: SHA-256 of each file, as the record says it; ``None``: the run is not recorded, and says it itself.
    :param resumes: how the plan of the run that completes it names it.
    :param is_moved: its folder becomes that of the run; else its files are copied.
    :param is_used_up: its folder is removed when they are.
    """

    rule: Rule
    folder: Path
    plan: PlanFile
    digests: Mapping[str, str] | None = None
    resumes: Resumed | None = None
    is_moved: bool = False
    is_used_up: bool = False

    def check(self, plan: PlanFile) -> None:
        """Check that its results may be taken over; :raises PlanChanged: see :meth:`Rule.check`."""
        self.rule.check(self.folder, self.plan, plan)

    def files(self, plan: PlanFile) -> Iterator[tuple[str, bytes]]:
        """Yield name and bytes of each file of a trial that both plans have and that finished."""
        results = Results.left_in(self.folder)
        if self.digests is not None:
            results = Results(self.folder / CASES, self.digests)
        own = {*self.plan.case_ids}
        return results.all_of(key for key in plan.trial_keys() if key.case_id in own)


Sources = Callable[[Path, PlanFile], list[Source]]
"""Returns the sources of a run by the folder that it is to have and its plan."""


def nothing(_folder: Path, _plan: PlanFile) -> list[Source]:
    """Return no source: the run begins anew."""
    return []


def resumed(wanted: str | Path, folder: Path, _plan: PlanFile) -> list[Source]:
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


def extended(run: KnownRun, folder: Path, plan: PlanFile) -> list[Source]:
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


def shards(parts: Sequence[Path], _folder: Path, _plan: PlanFile) -> list[Source]:
    """Return the parts of a run; :raises ArtifactError: a folder is none."""
    return [Source(rule=MERGE, folder=part, plan=read_shard(part)) for part in parts]


def own_shard(folder: Path, _plan: PlanFile) -> list[Source]:
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
    instead = "remove it" if run.seq is None else "begin a new run"
    why = f"cannot be {rule.done}: it has no valid {PLAN_FILE}; {instead}"
    raise ArtifactError(run.folder, why)
