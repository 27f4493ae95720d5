"""What is read of a log: its samples, what each case scored, and which of them did not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from benchgate.interop.log import Log


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """
    One sample of a log.

    :param trial: what the log calls the repetition; empty if it numbers none.
    :param score: as the log has it; ``None`` if it has none.
    :param error: why there is no score; ``None`` if there is one.
    :param penalty: harm done, 0 or more; ``None`` if the log does not say.
    :param reruns: earlier attempts at the same trial.
    :param of: digests of its input and of its target, as far as the log has them.
    """

    case_id: str
    trial: str
    score: float | None
    error: str | None
    cluster: str | None = None
    penalty: float | None = None
    reruns: int = 0
    of: tuple[str | None, str | None] = (None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """
    All samples of a log, none left out: those without a score say why.

    :param header: what the log says of itself, such as ``tool``, ``version``, ``task`` and ``system``.
    :param case_field: which field pairs the cases, and ``other_fields`` that might.
    :param metric: which score was read.
    :param ungated: scores of the log that were not read.
    :param fields: each role that samples have something in, its field, and who said so, ``None`` for the format.
    :param left: how many rows are no samples, by why they are none.
    :param told: what was asked besides, for the record.
    :param direction: whether ``more`` or ``less`` of the score is better, if the log shows it.
    :param sha256: of the file.
    :param without: cases that the log names and has no sample of, such as tests that were skipped; sorted.
    :param repeated: cases of which the log has a trial more than once, sorted; their last sample is in ``samples``.
    """

    path: Path
    format: str
    header: Log
    sha256: str
    case_field: str
    other_fields: tuple[str, ...]
    metric: str
    ungated: tuple[str, ...]
    fields: tuple[tuple[str, str, str | None], ...]
    left: Mapping[str, int]
    told: tuple[str, ...]
    direction: str | None
    samples: tuple[Sample, ...]
    without: tuple[str, ...]
    repeated: tuple[str, ...]

    @property
    def has_inputs(self) -> tuple[bool, bool]:
        """Whether samples have their input, and whether they have their target."""
        inputs, targets = zip(*(sample.of for sample in self.samples), strict=True)
        return any(inputs), any(targets)

    @property
    def errors(self) -> tuple[Sample, ...]:
        """The samples without a score."""
        return tuple(sample for sample in self.samples if sample.score is None)
