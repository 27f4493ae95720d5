"""
The folder of a run that is not recorded yet: how it begins, and how it takes over what another run left.

A folder is held by the process that runs it. When that process is killed, the folder stays, with the plan and the file
of each trial that had finished. Who resumes it renames it first: whatever is left of the killed run, such as a worker,
then writes to a name that is gone.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING

from benchgate.artifacts.run_kinds import PlanFile, Resumed
from benchgate.audit.chain import EXTENDING, LEFT_BY, PLAN_FILE, UNFINISHED
from benchgate.audit.runs import KnownRun, resumable
from benchgate.errors import ArtifactError, few
from benchgate.results.folder import CASES, Results
from benchgate.results.rules import EXTEND, MERGE, RESUME
from benchgate.results.whole_files import WHOLE_FILES, add_whole, read_whole
from benchgate.wire.canonical import sha256_hex
from benchgate.wire.files import file_sha256
from benchgate.wire.holding import hold, is_held
from benchgate.wire.parsing import MAX_JSON_BYTES
from benchgate.wire.writing import (
    artifact_errors,
    make_folder,
    model_bytes,
    rename,
    write_draft,
    write_file,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from benchgate.wire.holding import Hold


def begin(folder: Path, plan: PlanFile, resume: str | Path | KnownRun) -> tuple[Hold, PlanFile]:
    """
    Make the folder of a run, with its plan and the finished trials of the run that it resumes or extends.

    Called under the lock of ``runs/<class>/``.

    :param resume: ``none``, ``auto``, or which run; a complete one, itself, is extended.
    :returns: what holds the folder, and the plan as it was written.
    :raises ArtifactError: there is no such run, it is not to be resumed, or the plan has changed since.
    """
    for stale in folder.parent.glob(f".{UNFINISHED}*"):  # of a process that was killed in here
        shutil.rmtree(stale, ignore_errors=True)
    before = resume if isinstance(resume, KnownRun) else resumable(folder.parent, resume)
    if before is None:
        return _new(folder, plan, ())
    earlier = _agreed(before, plan)
    resumes = earlier.resumes if before.record is None else None
    resumes = resumes or Resumed(folder=before.folder.name, seq=before.seq)
    if before.state != "complete":
        plan = plan.model_copy(update={"resumes": resumes, "started_at": earlier.started_at})
    if before.record is None:
        with _held(before.folder) as held:
            rename(before.folder, folder)
            _keep_finished(folder, plan)
            write_file(folder / PLAN_FILE, model_bytes(plan))
        return held, plan
    recorded = Results(before.folder / CASES, before.record.case_files)
    left = [*_left_by_extensions(folder.parent, before.seq, plan)]
    own = {name: data for path in left for name, data in Results.left_in(path).all_of(plan.keys())}
    new = ((name, data) for name, data in own.items() if name not in before.record.case_files)
    made = _new(folder, plan, chain(recorded.all_of(plan.keys()), new))
    for path in left:
        shutil.rmtree(path)
    return made


def remove_left(folder: Path) -> None:
    """
    Remove what earlier commands left that were killed, if the one that is to have this folder is of their kind.

    They called no system. What a session left has trials that were paid for, and stays. Called under the lock of
    ``runs/<class>/``.

    :raises ArtifactError: it cannot be removed.
    """
    kind = LEFT_BY.match(folder.name)
    if kind is None:
        return
    for left in folder.parent.glob(f"{kind[0]}*"):
        if left.is_dir() and not left.is_symlink() and not is_held(left):
            with artifact_errors(left, "removed"):
                shutil.rmtree(left)


def _left_by_extensions(runs: Path, seq: int | None, plan: PlanFile) -> Iterator[Path]:
    """Yield what extensions by the same plan left that did not come to their end; their other trials are copies."""
    for path in runs.glob(EXTENDING.format(seq=seq, stamp="*")):
        then = PlanFile.read_or_none(path / PLAN_FILE)
        if then and not is_held(path) and not list(RESUME.differences(then, plan)):
            yield path


def begin_merged(folder: Path, plan: PlanFile, parts: Sequence[Path]) -> tuple[Hold, PlanFile]:
    """
    Make the folder of a run from those of its shards, which stay; as :func:`begin`.

    :raises ArtifactError: a folder is no shard, shards overlap or are missing, or one was run by another plan.
    """
    plans = [(part, _part_plan(part, plan)) for part in parts]
    seen: dict[str, Path] = {}
    for part, then in plans:
        if twice := seen.keys() & set(then.case_ids):
            case_id = min(twice)
            raise ArtifactError(part, f"case {case_id} is in {seen[case_id]} too")
        seen.update(dict.fromkeys(then.case_ids, part))
    if missing := set(plan.case_ids) - seen.keys():
        raise ArtifactError(folder.parent, f"a shard is missing: none has {few(missing)}")
    plan = plan.model_copy(update={"started_at": min(then.started_at for _, then in plans)})
    finished = (Results.left_in(part).all_of(then.keys()) for part, then in plans)
    return _new(folder, plan, chain.from_iterable(finished))


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


def begin_shard(folder: Path, plan: PlanFile, resume: str | Path) -> tuple[Hold, PlanFile]:
    """
    Make the folder of a shard, with what had finished there if it is to be resumed; as :func:`begin`.

    :raises ArtifactError: a process still runs it, it is no shard's, or the plan has changed since.
    """
    make_folder(folder / CASES)
    with _held(folder) as held:
        if resume == "none" or not (folder / PLAN_FILE).exists():
            (folder / WHOLE_FILES).unlink(missing_ok=True)
        else:
            then = read_shard(folder)
            RESUME.check(folder, then, plan)
            plan = plan.model_copy(update={"started_at": then.started_at})
        _keep_finished(folder, plan)
        data = model_bytes(plan)
        write_file(folder / PLAN_FILE, data)
        add_whole(folder, PLAN_FILE, sha256_hex(data))
    return held, plan


def _part_plan(part: Path, plan: PlanFile) -> PlanFile:
    """Return the plan of a shard; errors as :func:`begin_merged`."""
    then = read_shard(part)
    MERGE.check(part, then, plan)
    return then


def _agreed(before: KnownRun, plan: PlanFile) -> PlanFile:
    if before.plan is None:
        instead = "remove it" if before.seq is None else "begin a new run"
        why = f"cannot be resumed: it has no valid {PLAN_FILE}; {instead}"
        raise ArtifactError(before.folder, why)
    rule = EXTEND if before.state == "complete" else RESUME
    rule.check(before.folder, before.plan, plan)
    return before.plan


def _new(
    folder: Path, plan: PlanFile, trials: Iterable[tuple[str, bytes]]
) -> tuple[Hold, PlanFile]:
    """Make the folder under a name that nobody looks at, so that it never lacks its plan or a trial."""
    draft = folder.with_name(f".{UNFINISHED}{folder.name}")
    make_folder(draft / CASES)
    for name, data in trials:
        write_draft(draft / CASES / name, data)
        add_whole(draft, f"{CASES}/{name}", sha256_hex(data))
    with _held(draft) as held:
        write_file(draft / PLAN_FILE, model_bytes(plan))
        rename(draft, folder)
    return held, plan


def _keep_finished(folder: Path, plan: PlanFile) -> None:
    """Remove what else a process left in a run's folder, such as one that was killed while it recorded the run."""
    kept = {name for name, _ in Results.left_in(folder).all_of(plan.keys())}
    for name in set(os.listdir(folder / CASES)) - kept:
        (folder / CASES / name).unlink()
    for name in set(os.listdir(folder)) - {PLAN_FILE, WHOLE_FILES, CASES}:
        if (folder / name).is_dir():
            shutil.rmtree(folder / name)
        else:
            (folder / name).unlink()


@contextmanager
def _held(folder: Path) -> Iterator[Hold]:
    """Hold a folder; if what is done to it fails, let others have it."""
    held = hold(folder)
    if held is None:
        raise ArtifactError(folder, "a process still runs it")
    try:
        yield held
    except BaseException as error:
        held.close()
        if isinstance(error, OSError):
            why = f"{error.filename} cannot be changed: {error.strerror}"
            raise ArtifactError(folder, why) from error
        raise
