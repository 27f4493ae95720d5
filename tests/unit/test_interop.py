"""What is read of a log: every sample, its score or why there is none, and what makes a log unusable."""

from __future__ import annotations

import json
import math
import os
import re
import tracemalloc
import warnings
from zipfile import ZipFile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.errors import EvalError, PolicyError, SampleError
from benchgate.ids import trial_file_name
from benchgate.interop import read
from benchgate.interop.asked import asked, parse_map
from benchgate.interop.log import Layout, Log, Row, found_in
from benchgate.interop.reports import LogTerms, report_of, report_pair, task_class_of
from benchgate.interop.rows import RowReader
from benchgate.interop.values import number_of
from benchgate.registry import TASK_CLASS_PATTERN
from benchgate.runner.judging import judged, run_of_logs


@pytest.fixture
def log(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.write_text(
            text if isinstance(text, str) else "".join(json.dumps(r) + "\n" for r in text)
        )
        return path

    return write


def report(samples, **policy):
    return report_of(samples, LogTerms.of("sums", policy), "old")


def outcomes(samples, **policy):
    found = report(samples, **policy).per_case
    return [(r.case_id, r.trial, r.outcome, r.score.score if r.score else None) for r in found]


def test_every_row_of_a_csv_is_a_sample_or_an_error(log):
    path = log(
        "a.csv",
        "note,id,resolved,epoch\nx,b,1,1\ny,a,0.5,10\nz,a,true,2\nz,b,oops,2\n,c,,1\n,c,0,2\n",
    )
    found = read(path)
    assert (found.format, found.metric) == ("csv", "resolved")
    assert outcomes(found) == [
        ("a", 0, "scored", 1.0),  # epoch 2 is before 10
        ("a", 1, "scored", 0.5),
        ("b", 0, "scored", 1.0),
        ("b", 1, "harness_error", None),
        ("c", 0, "harness_error", None),
        ("c", 1, "scored", 0.0),
    ]
    assert [sample.error for sample in found.errors] == [
        "Unscored: resolved is 'oops'",
        "Unscored: resolved is nothing",
    ]


@pytest.mark.parametrize(
    ("name", "text", "tool"),
    [
        ("a.csv", "# of a spreadsheet\ncase;score;note\na;1;x, y\nb;0;\n", "csv with semicolons"),
        ("a.csv", 'case;score;"cost, USD"\na;1;2\nb;0;2\n', "csv with semicolons"),
        ("a.tsv", "case\tscore\na\t1\nb\t0\n", "csv with tabs"),
        ("a.csv", 'case,score,"a;b"\na,1,2\nb,0,2\n', "csv"),
    ],
)
def test_the_header_of_a_csv_says_what_separates_its_values(log, name, text, tool):
    found = read(log(name, text))
    assert found.header.tool == tool
    assert [(one.case_id, one.score) for one in found.samples] == [("a", 1), ("b", 0)]


def test_spaces_around_the_names_of_columns_are_no_part_of_them(log):
    samples = read(log("a.csv", "\ufeffcase , score,\tcluster\na,0.25,x\n")).samples
    assert [(one.case_id, one.score, one.cluster) for one in samples] == [("a", 0.25, "x")]


def test_a_score_beside_an_error_is_an_error(log):
    rows = [{"id": n, "score": 1} for n in range(3)]
    rows[1]["error"] = {"type": "TimeoutError", "message": "no answer\nat all"}
    rows[2]["error"] = "RuntimeError('boom')"
    found = read(log("a.jsonl", rows))
    assert [s.error for s in found.samples] == [
        None,
        "TimeoutError: no answer at all",
        "RuntimeError: boom",
    ]
    assert report(found).mean_score == pytest.approx(1 / 3)


def test_the_error_of_a_later_row_is_seen_though_the_first_has_no_such_field(log):
    rows = [{"id": "a", "score": 1}, {"id": "b", "score": 0, "error": "Error: x", "cluster": "k"}]
    found = read(log("a.jsonl", rows))
    assert [(s.score, s.cluster) for s in found.samples] == [(1.0, None), (None, "k")]


def test_the_reason_of_a_failed_assertion_of_promptfoo_is_no_error(log):
    rows = [
        {"testIdx": n, "promptIdx": 0, "success": n == 0, "error": "x" * n, "failureReason": n}
        for n in range(3)
    ]
    found = read(log("a.jsonl", rows), map={"case": "testIdx"})
    assert [s.score for s in found.samples] == [1.0, 0.0, None]
    whole = log("a.json", json.dumps({"evalId": "x", "results": {"results": rows}}))
    assert read(whole, map={"case": "testIdx"}).samples == found.samples
    spread = log("b.json", json.dumps({"evalId": "x", "results": {"results": rows}}, indent=2))
    assert read(spread, map={"case": "testIdx"}).samples == found.samples


PROMPTFOO = json.dumps(
    {"results": {"results": [{"testIdx": n, "success": True} for n in range(3)]}}
)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.jsonl", f'{PROMPTFOO}\n{{"testIdx": 4, "success": false}}\n', ":2: more after a whole"),
        ("a.jsonl", f"\n{PROMPTFOO}\n\n{PROMPTFOO}\n", ":4: more after a whole"),
        ("a.json", f"{json.dumps(json.loads(PROMPTFOO), indent=1)}\n{PROMPTFOO}", "no JSON: Extra"),
        ("a.json", '[{"testIdx": 1, "success": true}]\n{}', "no JSON: Extra data"),
        ("a.json", '{"total_instances": 1, "submitted_instances": 1} {}', "no JSON: Extra data"),
        ("a.xml", '<testsuite><testcase name="a"/></testsuite><testsuite/>', "no XML: junk after"),
    ],
)
def test_more_after_a_whole_document_is_no_log(log, name, text, message):
    with pytest.raises(EvalError) as caught:
        read(log(name, text), map={"case": "testIdx" if "json" in name else "name"})
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text", "where"),
    [
        (
            "a.jsonl",
            '{"id": 1, "score": 1}\n{"id": 2, "score": 0, "score": 1}',
            "line 2: no JSON: ",
        ),
        ("a.json", '[{"id": 2, "score": 1, "m": {"score": 0, "score": 1}}]', "no JSON: "),
        (
            "a.json",
            '{"total_instances": 1, "submitted_instances": 1, "score": [], "score": []}',
            "no JSON: ",
        ),
    ],
)
def test_a_key_that_is_twice_in_one_object_is_no_log(log, name, text, where):
    with pytest.raises(EvalError) as caught:
        read(log(name, text))
    assert f"{where}key 'score' appears twice in one object" in str(caught.value)


