"""Makes the files of a task class of a log that has inputs, targets and answers."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

import tomli_w

from benchgate.errors import SampleError
from benchgate.interop.formats import opened
from benchgate.interop.rows import MAX_SAMPLES, RowReader
from benchgate.registry import slug
from benchgate.wire.canonical import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from pathlib import Path

RUBRIC: Final = '''"""Scores one answer: it is one of the targets of its case, but for case and space, or it is not."""

import json

from benchgate import BenchScore


class TargetRubric:
    """Compares an answer with the targets of its case."""

    def score(self, case, output, /):
        """Score ``{"answer": text}``."""
        targets = json.loads((case.expected_path / "target.json").read_text(encoding="utf-8"))
        right = plain(output.get("answer")) in map(plain, targets)
        return BenchScore(passed=right, score=float(right))


def plain(text):
    """Return a text without what does not count."""
    return " ".join(str(text).casefold().split()).removesuffix(".")
'''
REGISTRATION: Final = '''"""Registers the task class: its rubric, and the systems under test by name."""

import json

from benchgate import register_task_class

from .rubric import TargetRubric


def recorded(case):
    """Give the answer that the log has: the system to beat."""
    answers = json.loads(case.cassette("recorded").path.read_text(encoding="utf-8"))["answers"]
    if answers[case.trial] is None:
        raise ValueError(f"the log has no answer of trial {case.trial}")
    return {"answer": answers[case.trial]}


def candidate(case):
    """Read the question, and answer it: call your agent here."""
    question = json.loads((case.input_path / "input.json").read_text(encoding="utf-8"))
    raise NotImplementedError(f"no agent answers {question!r} yet: change registration.py")


@register_task_class(
    "@NAME@",
    systems={"recorded": recorded, "candidate": candidate},
    default_system="candidate",
    min_cases_for_promotion={"bronze": @BRONZE@},
)
class Targets(TargetRubric):
    """Compares an answer with the target of its case."""
'''
TEST: Final = """from _benchgate_bench.@SLUG@.rubric import plain


def test_case_and_space_do_not_count():
    assert plain(" It. ") == plain("it")
"""


def class_files(
    path: Path, name: str, now: datetime, options: Mapping[str, Any]
) -> tuple[dict[str, str], list[bool | None]]:
    """
    Return the files of a class by path: the cases of a log, a rubric for their targets, and the answers as a system.

    For each sample also whether the rubric says what the log says, ``None`` of one without an answer.

    :param options: ``format``, ``map`` and ``metric``, as of :func:`benchgate.interop.read`.
    :raises SampleError: it has no inputs, or a sample no target. :raises EvalError: it cannot be read.
    """
    cases: dict[str, tuple[Any, list[str], dict[tuple[int, str], Any]]] = {}
    agreement: dict[tuple[str, str], bool | None] = {}
    with opened(path, options["format"], in_full=True) as (_, log, _):
        reader = RowReader(path, log, dict(options["map"]), options["metric"])
        for line, row in log.rows:
            sample, choices = reader.sample(line, row), row.get("choices")
            asked = {role: reader.value(row, role) for role in ("input", "target")}
            for role in (role for role, value in asked.items() if value in (None, "", [])):
                why = f"sample {sample.case_id!r} has no {role}; name its field: --map {role}=FIELD"
                raise SampleError(path, why, line=line)
            target = asked["target"]
            targets = [str(one) for one in (target if isinstance(target, list) else [target])]
            shown = {"input": asked["input"]} | ({"choices": choices} if choices else {})
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
    agreed = [*agreement.values()]
    trials = max(len(answers) for _, _, answers in cases.values())
    registration = REGISTRATION.replace("@BRONZE@", str(min(10, len(cases))))
    texts = {
        "README.md": f"# {name}\n\nThe cases, targets and answers of the log `{path.name}`.\n\nOn "
        f"{agreed.count(True)} of {len(agreed) - agreed.count(None)} samples the rubric says what the log says.\n",
        "failure_modes.toml": "# The rubric gives no code.\n",
        "gate.toml": tomli_w.dumps(
            {"test": "auto", "safety": "optional", "run": {"trials": trials}}
        ),
        "registration.py": registration.replace("@NAME@", name),
        "rubric.py": RUBRIC,
        f"tests/test_{slug(name)}_rubric.py": TEST.replace("@SLUG@", slug(name)),
    }
    for number, (log_id, (shown, targets, answers)) in enumerate(sorted(cases.items()), 1):
        words = re.sub(r"[^a-z0-9]+", "-", log_id.lower()).strip("-")[:48].strip("-")
        case_id = f"{number:0{len(str(len(cases)))}}-{words}".rstrip("-")
        recorded = json.dumps({"answers": [answers[key] for key in sorted(answers)]})
        cassette = {"path": "cassettes/recorded.json", "sha256": sha256_hex(recorded.encode())}
        case = {"case_id": case_id, "task_class": name, "disposition": "positive"}
        case |= {"difficulty": "medium", "source": "curated"}
        tables = {"facts": {"log_id": log_id}, "cassettes": {"recorded": cassette}}
        stamps = {"added_at": now, "last_validated_at": now}
        texts |= {
            f"cases/{case_id}/case.toml": tomli_w.dumps({"case": case | stamps} | tables),
            f"cases/{case_id}/cassettes/recorded.json": recorded,
            f"cases/{case_id}/expected/target.json": json.dumps(targets, ensure_ascii=False),
            f"cases/{case_id}/input/input.json": json.dumps(shown, ensure_ascii=False),
        }
    return texts, agreed


def _plain(text: object) -> str:
    return " ".join(str(text).casefold().split()).removesuffix(".")
