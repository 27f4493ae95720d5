"""The JSON of tools whose fields are known: a table of paths for each."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from benchgate.interop.log import Log, found_in
from benchgate.interop.tables import json_rows
from benchgate.interop.values import number_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.interop.log import LogFile, Row


class Preset(NamedTuple):
    """
    Which fields of a tool's JSON say what; of several that are joined by ``|`` the first that a row has.

    :param known: keys by which a file is known: it has one of them near its beginning.
    :param scores: fields that are a score, an object of scores by name, or a list of objects with a ``name``.
    :param lists: where a document has its rows; lines and arrays of rows are read without.
    :param overall: the score that is read if none is named. :param where: what a row has that is a sample.
    """

    what: str
    known: str
    fields: str
    scores: str
    lists: str
    overall: str | None = None
    where: tuple[str, str] | None = None


PRESETS: Final = {
    "deepeval": Preset(
        what="a test run of deepeval",
        known="testCases",
        fields="case=name input=input target=expectedOutput",
        scores="success|metricsData",
        lists="testCases|conversationalTestCases",
        overall="success",
    ),
    "pydantic-evals": Preset(
        what="a report of pydantic-evals",
        known="source_case_name|report_evaluator_failures",
        fields="case=source_case_name|name trial=name error=error_message input=inputs target=expected_output",
        scores="assertions|scores|labels",
        lists="cases|failures",
    ),
    "langsmith": Preset(
        what="runs of LangSmith",
        known="feedback_stats",
        fields="case=reference_example_id trial=id error=error input=inputs",
        scores="feedback_stats",
        lists="runs",
        where=("parent_run_id", ""),
    ),
    "braintrust": Preset(
        what="an experiment of Braintrust",
        known="root_span_id",
        fields="case=origin.id|dataset_record_id|input trial=id error=error input=input target=expected",
        scores="scores",
        lists="events",
        where=("is_root", "true"),
    ),
    "promptfoo": Preset(  # a test that is repeated has another testIdx each time
        what="results of promptfoo",
        known="evalId|testIdx|promptIdx",
        fields="case=testCase.description|vars trial=testIdx error=error input=vars target=testCase.assert",
        scores="success|score|namedScores",
        lists="results.results",
        overall="success",
    ),
}


def open_preset(name: str, file: LogFile) -> Log:
    """Open the JSON of a tool: one document, an array of rows, or a row in each line."""
    preset = PRESETS[name]
    pairs = (one.partition("=") for one in preset.fields.split())
    directions: dict[str, set[str]] = defaultdict(set)
    return Log(
        tool=name,
        rows=_rows(preset, file, directions),
        fields={role: tuple(paths.split("|")) for role, _, paths in pairs},
        metrics=lambda row: [f"scores.{one}" for one in row["scores"]],
        metric_prefix="scores.",
        overall=preset.overall and f"scores.{preset.overall}",
        where=dict([preset.where]) if preset.where else {},
        directions=directions,
    )


def _rows(preset: Preset, file: LogFile, directions: dict[str, set[str]]) -> Iterator[Row]:
    for line, raw in json_rows(file, preset.lists.split("|")):
        scores: dict[str, Any] = {}
        for path in preset.scores.split("|"):
            for name, part in _named(path, found_in(raw, path)):
                # Two scores of one name are two scores.
                scores[f"{name} ({len(scores)})" if name in scores else name] = _value(part)
                directions[name] |= _direction(part)
        broken = next((one for one in scores.values() if isinstance(one, dict)), None)
        if broken and preset.overall in scores and scores[preset.overall] is not True:
            scores[preset.overall] = broken
        row = raw | {"scores": scores}
        if row.get("failureReason") in (0, 1):  # promptfoo's error says which assertion failed
            row |= {"error": None, "failure": row.get("error")}
        yield line, row


def _named(path: str, found: Any) -> list[tuple[str, Any]]:
    if isinstance(found, dict):
        return [*found.items()]
    if isinstance(found, list):
        return [(str(one.get("name")), one) for one in found if isinstance(one, dict)]
    return [] if found is None else [(path, found)]


def _value(part: Any) -> Any:
    """Return a score, or an object with why there is none."""
    if not isinstance(part, dict) or part.get("error"):
        return part
    return next((part[key] for key in ("value", "score", "avg") if key in part), None)


def _direction(part: Any) -> set[str]:
    """Return whether more or less is better, by which side of its threshold passed."""
    parts = part if isinstance(part, dict) and not part.get("error") else {}
    score, threshold = number_of(parts.get("score")), number_of(parts.get("threshold"))
    passed = parts.get("success")
    if score is None or threshold is None or score == threshold or passed is None:
        return set()
    return {"more" if passed == (score > threshold) else "less"}