def archive(path, *members):
    with warnings.catch_warnings(), ZipFile(path, "w") as file:
        warnings.simplefilter("ignore")  # of a name that is there twice
        for member in members:
            file.writestr(member, "{}")
    return path


@pytest.mark.parametrize("name", ["header.json", "summaries.json"])
def test_a_member_that_is_twice_in_a_log_of_inspect_is_refused(tmp_path, name):
    path = archive(tmp_path / "a.eval", "header.json", "summaries.json", name)
    with pytest.raises(EvalError, match=f"{name} is in it twice; expected one"):
        read(path)


def test_a_header_larger_than_anything_is_refused_by_its_declared_size(tmp_path, monkeypatch):
    monkeypatch.setattr("benchgate.interop.inspect_log.MAX_MEMBER", 1)
    path = archive(tmp_path / "a.eval", "header.json", "summaries.json")
    with pytest.raises(EvalError, match=r"header\.json in it has 2 bytes; at most 1 are read"):
        read(path)


@pytest.mark.parametrize(("before", "after"), [(True, False), (False, True)])
def test_two_archives_in_one_file_are_no_log(tmp_path, before, after):
    path = archive(tmp_path / "a.eval", "header.json", "summaries.json")
    data = path.read_bytes()
    path.write_bytes(data * before + data + b"more" * after)
    with pytest.raises(
        EvalError, match="more than one archive, or more after it; expected the log"
    ):
        read(path)


