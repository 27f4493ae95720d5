"""Every reader reads two unlike files one after the other, in both orders: each side has the scores of its own file."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from benchgate.interop import read
from benchgate.interop.formats import FORMATS
from benchgate.interop.reports import LogTerms, report_pair
from benchgate.interop.vectors import read_side

CASES = [f"repo__case-{n}" for n in range(6)]
OLD = dict(zip(CASES, [1, 0, 0, 1, 0, 0], strict=True))
NEW = dict(zip(CASES, [0, 1, 1, 1, 1, 0], strict=True))


def junit(scores):
    tests = "".join(
        f'<testcase name="{case}">{"" if score else "<failure/>"}</testcase>'
        for case, score in scores.items()
    )
    return f'<testsuites><testsuite name="s">{tests}</testsuite></testsuites>'


def swebench(scores):
    resolved = [case for case, score in scores.items() if score]
    others = [case for case, score in scores.items() if not score]
    counts = {"total_instances": len(scores), "submitted_instances": len(scores)}
    ids = {"resolved_ids": resolved, "unresolved_ids": others}
    return json.dumps(counts | ids | {"empty_patch_ids": [], "error_ids": []})


def deepeval(scores):
    cases = [{"name": case, "success": bool(score)} for case, score in scores.items()]
    return json.dumps({"testCases": cases})


def pydantic_evals(scores):
    cases = [
        {"name": case, "source_case_name": None, "assertions": {"right": {"value": bool(score)}}}
        for case, score in scores.items()
    ]
    return json.dumps({"cases": cases})


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def langsmith(scores):
    return lines(
        {"reference_example_id": case, "id": case, "feedback_stats": {"right": {"avg": score}}}
        for case, score in scores.items()
    )


def braintrust(scores):
    return lines(
        {"root_span_id": case, "is_root": True, "dataset_record_id": case, "scores": {"s": score}}
        for case, score in scores.items()
    )


def promptfoo(scores):
    return lines(
        {"testIdx": n, "testCase": {"description": case}, "success": bool(score), "score": score}
        for n, (case, score) in enumerate(scores.items())
    )


def ctrf(scores):
    verdicts = ("failed", "passed")
    tests = [{"name": case, "status": verdicts[score]} for case, score in scores.items()]
    return json.dumps({"reportFormat": "CTRF", "results": {"tests": tests}})


def pytest_json_report(scores):
    verdicts = ("failed", "passed")
    tests = [{"nodeid": case, "outcome": verdicts[score]} for case, score in scores.items()]
    return json.dumps({"exitcode": 1, "root": "x", "summary": {}, "tests": tests})


def evalplus(scores):
    verdicts = ("fail", "pass")
    return json.dumps(
        {"eval": {c: [{"task_id": c, "base_status": verdicts[s]}] for c, s in scores.items()}}
    )


def harbor(scores):
    return lines(
        {
            "task_name": case,
            "trial_name": case,
            "trial_uri": "x",
            "verifier_result": {"rewards": {"reward": score}},
        }
        for case, score in scores.items()
    )


def openai_evals(scores):
    return lines(
        {"run_id": 1, "event_id": n, "sample_id": c, "type": "match", "data": {"correct": bool(s)}}
        for n, (c, s) in enumerate(scores.items())
    )


def lm_eval(scores):
    return lines(
        {"doc_id": case, "doc": {}, "target": "x", "acc": score} for case, score in scores.items()
    )


def jsonl(scores):
    return lines({"id": case, "score": score} for case, score in scores.items())


def table(scores):
    return "case,score\n" + "".join(f"{case},{score}\n" for case, score in scores.items())


WRITERS = {
    "swebench": ("json", swebench),
    "junit": ("xml", junit),
    "deepeval": ("json", deepeval),
    "pydantic-evals": ("json", pydantic_evals),
    "langsmith": ("jsonl", langsmith),
    "braintrust": ("jsonl", braintrust),
    "promptfoo": ("jsonl", promptfoo),
    "ctrf": ("json", ctrf),
    "pytest-json-report": ("json", pytest_json_report),
    "evalplus": ("json", evalplus),
    "harbor": ("jsonl", harbor),
    "openai-evals": ("jsonl", openai_evals),
    "lm-eval": ("jsonl", lm_eval),
    "jsonl": ("jsonl", jsonl),
    "csv": ("csv", table),
}
IN_BOTH_ORDERS = pytest.mark.parametrize(
    ("before", "after"), [(OLD, NEW), (NEW, OLD)], ids=["old first", "new first"]
)


def test_every_format_has_two_unlike_logs_here():
    assert sorted([*WRITERS, "inspect"]) == sorted(FORMATS)


@IN_BOTH_ORDERS
@pytest.mark.parametrize("format_name", WRITERS)
def test_each_side_has_the_scores_of_its_file(tmp_path, format_name, before, after):
    suffix, write = WRITERS[format_name]
    sides = []
    for name, scores in (("a", before), ("b", after)):
        path = tmp_path / f"{name}.{suffix}"
        path.write_text(write(scores))
        sides.append(read(path))
    assert [side.format for side in sides] == [format_name] * 2
    reports = report_pair(*sides, LogTerms.of("sums", {}), (None, None))
    for report, scores in zip(reports, (before, after), strict=True):
        assert {one.case_id: one.score.score for one in report.per_case} == scores


@IN_BOTH_ORDERS
@pytest.mark.parametrize(
    ("suffix", "write"), [("json", json.dumps), ("csv", table)], ids=["object", "csv"]
)
def test_each_list_of_scores_is_that_of_its_file(tmp_path, suffix, write, before, after):
    found = []
    for name, scores in (("a", before), ("b", after)):
        path = tmp_path / f"{name}.{suffix}"
        path.write_text(write(scores))
        arm = read_side(path)
        found.append(dict(zip(arm.case_ids, arm.scores, strict=True)))
    assert found == [before, after]


@IN_BOTH_ORDERS
def test_each_array_of_scores_is_that_of_its_file(tmp_path, before, after):
    found = []
    for name, scores in (("a", before), ("b", after)):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps([*scores.values()]))
        found.append(list(read_side(path).scores))
    assert found == [[*before.values()], [*after.values()]]


OF_INSPECT = """
import json, sys
from pathlib import Path
from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, ProvenanceData, write_eval_log
from inspect_ai.scorer import Score
from benchgate.interop import read

