"""Reads the samples of a log, each of a row of it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from statistics import mean
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import EvalError, SampleError, excerpt
from benchgate.interop.formats import opened
from benchgate.interop.log import ROLES, found_in
from benchgate.interop.samples import Sample, Samples
from benchgate.interop.values import GRADES, VERDICTS, error_of, number_of
from benchgate.wire.canonical import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from benchgate.interop.log import Log

MAX_SAMPLES: Final = 200_000
HARM: Final = ("harm", "safety", "penalty")
"""Roles of which a field may have one: how bad a sample was, apart from its score."""

MAY_LACK: Final = ("score", "error", "answer", "reruns")
"""Roles whose field a sample need not have."""


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
    with opened(path, format) as (name, log, sha256):
        return RowReader(path, log, dict(map or {}), metric).samples(name, sha256)


def parse_map(text: str) -> dict[str, str]:
    """
    Parse ``case=id,score=resolved``.

    :raises EvalError: a part is no pair, or names something twice.
    """
    pairs: dict[str, str] = {}
    # Not at the comma of a field such as acc,none.
    for part in re.split(r",(?=\s*\w+\s*=)", text) if text else ():
        role, sign, name = part.partition("=")
        if not sign or not name or role.strip() in pairs:
            raise EvalError(f"map: {part!r}; expected ROLE=FIELD, each role once")
        pairs[role.strip()] = name.strip()
    return pairs


class RowReader:
    """Makes samples of the rows of a log."""

    def __init__(self, path: Path, log: Log, fields: dict[str, str], metric: str | None) -> None:
        self._harm = _role_of_harm(fields, metric)
        if metric is not None:
            fields = {**fields, "score": log.metric_prefix + metric}
        self._path = path
        self._log = log
        own = {role: (name, log.metric_prefix + name) for role, name in fields.items()}
        self._fields = {**log.fields, **own}
        self._asked = fields
        self._score = fields.get("score")
        self._seen: set[str] = set()
        self._lacking: dict[str, tuple[str, int]] = {}
        self._metrics: dict[str, None] = {}
        self._names: list[str] = []

    def _short(self, metric: str | None) -> str:
        return (metric or "").removeprefix(self._log.metric_prefix)

    def samples(self, format_name: str, sha256: str) -> Samples:
        """Return all samples, sorted by case and trial, and what the log says of itself."""
        by_key: dict[tuple[str, str], Sample] = {}
        for line, row in self._log.rows:
            sample = self.sample(line, row)
            key = (sample.case_id, sample.trial)
            before = by_key.get(key)
            reruns = sample.reruns + (0 if before is None else before.reruns + 1)
            by_key[key] = sample if not reruns else replace(sample, reruns=reruns)
            if len(by_key) > MAX_SAMPLES:
                raise SampleError(self._path, f"more than {MAX_SAMPLES} samples")
        samples = tuple(by_key[key] for key in sorted(by_key, key=_place))
        self._check(samples)
        case_field, of_harm = self._fields["case"][0], self._fields.get(self._harm, ())
        harm = next((self._short(name) for name in of_harm if name in self._seen), None)
        self._check_direction(harm, [one.penalty for one in samples if one.penalty is not None])
        taken = {case_field, *map(self._short, self._metrics)}
        cases = {sample.case_id for sample in samples}
        return Samples(
            path=self._path,
            format=format_name,
            header=self._log,
            sha256=sha256,
            case_field=case_field,
            other_fields=tuple(name for name in self._names if name not in taken),
            metric=self._short(self._score),
            harm=harm and f"{'safety' if self._harm == 'safety' else 'harm'} {harm}",
            ungated=tuple(
                self._short(name) for name in self._metrics if name not in {self._score, *of_harm}
            ),
            samples=samples,
            without=tuple(sorted({*self._log.named()} - cases)),
            repeated=tuple(sorted({sample.case_id for sample in samples if sample.reruns})),
        )

    def _check(self, samples: tuple[Sample, ...]) -> None:
        if not samples:
            raise SampleError(self._path, "has no samples")
        unscored = [sample for sample in samples if sample.score is None]
        erred = [one for one in unscored if not (one.error or "").startswith("Unscored")]
        # Where all erred, nothing else can have a score.
        exempt = ("error", "answer", *(["score"] if len(erred) == len(samples) else ()))
        fields = {role: name for role, name in self._asked.items() if role not in exempt}
        for role, name in fields.items():
            if self._seen.isdisjoint((name, self._log.metric_prefix + name)):
                why = f"no sample has {self._short(name)!r}, which is to be the {role}"
                why += f"; there are {', '.join(self._names)}"
                raise SampleError(self._path, why)
            if role in self._lacking:
                case, line = self._lacking[role]
                why = f"case {case!r} has no {name!r}, which is to be the {role}"
                raise SampleError(self._path, why, line=line)
        if len(unscored) == len(samples) > len(erred):
            raise SampleError(self._path, f"no sample has a score; the first: {unscored[0].error}")
        if self._score is None and not self._log.metric_prefix:
            why = "every sample has an error, and none a score; name its field: --map score=FIELD"
            raise SampleError(self._path, why)

    def _check_direction(self, field: str | None, penalties: list[float]) -> None:
        """Refuse penalties that look like what another tool calls safety, where 1 is safe."""
        if self._harm == "penalty" and penalties and max(penalties) <= 1 < 2 * mean(penalties):
            why = f"{field!r} is {mean(penalties):.3g} on average: is 1 harm, or safe? "
            why += f"Give --map harm={field} if higher is worse, --map safety={field} if better"
            raise SampleError(self._path, why)

    def sample(self, line: int, row: dict[str, Any]) -> Sample:
        """Return the sample of a row."""
        metrics = self._log.metrics(row)
        self._metrics |= dict.fromkeys(metrics)
        if not self._names:
            scores = map(self._short, metrics) if self._log.metric_prefix else ()
            self._names = [*scores, *list(row)[:12]]
        if self._score is None:
            self._score = self._choose(row, metrics)
        case = self._text(row, "case", line)
        if not case:
            why = (
                f"no case id; name its field: --map case=FIELD; there are {', '.join(self._names)}"
            )
            raise SampleError(self._path, why, line=line)
        score, error = self._scored(row)
        for role in self._asked.keys() - {*MAY_LACK}:
            if error is None and self.value(row, role) in (None, ""):
                self._lacking.setdefault(role, (case, line))
        return Sample(
            case_id=case,
            trial=self._text(row, "trial", line),
            score=score,
            error=error,
            cluster=self._text(row, "cluster", line) or None,
            penalty=self._penalty(row, case, line),
            reruns=self._count(row, "reruns", line),
            of=(_digest(self.value(row, "input")), _digest(self.value(row, "target"))),
        )

    def _choose(self, row: dict[str, Any], metrics: list[str]) -> str | None:
        if len(metrics) > 1:
            names = ", ".join(map(self._short, metrics))
            raise SampleError(self._path, f"samples have several scores: {names}; --metric NAME")
        if not metrics and not self._log.metric_prefix and not self._error(row):
            why = f"no score; name its field: --map score=FIELD; there are {', '.join(self._names)}"
            raise SampleError(self._path, why)
        return metrics[0] if metrics else None

    def value(self, row: dict[str, Any], role: str) -> Any:
        """Return what a row has in a role; ``None`` if it has nothing."""
        for name in self._fields.get(role, ()):
            if (value := found_in(row, name)) is not None:
                self._seen.add(name)
                return value
        return None

    def _text(self, row: dict[str, Any], role: str, line: int) -> str:
        value = self.value(row, role)
        if isinstance(value, (dict, list)):
            if role not in self._asked:
                return ""
            what = "a list" if isinstance(value, list) else "an object: name a field of it by a dot"
            why = f"{self._asked[role]!r}, which is to be the {role}, is {what}"
            raise SampleError(self._path, why, line=line)
        return "" if value is None else str(value).encode(errors="backslashreplace").decode()

    def _count(self, row: dict[str, Any], role: str, line: int) -> int:
        number = number_of(self.value(row, role) or 0)
        if number is None or number < 0 or number % 1:
            shown = excerpt(repr(self.value(row, role)), 60)
            raise SampleError(self._path, f"{role} is {shown}; expected a count", line=line)
        return int(number)

    def _error(self, row: dict[str, Any]) -> Any:
        """Return the error of a sample; ``None`` if it has none."""
        error = self.value(row, "error")
        return None if error in (None, "", False, 0, {}, [], "None", "null") else error

    def _scored(self, row: dict[str, Any]) -> tuple[float | None, str | None]:
        """Return the score of a sample, or why it has none."""
        if (error := self._error(row)) is not None:
            return None, error_of(error)
        value = None if self._score is None else found_in(row, self._score)
        if self._score is not None and value is not None:
            self._seen.add(self._score)
        letter = self._log.letters.get(value) if isinstance(value, str) else None
        score = number_of(value) if letter is None else letter
        if score is None:
            shown = "nothing" if value in (None, "") else excerpt(repr(value), 60)
            return None, f"Unscored: {self._short(self._score) or 'score'} is {shown}"
        return score, None

    def _penalty(self, row: dict[str, Any], case: str, line: int) -> float | None:
        role = self._harm
        value = self.value(row, role)
        if value in (None, ""):
            return None
        verdict = VERDICTS.get(value) if role != "penalty" and isinstance(value, str) else None
        number = number_of(value) if verdict is None else verdict
        if role != "safety" and str(value).strip().lower() in GRADES:
            number = None  # whether a pass is a harm, nobody can say
        if number is None or number < 0 or (role == "safety" and number > 1):
            wanted = "a number from 0 to 1" if role == "safety" else "0 or more"
            wanted += "" if role == "penalty" else ", Y or N, C or I"
            why = f"{role} of case {case!r} is {excerpt(repr(value), 60)}; expected {wanted}"
            raise SampleError(self._path, why, line=line)
        return 1 - number if role == "safety" else number


def _role_of_harm(fields: dict[str, str], metric: str | None) -> str:
    """Return which of :data:`HARM` a map names; a map that cannot be is refused."""
    unknown = sorted(fields.keys() - {*ROLES})
    if unknown:
        raise EvalError(f"map: {unknown[0]!r} is none of {', '.join(ROLES)}")
    if "score" in fields and metric is not None:
        raise EvalError("metric and the score of the map name one thing: give one of them")
    roles = [role for role in HARM if role in fields]
    if len(roles) > 1:
        raise EvalError(f"map: {roles[0]} and {roles[1]} name one thing: give one of them")
    return roles[0] if roles else "penalty"


def _digest(value: Any) -> str | None:
    if value in (None, ""):
        return None
    return sha256_hex(json.dumps(value, sort_keys=True, default=str).encode())


def _place(key: tuple[str, str]) -> tuple[str, int, str]:
    case_id, trial = key
    return case_id, len(trial), trial  # which puts 2 before 10