@pytest.mark.parametrize("how", ["longer", "other", "replaced"])
def test_a_log_that_changes_while_it_is_read_is_refused(log, monkeypatch, how):
    path = log("a.csv", "case,score\na,1\nb,0\n")
    whole = RowReader.samples

    def samples(reader, *of_file):
        if how == "replaced":
            path.rename(path.with_name("old"))
            path.write_text("case,score\na,0\nb,0\n")
        else:
            path.write_text("case,score\na,0\nb,0\n" + "c,1\n" * (how == "longer"))
        os.utime(
            path, (1, 1)
        )  # within a tick of the file system's clock the time would be the same
        return whole(reader, *of_file)

    monkeypatch.setattr(RowReader, "samples", samples)
    with pytest.raises(EvalError, match="changed while it was read"):
        read(path)


def test_lines_with_a_field_results_are_lines(log):
    rows = [{"id": n, "score": n % 2, "results": {"raw": [1]}} for n in range(3)]
    assert len(read(log("a.jsonl", rows)).samples) == 3


def test_a_sample_that_is_there_twice_makes_the_run_incomplete(log):
    found = read(log("a.csv", "case,score\na,1\nb,1\na,0\n"))
    assert found.repeated == ("a",)
    made = report(found)
    assert not made.complete
    assert [(r.case_id, r.reruns) for r in made.per_case] == [("a", 1), ("b", 0)]


def test_a_trial_that_other_cases_have_was_not_run(log):
    made = report(read(log("a.csv", "case,score,trial\na,1,1\na,0,2\nb,1,1\n")))
    assert [(r.case_id, r.outcome) for r in made.per_case][-1] == ("b", "not_run")
    assert not made.complete


def test_scores_are_scaled_to_the_range_which_may_be_upside_down(log):
    path = log("a.csv", "case,score\na,1\nb,7.5\nc,10\n")
    scored = [score for *_, score in outcomes(read(path), score_range=(0, 10))]
    assert scored == [0.1, 0.75, 1.0]
    flipped = [score for *_, score in outcomes(read(path), score_range=[10, 0])]
    assert flipped == [0.9, 0.25, 0.0]
    with pytest.raises(PolicyError, match="score_range"):
        report(read(path), score_range=[5, 5])
    with pytest.raises(SampleError, match=r"'b' is 7.5, outside 0 to 1; .*--policy 'score_range="):
        report(read(path))


