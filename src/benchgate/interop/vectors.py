"""Reads vectors of scores from files, for a gate without a bench, and tells them from logs and records."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from pydantic import TypeAdapter, ValidationError

from benchgate.aggregate import mean
from benchgate.errors import SampleError, Unreadable, counted
from benchgate.gates.figures import Arm
from benchgate.interop.log import open_file, whole_json
from benchgate.interop.tables import csv_rows
from benchgate.wire.model import Name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from benchgate.gates.figures import CaseFacts
    from benchgate.interop.log import LogFile


MAX_BYTES: Final = 8 * 1024 * 1024
MAX_VALUES: Final = 100_000
_CLUSTER: Final = TypeAdapter(Name)
T = TypeVar("T")
Kind = Literal["record", "samples", "log"]
REPORT_KIND: Final = re.compile(
    rb'\s*\{\s*(?:"schema_version"\s*:\s*\d+\s*,\s*)?"report_kind"\s*:\s*"(\w+)"'
)
ARM_KINDS: Final = ("baseline", "trained")


@dataclass(frozen=True, slots=True, kw_only=True)
class Vector:
    """
    Values by case, sorted by case id where there are ids.

    :param values: one per case: the mean over its trials.
    :param penalties: one per case, from ``baseline.json`` and ``trained.json`` only, as ``facts``.
    :param trials: all values of each case.
    :param clusters: what each case shares with others; ``None`` for nothing.
    """

    path: Path
    values: tuple[float, ...]
    case_ids: tuple[str, ...] | None = None
    penalties: tuple[float | None, ...] | None = None
    trials: tuple[tuple[float, ...], ...] | None = None
    clusters: tuple[str | None, ...] | None = None
    facts: tuple[CaseFacts, ...] | None = None


def kind_of(path: Path) -> Kind:
    """
    Return what a file is, by its content: a file of benchgate, a vector of scores, or else a log.

    :raises Unreadable: it cannot be read.
    """
    with open_file(path) as file:
        head = file.head
        known = REPORT_KIND.match(head)
        if known is not None:
            return "samples" if known[1].decode() in ARM_KINDS else "record"
        if head.lstrip()[:1] not in (b"{", b"["):
            return "log"
        try:
            document = whole_json(file)
        except Unreadable:  # such as JSON lines
            return "log"
    if isinstance(document, dict) and "report_kind" in document:
        return "samples" if document["report_kind"] in ARM_KINDS else "record"
    values = document.values() if isinstance(document, dict) else document
    scores = [_labelled(path, "", value)[0] for value in values]
    return "samples" if scores and all(isinstance(one, (int, float)) for one in scores) else "log"


def read_vector(path: Path) -> Vector:
    """
    Read sample values.

    A JSON array of numbers; a JSON object ``{case_id: number}``, or of ``{"score": number, "cluster": name}``; a CSV
    with the columns ``case,score[,trial][,cluster]``, of which others are not read; or a ``baseline.json`` or
    ``trained.json`` that benchgate wrote.

    :raises SampleError: unreadable, too large, fewer than two values, or a value that is no finite number; the
        message names file, place and value.
    """
    try:
        with open_file(path, MAX_BYTES) as file:
            samples = _from_csv(file) if path.suffix.lower() == ".csv" else _from_json(file)
    except Unreadable as error:
        raise SampleError(path, error.why) from error
    if len(samples.values) < 2:
        raise SampleError(path, f"{counted(len(samples.values), 'value')}; at least 2 are needed")
    return samples


def _from_json(file: LogFile) -> Vector:
    path, data = file.path, whole_json(file)
    if isinstance(data, dict) and data.get("report_kind") in ARM_KINDS:
        return _from_arm(file)
    if isinstance(data, dict):
        rows = [(case_id, *_labelled(path, case_id, data[case_id])) for case_id in sorted(data)]
        return Vector(
            path=path,
            case_ids=tuple(case_id for case_id, _, _ in rows),
            values=_numbers(
                path, ((repr(case_id), value) for case_id, value, _ in rows), len(rows)
            ),
            clusters=tuple(cluster for _, _, cluster in rows),
        )
    if not isinstance(data, list):
        raise SampleError(path, "expected a JSON array of numbers or an object {case_id: number}")
    return Vector(
        path=path,
        values=_numbers(path, ((str(n), value) for n, value in enumerate(data)), len(data)),
    )


def _labelled(path: Path, case_id: str, value: Any) -> tuple[Any, str | None]:
    """Return score and cluster of a case; anything else is no score."""
    if isinstance(value, dict) and "score" in value and value.keys() <= {"score", "cluster"}:
        return value["score"], _cluster(path, case_id, value.get("cluster"))
    return value, None


def _cluster(path: Path, case_id: str, name: object, line: int = 0) -> str | None:
    """Return the name of a cluster; none for an empty one."""
    if name is None or name == "":
        return None
    try:
        return _CLUSTER.validate_python(name, strict=True)
    except ValidationError as error:
        why = error.errors()[0]["msg"]
        raise SampleError(path, f"cluster of case {case_id!r}: {why}", line=line) from None


def _numbers(path: Path, values: Iterable[tuple[str, Any]], count: int) -> tuple[float, ...]:
    if count > MAX_VALUES:
        raise SampleError(path, f"{count} values; at most {MAX_VALUES} are read")
    return tuple(_number(path, place, value) for place, value in values)


def _number(path: Path, place: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise SampleError(path, f"[{place}] is {json.dumps(value)[:80]}; expected a finite number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        shown = "NaN" if math.isnan(number) else "too large"
        raise SampleError(path, f"[{place}] is {shown}; expected a finite number")
    return number


def _from_arm(file: LogFile) -> Vector:
    from benchgate.artifacts.evidence_kinds import ArmReport

    file.file.seek(0)
    path, samples = (
        file.path,
        ArmReport.parse(file.path, file.file.read(), "sample report").measured,
    )
    ids = [sample.case_id for sample in samples]
    if None not in ids:
        samples = tuple(sorted(samples, key=lambda sample: sample.case_id or ""))
    named = tuple(sample.case_id for sample in samples if sample.case_id is not None)
    if named and (len(named) != len(ids) or len(set(named)) != len(named)):
        raise SampleError(path, "case ids must be given for all samples, each once, or for none")
    penalties = tuple(sample.safety_penalty for sample in samples)
    return Vector(
        path=path,
        case_ids=named or None,
        values=_numbers(path, ((str(n), s.score) for n, s in enumerate(samples)), len(samples)),
        penalties=penalties if any(penalty is not None for penalty in penalties) else None,
        trials=_each(sample.trials for sample in samples),
        clusters=tuple(sample.cluster for sample in samples),
        facts=_each(sample.facts for sample in samples),
    )


def _each(found: Iterable[T | None]) -> tuple[T, ...] | None:
    values = list(found)
    known = tuple(value for value in values if value is not None)
    return known if len(known) == len(values) else None


def _from_csv(file: LogFile) -> Vector:
    path = file.path
    cases: dict[str, dict[str, float]] = {}
    clusters: dict[str, str | None] = {}
    for line, row in csv_rows(file):
        if not {"case", "score"} <= row.keys():
            raise SampleError(
                path, f"columns {[*row]}; expected case,score[,trial][,cluster]", line=1
            )
        _add_row(path, line, row, cases)
        cluster = _cluster(path, row["case"], row.get("cluster"), line)
        if (before := clusters.setdefault(row["case"], cluster)) != cluster:
            pair = " and ".join(repr(name) if name else "none" for name in (before, cluster))
            raise SampleError(path, f"case {row['case']!r} has two clusters: {pair}", line=line)
    ids = sorted(cases)
    trials = tuple(
        tuple(cases[case_id][trial] for trial in _ordered(cases[case_id])) for case_id in ids
    )
    if sum(map(len, trials)) > MAX_VALUES:
        raise SampleError(path, f"{sum(map(len, trials))} values; at most {MAX_VALUES} are read")
    return Vector(
        path=path,
        case_ids=tuple(ids),
        values=tuple(map(mean, trials)),
        trials=trials,
        clusters=tuple(clusters[case_id] for case_id in ids),
    )


def _ordered(trials: Iterable[str]) -> Sequence[str]:
    def place(name: str) -> tuple[bool, int, str]:
        number = name.isdecimal() and len(name) < 20  # Python refuses to read thousands of digits
        return not number, int(name) if number else 0, name

    return sorted(trials, key=place)


def _add_row(
    path: Path, line: int, row: dict[str, str], cases: dict[str, dict[str, float]]
) -> None:
    case_id, score, trial = row["case"], row["score"], row.get("trial") or "0"
    if not case_id:
        raise SampleError(path, "no case id", line=line)
    try:
        number = float(score)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise SampleError(path, f"score is {score!r}; expected a finite number", line=line)
    seen = cases.setdefault(case_id, {})
    if trial in seen:
        raise SampleError(path, f"case {case_id!r} trial {trial!r} appears twice", line=line)
    seen[trial] = number


def arm_of(samples: Vector, penalties: Vector | float | None) -> Arm:
    """
    Put scores and safety penalties of one side together.

    :param penalties: a vector with a value for each score, one mean for all of them, or ``None``.
    :raises ValueError: the penalties do not belong to the scores, or one is negative.
    """
    return Arm(
        scores=samples.values,
        case_ids=samples.case_ids,
        penalties=_penalties(samples, penalties),
        trials=samples.trials,
        clusters=samples.clusters,
        facts=samples.facts,
    )


def _penalties(samples: Vector, given: Vector | float | None) -> tuple[float | None, ...] | None:
    if given is None:
        return samples.penalties
    if isinstance(given, float):
        if not (math.isfinite(given) and given >= 0):
            msg = f"safety penalty {given!r}: expected a finite number, 0 or more"
            raise ValueError(msg)
        return (given,) * len(samples.values)
    negative = next((value for value in given.values if value < 0), None)
    if negative is not None:
        msg = f"{given.path}: {negative!r} is a negative safety penalty"
        raise ValueError(msg)
    if (
        given.case_ids is not None
        and samples.case_ids is not None
        and given.case_ids != samples.case_ids
    ):
        msg = f"{given.path}: its case ids are not those of {samples.path}"
        raise ValueError(msg)
    if len(given.values) != len(samples.values):
        msg = f"{given.path}: {len(given.values)} values; {samples.path} has {len(samples.values)}"
        raise ValueError(msg)
    return given.values
