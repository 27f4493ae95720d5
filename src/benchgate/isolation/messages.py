"""What a session tells the processes of its trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

READY: Final = b"ready"
"""What a worker says when it begins; also one that takes the place of another, which cannot say how its trial ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """
    What a helper imports, once.

    :param target: the name of a system, or module and name of the class of a rubric.
    :param sockets: descriptors of its workers.
    :param reads: what trials may read besides the machine's own; ``None``: everything, as in no sandbox.
    :param network: whether they may make sockets of IP.
    """

    task_class: str
    bench_root: str
    cwd: str
    target: str
    is_rubric: bool = False
    sockets: Sequence[int] = ()
    reads: tuple[str, ...] | None = None
    network: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """
    One call of a system or of a rubric.

    :param case: as JSON, with the paths that the process may use.
    :param work: the folder that is ``work_path``.
    :param home: the folder that a system lives in.
    :param output: what a rubric scores, as JSON.
    :param record: the folder in which HTTP is recorded.
    :param limits: ``memory`` in bytes, and ``processes``.
    """

    case: str
    limit: float
    work: str
    home: str = "/"
    output: str | None = None
    record: str | None = None
    limits: Mapping[str, int] = field(default_factory=dict)