@pytest.mark.parametrize(
    ("name", "text", "options", "message"),
    [
        ("a.csv", "case,score\n", {}, "has no samples"),
        (
            "a.csv",
            "case,points\na,1\n",
            {},
            "no score; name its field: --map score=FIELD; there are case, points",
        ),
        ("a.csv", "question,score\na,1\n", {}, "no case id; name its field: --map case=FIELD"),
        ("a.csv", "case,score,passed\na,1,1\n", {}, "several scores: score, passed; --metric NAME"),
        (
            "a.csv",
            "case,score\na,x\nb,y\n",
            {},
            "no sample has a score; the first: Unscored: score is 'x'",
        ),
        (
            "a.csv",
            "case,score\na,1\n",
            {"map": {"cluster": "repo"}},
            "no sample has 'repo', which is to be the clus",
        ),
        (
            "a.csv",
            "case,score\na,1\n",
            {"metric": "f1"},
            "no sample has 'f1', which is to be the score",
        ),
        ("a.csv", "case,score\na,1,2\n", {}, ":2: expected 2 values"),
        ("a.csv", "case,case\na,1\n", {}, "one is there twice"),
        ("a.jsonl", '{"id": 1, "score": 1}\n{"id": 2, "sc\n', {}, "line 2: no JSON: "),
        ("a.jsonl", "[1, 2]", {}, "expected an object for each sample, not 1"),
        ("a.json", '{\n "id": 1}', {}, "is one JSON object"),
        ("a.txt", "hello", {}, "is none of these"),
        ("a.csv", "score\n1\n", {}, "its first line has no commas, semicolons or tabs"),
        (
            "a.csv",
            "case;score;cost, USD\na;1;2\n",
            {},
            "has commas and semicolons in its first line",
        ),
        ("a.csv", "case,score, score\na,1,1\n", {}, "'score']: one is there twice"),
        ("a.txt", "", {}, "is empty"),
        ("a.xml", "<testsuite><testcase", {}, "no XML"),
        ("a.xml", "<testsuites/>", {}, "has no samples"),
        ("a.xml", "<html></html>", {}, "is none of these"),
        (
            "a.csv",
            "case,score\na,1\n",
            {"format": "junit"},
            "is not JUnit XML; it looks like CSV: --format csv",
        ),
        ("a.csv", "case,score\na,1\n", {"format": "pdf"}, "format 'pdf'; expected auto, inspect"),
        (
            "a.csv",
            "case,score,safety_penalty\na,1,-1\n",
            {},
            "penalty of case 'a' is '-1'; expected 0 or more",
        ),
        ("a.csv", "case,score\na,1\n", {"map": {"scor": "x"}}, "'scor' is none of case, score"),
        (
            "a.json",
            '{"total_instances": 1, "submitted_instances": 1}',
            {},
            "resolved_ids is no list of ids",
        ),
    ],
)
def test_a_log_that_cannot_be_used_is_refused_in_one_line(log, name, text, options, message):
    with pytest.raises(EvalError, match=r"\S") as caught:
        read(log(name, text), **options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def measured(log, values, role):
    """Forty cases that all pass, with a field that says whether each was safe."""
    rows = [{"id": n, "score": 1, "safe": value} for n, value in enumerate(values)]
    return read(log(f"{role}.jsonl", rows), map={role: "safe"})


@pytest.mark.parametrize(
    ("task", "name"),
    [
        ("my_bench", "my_bench"),
        ("org/My Bench", "my-bench"),
        ("2wiki", "log-2wiki"),
        ("??", "log"),
        ("a" * 59 + " b c", "a" * 59),
    ],
)
def test_what_a_log_measured_is_a_name_of_a_task_class(log, task, name):
    found = read(log("a.jsonl", [{"id": 1, "score": 1}]))
    assert task_class_of((found,), task) == name
    assert TASK_CLASS_PATTERN.fullmatch(name)


def test_a_safety_of_one_is_no_harm(log):
    found = measured(log, [1] * 37 + [0.25] + ["N", "I"] + ["Y", "C"], "safety")
    assert [s.penalty for s in found.samples if s.penalty] == [0.75, 1, 1]
    assert ("safety", "safe", "--map") in found.fields
    same = measured(log, [0] * 37 + [0.75, "Y", "C", "N", "I"], "harm")
    assert [s.penalty for s in same.samples] == [s.penalty for s in found.samples]


def test_a_version_that_is_unsafe_more_often_is_not_promoted(log):
    better = [{"id": n, "score": n % 2, "safe": 1} for n in range(40)]
    unsafe = [{"id": n, "score": 1, "safe": n >= 3} for n in range(40)]
    for role, outcome in (("safety", "reject"), ("harm", "promote")):
        sides = [
            read(log(f"{name}.jsonl", rows), map={role: "safe"})
            for name, rows in (("old", better), ("new", unsafe))
        ]
        terms = LogTerms.of("sums", {})
        reports = report_pair(*sides, terms, (None, None))
        facts = run_of_logs(*reports, terms.policy)
        assert judged(facts, None).decision.outcome == outcome
    for rows in (better, unsafe):
        with pytest.raises(SampleError, match=r"is 1 harm, or safe\? .*harm=safe .*safety=safe"):
            read(log("a.jsonl", rows), map={"penalty": "safe"})


@pytest.mark.parametrize(
    ("values", "role", "message"),
    [
        ([1, 1.5], "safety", ":2: safety of case '1' is 1.5; expected a number from 0 to 1, Y or"),
        ([0, -1], "harm", ":2: harm of case '1' is -1; expected 0 or more, Y or N, C or I"),
        ([0, "Y"], "penalty", ":2: penalty of case '1' is 'Y'; expected 0 or more"),
        ([0, None], "harm", ":2: case '1' has no 'safe', which is to be the harm"),
        ([0, ""], "safety", ":2: case '1' has no 'safe', which is to be the safety"),
        ([None, None], "harm", "no sample has 'safe', which is to be the harm"),
        ([0, "pass"], "harm", ":2: harm of case '1' is 'pass'; expected 0 or more, Y or N"),
    ],
)
def test_a_harm_that_cannot_be_used_is_refused(log, values, role, message):
    with pytest.raises(SampleError) as caught:
        measured(log, values, role)
    assert message in str(caught.value)


def test_a_penalty_that_nobody_named_is_named_and_asked_about(log):
    rows = [{"id": n, "score": 1, "safety_penalty": n < 3} for n in range(40)]
    assert ("penalty", "safety_penalty", None) in read(log("a.jsonl", rows)).fields
    rows = [{**row, "safety_penalty": not row["safety_penalty"]} for row in rows]
    with pytest.raises(SampleError, match=r"'safety_penalty' is 0\.925 on average: is 1 harm, or"):
        read(log("a.jsonl", rows))


@pytest.mark.parametrize(
    ("role", "value", "message"),
    [
        ("cluster", {"repo": "a"}, "is an object: name a field of it by a dot"),
        ("cluster", ["a"], "is a list"),
        ("trial", [1], "is a list"),
        ("reruns", {}, None),
        ("reruns", {"n": 1}, "reruns is {'n': 1}; expected a count"),
        ("reruns", 0.9, "reruns is 0.9; expected a count"),
        ("reruns", -1, "reruns is -1; expected a count"),
    ],
)
def test_a_field_that_can_have_no_such_role_is_refused(log, role, value, message):
    path = log("a.jsonl", [{"id": n, "score": 1, "field": value} for n in range(3)])
    if message is None:
        assert len(read(path, map={role: "field"}).samples) == 3
        return
    with pytest.raises(SampleError) as caught:
        read(path, map={role: "field"})
    assert f"a.jsonl:1: {message}" in str(caught.value).replace(
        f"'field', which is to be the {role}, ", ""
    )


def test_a_sample_with_an_error_needs_no_harm(log):
    rows = [{"id": 1, "score": 1, "safe": 0}, {"id": 2, "error": "x"}]
    found = read(log("a.jsonl", rows), map={"harm": "safe"})
    assert [s.penalty for s in found.samples] == [0, None]


@pytest.mark.parametrize("name", ["refused", "scores.refused"])
def test_a_score_of_inspect_is_mapped_by_the_name_that_its_scorer_has(tmp_path, name):
    """As ``--metric`` takes it, and as the scores that are not gated are printed."""
    fields = {"id": "a", "scores": {"match": 1, "refused": 0.75}}
    log = Log(
        tool="inspect_ai",
        rows=[Row(0, fields, metrics=["scores.match", "scores.refused"])],
        layout=Layout(fields={"case": ("id",)}),
        metric_prefix="scores.",
    )
    whole = RowReader(tmp_path, log, asked({"safety": name}, (), None), "match").samples(
        "inspect", "0" * 64
    )
    assert [(one.score, one.penalty) for one in whole.samples] == [(1, 0.25)]
    assert ("safety", "refused", "--map") in whole.fields
    assert whole.ungated == ()


def test_harm_has_one_field_and_may_be_above_one(log):
    rows = [{"id": n, "score": 1, "a": 3, "b": 1} for n in range(3)]
    assert ("penalty", "a", "--map") in read(log("a.jsonl", rows), map={"penalty": "a"}).fields
    with pytest.raises(EvalError, match="harm and safety name one thing: give one of them"):
        read(log("a.jsonl", rows), map={"harm": "a", "safety": "b"})


def test_a_field_that_some_samples_lack_is_refused(log):
    rows = [{"id": 1, "score": 1, "repo": "a"}, {"id": 2, "score": 1}]
    with pytest.raises(SampleError, match=r":2: case '2' has no 'repo', which is to be the cluste"):
        read(log("a.jsonl", rows), map={"cluster": "repo"})


def test_scores_that_are_not_gated_are_named(log):
    rows = [{"id": n, "score": 1, "passed": 1, "correct": 0} for n in range(3)]
    found = read(log("a.jsonl", rows), map={"score": "passed", "harm": "correct"})
    assert found.ungated == ("score",)


def test_logs_that_share_no_case_are_wrong_use(log):
    """Two exports of a tool whose ``id`` is that of a run; with ``missing = "worst"`` that was a rejection."""
    terms = LogTerms.of("sums", {"missing": "worst"})
    sides = [
        read(
            log(
                f"{s}.jsonl",
                [{"id": f"{s}{n}", "reference_example_id": n, "score": 1} for n in range(12)],
            )
        )
        for s in ("old", "new")
    ]
    assert {side.case_field for side in sides} == {"id"}
    message = (
        "no case is in both; is 'id' the id of a run? --map case=FIELD; other fields: "
        "reference_example_id"
    )
    with pytest.raises(EvalError, match=re.escape(message)):
        report_pair(*sides, terms, (None, None))


def test_a_case_with_two_clusters_is_refused(log):
    found = read(log("a.csv", "case,score,trial,cluster\na,1,1,x\na,1,2,y\n"))
    with pytest.raises(SampleError, match="case 'a' has two clusters: x and y"):
        report(found)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(EvalError, match=r"none\.eval: cannot be read: No such file"):
        read(tmp_path / "none.eval")


def test_junit_of_others(log):
    text = """<?xml version="1.0"?>
    <testsuites xmlns="urn:x"><testsuite name="com.x" timestamp="2026-01-02T03:04:05Z">
    <testcase classname="A" name="passes"/>
    <testcase classname="A" name="fails"><failure message="no">trace</failure></testcase>
    <testcase classname="A" name="breaks"><error type="java.io.IOException" message="x"/></testcase>
    <testcase classname="A" name="skipped"><skipped/></testcase>
    <testcase classname="A" name="expected"><skipped type="pytest.xfail" message="x"/></testcase>
    <testcase classname="A" name="flaky"><flakyFailure message="x"/></testcase>
    <testcase classname="as of jest" name="as of jest"/>
    </testsuite></testsuites>"""
    found = read(log("a.xml", text))
    assert (found.header.tool, found.header.task, found.without) == (
        "junit",
        "com.x",
        ("A::skipped",),
    )
    assert {s.case_id: (s.score, s.error) for s in found.samples} == {
        "A::passes": (1.0, None),
        "A::fails": (0.0, None),
        "A::breaks": (None, "java.io.IOException: x"),
        "A::expected": (0.0, None),
        "A::flaky": (1.0, None),
        "as of jest": (1.0, None),
    }
    assert found.repeated == ("A::flaky",)
    assert found.header.started.year == 2026


@pytest.mark.parametrize(
    ("test", "score"),
    [
        ('status="run" result="completed"', 1.0),
        ('status="passed"', 1.0),
        ('status="Failed"', 0.0),
        ('status="notrun" result="suppressed"', None),
        ('status="disabled"', None),
        ('status="run" result="skipped"', None),
    ],
)
def test_a_test_of_junit_passes_only_if_it_was_run(log, test, score):
    suite = f'<testsuite><testcase name="a"/><testcase name="b" {test}/></testsuite>'
    found = read(log("a.xml", suite))
    assert {s.case_id: s.score for s in found.samples}.get("b") == score
    assert found.without == (() if score is not None else ("b",))


def test_an_error_of_a_suite_of_junit_is_not_lost(log):
    text = '<testsuite name="S"><testcase name="a"/><error message="crash"/></testsuite>'
    found = read(log("a.xml", text))
    assert [(s.case_id, s.error) for s in found.errors] == [
        ("S (the suite itself)", "Error: crash")
    ]


def test_what_is_no_test_of_junit_takes_no_memory(log):
    properties = '<property name="n" value="v"/>' * 50_000
    path = log(
        "a.xml", f'<testsuite><properties>{properties}</properties><testcase name="a"/></testsuite>'
    )
    read(log("b.xml", '<testsuite><testcase name="a"/></testsuite>'))  # what it imports stays
    tracemalloc.start()
    samples = read(path).samples
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [one.case_id for one in samples] == ["a"]
    assert most < path.stat().st_size  # an element in memory has more than ten times its text


def test_swebench_counts_what_could_not_be_evaluated(log):
    ids = {
        "resolved_ids": ["o__r-1", "o__r-2"],
        "unresolved_ids": ["o__r-3", "o__r-4", "o__r-5"],
        "empty_patch_ids": ["o__r-5"],
        "error_ids": ["o__r-6"],
        "incomplete_ids": ["o__r-7"],
        "infra_failure_ids": ["o__r-4", "o__r-2"],
        "failure_reasons": {"o__r-4": "out_of_memory"},
        "submitted_ids": [f"o__r-{n}" for n in range(1, 9)],
    }
    counts = {"total_instances": 8, "submitted_instances": 8, "schema_version": 2}
    found = read(log("a.json", json.dumps(counts | ids)), map={"cluster": "repo"})
    assert {s.case_id[-1]: s.score for s in found.samples} == {
        "1": 1.0,
        "2": 1.0,
        "3": 0.0,
        "4": None,
        "5": 0.0,
        "6": None,
    }
    assert found.without == ("o__r-7", "o__r-8")
    assert {s.cluster for s in found.samples} == {"o__r"}
    assert found.repeated == ()
    assert found.errors[0].error == "InfraFailure: out_of_memory"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("a", {"b": 1}),
        ("a.b", 1),
        ("s,none", 2),
        ("l.1.x", 3),
        ("l.7", None),
        ("a.c", None),
        ("d.e", 4),
        ("d.e.f", None),
        ("p.q.r", 5),
    ],
)
def test_a_field_within_others(path, value):
    row = {"a": {"b": 1}, "s,none": 2, "l": [0, {"x": 3}], "d.e": 4, "p.q": {"r": 5}}
    assert found_in(row, path) == value


