"""Makes the files of a task class of a log that has inputs, targets and answers."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import tomli_w

from benchgate.errors import SampleError
from benchgate.interop.asked import asked
from benchgate.interop.formats import opened
from benchgate.interop.rows import MAX_SAMPLES, RowReader
from benchgate.loader.new_case import case_toml
from benchgate.loader.new_class import class_templates
from benchgate.wire.canonical import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from pathlib import Path


Case = tuple[dict[str, Any], list[str], dict[tuple[int, str], str | None]]
"""Input, targets, and the answer of each trial."""


def class_files(
    path: Path, name: str, now: datetime, options: Mapping[str, Any]
) -> tuple[dict[str, str], list[bool | None]]:
    """
    Return the files of a class by path: the cases of a log, a rubric for their targets, and the answers as a system.

    For each sample also whether the rubric says what the log says, ``None`` of one without an answer.

    :param options: ``format``, ``map``, ``metric``, ``where`` and ``errors_by``, as of :func:`benchgate.interop.read`.
    :raises SampleError: it has no inputs, or a sample no target. :raises EvalError: it cannot be read.
    """
    cases, agreed = _read(path, options)
    trials = max(len(answers) for _, _, answers in cases.values())
    texts = class_templates("log_class_files", name, BRONZE=min(10, len(cases))) | {
        "README.md": f"# {name}\n\nThe cases, targets and answers of the log `{path.name}`.\n\nOn "
        f"{agreed.count(True)} of {len(agreed) - agreed.count(None)} samples the rubric says what the log says.\n",
        "gate.toml": tomli_w.dumps(
            {"test": "auto", "safety": "optional", "run": {"trials": trials}}
        ),
    }
    for number, (log_id, (shown, targets, answers)) in enumerate(sorted(cases.items()), 1):
        words = re.sub(r"[^a-z0-9]+", "-", log_id.lower()).strip("-")[:48].strip("-")
        case_id = f"{number:0{len(str(len(cases)))}}-{words}".rstrip("-")
        recorded = json.dumps({"answers": [answers[key] for key in sorted(answers)]})
        cassette = {"path": "cassettes/recorded.json", "sha256": sha256_hex(recorded.encode())}
        tables = {"facts": {"log_id": log_id}, "cassettes": {"recorded": cassette}}
        texts |= {
            f"cases/{case_id}/case.toml": case_toml(name, case_id, now, **tables),
            f"cases/{case_id}/cassettes/recorded.json": recorded,
            f"cases/{case_id}/expected/target.json": json.dumps(targets, ensure_ascii=False),
            f"cases/{case_id}/input/input.json": json.dumps(shown, ensure_ascii=False),
        }
    return texts, agreed


def _read(path: Path, options: Mapping[str, Any]) -> tuple[dict[str, Case], list[bool | None]]:
    """Return input, targets and answers of each case of a log, and on which samples rubric and log agree."""
    cases: dict[str, Case] = {}
    agreement: dict[tuple[str, str], bool | None] = {}
    how = asked(options["map"], options["where"], options["errors_by"])
    with opened(path, options["format"], in_full=True) as (_, log, _):
        reader = RowReader(path, log, how, options["metric"])
        for line, row in reader.rows:
            sample, choices = reader.sample(line, row), row.get("choices")
            parts = {role: reader.value(row, role) for role in ("input", "target")}
            for role in (role for role, value in parts.items() if value in (None, "", [])):
                why = f"sample {sample.case_id!r} has no {role}; name its field: --map {role}=FIELD"
                raise SampleError(path, why, line=line)
            target = parts["target"]
            targets = [str(one) for one in (target if isinstance(target, list) else [target])]
            shown = {"input": parts["input"]} | ({"choices": choices} if choices else {})
            answer = None if sample.score is None else reader.value(row, "answer")
            *first, answers = cases.setdefault(sample.case_id, (shown, targets, {}))
            if first != [shown, targets]:
                why = f"sample {sample.case_id!r} has two inputs or targets; tell them apart: --map case=FIELD"
                raise SampleError(path, why, line=line)
            # As RowReader.samples does: the last of several rows of a trial counts.
            answers[len(sample.trial), sample.trial] = answer if answer is None else str(answer)
            is_right = _plain(answer) in map(_plain, targets)
            agrees = is_right == ((sample.score or 0) >= 1)
            agreement[sample.case_id, sample.trial] = None if answer is None else agrees
            if len(agreement) > MAX_SAMPLES:
                raise SampleError(path, f"more than {MAX_SAMPLES} samples")
    if not cases:
        raise SampleError(path, "has no samples")
    return cases, [*agreement.values()]


def _plain(text: object) -> str:
    return " ".join(str(text).casefold().split()).removesuffix(".")
