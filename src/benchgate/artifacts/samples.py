"""Reads sample vectors from files, for a gate without a bench."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import TypeAdapter, ValidationError

from benchgate.aggregate import mean
from benchgate.errors import SampleError, Unreadable, counted
from benchgate.gates.figures import Arm
from benchgate.wire.files import read_bytes
from benchgate.wire.model import Name
from benchgate.wire.parsing import repeated

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from benchgate.gates.figures import CaseFacts


MAX_BYTES: Final = 8 * 1024 * 1024
MAX_VALUES: Final = 100_000
_CLUSTER: Final = TypeAdapter(Name)
T = TypeVar("T")
ARM_KINDS: Final = ("baseline", "trained")


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
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


def read_samples(path: Path) -> Samples:
    """
    Read sample values.

    A JSON array of numbers; a JSON object ``{case_id: number}``, or of ``{"score": number, "cluster": name}``; a CSV
    with the columns ``case,score[,trial][,cluster]``, of which others are not read; or a ``baseline.json`` or
    ``trained.json`` that benchgate wrote.

    :raises SampleError: unreadable, too large, fewer than two values, or a value that is no finite number; the
        message names file, place and value.
    """
    try:
        text = read_bytes(path, limit=MAX_BYTES).decode("utf-8-sig")
    except Unreadable as error:
        raise SampleError(path, error.why) from error
    except ValueError as error:
        raise SampleError(path, str(error)) from error
    samples = _from_csv(path, text) if path.suffix.lower() == ".csv" else _from_json(path, text)
    if len(samples.values) < 2:
        raise SampleError(path, f"{counted(len(samples.values), 'value')}; at least 2 are needed")
    return samples


def _from_json(path: Path, text: str) -> Samples:
    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        if (twice := repeated(key for key, _ in found)) is not None:
            raise SampleError(path, f"case {twice!r} appears twice")
        return dict(found)

    def constant(name: str) -> float:
        raise SampleError(path, f"{name} is no finite number")

    try:
        data = json.loads(text, object_pairs_hook=pairs, parse_constant=constant)
    except (ValueError, RecursionError) as error:
        raise SampleError(path, f"no JSON: {error}") from error
    if isinstance(data, dict) and data.get("report_kind") in ARM_KINDS:
        return _from_arm(path, text)
    if isinstance(data, dict):
        rows = [(case_id, *_labelled(path, case_id, data[case_id])) for case_id in sorted(data)]
        return Samples(
            path=path,
            case_ids=tuple(case_id for case_id, _, _ in rows),
            values=_numbers(
                path, ((repr(case_id), value) for case_id, value, _ in rows), len(rows)
            ),
            clusters=tuple(cluster for _, _, cluster in rows),
        )
    if not isinstance(data, list):
        raise SampleError(path, "expected a JSON array of numbers or an object {case_id: number}")
    return Samples(
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
        raise SampleError(path, f"[{place}] is too large; expected a finite number")
    return number


def _from_arm(path: Path, text: str) -> Samples:
    from benchgate.artifacts.evidence_kinds import ArmReport

    try:
        report = ArmReport.parse(path, text.encode(), "sample report")
    except Unreadable as error:
        raise SampleError(path, error.why) from error
    samples = report.measured
    ids = [sample.case_id for sample in samples]
    if None not in ids:
        samples = tuple(sorted(samples, key=lambda sample: sample.case_id or ""))
    named = tuple(sample.case_id for sample in samples if sample.case_id is not None)
    if named and (len(named) != len(ids) or len(set(named)) != len(named)):
        raise SampleError(path, "case ids must be given for all samples, each once, or for none")
    penalties = tuple(sample.safety_penalty for sample in samples)
    return Samples(
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


def _from_csv(path: Path, text: str) -> Samples:
    rows = csv.DictReader(io.StringIO(text), strict=True)
    try:
        columns = rows.fieldnames or []
        if not {"case", "score"} <= {*columns} or len({*columns}) != len(columns):
            raise SampleError(
                path, f"columns {list(columns)}; expected case,score[,trial][,cluster]"
            )
        cases: dict[str, dict[str, float]] = {}
        clusters: dict[str, str | None] = {}
        for row in rows:
            _add_row(path, rows.line_num, row, cases)
            cluster = _cluster(path, row["case"], row.get("cluster"), rows.line_num)
            if (before := clusters.setdefault(row["case"], cluster)) != cluster:
                pair = " and ".join(repr(name) if name else "none" for name in (before, cluster))
                why = f"case {row['case']!r} has two clusters: {pair}"
                raise SampleError(path, why, line=rows.line_num)
    except csv.Error as error:
        raise SampleError(path, f"no CSV: {error}", line=rows.line_num) from error
    ids = sorted(cases)
    trials = tuple(
        tuple(cases[case_id][trial] for trial in _ordered(cases[case_id])) for case_id in ids
    )
    if sum(map(len, trials)) > MAX_VALUES:
        raise SampleError(path, f"{sum(map(len, trials))} values; at most {MAX_VALUES} are read")
    return Samples(
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
    path: Path, line: int, row: dict[Any, Any], cases: dict[str, dict[str, float]]
) -> None:
    case_id, score, trial = row["case"], row["score"], row.get("trial") or "0"
    if None in row or None in row.values() or not case_id:
        raise SampleError(path, f"expected {len(row) - (None in row)} values", line=line)
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


def arm_of(samples: Samples, penalties: Samples | float | None) -> Arm:
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


def _penalties(samples: Samples, given: Samples | float | None) -> tuple[float | None, ...] | None:
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
