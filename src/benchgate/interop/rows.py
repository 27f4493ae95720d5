"""Reads the samples of a log, each of a row of it."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from statistics import mean
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from benchgate.aggregate import UNSCORED
from benchgate.errors import EvalError, SampleError, excerpt
from benchgate.interop.asked import asked, chosen, said
from benchgate.interop.fields import Fields
from benchgate.interop.folder import FILE, Folder
from benchgate.interop.formats import FORMATS, opened
from benchgate.interop.kinds import FieldNeeded, kinds_of
from benchgate.interop.log import Sample, Samples, found_in
from benchgate.interop.repetitions import Typed, ask
from benchgate.interop.values import LogError, error_of, harm_of, number_of
from benchgate.wire.canonical import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from benchgate.interop.asked import Asked
    from benchgate.interop.log import Log, Row

MAX_SAMPLES: Final = 200_000


def read(
    path: Path,
    *,
    format: str = "auto",  # noqa: A002 - the name of the option
    rows: str | None = None,
    map: Mapping[str, str] | Path | None = None,  # noqa: A002
    metric: str | None = None,
    where: Iterable[str] = (),
    errors_by: str | None = None,
    shown: AbstractSet[str] = frozenset(),
) -> Samples:
    """
    Read a log of another harness: a file, or a folder of files that are one log, or trials.

    :param format: ``inspect``, ``swebench``, ``junit``, ``deepeval``, ``pydantic-evals``, ``langsmith``,
        ``braintrust``, ``promptfoo``, ``ctrf``, ``pytest-json-report``, ``evalplus``, ``harbor``, ``openai-evals``,
        ``lm-eval``, ``jsonl``, ``csv``, or ``auto`` for what it looks like.
    :param rows: the field that has the rows, in JSON that is one document: ``results.tests``.
    :param map: the field of a role, such as ``case`` or ``score``, where it is not the one that the format has; names
        joined by dots lead into objects and lists. Of ``harm`` (``penalty`` is its other name) higher is worse, of
        ``safety`` better. ``FIELD~REGEX`` takes what the groups of a regular expression find in the field, and the
        ``trial`` ``none`` takes nothing. Or a TOML file of them. ``benchgate gate --help`` lists the roles.
    :param metric: which score to read, where samples have several.
    :param where: ``FIELD=VALUE`` that a row must have to be a sample.
    :param errors_by: a failed test, or one of promptfoo, is an error if this regular expression is in its message.
    :param shown: ids of cases whose input and answer are kept as ``texts`` of their samples.
    :raises SampleError: it is of another format, a field is missing, or the metric is ambiguous.
    :raises EvalError: it cannot be read.
    """
    how = asked(map, where, errors_by, rows)._replace(shown=shown)
    try:
        with _opened(path, format, how) as one:
            if how.errors_by and not FORMATS[one.format].has_failures:
                names = ", ".join(name for name in FORMATS if FORMATS[name].has_failures)
                raise EvalError(f"errors-by: is for {names}; {path} is {one.format}")
            samples = RowReader(path, one.log, how, metric, one.folder).samples(
                one.format, one.sha256
            )
    except FieldNeeded as error:
        with _opened(path, format, how) as one:
            why = f"{error.message}; {kinds_of(one.log)}"
        raise FieldNeeded(error.path, why, line=error.line) from None
    if one.folder is None:
        return samples
    return replace(samples, files=one.folder.said)


class _Opened(NamedTuple):
    """A side that is open: its format, its rows, its digest, and the folder that it is, if it is one."""

    format: str
    log: Log
    sha256: str
    folder: Folder | None = None


@contextmanager
def _opened(path: Path, wanted: str, how: Asked) -> Iterator[_Opened]:
    """Open a file or a folder, to read its rows and do nothing else meanwhile."""
    if path.is_dir():
        folder = Folder(path, wanted, how)
        yield _Opened(folder.format, folder.log, folder.sha256, folder)
        return
    with opened(path, wanted, how.rows, in_full=how.in_full) as (name, log, sha256):
        yield _Opened(name, log, sha256)


class RowReader:
    """
    Makes samples of the rows of a log.

    :param folder: that the log is in, part by part; it says which samples are trials of one case.
    """

    def __init__(
        self, path: Path, log: Log, how: Asked, metric: str | None, folder: Folder | None = None
    ) -> None:
        self._path = path
        self._folder = folder
        self._log = log
        self._how = how
        self._fields = Fields(log, how, metric)
        self._left = Counter[str]()
        self._numbers: list[int] = []
        self._rows = chosen(log, how, self._left)
        self._lacking: dict[str, tuple[str, int]] = {}
        self._metrics: dict[str, None] = {}
        self._names: list[str] = []
        self._shown_by: dict[tuple[str, str], str] = {}
        self._lines: dict[tuple[str, str], list[int]] = {}

    def samples(self, format_name: str, sha256: str) -> Samples:
        """Return all samples, sorted by case and trial, and what the log says of itself."""
        of = self._fields.of
        short = self._fields.short
        samples = self._read()
        self._check(samples)
        fields = (*self._place_of_rows(), *self._fields.read())
        self._check_harm(fields, samples)
        cases = {sample.case_id for sample in samples}
        named = {*self._log.named()}
        named |= {*self._unrun()}
        is_said = "trial" in self._how.typed or "case" in self._how.patterns
        if self._log.layout.asks_for_trials and not is_said:
            how = Typed(self._how.typed, self._how.source, of("case")[0])
            ask(self._path, how, [*cases, *named])
        case_field = of("case")[0]
        taken = {case_field, *map(short, self._metrics)}
        gated = {*of("score"), *of("passed"), *of(self._fields.harm)}
        metric = short(self._fields.score)
        return Samples(
            path=self._path,
            format=format_name,
            header=self._log,
            sha256=sha256,
            case_field=case_field,
            other_fields=tuple(name for name in self._names if name not in taken),
            metric=metric,
            ungated=tuple(short(name) for name in self._metrics if name not in gated),
            fields=fields,
            rows=frozenset(self._numbers),
            left=self._left,
            map=self._how.typed,
            told=self._how.told,
            directions=self._directions_of(metric),
            samples=samples,
            without=tuple(sorted(named - cases)),
            repeated=tuple(sorted({sample.case_id for sample in samples if sample.reruns})),
            repeated_at=dict(self._repeated_at()),
            once=self._once(samples),
        )

    def _read(self) -> tuple[Sample, ...]:
        """Return the last sample of each trial, sorted."""
        by_key: dict[tuple[str, str], Sample] = {}
        for sample in self._found():
            key = (sample.case_id, sample.trial)
            before = by_key.get(key)
            by_key[key] = sample
            if before is not None:
                by_key[key] = replace(sample, reruns=sample.reruns + before.reruns + 1)
            if len(by_key) > MAX_SAMPLES:
                raise SampleError(self._path, f"more than {MAX_SAMPLES} samples")
        return tuple(by_key[key] for key in sorted(by_key, key=_place))

    def _found(self) -> Iterator[Sample]:
        """Yield the samples in the order of their rows."""
        if self._folder is None:
            for row in self._rows:
                self._numbers.append(row.number)
                sample = self._sample(row)
                self._lines.setdefault((sample.case_id, sample.trial), []).append(row.line)
                yield sample
            return
        found = []
        for row in self._rows:
            self._numbers.append(row.number)
            name = row.fields[FILE]
            # An error names the file that it is in.
            self._path = self._folder.path / name
            found.append((name, self._sample(row)))
        self._path = self._folder.path
        yield from self._folder.told_apart(found)

    def _repeated_at(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Yield the cases of which a trial is there more than once, and its lines in a file that has some."""
        for (case_id, _), lines in self._lines.items():
            if len(lines) > 1 and all(lines):
                yield case_id, tuple(lines)

    def _unrun(self) -> Iterator[str]:
        """Yield the cases of the rows without a result, of those that are read."""
        for row in self._log.unrun():
            if all(said(row, name) == value for name, value in self._how.where.items()):
                case = self._text(row, "case", 0)
                yield case if self._folder is None else self._folder.as_case(row[FILE], case)

    def _place_of_rows(self) -> Iterator[tuple[str, str, str | None]]:
        """Yield the field that has the rows, and who said so, as those of the roles are told."""
        if self._log.rows_at:
            who = "--rows" if self._how.rows else None
            yield "rows", self._log.rows_at, who

    def _once(self, samples: tuple[Sample, ...]) -> frozenset[str]:
        """Return the cases whose names have no number of a repetition, where those of others have one."""
        if "trial" not in self._how.patterns:
            return frozenset()
        numbered = {sample.case_id for sample in samples if sample.trial}
        return frozenset(sample.case_id for sample in samples) - numbered

    def _check(self, samples: tuple[Sample, ...]) -> None:
        """Refuse a log without a score, or without what somebody named."""
        if not samples:
            if not self._left:
                raise SampleError(self._path, "has no samples")
            left = "".join(f"; of {n} rows {why}" for why, n in self._left.items())
            raise FieldNeeded(self._path, f"has no samples{left}")
        unscored = [sample for sample in samples if sample.score is None]
        erred = [one for one in unscored if one.error_type != UNSCORED]
        all_erred = len(erred) == len(samples)
        for role, name in self._fields.named.items():
            # Where all erred, nothing can have a score.
            if role != "error" and not (role == "score" and all_erred):
                self._check_field(role, name)
        if len(unscored) == len(samples) and not all_erred:
            raise SampleError(self._path, f"no sample has a score; the first: {unscored[0].error}")
        if self._fields.score is None and not self._log.metric_prefix:
            why = "every sample has an error, and none a score; name its field: --map score=FIELD"
            raise SampleError(self._path, why)

    def _check_field(self, role: str, name: str) -> None:
        """Refuse a field that somebody named and no row has, or that one lacks."""
        what = f"'{self._fields.shown(role, name)}', which is to be the {role}"
        if not self._fields.is_seen(role):
            if role == "score" and self._log.metric_prefix and self._metrics:
                there = ", ".join(map(self._fields.short, self._metrics))
                raise SampleError(self._path, f"no sample has {what}; the scores are {there}")
            raise FieldNeeded(self._path, f"no sample has {what}")
        if role in self._lacking:
            case, line = self._lacking[role]
            raise SampleError(self._path, f"case {case!r} has no {what}", line=line)

    def _check_harm(
        self, fields: Iterable[tuple[str, str, str | None]], samples: Iterable[Sample]
    ) -> None:
        """Refuse penalties of which the log shows the other direction, or that look like what others call safety."""
        role = self._fields.harm
        field = next((name for one, name, _ in fields if one == role), None)
        wrong = "more"
        other = "safety"
        if role == "safety":
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
        penalties = [sample.penalty for sample in samples if sample.penalty is not None]
        if role == "penalty" and penalties and max(penalties) <= 1 < 2 * mean(penalties):
            why = f"{field!r} is {mean(penalties):.3g} on average: is 1 harm, or safe? "
            why += f"Give --map harm={field} if higher is worse, --map safety={field} if better"
            raise SampleError(self._path, why)

    def _directions_of(self, metric: str) -> dict[str, str]:
        """Return whether ``more`` or ``less`` of a score is better, each with the first case that shows it."""
        return {
            direction: case for (name, direction), case in self._shown_by.items() if name == metric
        }

    def _sample(self, row: Row) -> Sample:
        """Return the sample of a row, and keep what the checks of the log need to know of it."""
        fields = row.fields
        value = self._fields.value
        self._keep_names(row)
        if self._fields.score is None:
            self._choose(row)
        case = self._text(fields, "case", row.line)
        if not case:
            raise FieldNeeded(self._path, self._no_id(row), line=row.line)
        for shown in row.directions.items():
            self._shown_by.setdefault(shown, case)
        score, error = self._scored(row)
        if error is None:
            for role in self._fields.must_have:
                if value(fields, role) in (None, ""):
                    self._lacking.setdefault(role, (case, row.line))
        return Sample(
            case_id=case,
            trial=self._text(fields, "trial", row.line),
            score=score,
            error=None if error is None else str(error),
            error_type=None if error is None else error.type,
            cluster=self._text(fields, "cluster", row.line) or None,
            passed=self._passed(fields, case, row.line),
            penalty=self._penalty(fields, case, row.line),
            reruns=self._count(fields, "reruns", row.line),
            of=(_digest(value(fields, "input")), _digest(value(fields, "target"))),
            texts=self._texts(fields, case),
        )

    def _no_id(self, row: Row) -> str:
        """Return that a row has no id; of one of many, in a file without lines, also which it is."""
        why = "no case id; name its field: --map case=FIELD"
        if "case" not in self._fields.named:
            why += " (case=row if the same row of both files is the same case)"
        if not row.line and row.number > 1:
            return f"row {row.number}: {why}"
        return why

    def _texts(self, fields: dict[str, Any], case: str) -> tuple[str | None, str | None] | None:
        """Return input and answer of a row, if its case is to be shown."""
        value = self._fields.value
        if self._folder is not None:
            case = self._folder.as_case(fields[FILE], case)
        if case in self._how.shown:
            return _shown_text(value(fields, "input")), _shown_text(value(fields, "answer"))
        if "answer" in self._fields.named:
            value(fields, "answer")  # else nobody would know that there is none
        return None

    def _keep_names(self, row: Row) -> None:
        """Keep the scores of all rows, and the fields of the first, which a message offers."""
        for name in row.metrics:
            self._metrics[name] = None
        if not self._names:
            self._names = list(row.fields)[:12]
            # The scores may be in a field of the row, which does not name them.
            if self._log.metric_prefix:
                self._names = [*map(self._fields.short, row.metrics), *self._names]

    def _choose(self, row: Row) -> None:
        """Take the only score of a row, or the one that is said to be of the whole."""
        overall = self._log.overall
        if len(row.metrics) == 1:
            self._fields.choose(row.metrics[0])
        elif overall is not None and overall in row.metrics:
            self._fields.choose(overall)
        elif row.metrics:
            names = ", ".join(map(self._fields.short, row.metrics))
            raise SampleError(self._path, f"samples have several scores: {names}; --metric NAME")
        elif not self._log.metric_prefix and not self._error(row):
            lacking = "no score; name its field: --map score=FIELD"
            if "case" not in self._fields.named and self._fields.value(row.fields, "case") is None:
                lacking = "no score and no case id; name their fields: --map score=FIELD,case=FIELD"
            raise FieldNeeded(self._path, lacking, line=row.line)

    def _text(self, fields: dict[str, Any], role: str, line: int) -> str:
        value = self._fields.value(fields, role)
        if value is None and role == "case" and role in self._how.patterns:
            # A name that the expression does not fit, such as that of a test that was not repeated, is the case itself.
            value = found_in(fields, self._fields.of(role)[0])
        if value is None:
            return ""
        if not isinstance(value, (dict, list)):
            return str(value).encode(errors="backslashreplace").decode()
        named = self._fields.named.get(role)
        if named is not None:
            what = "an object: name a field of it by a dot"
            if isinstance(value, list):
                what = "a list"
            why = f"{named!r}, which is to be the {role}, is {what}"
            raise SampleError(self._path, why, line=line)
        # What a format has in place of an id, such as all inputs of a row, tells cases apart; a trial or a cluster is
        # nothing of that kind.
        if role == "case":
            return _id_of(value)
        return ""

    def _count(self, fields: dict[str, Any], role: str, line: int) -> int:
        value = self._fields.value(fields, role)
        if not value:
            return 0
        number = number_of(value)
        if number is None or number < 0 or number % 1:
            shown = excerpt(repr(value), 60)
            raise SampleError(self._path, f"{role} is {shown}; expected a count", line=line)
        return int(number)

    def _passed(self, fields: dict[str, Any], case: str, line: int) -> bool | None:
        value = self._fields.value(fields, "passed")
        if value in (None, ""):
            return None
        number = number_of(value)
        if number not in (0, 1):
            why = f"passed of case {case!r} is {excerpt(repr(value), 60)}; expected true or false"
            raise SampleError(self._path, why, line=line)
        return number == 1

    def _penalty(self, fields: dict[str, Any], case: str, line: int) -> float | None:
        role = self._fields.harm
        value = self._fields.value(fields, role)
        if value in (None, "") or (isinstance(value, dict) and value.get("error")):
            return None
        number = harm_of(value, role)
        is_safety = role == "safety"
        if number is None or number < 0 or (is_safety and number > 1):
            wanted = "0 or more"
            if is_safety:
                wanted = "a number from 0 to 1"
            if role != "penalty":
                wanted += ", Y or N, C or I"
            why = f"{role} of case {case!r} is {excerpt(repr(value), 60)}; expected {wanted}"
            raise SampleError(self._path, why, line=line)
        if is_safety:
            return 1 - number
        return number

    def _error(self, row: Row) -> Any:
        """Return the error of a row; ``None`` if it has none."""
        if row.contradiction is not None:
            return f"Contradiction: {row.contradiction}"
        error = self._fields.value(row.fields, "error")
        if error is None and self._how.errors_by:
            failure = row.fields.get("failure")
            if self._how.errors_by.search(str(failure or "")):
                error = failure
        if error not in (None, "", False, 0, {}, [], "None", "null"):
            return error
        # Where harm could not be measured, a tool may have an error in place of the number.
        harm = self._fields.value(row.fields, self._fields.harm)
        if isinstance(harm, dict):
            return harm.get("error")
        return None

    def _scored(self, row: Row) -> tuple[float | None, LogError | None]:
        """Return the score of a row, or why it has none."""
        error = self._error(row)
        if error is not None:
            return None, error_of(error)
        value = None
        if self._fields.score is not None:
            value = self._fields.value(row.fields, "score")
        if isinstance(value, dict) and value.get("error"):
            return None, error_of(value["error"])
        if isinstance(value, str) and value in self._log.layout.letters:
            return self._log.layout.letters[value], None
        score = number_of(value)
        if score is not None:
            return score, None
        shown = "nothing"
        if value not in (None, ""):
            shown = excerpt(repr(value), 60)
        why = f"{self._fields.short(self._fields.score) or 'score'} is {shown}"
        return None, LogError(UNSCORED, why)


def _id_of(value: dict[str, Any] | list[Any]) -> str:
    """Return an object or a list as the id of a case; a long one is cut, and told apart by its digest."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    # Of a short text too: a lone surrogate, which no file can hold, is an error here.
    data = text.encode()
    if len(text) <= 80:
        return text
    return f"{text[:60]}... {sha256_hex(data)[:12]}"


def _shown_text(value: Any) -> str | None:
    """Return a value as a person reads it; ``None`` if there is none."""
    if value in (None, ""):
        return None
    if isinstance(value, str):
        return value
    return json.dumps(value, indent=1, ensure_ascii=False, default=str)


def _digest(value: Any) -> str | None:
    if value in (None, ""):
        return None
    return sha256_hex(json.dumps(value, sort_keys=True, default=str).encode())


def _place(key: tuple[str, str]) -> tuple[str, int, str]:
    case_id, trial = key
    return case_id, len(trial), trial  # which puts 2 before 10
