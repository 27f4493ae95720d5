"""Sentences: what a template makes of its values, and that each template is said somewhere, with all that it needs."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from string import Formatter

import pytest
from pydantic import ValidationError

import benchgate
from benchgate.gates.conditions import CONDITIONS
from benchgate.gates.decision import Remark
from benchgate.gates.policy import GatePolicy
from benchgate.sentences.conditions import HEADLINES, LIMITS
from benchgate.sentences.formats import confidence, percent
from benchgate.sentences.says import (
    MOST_DEEP,
    Listing,
    Says,
    clauses,
    every,
    joined,
    names,
    parts,
    says,
)
from benchgate.sentences.tables import TABLES, TEMPLATES
from benchgate.verify.agreement import SENTENCES

PACKAGE = Path(benchgate.__file__).parent
WANTED = says("wanted.by_default", gain=0.1)


def said_in(paths):
    """Yield file, name and values of each sentence that code says; the name is ``None`` if no literal gives it."""
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call) or ast.unparse(node.func) != "says":
                continue
            name = None
            if len(node.args) == 1 and isinstance(node.args[0], ast.Constant):
                name = node.args[0].value
            yield path.name, name, {keyword.arg for keyword in node.keywords}


SAID = list(said_in(sorted(PACKAGE.rglob("*.py"))))


def fields(template):
    return {name for _, name, _, _ in Formatter().parse(template) if name is not None}


def test_every_template_is_said_somewhere_and_every_sentence_has_one():
    assert {name for _, name, _ in SAID} == set(TEMPLATES)


def test_a_template_has_one_name():
    assert len(TEMPLATES) == sum(map(len, TABLES))


@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_all_values_of_a_template_are_given_wherever_it_is_said(name):
    given = [values for _, one, values in SAID if one == name]
    assert all(values == fields(TEMPLATES[name]) for values in given)


def value_for(spec, conversion):
    """A value that a template can show."""
    if spec in ("names", "kinds", "texts"):
        return Listing(first=("one", says("doubt.chance")), more=2)
    if spec or conversion is None:
        return 2
    return "text"


@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_every_template_can_be_filled(name):
    parsed = Formatter().parse(TEMPLATES[name])
    values = {field: value_for(spec, how) for _, field, spec, how in parsed if field is not None}
    text = says(name, **values).text
    assert text
    assert not re.search(r"[{}]", text)


def test_no_value_is_lost_where_sentences_are_not_compared():
    """Verification leaves out fields with these names: a value that has one could be edited."""
    assert not SENTENCES & {field for template in TEMPLATES.values() for field in fields(template)}


def test_headlines_and_limits_are_those_of_conditions():
    assert {*HEADLINES, *LIMITS} <= set(CONDITIONS)
    for limit in LIMITS.values():
        values = {"observer_min_agreement": 0.5, "max_cost_increase": 0.5, "claim": "better"}
        assert limit.format(policy=GatePolicy(**values), level="95%")


@pytest.mark.parametrize(
    ("name", "values", "text"),
    [
        (
            "insufficient_cases.cases",
            {"size": 1, "needed": 8},
            "1 case is too few: at least 8 are needed",
        ),
        (
            "insufficient_cases.cases",
            {"size": 3, "needed": 8},
            "3 cases are too few: at least 8 are needed",
        ),
        ("cost.means", {"before": 0.0078, "after": 1.5}, "from $0.007800 to $1.5000"),
        (
            "gain_excluded",
            {"high": 0.0123, "alpha": 0.025, "wanted": WANTED},
            "its gain is at most +0.012 (97.5% confidence); the gate looks for 0.1 (target_effect)",
        ),
        (
            "worse_than_margin",
            {"change": -0.5, "high": -0.2, "alpha": 0.0001, "margin": 0.1},
            "its score changed by -0.500, at best by -0.200 (99.99% confidence); a loss of 0.1 is allowed",
        ),
        (
            "score_out_of_range",
            {"side": "baseline", "score": 1.5, "low": 0.0, "high": 1.0},
            "baseline: 1.5 is outside [0, 1]",
        ),
        (
            "new_cases_decide",
            {"codes": every(["b", "a"])},
            "if the baseline had solved the new cases, the decision would not be promote: b, a",
        ),
        (
            "missing_in_baseline",
            {"cases": names("gfedcba")},
            "counted as the best score: a, b, c, d, e and 2 more",
        ),
        (
            "errors.count",
            {"count": 4, "total": 9, "kinds": Listing(first=("A 3",), more=1)},
            "4 of 9 (A 3, ...)",
        ),
        ("exit.checkpoint", {"problems": clauses(["{one}", "two"])}, "checkpoint: {one}; two"),
        (
            "not_significant",
            {"doubt": says("doubt.above", least=0.05), "detectable": 0.086},
            "that its gain is above 0.05 may be chance, though so many cases would have shown a gain of 0.086",
        ),
    ],
)
def test_a_sentence_shows_its_values(name, values, text):
    said = says(name, **values)
    assert said.text == text
    again = Says.read_json(said.model_dump_json().encode())
    assert again == said
    assert again.text == text


def test_what_others_say_is_bounded():
    long = clauses(["x" * 3000, *("y" * 100 for _ in range(40))])
    assert [len(text) for text in long.first] == [1750]
    assert long.shown("texts").endswith("; ... and 40 more")
    many = clauses(f"{n}" for n in range(30))
    assert (len(many.first), many.more) == (20, 10)
    shown = names(["a" * 100]).first[0]
    assert len(shown) == 60
    assert parts([says("labelled_output", output="ab", case=f"c{n}") for n in range(7)]).more == 2


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("made_up", {"n": 1}),
        ("insufficient_cases.cases", {}),
        ("gain_excluded", {"high": "much", "alpha": 0.05, "wanted": WANTED}),
        ("gain_excluded", {"high": 0.1, "alpha": "none", "wanted": WANTED}),
        ("gain_excluded", {"high": 0.1, "alpha": 0, "wanted": WANTED}),
        ("gain_excluded", {"high": 10**400, "alpha": 0.05, "wanted": WANTED}),
    ],
)
def test_a_sentence_that_somebody_made_up_is_shown_as_it_is(name, values):
    assert name in Says(sentence=name, values=values).text


def test_clauses_are_not_nested_for_ever():
    """A template that shows a value twice doubles the text at each level."""
    sentence = says("few_cases.cases", size=1)
    for _ in range(MOST_DEEP - 1):
        sentence = says("few_cases.cases", size=sentence)
    with pytest.raises(ValidationError, match="nested more than 5 deep"):
        says("few_cases.cases", size=sentence)


def test_people_read_the_data_and_not_the_text_beside_it():
    said = says("few_cases.cases", size=3)
    assert Remark(code="note_few_cases", message="all is well", says=(said,)).text == said.text
    other = Says(sentence="few_cases.of_tomorrow", values={"size": 3})
    assert Remark(code="note_few_cases", message="few", says=(other,)).text == "few"


def test_several_sentences_are_joined():
    assert joined([says("cases.all"), says("cases.critical")]) == "cases; critical cases"


def test_a_level_near_1_is_not_rounded_to_it():
    assert [confidence(0.05), confidence(0.025), confidence(0.025, 1)] == ["95%", "98%", "97.5%"]
    assert confidence(1e-6) == "99.9999%"


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0005, "0.05%"), (0.00099975, "0.1%"), (0.025, "2.5%"), (0.049375, "4.9%"), (0.16, "16.0%")],
)
def test_small_shares_can_be_told_apart(share, text):
    assert percent(share) == text


# No prose where it is decided


TABLES_OF_PROSE = {"deciding.py"}
"""The table of docs/explanation/statistics.md."""

WORD = re.compile(r"(?<!\S)[a-z]{2,}\b")
OF_ERRORS = {"record of a run"}
"""What an error of reading a file calls it."""


def prose_in(code):
    """Yield each text of three words or more that is no docstring and no message of an exception."""
    tree = ast.parse(code)
    said = set()
    for node in ast.walk(tree):
        is_text_alone = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_text_alone or isinstance(node, ast.Raise):
            said |= {id(part) for part in ast.walk(node)}
        if isinstance(node, ast.JoinedStr):
            said |= {id(part) for value in node.values for part in ast.walk(value)}
    for node in ast.walk(tree):
        text = None
        if isinstance(node, ast.JoinedStr):
            pieces = (part.value for part in node.values if isinstance(part, ast.Constant))
            text = " ".join(pieces)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        if text is not None and id(node) not in said and len(WORD.findall(text)) > 2:
            yield text


def test_no_module_of_gates_builds_a_sentence():
    paths = [path for path in (PACKAGE / "gates").glob("*.py") if path.name not in TABLES_OF_PROSE]
    assert {text for path in paths for text in prose_in(path.read_text())} <= OF_ERRORS


@pytest.mark.parametrize(
    ("code", "is_found"),
    [
        ('yield "a", f"{n} cases are too few"', True),
        ('text = "there is no baseline"', True),
        ('text = f"its gain {x} may be chance"', True),
        ('raise ValueError(f"{x} is no number at all")', False),
        ('def f():\n    """Return one thing to do."""', False),
        ('says("insufficient_cases", size=3)', False),
        ('names = ("errors", "timeouts", "failed")', False),
    ],
)
def test_a_sentence_is_found(code, is_found):
    assert bool([*prose_in(code)]) == is_found