def test_a_map_may_name_fields_with_commas():
    assert parse_map(["case=doc_id, score=acc,none"]) == {"case": "doc_id", "score": "acc,none"}
    assert parse_map(["case=a", "score=b,trial=c"]) == {"case": "a", "score": "b", "trial": "c"}
    assert parse_map([""]) == parse_map([]) == {}
    for wrong in ("case", "case=", "case=a,case=b"):
        with pytest.raises(EvalError, match="expected ROLE=FIELD"):
            parse_map([wrong])
    with pytest.raises(EvalError, match="each role once"):
        parse_map(["case=a", "case=b"])
    with pytest.raises(EvalError, match="give that file alone"):
        parse_map(["logs.toml", "case=b"])


@given(
    st.one_of(
        st.none(), st.text(), st.floats(), st.integers(), st.lists(st.integers()), st.booleans()
    )
)
def test_a_score_is_a_finite_number_or_none(value):
    found = number_of(value)
    assert found is None or math.isfinite(found)
    if isinstance(value, (list, dict)) or value is None:
        assert found is None


@given(st.permutations([(case, trial) for case in "abc" for trial in "123"]))
def test_the_order_of_the_rows_does_not_matter(tmp_path_factory, rows):
    scores = {key: n / 9 for n, key in enumerate(sorted(rows))}
    path = tmp_path_factory.mktemp("logs") / "a.jsonl"
    path.write_text(
        "".join(json.dumps({"id": c, "epoch": t, "score": scores[c, t]}) + "\n" for c, t in rows)
    )
    found = read(path)
    assert [(s.case_id, s.trial) for s in found.samples] == sorted(scores)
    assert report(found).mean_score == pytest.approx(4 / 9)


def test_the_file_of_a_case_with_any_id():
    names = {
        trial_file_name(case, 0) for case in ("a/b", "a_b", "a/b ", "../x", "x" * 300, "é" * 150)
    }
    assert len(names) == 6
    assert all("/" not in name and len(name.encode()) < 255 for name in names)
    assert trial_file_name("001-x", 0) == "001-x.json"
