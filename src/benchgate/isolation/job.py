"""What a session hands to a helper, and to the process of a trial; both are pickled, and nothing of it comes back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

GRACE: Final = 1.5
"""Seconds that a trial has to end by itself after its limit; with what it takes to kill it, it is over within 2."""


@dataclass(frozen=True, slots=True)
class Fence:
    """
    What a process may reach at level ``sandbox``; :mod:`.sandbox` closes it.

    :param reads: files and folders that it may read, besides those of the machine.
    :param network: whether it may make sockets of IP.
    """

    reads: tuple[str, ...]
    network: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """
    What a helper imports, once.

    :param path: its ``sys.path``.
    :param cwd: its working directory.
    :param target: the name of the system; of a rubric, module and name of its class.
    :param fence: that of its trials, except for their folders.
    :param late: each trial imports it anew, as it leaves threads behind that a fork would not have.
    """

    role: str
    task_class: str
    bench_root: Path
    path: tuple[str, ...]
    cwd: str
    target: str
    late: bool = False
    fence: Fence | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """
    One call of a system or of a rubric.

    :param case: the fields of the case, whose paths are those that the process may use.
    :param output: what the rubric is to score, as JSON.
    :param work: the folder that the case has as ``work_path``.
    :param scratch: the folder that the process lives in; ``None`` for a rubric.
    :param limits: ``memory`` in bytes, and ``processes``.
    :param fence: what the process may reach; ``None``: everything.
    :param probe: a file that it may not read. Nothing is called then, but tried what must be refused.
    """

    case: Mapping[str, Any]
    system: str
    limit: float
    work: Path
    output: str | None = None
    scratch: Path | None = None
    limits: Mapping[str, int] = field(default_factory=dict)
    fence: Fence | None = None
    probe: Path | None = None
