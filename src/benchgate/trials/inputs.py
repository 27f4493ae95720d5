"""The cases of a run as they were before anything ran, and whether a system has changed their files since."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchgate.errors import BenchCaseLoadError, Unreadable
from benchgate.ids import trial_seed
from benchgate.loader.case_digest import case_digest, files_digest
from benchgate.models import BenchCase, FailureMode, TrialResult

if TYPE_CHECKING:
    from benchgate.loader.loaded_class import LoadedClass

MODIFIED = "input_modified"
MODIFIED_DETAIL = "input/ or expected/ changed while the session ran"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCase:
    """
    A case as it was planned.

    :param case: ``None`` if it could not be loaded.
    :param problem: why its trials cannot count; the digests are empty then.
    :param files: see :func:`~benchgate.loader.case_digest.files_digest`.
    """

    case: BenchCase | None = None
    problem: str | None = None
    files: tuple[str, str | None] = ("", None)
    digest: str = ""

    @classmethod
    def read(cls, bench: LoadedClass, case_id: str) -> PlannedCase:
        """Load a case and digest its inputs."""
        case = None
        try:
            case = bench.load(case_id)
            files = files_digest(case)
            return cls(case=case, files=files, digest=case_digest(case, files))
        except BenchCaseLoadError as error:
            problem = error.describe(f"cases/{case_id}/{Path(error.path).name}")
        except (Unreadable, ValueError) as error:  # or facts that are nested too deeply
            problem = str(error)
        return cls(case=case, problem=problem)

    def is_modified(self) -> bool:
        """Return whether the files of the case changed since it was read."""
        if self.case is None or self.problem is not None:
            return False
        try:
            return files_digest(self.case) != self.files
        except Unreadable:
            return True


def unscored(
    task_class: str, key: tuple[str, int], bench_seed: int, case: object, **fields: Any
) -> TrialResult:
    """
    Return the result of a trial that has no score.

    :param key: its case id and number.
    :param case: what was loaded; anything but a :class:`~benchgate.models.BenchCase` if it cannot be read.
    """
    case_id, trial = key
    return TrialResult(
        case_id=case_id,
        trial=trial,
        seed=trial_seed(task_class, case_id, trial, bench_seed),
        held_out=isinstance(case, BenchCase) and case.held_out,
        **fields,
    )


def marked_modified(result: TrialResult) -> TrialResult:
    """Return the result of a trial whose inputs changed while it ran, with the failure that says so."""
    if any(mode.code == MODIFIED for mode in result.failure_modes):
        return result
    mode = FailureMode(code=MODIFIED, detail=MODIFIED_DETAIL)
    return result.model_copy(update={"failure_modes": (*result.failure_modes, mode)})
