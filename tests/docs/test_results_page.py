"""The page on results that are there already has the rules that the code has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchgate.results.rules import (
    DIGESTS,
    EVERYTHING,
    EXTEND,
    FIELDS,
    MERGE,
    RECORDED,
    RENEW,
    RESUME,
)

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "results-already-there.md").read_text("utf-8")
ROWS = dict(re.findall(r"^\| (\w+) \| (.+) \|$", PAGE, re.MULTILINE))
RULES = {
    "resume": RESUME,
    "merge": MERGE,
    "extend": EXTEND,
    **RECORDED,
    "renew": RENEW,
}
CASES = {
    (True, True): "no other ones",
    (False, True): "none is gone",
    (True, False): "none is new",
}
"""What the table says of the cases by whether a new one, and one that is gone, is a difference."""
SCORES = {
    "score": "is checked",
    "observations": "is made anew",
    "answer": "is made anew, of a new observation",
    "nothing": "is made anew, of a new answer",
}
"""What the table says of a score, by how much is taken of a trial."""
OTHERWISE = {"believed": "is taken", "refused": "is refused", "run again": "is run again"}


def named(text):
    return {name.removeprefix("digest of the ") for name in text}


def test_each_field_of_a_plan_is_named():
    told = PAGE[PAGE.index("## One table of rules") : PAGE.index("| | must be as it was")]
    assert named(FIELDS) <= {*re.findall(r"`(\w+)`", told)}


@pytest.mark.parametrize("way", RULES)
def test_each_rule_is_the_one_of_the_code(way):
    rule = RULES[way]
    same, cases, score, otherwise = ROWS[way].split(" | ")
    fields = {*re.findall(r"`(\w+)`", same)}
    if same.startswith("everything"):
        assert fields == named(EVERYTHING - rule.same)
    else:
        assert fields == named(rule.same)
        assert ("digests" in same) == any(f"digest of the {name}" in rule.same for name in DIGESTS)
    assert ("or more" in same) == rule.more_trials
    either = "those of both sides" if rule.changed else "any"
    assert cases == CASES.get((rule.new, rule.gone), either)
    if way == "renew":  # of plans alone: the files stay as they are
        assert (score, otherwise) == ("stays", "stays")
        return
    of_each = SCORES[rule.passed]
    if rule.failed != rule.passed:
        of_each += f"; of a case that failed it {SCORES[rule.failed]}"
    assert score == of_each
    assert otherwise.startswith(OTHERWISE[rule.otherwise])
