"""Questions and answers of two logs: where they are read from, and what a page shows of them."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path

import pytest

from benchgate.cli import main
from benchgate.errors import EvalError
from benchgate.interop import read
from benchgate.interop.texts import texts_of
from benchgate.models.texts import LogTexts, Said
from benchgate.report.answers import Answers

LOGS = Path(__file__).parents[2] / "docs" / "examples" / "logs"


@pytest.mark.parametrize(
    ("name", "metric", "fields"),
    [
        ("deepeval/new.json", None, ("input", "actualOutput")),
        ("promptfoo/new.jsonl", None, ("vars", "response.output")),
        ("lm-eval/new.jsonl", "acc", ("doc", "filtered_resps")),
        ("pydantic-evals/new.json", None, ("inputs", "output")),
        ("braintrust/new.json", "Exact", ("input", "output")),
        ("langsmith/new.jsonl", "correct", ("inputs", "outputs")),
    ],
)
def test_tools_have_their_questions_and_answers_in_fields_of_their_own(name, metric, fields):
    log = read(LOGS / name, metric=metric)
    case_id = log.samples[-1].case_id
    found = texts_of(log, {case_id}, metric=metric)
    assert (found.question, found.answer) == fields
    assert list(found.trials) == [case_id]
    (said,) = found.trials[case_id]
    assert said.question
    assert said.answer


def test_a_text_is_shown_as_it_is_and_an_object_as_json():
    log = read(LOGS / "promptfoo/new.jsonl")
    found = texts_of(log, {"sum-3"})
    assert found.trials == {"sum-3": [Said('{\n "n": "3"\n}', "6")]}


def write(path, answers, **fields):
    rows = [{"id": name, "score": 1, "output": one, **fields} for name, one in answers.items()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_only_the_texts_of_some_cases_are_kept():
    write(Path("a.jsonl"), {"x": "one", "y": "two"}, asked="why?")
    log = read(Path("a.jsonl"), map={"input": "asked"})
    assert [one.texts for one in log.samples] == [None, None]
    found = texts_of(log, {"y"}, map={"input": "asked"})
    assert found == LogTexts({"y": [Said("why?", "two")]}, "asked", "output")


def test_the_case_of_a_folder_may_have_the_name_of_its_file():
    Path("old").mkdir()
    for name in ("1", "2"):
        write(Path("old", f"{name}.jsonl"), {"x": f"of {name}"})
    how = {"map": {"trial": "none"}}
    log = read(Path("old"), **how)
    found = texts_of(log, {"2.jsonl::x"}, **how)
    assert found.trials == {"2.jsonl::x": [Said(None, "of 2")]}


def test_an_answer_that_somebody_named_must_be_there_but_not_in_all_samples():
    write(Path("a.jsonl"), {"x": "one", "y": None})
    assert read(Path("a.jsonl"), map={"answer": "output"}).samples
    with pytest.raises(EvalError, match="no sample has 'reply', which is to be the answer"):
        read(Path("a.jsonl"), map={"answer": "reply"})


def answers(before, after, question="why?"):
    logs = (
        LogTexts({"x": [Said(question, before)]}, "asked", "output"),
        LogTexts({"x": [Said(question, after)]}, "asked", "output"),
    )
    return Answers.read(lambda _: logs, {"x"})


def changed(pieces):
    return [piece.text for piece in pieces if piece.is_changed]


def test_words_that_differ_are_marked():
    shown = answers("Run it after the tests.", "Run it long before the tests.").of("x", 0)
    assert (changed(shown.before), changed(shown.after)) == (["after"], ["long before"])
    assert "".join(piece.text for piece in shown.after) == "Run it long before the tests."
    assert not shown.is_same
    assert not shown.difference  # one line beside the other says it


@pytest.mark.parametrize("other", ["I do not know!", "word " * 2000])
def test_in_another_text_and_in_a_long_one_nothing_is_marked(other):
    shown = answers("Change the file ci.yml.", other).of("x", 0)
    assert changed(shown.before) == changed(shown.after) == []


def test_of_several_lines_a_diff_shows_those_that_changed():
    old = "\n".join(f"line {n}" for n in range(30))
    shown = answers(old, old.replace("line 20", "row 20")).of("x", 0)
    assert [line for line in shown.difference if line[0] in "+-"] == ["-line 20", "+row 20"]


def test_the_same_answer_is_said_to_be_the_same():
    assert answers("4", "4").of("x", 0).is_same
    assert answers(None, None, None).of("x", 0) is None
    assert answers("4", "4").of("y", 0) is None


def test_of_tests_the_failures_are_shown():
    logs = LogTexts({"x": [Said()]}, "", ""), LogTexts({"x": [Said(None, "1 != 2")]}, "", "failure")
    found = Answers.read(lambda _: logs, {"x"})
    assert found.note == "Of a test its failure is shown."
    assert found.of("x", 0).field == "failure"


def test_a_side_with_fewer_trials_shows_its_first():
    two = LogTexts({"x": [Said(None, "a"), Said(None, "b")]}, "", "output")
    one = LogTexts({"x": [Said(None, "a")]}, "", "output")
    assert not Answers.read(lambda _: (one, two), {"x"}).of("x", 1).is_same
    assert Answers.read(lambda _: (one, two), {"x"}).of("x", 0).is_same


def gate(*options):
    write(Path("old.jsonl"), {f"c{n:02}": "<b>4</b>" for n in range(12)}, asked="2 + 2?")
    rows = [json.loads(line) for line in Path("old.jsonl").read_text().splitlines()]
    rows[3] |= {"score": 0, "output": "<b>5</b>"}
    Path("new.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    status = main(["gate", "old.jsonl", "new.jsonl", "--html=page.html", *options])
    return status, Path("page.html").read_text()


@pytest.mark.parametrize("out", [(), ("--out=chain",)])
def test_the_page_of_a_hold_shows_both_answers_and_what_to_do(out):
    pytest.importorskip("jinja2")
    status, page = gate("--map=input=asked", *out)
    assert status == 10
    assert "<dt>Next</dt>" in page
    assert "The question is the field asked of the logs, the answer output." in page
    of_case = page[page.index("<bdi>c03</bdi>") :].partition("<bdi>c00</bdi>")[0]
    assert "2 + 2?" in of_case
    assert "&lt;b&gt;<del>4</del>&lt;/b&gt;" in of_case
    assert "&lt;b&gt;<ins>5</ins>&lt;/b&gt;" in of_case
    assert page.count("Answer, the same in both") == 11


def test_a_page_says_how_to_show_more():
    pytest.importorskip("jinja2")
    _, page = gate()
    assert "--map input=FIELD shows the question" in unescape(page)
    _, page = gate("--out=chain")
    assert main(["report", str(next(Path("chain/runs/log").glob("0*"))), "--html=later.html"]) == 0
    assert "Questions and answers are in the logs" in Path("later.html").read_text()


def test_a_log_that_changed_meanwhile_is_not_shown():
    def fails(_):
        raise EvalError("old.jsonl: changed since it was judged")

    assert Answers.read(fails, {"x"}).note.endswith("old.jsonl: changed since it was judged")
    write(Path("a.jsonl"), {"x": "one"})
    log = read(Path("a.jsonl"))
    write(Path("a.jsonl"), {"x": "two"})
    with pytest.raises(EvalError, match="changed since it was judged"):
        texts_of(log, {"x"})
