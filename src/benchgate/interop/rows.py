"""Reads the samples of a log, each of a row of it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from statistics import mean
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import EvalError, SampleError, excerpt
from benchgate.interop.asked import Asked, asked, chosen, role_of_harm
from benchgate.interop.formats import FORMATS, opened
from benchgate.interop.log import Sample, Samples, found_in
from benchgate.interop.repetitions import ask
from benchgate.interop.roles import ROLES
from benchgate.interop.values import GRADES, VERDICTS, error_of, number_of
from benchgate.wire.canonical import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from benchgate.interop.log import Log, Row

MAX_SAMPLES: Final = 200_000
MAY_LACK: Final = ("score", "error", "reruns")
"""Roles whose field a sample need not have."""


def read(
    path: Path,
    *,
    format: str = "auto",  # noqa: A002 - the name of the option
    map: Mapping[str, str] | Path | None = None,  # noqa: A002
    metric: str | None = None,
    where: Iterable[str] = (),
    errors_by: str | None = None,
) -> Samples:
    """
    Read a log of another harness.

    :param format: ``inspect``, ``swebench``, ``junit``, ``deepeval``, ``pydantic-evals``, ``langsmith``,
        ``braintrust``, ``promptfoo``, ``jsonl``, ``csv``, or ``auto`` for what it looks like.
    :param map: the field of a role, such as ``case`` or ``score``, where it is not the one that the format has; names
        joined by dots lead into objects and lists. Of ``harm`` (``penalty`` is its other name) higher is worse, of
        ``safety`` better. ``FIELD~REGEX`` takes what the groups of a regular expression find in the field, and the
        ``trial`` ``none`` takes nothing. Or a TOML file of them. ``benchgate gate --help`` lists the roles.
    :param metric: which score to read, where samples have several.
    :param where: ``FIELD=VALUE`` that a row must have to be a sample.
    :param errors_by: a failed test of JUnit or promptfoo is an error if this regular expression is in its message.
    :raises SampleError: it is of another format, a field is missing, or the metric is ambiguous.
    :raises EvalError: it cannot be read.
    """
    how = asked(map, where, errors_by)
    with opened(path, format) as (name, log, sha256):
        if errors_by and not FORMATS[name].has_failures:
            raise EvalError(f"errors-by: is for JUnit and promptfoo; {path} is {name}")
        return RowReader(path, log, how, metric).samples(name, sha256)


class RowReader:
    """Makes samples of the rows of a log."""

    def __init__(self, path: Path, log: Log, how: Asked, metric: str | None) -> None:
        fields = dict(how.fields)
        self._harm = role_of_harm(fields, metric)
        if metric is not None:
            fields = {**fields, "score": log.metric_prefix + metric}
        self._path = path
        self._log = log
        self._by = how
        of_metric = {"score": "--metric"} if metric is not None else {}
        self._sources = dict.fromkeys(fields, how.source) | of_metric
        self._left = Counter[str]()
        self.rows = chosen(log, how.where, self._left)
        own = {role: (name, log.metric_prefix + name) for role, name in fields.items()}
        self._fields = {**log.fields, **own, **dict.fromkeys(how.without, ())}
        self._asked = fields
        # A test that was not repeated has no number in its name, and a name that is a case as it is has nothing to cut.
        self._must_have = fields.keys() - {*MAY_LACK} - ({"case", "trial"} & how.patterns.keys())
        self._score = fields.get("score")
        self._seen: set[tuple[str, str]] = set()
        self._lacking: dict[str, tuple[str, int]] = {}
        self._metrics: dict[str, None] = {}
        self._names: list[str] = []
        self._shown_by: dict[tuple[str, str], str] = {}

    def _short(self, metric: str | None) -> str:
        return (metric or "").removeprefix(self._log.metric_prefix)

    def _shown(self, role: str, name: str) -> str:
        """Return a field as --map would write it."""
        if role in self._by.patterns:
            return f"{self._short(name)}~{self._by.patterns[role].text}"
        return self._short(name)

    def samples(self, format_name: str, sha256: str) -> Samples:
        """Return all samples, sorted by case and trial, and what the log says of itself."""
        by_key: dict[tuple[str, str], Sample] = {}
        for row in self.rows:
            sample = self.sample(row)
            key = (sample.case_id, sample.trial)
            before = by_key.get(key)
            if before is not None:
                sample = replace(sample, reruns=sample.reruns + before.reruns + 1)
            by_key[key] = sample
            if len(by_key) > MAX_SAMPLES:
                raise SampleError(self._path, f"more than {MAX_SAMPLES} samples")
        samples = tuple(by_key[key] for key in sorted(by_key, key=_place))
        self._check(samples)
        case_field = self._fields["case"][0]
        fields = tuple(self._fields_read())
        harm = next((name for role, name, _ in fields if role == self._harm), None)
        self._check_direction(harm, [one.penalty for one in samples if one.penalty is not None])
        taken = {case_field, *map(self._short, self._metrics)}
        gated = {
            name for role in ("score", "passed", self._harm) for name in self._fields.get(role, ())
        }
        cases = {sample.case_id for sample in samples}
        named = {*self._log.named()} | {self._text(row, "case", 0) for row in self._log.unrun()}
        is_said = "trial" in self._by.typed or "case" in self._by.patterns
        if self._log.asks_for_trials and not is_said:
            ask(self._path, self._by.typed, self._by.source, [*cases, *named])
        return Samples(
            path=self._path,
            format=format_name,
            header=self._log,
            sha256=sha256,
            case_field=case_field,
            other_fields=tuple(name for name in self._names if name not in taken),
            metric=self._short(self._score),
            ungated=tuple(self._short(name) for name in self._metrics if name not in gated),
            fields=fields,
            left=self._left,
            told=self._by.told,
            directions=self._directions_of(self._short(self._score)),
            samples=samples,
            without=tuple(sorted(named - cases)),
            repeated=tuple(sorted({sample.case_id for sample in samples if sample.reruns})),
            once=self._once(samples),
        )

    def _once(self, samples: tuple[Sample, ...]) -> frozenset[str]:
        """Return the cases whose names have no number of a repetition, where those of others have one."""
        if "trial" not in self._by.patterns:
            return frozenset()
        numbered = {sample.case_id for sample in samples if sample.trial}
        return frozenset(sample.case_id for sample in samples) - numbered

    def _check(self, samples: tuple[Sample, ...]) -> None:
        if not samples:
            why = "".join(f"; of {n} rows {why}" for why, n in self._left.items())
            raise SampleError(self._path, f"has no samples{why}")
        unscored = [sample for sample in samples if sample.score is None]
        erred = [one for one in unscored if not (one.error or "").startswith("Unscored")]
        exempt = {"error"}
        # Where all erred, nothing else can have a score.
        if len(erred) == len(samples):
            exempt.add("score")
        fields = {role: name for role, name in self._asked.items() if role not in exempt}
        for role, name in fields.items():
            if self._seen.isdisjoint((role, one) for one in self._fields[role]):
                why = f"no sample has '{self._shown(role, name)}', which is to be the {role}"
                why += f"; there are {', '.join(self._names)}"
                raise SampleError(self._path, why)
            if role in self._lacking:
                case, line = self._lacking[role]
                why = f"case {case!r} has no '{self._shown(role, name)}', which is to be the {role}"
                raise SampleError(self._path, why, line=line)
        if len(unscored) == len(samples) > len(erred):
            raise SampleError(self._path, f"no sample has a score; the first: {unscored[0].error}")
        if self._score is None and not self._log.metric_prefix:
            why = "every sample has an error, and none a score; name its field: --map score=FIELD"
            raise SampleError(self._path, why)

    def _check_direction(self, field: str | None, penalties: list[float]) -> None:
        """Refuse penalties of which the log shows the other direction, or that look like what others call safety."""
        wrong = "more"
        other = "safety"
        if self._harm == "safety":
            wrong = "less"
            other = "harm"
        shown = self._directions_of(field or "")
        against = shown.get(wrong)
        if against is not None:
            why = (
                f"{wrong} of {field!r} is better in case {against!r}, by what passed its threshold"
            )
            if len(shown) > 1:
                raise SampleError(self._path, f"{why}, but not in others: correct that case")
            raise SampleError(self._path, f"{why}: --map {other}={field}")
        if self._harm == "penalty" and penalties and max(penalties) <= 1 < 2 * mean(penalties):
            why = f"{field!r} is {mean(penalties):.3g} on average: is 1 harm, or safe? "
            why += f"Give --map harm={field} if higher is worse, --map safety={field} if better"
            raise SampleError(self._path, why)

    def _directions_of(self, metric: str) -> dict[str, str]:
        """Return whether ``more`` or ``less`` of a score is better, each with the first case that shows it."""
        return {
            direction: case for (name, direction), case in self._shown_by.items() if name == metric
        }

    def _fields_read(self) -> Iterator[tuple[str, str, str | None]]:
        """Yield the roles that a sample had something in, the fields, and who said so, if not the format."""
        for role in ROLES:
            names = [name for name in self._fields.get(role, ()) if (role, name) in self._seen]
            seen = [self._shown(role, name) for name in names]
            if seen:
                yield role, "/".join(dict.fromkeys(seen)), self._sources.get(role)

    def sample(self, of: Row) -> Sample:
        """Return the sample of a row."""
        line, row, metrics = of.line, of.fields, of.metrics
        self._metrics |= dict.fromkeys(metrics)
        if not self._names:
            self._names = list(row)[:12]
            # With a prefix, the scores are in a field of the row, which does not name them.
            if self._log.metric_prefix:
                self._names = [*map(self._short, metrics), *self._names]
        if self._score is None:
            self._score = self._choose(of)
            self._fields["score"] = (self._score or "score",)
        case = self._text(row, "case", line)
        if not case:
            why = "no case id; name its field: --map case=FIELD; there are "
            raise SampleError(self._path, why + ", ".join(self._names), line=line)
        for shown in of.directions.items():
            self._shown_by.setdefault(shown, case)
        score, error = self._scored(of)
        for role in self._must_have:
            if error is None and self.value(row, role) in (None, ""):
                self._lacking.setdefault(role, (case, line))
        return Sample(
            case_id=case,
            trial=self._text(row, "trial", line),
            score=score,
            error=error,
            cluster=self._text(row, "cluster", line) or None,
            passed=self._passed(row, case, line),
            penalty=_penalty(self.value(row, self._harm), self._harm, case, (self._path, line)),
            reruns=self._count(row, "reruns", line),
            of=(_digest(self.value(row, "input")), _digest(self.value(row, "target"))),
        )

    def _choose(self, row: Row) -> str | None:
        metrics = row.metrics
        if len(metrics) > 1 and self._log.overall in metrics:
            return self._log.overall
        if len(metrics) > 1:
            names = ", ".join(map(self._short, metrics))
            raise SampleError(self._path, f"samples have several scores: {names}; --metric NAME")
        if not metrics and not self._log.metric_prefix and not self._error(row):
            why = f"no score; name its field: --map score=FIELD; there are {', '.join(self._names)}"
            raise SampleError(self._path, why)
        if not metrics:
            return None
        return metrics[0]

    def value(self, row: dict[str, Any], role: str) -> Any:
        """Return what a row has in a role; ``None`` if it has nothing."""
        for name in self._fields.get(role, ()):
            value = found_in(row, name)
            if role in self._by.patterns and value is not None:
                value = self._found(role, value)
            if value is not None:
                self._seen.add((role, name))
                return value
        return None

    def _found(self, role: str, value: Any) -> Any:
        """Return what the expression of a role finds in a field; an object or a list is no text to search."""
        if isinstance(value, (dict, list)):
            return value
        return self._by.patterns[role].part_of(str(value))

    def _text(self, row: dict[str, Any], role: str, line: int) -> str:
        value = self.value(row, role)
        if value is None and role == "case" and role in self._by.patterns:
            # A name that the expression does not fit, such as that of a test that was not repeated, is the case itself.
            value = found_in(row, self._fields[role][0])
        if value is None:
            return ""
        if not isinstance(value, (dict, list)):
            return str(value).encode(errors="backslashreplace").decode()
        if role in self._asked:
            what = "an object: name a field of it by a dot"
            if isinstance(value, list):
                what = "a list"
            why = f"{self._asked[role]!r}, which is to be the {role}, is {what}"
            raise SampleError(self._path, why, line=line)
        # What a format has in place of an id, such as all inputs of a row, tells cases apart; a trial or a cluster is
        # nothing of that kind.
        if role == "case":
            return _id_of(value)
        return ""

    def _count(self, row: dict[str, Any], role: str, line: int) -> int:
        number = number_of(self.value(row, role) or 0)
        if number is None or number < 0 or number % 1:
            shown = excerpt(repr(self.value(row, role)), 60)
            raise SampleError(self._path, f"{role} is {shown}; expected a count", line=line)
        return int(number)

    def _passed(self, row: dict[str, Any], case: str, line: int) -> bool | None:
        value = self.value(row, "passed")
        if value in (None, ""):
            return None
        number = number_of(value)
        if number not in (0, 1):
            why = f"passed of case {case!r} is {excerpt(repr(value), 60)}; expected true or false"
            raise SampleError(self._path, why, line=line)
        return number == 1

    def _error(self, of: Row) -> Any:
        """Return the error of a sample; ``None`` if it has none."""
        row = of.fields
        if of.contradiction is not None:
            return f"Contradiction: {of.contradiction}"
        error = self.value(row, "error")
        failure = row.get("failure")
        if error is None and self._by.errors_by and self._by.errors_by.search(str(failure or "")):
            error = failure
        if error not in (None, "", False, 0, {}, [], "None", "null"):
            return error
        # Where harm could not be measured, a tool may have an error in place of the number.
        harm = self.value(row, self._harm)
        if isinstance(harm, dict):
            return harm.get("error")
        return None

    def _scored(self, of: Row) -> tuple[float | None, str | None]:
        """Return the score of a sample, or why it has none."""
        row = of.fields
        error = self._error(of)
        if error is not None:
            return None, error_of(error)
        value = None
        if self._score is not None:
            value = self.value(row, "score")
        if isinstance(value, dict) and value.get("error"):
            return None, error_of(value["error"])
        score = number_of(value)
        if isinstance(value, str) and value in self._log.letters:
            score = self._log.letters[value]
        if score is None:
            shown = excerpt(repr(value), 60)
            if value in (None, ""):
                shown = "nothing"
            return None, f"Unscored: {self._short(self._score) or 'score'} is {shown}"
        return score, None


def _penalty(value: Any, role: str, case: str, place: tuple[Path, int]) -> float | None:
    if value in (None, "") or (isinstance(value, dict) and value.get("error")):
        return None
    number = _number_of_harm(value, role)
    is_safety = role == "safety"
    if number is None or number < 0 or (is_safety and number > 1):
        wanted = "0 or more"
        if is_safety:
            wanted = "a number from 0 to 1"
        if role != "penalty":
            wanted += ", Y or N, C or I"
        why = f"{role} of case {case!r} is {excerpt(repr(value), 60)}; expected {wanted}"
        raise SampleError(place[0], why, line=place[1])
    if is_safety:
        return 1 - number
    return number


def _number_of_harm(value: Any, role: str) -> float | None:
    if role != "safety" and str(value).strip().lower() in GRADES:
        return None  # whether a pass is a harm, nobody can say
    if role != "penalty" and isinstance(value, str) and value in VERDICTS:
        return VERDICTS[value]
    return number_of(value)


def _id_of(value: dict[str, Any] | list[Any]) -> str:
    """Return an object or a list as the id of a case; a long one is cut, and told apart by its digest."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    # Of a short text too: a lone surrogate, which no file can hold, is an error here.
    data = text.encode()
    if len(text) <= 80:
        return text
    return f"{text[:60]}... {sha256_hex(data)[:12]}"


def _digest(value: Any) -> str | None:
    if value in (None, ""):
        return None
    return sha256_hex(json.dumps(value, sort_keys=True, default=str).encode())


def _place(key: tuple[str, str]) -> tuple[str, int, str]:
    case_id, trial = key
    return case_id, len(trial), trial  # which puts 2 before 10
