"""Makes a task class of a log that has inputs and targets."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

import tomli_w

from benchgate.errors import SampleError
from benchgate.interop.formats import opened
from benchgate.interop.rows import RowReader
from benchgate.loader.new_class import make_class_folder
from benchgate.wire.canonical import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from pathlib import Path

    from benchgate.interop.rows import Sample

MAX_CASES: Final = 10_000


@dataclass(slots=True)
class _Case:
    """What a log has of one case."""

    input: Any
    choices: Any
    targets: list[str]
    answers: dict[tuple[int, str], str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Converted:
    """
    A class that was made.

    :param agreed: samples on which the rubric that was written says what the score of the log says, of ``scored``.
    :param unanswered: samples without an answer, such as those with an error: their trials fail when they are played.
    """

    path: Path
    cases: int
    trials: int
    agreed: int
    scored: int
    unanswered: int


def convert(
    path: Path,
    name: str,
    bench_root: Path,
    *,
    now: datetime,
    format: str = "auto",  # noqa: A002
    map: Mapping[str, str] | None = None,  # noqa: A002
    metric: str | None = None,
) -> Converted:
    """
    Make ``bench/<name>/`` of a log: its cases, a rubric that compares with the target, and its answers as a recording.

    :raises SampleError: it has no inputs, or a sample no target. :raises EvalError: as :func:`benchgate.interop.read`.
    :raises FileExistsError: the class exists. :raises OSError: it cannot be written.
    """
    cases: dict[str, _Case] = {}
    tally: dict[bool, int] = defaultdict(int)
    with opened(path, format, in_full=True) as source:
        reader = RowReader(path, source.log, dict(map or {}), metric)
        for line, row in source.log.rows:
            sample = reader.sample(line, row)
            case = cases.setdefault(sample.case_id, _case(path, reader, row, sample, line))
            answer = None if sample.error and sample.score is None else reader.value(row, "answer")
            text = None if answer is None else str(answer)
            case.answers[len(sample.trial), sample.trial] = text
            if sample.score is not None and text is not None:
                tally[_agrees(text, case.targets) == (sample.score >= 1.0)] += 1
            if len(cases) > MAX_CASES:
                raise SampleError(path, f"more than {MAX_CASES} cases")
    if not cases:
        raise SampleError(path, "has no samples")
    trials = max(len(case.answers) for case in cases.values())
    words = {
        "@BRONZE@": str(min(10, len(cases))),
        "@TRIALS@": str(trials),
        "@CASES@": str(len(cases)),
        "@AGREED@": str(tally[True]),
        "@SCORED@": str(sum(tally.values())),
        "@METRIC@": reader.metric,
    }
    folder = make_class_folder(
        bench_root,
        name,
        now=now,
        templates=files("benchgate.interop") / "class_files",
        words=words,
        further=_case_files(name, cases, now),
    )
    answers = [one for case in cases.values() for one in case.answers.values()]
    return Converted(
        path=folder,
        cases=len(cases),
        trials=trials,
        agreed=tally[True],
        scored=sum(tally.values()),
        unanswered=answers.count(None),
    )


def _case(path: Path, reader: RowReader, row: dict[str, Any], sample: Sample, line: int) -> _Case:
    question, target = reader.value(row, "input"), reader.value(row, "target")
    targets = [str(one) for one in (target if isinstance(target, list) else [target])]
    for role, found in (("input", question), ("target", target)):
        if found in (None, "", []):
            why = f"sample {sample.case_id!r} has no {role}; name its field: --map {role}=FIELD"
            raise SampleError(path, why, line=line)
    return _Case(question, row.get("choices"), targets)


def _agrees(answer: str, targets: list[str]) -> bool:
    """Whether the rubric that is written will pass an answer."""
    return _plain(answer) in {_plain(target) for target in targets}


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).removesuffix(".")


def _case_files(name: str, cases: Mapping[str, _Case], now: datetime) -> dict[str, str]:
    texts: dict[str, str] = {}
    for number, (log_id, case) in enumerate(sorted(cases.items()), 1):
        slug = re.sub(r"[^a-z0-9]+", "-", log_id.lower()).strip("-")[:48].strip("-")
        case_id = f"{number:0{len(str(len(cases)))}}-{slug}".rstrip("-")
        shown = {"input": case.input} | ({"choices": case.choices} if case.choices else {})
        answers = _json({"answers": [case.answers[key] for key in sorted(case.answers)]})
        tables = {
            "case": {
                "case_id": case_id,
                "task_class": name,
                "disposition": "positive",
                "difficulty": "medium",
                "source": "curated",
                "added_at": now,
                "last_validated_at": now,
            },
            "facts": {"log_id": log_id},
            "cassettes": {
                "recorded": {
                    "path": "cassettes/recorded.json",
                    "sha256": sha256_hex(answers.encode()),
                }
            },
        }
        toml = tomli_w.dumps(tables).replace(str(now), now.isoformat().replace("+00:00", "Z"))
        texts |= {
            f"cases/{case_id}/case.toml": toml,
            f"cases/{case_id}/input/input.json": _json(shown),
            f"cases/{case_id}/expected/target.json": _json(case.targets),
            f"cases/{case_id}/cassettes/recorded.json": answers,
        }
    return texts


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"
