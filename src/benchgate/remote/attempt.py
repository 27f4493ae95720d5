"""What is sent to a worker and what comes back; both are pickled, between equal versions only."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from benchgate.models import Side
    from benchgate.trials.executor import TrialRecord


def versions() -> tuple[str, str]:
    """Return the versions of Python and of benchgate in this process."""
    return platform.python_version(), version("pytest-benchgate")


@dataclass(frozen=True, slots=True, kw_only=True)
class SentSystem:
    """
    A system by its name, with what the one of that name on a worker must declare too.

    :param checkpoint: SHA-256 of its file.
    """

    name: str
    digest: str | None
    checkpoint: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SentClass:
    """
    A task class as it was sent.

    :param sha256: of its folder as it was packed; a worker has the class by this name.
    :param versions: see :func:`versions`.
    """

    name: str
    sha256: str
    versions: tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """
    One attempt at a trial.

    :param id: no other attempt has it; also the name of the queue in which the worker that starts it says so.
    :param files: digests of the case's input and expected files, as :func:`~benchgate.loader.case_digest.files_digest`
        returns them.
    """

    id: str
    sent: SentClass
    system: SentSystem
    case_id: str
    trial: int
    seed: int
    limit: float
    side: Side
    files: tuple[str, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """
    What a worker says to an attempt.

    :param kind: not started: ``refused``, ``changed``, the case was after the upload, and ``lacks``, the class was not
        uploaded to this worker. ``elsewhere``: some worker started it and never reported.
    :param worker: address of the worker.
    :param why: it was refused.
    :param raised_in: the file of :attr:`TrialRecord.raised_at`, relative to the folder of the class.
    """

    kind: Literal["ready", "ran", "refused", "changed", "lacks", "elsewhere", "interrupted"]
    worker: str
    why: str = ""
    record: TrialRecord | None = None
    raised_in: str | None = None
