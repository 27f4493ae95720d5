"""Reads vectors of scores from files, for a gate without a bench, and tells them from logs and records."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import TypeAdapter, ValidationError

from benchgate.aggregate import mean
from benchgate.errors import SampleError, Unreadable, counted
from benchgate.gates.figures import Arm
from benchgate.gates.run_notes import SAME_BYTES
from benchgate.interop.log import open_file, whole_json
from benchgate.interop.tables import csv_rows
from benchgate.wire.files import file_sha256
from benchgate.wire.model import Name

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.gates.decision import Blocker
    from benchgate.interop.log import LogFile


MAX_BYTES: Final = 8 * 1024 * 1024
MAX_VALUES: Final = 100_000
_CLUSTER: Final = TypeAdapter(Name)
Kind = Literal["record", "samples", "counts", "log"]
REPORT_KIND: Final = re.compile(
    rb'\s*\{\s*(?:"schema_version"\s*:\s*\d+\s*,\s*)?"report_kind"\s*:\s*"(\w+)"'
)
ARM_KINDS: Final = ("baseline", "trained")


def kind_of(path: Path) -> Kind:
    """
    Return what a file is, by its content: a file of benchgate, a vector of scores, or else a log.

    :raises Unreadable: it cannot be read.
    """
    with open_file(path) as file:
        head = file.head
        match = REPORT_KIND.match(head)
        if match is not None:
            return _kind_of_report(match[1].decode())
        if head.lstrip()[:1] not in (b"{", b"["):
            return "log"
        try:
            document = whole_json(file)
        except Unreadable:  # such as JSON lines
            return "log"
    if isinstance(document, dict) and "report_kind" in document:
        return _kind_of_report(document["report_kind"])
    if _has_scores(path, document):
        return "samples"
    return "log"


def _has_scores(path: Path, document: Any) -> bool:
    """Whether a document is nothing but scores, by case id or in a list."""
    scores = document
    if isinstance(document, dict):
        scores = [_labelled(path, case_id, value)[0] for case_id, value in document.items()]
        if all(isinstance(one, bool) for one in scores):
            return False  # it says what passed, as a log does
    return bool(scores) and all(isinstance(one, (int, float)) for one in scores)


def _kind_of_report(report_kind: object) -> Kind:
    """Return what a file of benchgate is: one side of a comparison has samples."""
    if report_kind in ARM_KINDS:
        return "samples"
    return "record"


def read_side(path: Path, harm: Path | None = None) -> Arm:
    """
    Read the scores of one side, and its safety penalties.

    :param harm: a file with a penalty for each score, or ``None``.
    :raises SampleError: a file cannot be used, see :func:`read_scores`.
    :raises ValueError: the penalties do not belong to the scores, or one is negative.
    """
    arm = read_scores(path)
    if harm is None:
        return arm
    penalties = read_scores(harm)
    negative = next((value for value in penalties.scores if value < 0), None)
    if negative is not None:
        raise ValueError(f"{harm}: {negative!r} is negative, and harm is 0 or more")
    if None not in (penalties.case_ids, arm.case_ids) and penalties.case_ids != arm.case_ids:
        raise ValueError(f"{harm}: its case ids are not those of {path}")
    if len(penalties.scores) != len(arm.scores):
        counts = f"{len(penalties.scores)} values; {path} has {len(arm.scores)}"
        raise ValueError(f"{harm}: {counts}")
    return replace(arm, penalties=penalties.scores)


def notes_on_files(baseline: Path, candidate: Path) -> tuple[Blocker, ...]:
    """Return what to know of the files that two sides were read from: that they have the same bytes."""
    if file_sha256(baseline, limit=MAX_BYTES) == file_sha256(candidate, limit=MAX_BYTES):
        return (SAME_BYTES,)
    return ()


def read_scores(path: Path) -> Arm:
    """
    Read one score for each case, the mean over its trials, sorted by case id where there are ids.

    A JSON array of numbers; a JSON object ``{case_id: number}``, or of ``{"score": number, "cluster": name}``; a CSV
    with the columns ``case,score[,trial][,cluster]``, of which others are not read; or a ``baseline.json`` or
    ``trained.json`` that benchgate wrote, of which alone penalties and facts are known.

    :raises SampleError: unreadable, too large, fewer than two values, or a value that is no finite number; the
        message names file, place and value.
    """
    try:
        with open_file(path, MAX_BYTES) as file:
            if path.suffix.lower() == ".csv":
                arm = _from_csv(file)
            else:
                arm = _from_json(file)
    except Unreadable as error:
        raise SampleError(path, error.why) from error
    count = sum(map(len, arm.rows))
    if count > MAX_VALUES:
        raise SampleError(path, f"{count} values; at most {MAX_VALUES} are read")
    if len(arm.scores) < 2:
        raise SampleError(path, f"{counted(len(arm.scores), 'value')}; at least 2 are needed")
    return arm


def _from_json(file: LogFile) -> Arm:
    path = file.path
    data = whole_json(file)
    if isinstance(data, list):
        return Arm(scores=tuple(_number(path, str(n), value) for n, value in enumerate(data)))
    if not isinstance(data, dict):
        raise SampleError(path, "expected a JSON array of numbers or an object {case_id: number}")
    if data.get("report_kind") in ARM_KINDS:
        return _from_arm(file)
    for case_id in data:
        _check_id(path, case_id)
    rows = {case_id: _labelled(path, case_id, data[case_id]) for case_id in sorted(data)}
    return Arm(
        case_ids=tuple(rows),
        scores=tuple(_number(path, repr(case_id), value) for case_id, (value, _) in rows.items()),
        clusters=tuple(cluster for _, cluster in rows.values()),
    )


def _check_id(path: Path, case_id: str) -> None:
    try:
        case_id.encode()
    except UnicodeEncodeError as error:
        raise SampleError(path, f"[{case_id!r}] is no text of a case id: {error.reason}") from error
    if not case_id:
        raise SampleError(path, "no case id")


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


def _number(path: Path, place: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise SampleError(path, f"[{place}] is {json.dumps(value)[:80]}; expected a finite number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        shown = "too large"
        if math.isnan(number):
            shown = "NaN"
        raise SampleError(path, f"[{place}] is {shown}; expected a finite number")
    return number


def _from_arm(file: LogFile) -> Arm:
    from benchgate.artifacts.evidence_kinds import ArmReport

    file.file.seek(0)
    report = ArmReport.parse(file.path, file.file.read(), "sample report")
    arm = report.arm
    ids = [sample.case_id for sample in report.measured]
    if arm.case_ids is None:
        named = any(case_id is not None for case_id in ids)
    else:
        named = len({*ids}) != len(ids)
        arm = arm.at(sorted(range(len(ids)), key=arm.case_ids.__getitem__))
    if named:
        why = "case ids must be given for all samples, each once, or for none"
        raise SampleError(file.path, why)
    return arm


def _from_csv(file: LogFile) -> Arm:
    path = file.path
    cases: dict[str, dict[str, float]] = {}
    clusters: dict[str, str | None] = {}
    lines: dict[tuple[str, str], int] = {}
    for line, row in csv_rows(file):
        if not {"case", "score"} <= row.keys():
            raise SampleError(
                path, f"columns {[*row]}; expected case,score[,trial][,cluster]", line=1
            )
        trial = row.get("trial") or "0"
        first = lines.setdefault((row["case"], trial), line)
        if first != line:
            what = f"case {row['case']!r} trial {trial!r} appears twice: on line {first} too"
            raise SampleError(path, what, line=line)
        _add_row(path, line, row, cases)
        cluster = _cluster(path, row["case"], row.get("cluster"), line)
        before = clusters.setdefault(row["case"], cluster)
        if before != cluster:
            pair = " and ".join(repr(name) if name else "none" for name in (before, cluster))
            raise SampleError(path, f"case {row['case']!r} has two clusters: {pair}", line=line)
    ids = sorted(cases)
    trials = tuple(
        tuple(scores[trial] for trial in sorted(scores, key=lambda name: (len(name), name)))
        for scores in map(cases.__getitem__, ids)
    )
    return Arm(
        case_ids=tuple(ids),
        scores=tuple(map(mean, trials)),
        trials=trials,
        clusters=tuple(clusters[case_id] for case_id in ids),
    )


def _add_row(
    path: Path, line: int, row: dict[str, str], cases: dict[str, dict[str, float]]
) -> None:
    case_id = row["case"]
    score = row["score"]
    trial = row.get("trial") or "0"
    if not case_id:
        raise SampleError(path, "no case id", line=line)
    try:
        number = float(score)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise SampleError(path, f"score is {score!r}; expected a finite number", line=line)
    cases.setdefault(case_id, {})[trial] = number
