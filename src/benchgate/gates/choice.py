"""Which baseline a run is compared with: a file, or a system that runs beside the candidate."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from benchgate.errors import ArtifactError

FILE_NAME: Final = "baseline.json"
PIN_FILE: Final = "baseline.pin.json"
MAX_AGE: Final = timedelta(days=90)
"""Age of a baseline from which on a run warns of it."""
RERUN: Final = "run:"
"""Before the name of a system that is to run as the baseline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineChoice:
    """
    Which file to compare with.

    :param path: ``None`` if there is no file to compare with.
    :param system: the one that runs beside the candidate as its baseline.
    :param binding: the decision affects the exit status.
    :param requested: the user chose the baseline, so a run that cannot be compared with it must not exit with 0.
    """

    path: Path | None
    binding: bool
    requested: bool
    system: str | None = None


def choose_baseline(choice: str | Path, class_path: Path) -> BaselineChoice:
    """
    Resolve the option ``baseline``: ``auto``, ``pinned``, ``none``, ``run:`` and a system, or a path.

    :raises ArtifactError: the chosen file does not exist; ``auto`` does without it.
    """
    pinned = class_path / FILE_NAME
    if choice == "none":
        return BaselineChoice(path=None, binding=False, requested=False)
    if choice == "auto":
        # A dangling link exists too: it is a damaged baseline.
        if not os.path.lexists(pinned):
            return BaselineChoice(path=None, binding=False, requested=False)
        return BaselineChoice(path=pinned, binding=True, requested=False)
    system = rerun_system(choice)
    if system is not None:
        return BaselineChoice(path=None, binding=True, requested=True, system=system)
    path = Path(choice)
    if choice == "pinned":
        path = pinned
    if not os.path.isfile(path):
        raise ArtifactError(path, "no such baseline; benchgate pin makes one of a full run")
    return BaselineChoice(path=path, binding=True, requested=True)


def rerun_system(choice: str | Path | None) -> str | None:
    """Return the system that the option ``baseline`` asks to run beside the candidate, if it does."""
    if not isinstance(choice, str) or not choice.startswith(RERUN):
        return None
    return choice.removeprefix(RERUN)
