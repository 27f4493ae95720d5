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
from typing import TYPE_CHECKING, NamedTuple

from benchgate.audit.chain import LEFT_BY, PLAN_FILE, UNFINISHED
from benchgate.errors import ArtifactError, few
from benchgate.results.folder import CASES, Results
from benchgate.results.whole_files import WHOLE_FILES, add_whole
from benchgate.wire.canonical import sha256_hex
from benchgate.wire.holding import hold, is_held
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

    from benchgate.artifacts.trial_kinds import PlanFile
    from benchgate.audit.sources import Source, Sources
    from benchgate.wire.holding import Hold


class Begun(NamedTuple):
    """A run's folder: what holds it, the plan as it was written, and where the results in it are from."""

    held: Hold
    plan: PlanFile
    sources: Sequence[Source[PlanFile]]


def begin(folder: Path, plan: PlanFile, find: Sources) -> Begun:
    """
    Make the folder of a run, with its plan and the finished trials of its sources, of which the first counts.

    Called under the lock of ``runs/<class>/``.

    :raises ArtifactError: a source is not to be used, its plan is another one, or together they are not what is needed.
    """
    for stale in folder.parent.glob(f".{UNFINISHED}*"):  # of a process that was killed in here
        shutil.rmtree(stale, ignore_errors=True)
    sources = find(folder, plan)
    for source in sources:
        assert source.rule.takes_all  # noqa: S101 - files are taken whole: less of one would be judged as all of it
        source.check(plan)
    _check_parts(folder.parent, plan, [one for one in sources if one.rule.is_part])
    plan = _continued(plan, sources)
    moved = [source.folder for source in sources if source.is_moved]
    if moved:
        with _held(moved[0]) as held:
            rename(moved[0], folder)
            _keep_finished(folder, plan)
            write_file(folder / PLAN_FILE, model_bytes(plan))
        return Begun(held, plan, sources)
    held = _new(folder, plan, sources)
    for source in sources:
        if source.is_used_up:
            shutil.rmtree(source.folder)
    return Begun(held, plan, sources)


def begin_shard(folder: Path, plan: PlanFile, find: Sources) -> Begun:
    """
    Make the folder of a shard, with what had finished there if it is to be resumed; as :func:`begin`.

    :raises ArtifactError: a process still runs it, it is no shard's, or the plan has changed since.
    """
    make_folder(folder / CASES)
    with _held(folder) as held:
        sources = find(folder, plan)
        for source in sources:
            source.check(plan)
        if not sources:
            (folder / WHOLE_FILES).unlink(missing_ok=True)
        plan = _continued(plan, sources)
        _keep_finished(folder, plan)
        data = model_bytes(plan)
        write_file(folder / PLAN_FILE, data)
        add_whole(folder, PLAN_FILE, sha256_hex(data))
    return Begun(held, plan, sources)


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


def _check_parts(runs: Path, plan: PlanFile, parts: Sequence[Source[PlanFile]]) -> None:
    """Check that each case is in one part; nothing if the run is not put together from parts."""
    seen: dict[str, Path] = {}
    for part in parts:
        twice = seen.keys() & set(part.plan.case_ids)
        if twice:
            case_id = min(twice)
            raise ArtifactError(part.folder, f"case {case_id} is in {seen[case_id]} too")
        seen.update(dict.fromkeys(part.plan.case_ids, part.folder))
    missing = set(plan.case_ids) - seen.keys()
    if parts and missing:
        raise ArtifactError(runs, f"a shard is missing: none has {few(missing)}")


def _continued(plan: PlanFile, sources: Iterable[Source[PlanFile]]) -> PlanFile:
    """Return the plan of a run that began when the first of the sources did that are part of it."""
    own = [source for source in sources if source.rule.continues]
    if not own:
        return plan
    started = min(source.plan.started_at for source in own)
    return plan.model_copy(update={"started_at": started, "resumes": own[0].resumes})


def _new(folder: Path, plan: PlanFile, sources: Iterable[Source[PlanFile]]) -> Hold:
    """Make the folder under a name that nobody looks at, so that it never lacks its plan or a trial."""
    draft = folder.with_name(f".{UNFINISHED}{folder.name}")
    make_folder(draft / CASES)
    done = set()
    for name, data in chain.from_iterable(source.files(plan) for source in sources):
        if name not in done:
            done.add(name)
            write_draft(draft / CASES / name, data)
            add_whole(draft, f"{CASES}/{name}", sha256_hex(data))
    with _held(draft) as held:
        write_file(draft / PLAN_FILE, model_bytes(plan))
        rename(draft, folder)
    return held


def _keep_finished(folder: Path, plan: PlanFile) -> None:
    """Remove what else a process left in a run's folder, such as one that was killed while it recorded the run."""
    kept = {name for name, _ in Results.left_in(folder).all_of(plan.trial_keys())}
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
