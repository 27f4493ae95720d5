"""The cases of a run as they were before anything ran, and whether a system has changed their files since."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import BenchCaseLoadError, Unreadable
from benchgate.ids import trial_seed
from benchgate.loader.case_digest import case_digest, files_digest
from benchgate.models import BenchCase, FailureMode, TrialResult

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.loader.loaded_class import LoadedClass

MAX_INPUT: Final = 2048
"""Most bytes of a case's input that a record has."""
MODIFIED = "input_modified"
MODIFIED_DETAIL = "input/ or expected/ changed while the session ran"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCase:
    """
    A case as it was planned.

    :param case: ``None`` if it could not be loaded.
    :param problem: why its trials cannot count; the digests are empty then.
    :param files: see :func:`~benchgate.loader.case_digest.files_digest`.
    :param texts: the beginnings of its input files that are text, by name.
    """

    case: BenchCase | None = None
    problem: str | None = None
    files: tuple[str, str | None] = ("", None)
    digest: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, bench: LoadedClass, case_id: str) -> PlannedCase:
        """Load a case and digest its inputs."""
        case = None
        try:
            case = bench.load(case_id)
            beginnings = _Beginnings()
            files = files_digest(case, beginnings.add)
            digest = case_digest(case, files)
            return cls(case=case, files=files, digest=digest, texts=beginnings.texts())
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


class _Beginnings:
    """Keeps the beginnings of files while they are hashed, so that nobody opens them again."""

    def __init__(self) -> None:
        self._bytes: dict[str, bytes] = {}

    def add(self, name: str, chunk: bytes) -> None:
        """Keep a part of a file, as far as it may be shown."""
        kept = self._bytes.get(name, b"")
        if len(kept) < MAX_INPUT:
            self._bytes[name] = kept + chunk[: MAX_INPUT - len(kept)]

    def texts(self) -> dict[str, str]:
        """Return the files that are text, by name: the first 2 KB of all of them together."""
        texts = {}
        room = MAX_INPUT
        for name, data in self._bytes.items():
            text = _text(data[:room])
            if text:
                texts[name] = text
                room -= len(text.encode())
        return texts


def _text(data: bytes) -> str:
    """Return the beginning of a text, or nothing if it is none."""
    try:
        # Not final: the last character may be cut.
        text = codecs.getincrementaldecoder("utf-8")().decode(data)
    except ValueError:
        return ""
    return "" if "\0" in text else text


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
