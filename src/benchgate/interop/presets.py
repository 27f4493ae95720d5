"""The JSON of tools whose fields are known: a table of paths for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from benchgate.interop import row_rules as rules
from benchgate.interop.documents import json_rows
from benchgate.interop.log import Layout, Log, Row, found_in
from benchgate.interop.values import number_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from benchgate.interop.log import LogFile, Raw


class Preset(NamedTuple):
    """
    How a tool's JSON is read.

    :param known: keys by which a file is known: it has all of one set near its beginning.
    :param scores: fields that are a score, an object of scores by name, or a list of objects with a ``name``.
    :param lists: where a document has its rows; last may be ``""`` if it is a row itself otherwise. Lines and arrays of
        rows are read without.
    :param overall: the score that is read if none is named.
    :param unrun: values of the overall score that say that a test was not run.
    :param made: returns fields that follow from those of a row.
    :param contradiction: says how a row contradicts itself. Which half is right nobody knows, so it is an error, never
        a pass.
    :param has_failures: a row has the message of its failed test in the field ``failure``.
    """

    what: str
    known: tuple[set[str], ...]
    layout: Layout
    scores: tuple[str, ...]
    lists: tuple[str, ...]
    overall: str | None = None
    unrun: frozenset[str] = frozenset()
    made: Callable[[Mapping[str, Any]], dict[str, Any]] = lambda _: {}
    contradiction: Callable[[Mapping[str, Any]], str | None] = lambda _: None
    has_failures: bool = False


PRESETS: Final = {
    "deepeval": Preset(
        what="a test run of deepeval",
        known=({"testCases"},),
        layout=Layout(
            fields={
                "case": ("name",),
                "input": ("input",),
                "target": ("expectedOutput",),
                "answer": ("actualOutput",),
            }
        ),
        scores=("success", "metricsData"),
        lists=("testCases", "conversationalTestCases"),
        overall="success",
        contradiction=rules.deepeval_contradicts,
    ),
    "pydantic-evals": Preset(
        what="a report of pydantic-evals",
        known=({"source_case_name"}, {"report_evaluator_failures"}),
        layout=Layout(
            fields={
                "case": ("source_case_name", "name"),
                "trial": ("name",),
                "error": ("error_message",),
                "input": ("inputs",),
                "target": ("expected_output",),
                "answer": ("output",),
            },
        ),
        scores=("assertions", "scores", "labels"),
        lists=("cases", "failures"),
    ),
    "langsmith": Preset(
        what="runs of LangSmith",
        known=({"feedback_stats"},),
        layout=Layout(
            fields={
                "case": ("reference_example_id",),
                "trial": ("id",),
                "error": ("error",),
                "input": ("inputs",),
                "answer": ("outputs",),
            },
            where={"parent_run_id": ""},
        ),
        scores=("feedback_stats",),
        lists=("runs",),
        contradiction=rules.langsmith_contradicts,
    ),
    "braintrust": Preset(
        what="an experiment of Braintrust",
        known=({"root_span_id"},),
        layout=Layout(
            fields={
                "case": ("origin.id", "dataset_record_id", "input"),
                "trial": ("id",),
                "error": ("error",),
                "input": ("input",),
                "target": ("expected",),
                "answer": ("output",),
            },
            where={"is_root": "true"},
        ),
        scores=("scores",),
        lists=("events",),
    ),
    "promptfoo": Preset(
        what="results of promptfoo",
        known=({"evalId"}, {"testIdx"}, {"promptIdx"}),
        layout=Layout(
            fields={
                "case": ("testCase.description", "vars"),
                # A test that is repeated has another one each time.
                "trial": ("testIdx",),
                "error": ("error",),
                "input": ("vars",),
                "target": ("testCase.assert",),
                "answer": ("response.output",),
            },
        ),
        scores=("success", "score", "namedScores"),
        lists=("results.results",),
        overall="success",
        made=rules.made_for_promptfoo,
        contradiction=rules.promptfoo_contradicts,
        has_failures=True,
    ),
    "ctrf": Preset(
        what="a report in the Common Test Report Format",
        known=({"reportFormat", "results"}, {"tool", "summary", "pending", "tests"}),
        layout=Layout(
            fields={
                "case": ("case",),
                "error": ("error",),
                "reruns": ("retries",),
                "answer": ("failure",),
            },
            asks_for_trials=True,
        ),
        scores=("status",),
        lists=("results.tests",),
        overall="status",
        unrun=frozenset({"skipped", "pending", "other"}),
        made=rules.made_for_ctrf,
        has_failures=True,
    ),
    "pytest-json-report": Preset(
        what="a report of pytest-json-report",
        known=({"exitcode", "root", "summary"},),
        layout=Layout(
            fields={
                "case": ("nodeid",),
                "error": ("error",),
                "reruns": ("reruns",),
                "answer": ("failure",),
            },
            letters={"xfailed": 0.0, "xpassed": 1.0},
            asks_for_trials=True,
        ),
        scores=("outcome",),
        lists=("tests",),
        overall="outcome",
        unrun=frozenset({"skipped"}),
        # As of JUnit: a failure counts as one, also where it was expected.
        made=rules.made_for_pytest_json,
        has_failures=True,
    ),
    "evalplus": Preset(
        what="results of EvalPlus",
        known=({"task_id", "base_status"},),
        layout=Layout(fields={"case": ("task_id",), "trial": ("trial",), "answer": ("solution",)}),
        scores=("measured",),
        lists=("eval",),
        overall="plus",
        made=rules.made_for_evalplus,
    ),
    "harbor": Preset(
        what="trials of Harbor",
        known=({"trial_name", "trial_uri"},),
        layout=Layout(
            fields={"case": ("task_name",), "trial": ("trial_name",), "error": ("error",)}
        ),
        scores=("verifier_result.rewards",),
        lists=("trial_results", ""),
        overall="reward",
        made=rules.made_for_harbor,
    ),
    "openai-evals": Preset(
        what="events of OpenAI evals",
        known=({"spec", "eval_name"}, {"run_id", "event_id", "sample_id"}),
        layout=Layout(
            fields={"case": ("sample_id",), "answer": ("data.sampled",)}, where={"type": "match"}
        ),
        scores=("measured",),
        lists=(),
        overall="correct",
        made=rules.made_for_openai_evals,
    ),
    "lm-eval": Preset(
        what="samples of lm-evaluation-harness",
        known=({"doc_id", "doc", "target"}, {"filtered_resps"}),
        layout=Layout(
            fields={
                "case": ("doc_id",),
                "input": ("doc",),
                "target": ("target",),
                "answer": ("filtered_resps", "resps"),
            }
        ),
        scores=("measured",),
        lists=(),
        made=rules.made_for_lm_eval,
    ),
}


def open_preset(name: str, file: LogFile) -> Log:
    """Open the JSON of a tool: one document, an array of rows, or a row in each line."""
    preset = PRESETS[name]
    found = json_rows(file, preset.lists)
    unrun: list[dict[str, Any]] = []
    overall = None
    if preset.overall is not None:
        overall = f"scores.{preset.overall}"
    return Log(
        tool=name,
        rows=_rows(preset, found.rows, unrun),
        rows_at=found.at,
        layout=preset.layout,
        metric_prefix="scores.",
        overall=overall,
        unrun=lambda: unrun,
    )


def _rows(preset: Preset, rows: Iterator[Raw], unrun: list[dict[str, Any]]) -> Iterator[Row]:
    """Yield the rows of tests that were run, and keep the others."""
    for line, raw in rows:
        fields = {**raw, **preset.made(raw)}
        scores, directions = _scores_of(preset, fields)
        # An error of a score is an object. Where one could not be measured, the whole did not fail: it is unknown.
        broken = next((one for one in scores.values() if isinstance(one, dict)), None)
        if broken and preset.overall in scores and scores[preset.overall] is not True:
            scores[preset.overall] = broken
        fields["scores"] = scores
        if str(scores.get(preset.overall or "")) in preset.unrun:
            unrun.append(fields)
            continue
        yield Row(
            line,
            fields,
            metrics=[f"scores.{name}" for name in scores],
            directions=directions,
            contradiction=preset.contradiction(fields),
        )


def _scores_of(preset: Preset, fields: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the scores of a row by name, and of which of them more or less is better, as far as it shows."""
    scores: dict[str, Any] = {}
    directions: dict[str, str] = {}
    for path in preset.scores:
        for name, part in rules.named(path, found_in(fields, path)):
            key = name
            if name in scores:
                key = f"{name} ({len(scores)})"  # two scores of one name are two scores
            scores[key] = _value(part)
            direction = _direction(part)
            if direction is not None:
                directions[key] = direction
    return scores, directions


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
    if bool(passed) == (score > threshold):
        return "more"
    return "less"
