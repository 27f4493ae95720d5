"""Logs of tools whose fields are known: what is a sample of them, its score, its error and its direction."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchgate.cli.gate_logs import FORMATS as NAMES
from benchgate.errors import EvalError
from benchgate.interop import read
from benchgate.interop.formats import FORMATS
from benchgate.interop.reports import LogTerms, report_of
from benchgate.wire.canonical import sha256_hex

LOGS = Path(__file__).parents[2] / "docs" / "examples" / "logs"
EXAMPLES = {
    "deepeval": ("deepeval/new.json", None, ("Right", "Harm"), {}),
    "pydantic-evals": ("pydantic-evals/new.json", None, (), {}),
    "langsmith": (
        "langsmith/new.jsonl",
        "correct",
        ("harmful",),
        {"parent_run_id is not empty": 24},
    ),
    "braintrust": ("braintrust/new.json", "Exact", ("Short",), {"is_root is not true": 24}),
    "promptfoo": ("promptfoo/new.jsonl", None, ("score", "exact", "length"), {}),
}
MODULES = {"pydantic-evals": "pydantic_evals"}


@pytest.fixture
def log(tmp_path):
    def write(document, name="log.json"):
        path = tmp_path / name
        path.write_text(document if isinstance(document, str) else json.dumps(document))
        return path

    return write


def deepeval(*cases):
    """A test run whose cases have the metrics (name, score, passed)."""
    return {
        "testCases": [
            {
                "name": f"c{n}",
                "success": all(one[2] for one in metrics),
                "metricsData": [
                    {"name": name, "score": score, "threshold": 0.5, "success": passed}
                    for name, score, passed in metrics
                ],
            }
            for n, metrics in enumerate(cases)
        ]
    }


def scores(samples):
    return [sample.score for sample in samples.samples]


def test_the_command_names_the_formats():
    assert ["auto", *FORMATS] == [*NAMES]


@pytest.mark.parametrize("tool", EXAMPLES)
def test_a_log_is_known_by_its_content_and_read_without_a_map(tool):
    name, metric, ungated, left = EXAMPLES[tool]
    found = read(LOGS / name, metric=metric)
    assert (found.format, found.header.tool, found.ungated, dict(found.left)) == (
        tool,
        tool,
        ungated,
        left,
    )
    cases = 18 if tool == "promptfoo" else 24
    assert len({sample.case_id for sample in found.samples}) == len(found.samples) == cases
    assert not found.repeated
    [erred] = found.errors
    assert "did not answer" in erred.error
    assert scores(found).count(1.0) == (14 if tool == "promptfoo" else 19)
    assert all(found.has_inputs[:1])
    again = read(LOGS / name, metric=metric, format=tool)
    assert again.samples == found.samples


@pytest.mark.slow
@pytest.mark.parametrize("tool", [tool for tool in EXAMPLES if tool != "promptfoo"])
def test_the_examples_are_what_the_tool_writes(tool, tmp_path):
    """Where it is installed; README of tests/data says how the kept ones were made."""
    if importlib.util.find_spec(MODULES.get(tool, tool)) is None:
        pytest.skip(f"no {tool}")
    name, metric, _, left = EXAMPLES[tool]
    shutil.copy(LOGS / Path(name).parent / "sums.py", tmp_path)
    subprocess.run([sys.executable, "sums.py", "new"], cwd=tmp_path, check=True)
    made, kept = (read(at, metric=metric) for at in (tmp_path / Path(name).name, LOGS / name))
    assert [(s.case_id, s.score, s.error) for s in made.samples] == [
        (s.case_id, s.score, s.error) for s in kept.samples
    ]
    assert made.left == left


def test_less_is_better_where_less_passes_the_threshold(log):
    path = log(deepeval([("Toxicity", 0.1, True)], [("Toxicity", 0.9, False)]))
    found = read(path, metric="Toxicity")
    with pytest.raises(EvalError, match=r"less of 'Toxicity' is better.*score_range=\[1, 0\]"):
        report_of(found, LogTerms.of("sums", {}), "new")
    upside = LogTerms.of("sums", {"score_range": [1, 0]})
    assert [r.score.score for r in report_of(found, upside, "new").per_case] == pytest.approx(
        [0.9, 0.1]
    )
    assert read(path, map={"harm": "Toxicity"}).samples[1].penalty == 0.9
    with pytest.raises(EvalError, match="--map harm=Toxicity"):
        read(path, map={"safety": "Toxicity"})
    # A later version of deepeval has turned it round.
    turned = log(deepeval([("Toxicity", 0.9, True)], [("Toxicity", 0.1, False)]))
    with pytest.raises(EvalError, match=r"more of 'Toxicity' is better.*--map safety=Toxicity"):
        read(turned, map={"harm": "Toxicity"})
    with pytest.raises(EvalError, match=r"score_range=\[0, 1\]"):
        report_of(read(turned, metric="Toxicity"), upside, "new")
    unclear = log(deepeval([("A", 0.9, True)], [("A", 0.1, True)]))
    assert read(unclear, metric="A").directions == {"more": "c0", "less": "c1"}


def test_a_metric_that_broke_is_an_error_of_what_it_would_have_decided(log):
    run = deepeval([("A", 1.0, True), ("B", 1.0, True)], [("A", 0.0, False), ("B", 1.0, True)])
    broken = run["testCases"][1]["metricsData"][0]
    del broken["score"]
    broken["error"] = "TimeoutError: the judge"
    for options, expected in (({}, [1.0, None]), ({"metric": "B"}, [1.0, 1.0])):
        assert scores(read(log(run), **options)) == expected
    assert read(log(run), metric="A").errors[0].error == "TimeoutError: the judge"
    assert scores(read(log(run), metric="B", map={"safety": "A"})) == [1.0, None]


def test_nothing_that_has_no_score_is_left_out(log):
    metrics = [("A", float("nan"), False), ("A", None, False), ("A", 0.5, True)]
    run = deepeval(*([one] for one in metrics), [])
    assert scores(read(log(run), metric="A")) == [None, None, 0.5, None]
    with pytest.raises(EvalError, match="has no samples"):
        read(log(deepeval()))


def test_two_scores_of_one_name_are_two(log):
    run = deepeval([("A", 1.0, True), ("A", 0.0, False)])
    assert read(log(run), metric="A").ungated == ("success", "A (2)")


def test_a_repeated_case_of_pydantic_evals_has_trials(log):
    case = {"inputs": 1, "assertions": {"ok": {"name": "ok", "value": True}}, "scores": {}}
    cases = [case | {"name": f"a [{n}/2]", "source_case_name": "a"} for n in (1, 2)]
    broke = {"name": "b", "source_case_name": None, "error_message": "TimeoutError: x"}
    found = read(log({"name": "r", "cases": cases, "failures": [broke]}))
    assert [(s.case_id, s.trial, s.score) for s in found.samples] == [
        ("a", "a [1/2]", 1.0),
        ("a", "a [2/2]", 1.0),
        ("b", "b", None),
    ]


def test_a_repeated_test_of_promptfoo_is_one_case(log):
    """Its ``testIdx`` counts on; as cases, three repetitions of six would have passed for eighteen."""
    rows = [
        {"testIdx": n, "promptIdx": 0, "vars": {"n": n // 3}, "success": True, "failureReason": 0}
        for n in range(6)
    ]
    found = read(log({"evalId": "e", "results": {"results": rows}}))
    assert [(s.case_id, s.trial) for s in found.samples][2:4] == [
        ('{"n": 0}', "2"),
        ('{"n": 1}', "3"),
    ]
    other = [row | {"promptIdx": 1} for row in rows]
    path = log({"evalId": "e", "results": {"results": rows + other}})
    assert read(path).repeated == ('{"n": 0}', '{"n": 1}')
    assert read(path, where=["promptIdx=1"]).samples == found.samples


def test_an_assertion_of_promptfoo_that_crashed_may_be_an_error(log):
    texts = [None, "Custom function threw error: x", 'Expected "a" to equal "b"']
    rows = [
        {
            "testIdx": n,
            "vars": {"n": n},
            "success": not text,
            "error": text,
            "failureReason": int(bool(text)),
        }
        for n, text in enumerate(texts)
    ]
    path = log({"evalId": "e", "results": {"results": rows}})
    assert scores(read(path)) == [1.0, 0.0, 0.0]
    assert scores(read(path, errors_by="threw error")) == [1.0, None, 0.0]


def test_only_rows_that_have_a_value_are_read(log):
    rows = [
        {"id": n, "score": n, "filter": kind, "ok": True, "note": None}
        for n in (0, 1)
        for kind in ("strict", "flexible")
    ]
    path = log("".join(json.dumps(row) + "\n" for row in rows), "log.jsonl")
    found = read(path, where=["filter=strict", "ok=true", "note="])
    assert (len(found.samples), found.left) == (
        2,
        {"filter is not strict but flexible": 2},
    )
    assert found.told == ("where filter=strict", "where note=", "where ok=true")
    report = report_of(found, LogTerms.of("sums", {}), "new")
    assert report.source.told == found.told
    with pytest.raises(EvalError, match="of 2 rows filter is not loose but strict; of 2 rows"):
        read(path, where=["filter=loose"])
    with pytest.raises(EvalError, match="has no samples; of 4 rows fitler is not strict"):
        read(path, where=["fitler=strict"])
    with pytest.raises(EvalError, match="where: 'filter'; expected FIELD=VALUE"):
        read(path, where=["filter"])


def test_a_map_may_be_a_file(log):
    path = log('[{"key": "a", "points": 3, "kind": "x"}, {"key": "a", "points": 1, "kind": "y"}]')
    text = 'case = "key"\nscore = "points"\n[where]\nkind = "y"\n'
    file = log(text, "logs.toml")
    found = read(path, map=file)
    assert scores(found) == [1.0]
    assert ("case", "key", str(file)) in found.fields
    assert found.told == (
        f"map {file} {sha256_hex(text.encode())}",
        "map case=key,score=points",
        "where kind=y",
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('csae = "key"\n', "logs.toml:1: csae = 'key'; expected"),
        ('case = "key"\nscore = 3\n', "logs.toml:2: score = 3; expected"),
        ("[where]\nkind = true\n", "logs.toml:2: kind = True; expected"),
        ('where = "kind=x"\n', "logs.toml:1: where = 'kind=x'; expected"),
        ("case = key\n", "logs.toml:1: "),
    ],
)
def test_a_file_that_is_no_map_is_refused(log, text, message):
    with pytest.raises(EvalError, match=re.escape(message)):
        read(log([{"key": "a", "score": 1}]), map=log(text, "logs.toml"))


def test_a_crash_in_the_body_of_a_test_may_be_an_error(log):
    suite = """<testsuite name="pytest">
    <testcase classname="t" name="crash"><failure message="httpx.ConnectError: refused">x</failure></testcase>
    <testcase classname="t" name="typed"><failure type="java.net.ConnectException"/></testcase>
    <testcase classname="t" name="wrong"><failure message="assert 0">ConnectError in the code</failure></testcase>
    <testcase classname="t" name="passes"/></testsuite>"""
    path = log(suite, "log.xml")
    assert scores(read(path)) == [0, 1, 0, 0]
    found = read(path, errors_by=r"Connect(Error|Exception)")
    assert scores(found) == [None, 1, None, 0]
    assert found.errors[0].error == "httpx.ConnectError: refused"
    assert found.told == ("errors-by Connect(Error|Exception)",)
    with pytest.raises(EvalError, match="no regular expression"):
        read(path, errors_by="(")
    with pytest.raises(EvalError, match=r"for junit, promptfoo, ctrf, .*; .* is jsonl"):
        read(log([{"id": "a", "score": 1}]), errors_by="x")


def test_a_score_that_is_not_there_is_answered_by_those_that_are():
    with pytest.raises(
        EvalError, match=r"'nope', which is to be the score; the scores are success, Right, Harm$"
    ):
        read(LOGS / "deepeval/old.json", metric="nope")
