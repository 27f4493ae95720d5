"""The JSON of tools whose fields are known: a table of paths for each."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from benchgate.errors import excerpt
from benchgate.interop.documents import json_rows
from benchgate.interop.log import Log, Row, found_in
from benchgate.interop.values import number_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from benchgate.interop.log import LogFile, Raw


def _of_promptfoo(row: Mapping[str, Any]) -> str | None:
    """Say whether a test passed of which the grading, a reason or an error says the opposite."""
    passed = found_in(row, "gradingResult.pass")
    if None not in (row.get("success"), passed) and row["success"] != passed:
        return f"success is {_shown(row['success'])}, but gradingResult.pass is {_shown(passed)}"
    if row.get("success") is not True:
        return None
    reason = row.get("failureReason")
    if reason not in (None, 0, ""):
        return f"success is true, but failureReason is {_shown(reason)}"
    said = row.get("error") or row.get("failure")
    if said:
        return f"success is true, but it has an error: {said}"
    return None


def _of_deepeval(row: Mapping[str, Any]) -> str | None:
    """Say whether a case passed of which a metric did not; a case that failed may have others that are not listed."""
    if row.get("success") is not True:
        return None
    for name, metric in _named("metricsData", row.get("metricsData")):
        if isinstance(metric, dict) and not metric.get("error") and metric.get("success") is False:
            return f"success is true, but that of its metric {name!r} is false"
    return None


def _of_langsmith(row: Mapping[str, Any]) -> str | None:
    """Say whether a run ended in an error that it does not have."""
    if row.get("status") == "error" and not row.get("error"):
        return "its status is error, but it has no error"
    return None


def _shown(value: Any) -> str:
    """Return a value as the file has it."""
    return excerpt(json.dumps(value), 60)


class Preset(NamedTuple):
    """
    Which fields of a tool's JSON say what; of several the first that a row has.

    :param known: keys by which a file is known: it has one of them near its beginning.
    :param scores: fields that are a score, an object of scores by name, or a list of objects with a ``name``.
    :param lists: where a document has its rows, empty if it is one; lines and arrays of rows are read without.
    :param overall: the score that is read if none is named. :param where: what a row has that is a sample.
    :param contradiction: says how a row contradicts itself. Which half is right nobody knows, so it is an error, never
        a pass.
    :param has_failures: a row has the message of its failed test in the field ``failure``.
    """

    what: str
    known: frozenset[str]
    fields: Mapping[str, tuple[str, ...]]
    scores: tuple[str, ...]
    lists: tuple[str, ...]
    overall: str | None = None
    where: Mapping[str, str] = {}
    contradiction: Callable[[Mapping[str, Any]], str | None] = lambda _: None
    has_failures: bool = False


PRESETS: Final = {
    "deepeval": Preset(
        what="a test run of deepeval",
        known=frozenset({"testCases"}),
        fields={"case": ("name",), "input": ("input",), "target": ("expectedOutput",)},
        scores=("success", "metricsData"),
        lists=("testCases", "conversationalTestCases"),
        overall="success",
        contradiction=_of_deepeval,
    ),
    "pydantic-evals": Preset(
        what="a report of pydantic-evals",
        known=frozenset({"source_case_name", "report_evaluator_failures"}),
        fields={
            "case": ("source_case_name", "name"),
            "trial": ("name",),
            "error": ("error_message",),
            "input": ("inputs",),
            "target": ("expected_output",),
        },
        scores=("assertions", "scores", "labels"),
        lists=("cases", "failures"),
    ),
    "langsmith": Preset(
        what="runs of LangSmith",
        known=frozenset({"feedback_stats"}),
        fields={
            "case": ("reference_example_id",),
            "trial": ("id",),
            "error": ("error",),
            "input": ("inputs",),
        },
        scores=("feedback_stats",),
        lists=("runs",),
        where={"parent_run_id": ""},
        contradiction=_of_langsmith,
    ),
    "braintrust": Preset(
        what="an experiment of Braintrust",
        known=frozenset({"root_span_id"}),
        fields={
            "case": ("origin.id", "dataset_record_id", "input"),
            "trial": ("id",),
            "error": ("error",),
            "input": ("input",),
            "target": ("expected",),
        },
        scores=("scores",),
        lists=("events",),
        where={"is_root": "true"},
    ),
    "promptfoo": Preset(
        what="results of promptfoo",
        known=frozenset({"evalId", "testIdx", "promptIdx"}),
        fields={
            "case": ("testCase.description", "vars"),
            # A test that is repeated has another one each time.
            "trial": ("testIdx",),
            "error": ("error",),
            "input": ("vars",),
            "target": ("testCase.assert",),
        },
        scores=("success", "score", "namedScores"),
        lists=("results.results",),
        overall="success",
        contradiction=_of_promptfoo,
        has_failures=True,
    ),
}


def open_preset(name: str, file: LogFile) -> Log:
    """Open the JSON of a tool: one document, an array of rows, or a row in each line."""
    preset = PRESETS[name]
    found = json_rows(file, preset.lists)
    overall = None
    if preset.overall is not None:
        overall = f"scores.{preset.overall}"
    return Log(
        tool=name,
        rows=_rows(preset, found.rows),
        rows_at=found.at,
        fields=preset.fields,
        metric_prefix="scores.",
        overall=overall,
        where=preset.where,
    )


def _rows(preset: Preset, rows: Iterator[Raw]) -> Iterator[Row]:
    for line, raw in rows:
        scores: dict[str, Any] = {}
        directions: dict[str, str] = {}
        for path in preset.scores:
            for name, part in _named(path, found_in(raw, path)):
                # Two scores of one name are two scores.
                key = f"{name} ({len(scores)})" if name in scores else name
                scores[key] = _value(part)
                direction = _direction(part)
                if direction is not None:
                    directions[key] = direction
        broken = next((one for one in scores.values() if isinstance(one, dict)), None)
        if broken and preset.overall in scores and scores[preset.overall] is not True:
            scores[preset.overall] = broken
        fields = raw | {"scores": scores}
        if preset.has_failures and raw.get("failureReason") in (0, 1):
            # The error of promptfoo says which assertion failed.
            fields |= {"error": None, "failure": raw.get("error")}
        yield Row(
            line,
            fields,
            metrics=[f"scores.{name}" for name in scores],
            directions=directions,
            contradiction=preset.contradiction(fields),
        )


def _named(path: str, found: Any) -> list[tuple[str, Any]]:
    """Return the scores of a field by name: its parts, or itself."""
    if isinstance(found, dict):
        return [*found.items()]
    if isinstance(found, list):
        return [(str(one.get("name")), one) for one in found if isinstance(one, dict)]
    if found is None:
        return []
    return [(path, found)]


def _value(part: Any) -> Any:
    """Return a score, or an object with why there is none."""
    if not isinstance(part, dict) or part.get("error"):
        return part
    return next((part[key] for key in ("value", "score", "avg") if key in part), None)


def _direction(part: Any) -> str | None:
    """Return whether more or less is better, by which side of its threshold passed; ``None`` if nothing shows it."""
    if not isinstance(part, dict) or part.get("error"):
        return None
    score = number_of(part.get("score"))
    threshold = number_of(part.get("threshold"))
    passed = number_of(part.get("success"))
    if score is None or threshold is None or score == threshold or passed is None:
        return None
    return "more" if bool(passed) == (score > threshold) else "less"