for name, scores in json.loads(sys.argv[1]).items():
    data = EvalDataset(name="sums", sample_ids=[*scores])
    spec = dict(created="2026-05-11T10:00:00+00:00", task="sums", model="mockllm/model", config=EvalConfig(epochs=1))
    for suffix in ("eval", "json"):
        for is_marked in (False, True):
            samples = [
                EvalSample(id=case, epoch=1, input="What? " * 200, target="4", scores={"match": Score(value=score)})
                for case, score in scores.items()
            ]
            if is_marked:
                samples[0].invalidation = ProvenanceData(author="somebody")
            log = EvalLog(status="success", invalidated=is_marked, eval=EvalSpec(dataset=data, **spec), samples=samples)
            write_eval_log(log, f"{name}{'-marked' if is_marked else ''}.{suffix}")
found = []
for names in json.loads(sys.argv[2]):
    found.append([{one.case_id: one.score for one in read(Path(name)).samples} for name in names])
print(json.dumps(found))
"""


@pytest.mark.slow
def test_each_side_has_the_scores_of_its_log_of_inspect(tmp_path):
    """In a process of its own, as ``tests/e2e/test_gate_logs.py`` does; both logs are read in one."""
    if not os.environ.get("BENCHGATE_REQUIRE_INSPECT"):
        pytest.importorskip("inspect_ai")
    first = CASES[0]
    files = {}
    for name, scores in (("old", OLD), ("new", NEW)):
        for suffix in ("eval", "json"):
            files[f"{name}.{suffix}"] = scores
            files[f"{name}-marked.{suffix}"] = scores | {first: None}
    pairs = [
        (f"{before}{mark}.{one}", f"{after}{mark}.{other}")
        for one in ("json", "eval")
        for other in ("json", "eval")
        for mark in ("", "-marked")
        for before, after in (("old", "new"), ("new", "old"))
    ]
    made = json.dumps({"old": OLD, "new": NEW})
    done = subprocess.run(
        [sys.executable, "-c", OF_INSPECT, made, json.dumps(pairs)],
        cwd=tmp_path,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    found = json.loads(done.stdout)
    expected = [[files[before], files[after]] for before, after in pairs]
    for names, seen, wanted in zip(pairs, found, expected, strict=True):
        assert seen == wanted, names
