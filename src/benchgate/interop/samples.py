"""Reads the samples of a log: what each case scored, and which of them did not."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.errors import EvalError
from benchgate.interop.formats import opened
from benchgate.interop.rows import RowReader

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from benchgate.interop.log import Log
    from benchgate.interop.rows import Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """
    All samples of a log, none left out: those without a score say why.

    :param header: what the log says of itself, such as ``tool``, ``version``, ``task`` and ``system``.
    :param case_field: which field pairs the cases, and ``other_fields`` that might.
    :param metric: which score was read.
    :param harm: role and field of harm or safety, as in ``safety refused``; ``None`` if none was named.
    :param ungated: scores of the log that were not read.
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
    harm: str | None
    ungated: tuple[str, ...]
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


def read(
    path: Path,
    *,
    format: str = "auto",  # noqa: A002 - the name of the option
    map: Mapping[str, str] | None = None,  # noqa: A002
    metric: str | None = None,
) -> Samples:
    """
    Read a log of another harness.

    :param format: ``inspect``, ``swebench``, ``junit``, ``jsonl``, ``csv``, or ``auto`` for what it looks like.
    :param map: the field of each of ``case, score, trial, cluster, harm, safety, error, reruns, input, target`` and
        ``answer``, where it is not the one that the format has; names joined by dots lead into objects and lists. Of
        ``harm`` (``penalty`` is its other name) higher is worse, of ``safety`` better.
    :param metric: which score to read, where samples have several.
    :raises SampleError: it is of another format, a field is missing, or the metric is ambiguous.
    :raises EvalError: it cannot be read.
    """
    with opened(path, format) as source:
        log = source.log
        reader = RowReader(path, log, dict(map or {}), metric)
        samples = reader.samples()
    there = {sample.case_id for sample in samples}
    return Samples(
        path=path,
        format=source.format.name,
        header=log,
        sha256=source.sha256,
        case_field=reader.case_field,
        other_fields=reader.other_fields,
        metric=reader.metric,
        harm=reader.harm,
        ungated=reader.ungated,
        samples=samples,
        without=tuple(sorted({*log.named()} - there)),
        repeated=tuple(sorted({sample.case_id for sample in samples if sample.reruns})),
    )


def parse_map(text: str) -> dict[str, str]:
    """
    Parse ``case=id,score=resolved``.

    :raises EvalError: a part is no pair, or names something twice.
    """
    pairs: dict[str, str] = {}
    for part in (
        re.split(r",(?=\s*\w+\s*=)", text) if text else ()
    ):  # not at that of a field such as acc,none
        role, sign, name = part.partition("=")
        if not sign or not name or role.strip() in pairs:
            raise EvalError(f"map: {part!r}; expected ROLE=FIELD, each role once")
        pairs[role.strip()] = name.strip()
    return pairs
