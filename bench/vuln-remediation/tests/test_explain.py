# mypy: allow-untyped-defs, allow-untyped-calls
"""Why an answer scored as it did, in words."""

import pytest
from _benchgate_bench.vuln_remediation import rubric
from _benchgate_bench.vuln_remediation.explain import MEANINGS, explanation, listed
from _benchgate_bench.vuln_remediation.tests.support import (
    LODASH,
    NO_FIX,
    SYSTEMS,
    load,
    score,
    solved,
    untouched,
)


def test_every_axis_has_a_meaning():
    assert sorted(MEANINGS) == sorted([*rubric.WEIGHTS, *rubric.NEGATIVE_WEIGHTS, rubric.TESTS])
    assert not rubric.DECIDING - MEANINGS.keys()


def test_names_are_listed_in_order_and_cut():
    assert listed([]) == ""
    assert listed({"b", "a"}) == "a, b"
    assert listed([("x", "y")]) == "x > y"
    assert listed("abcdef") == "a, b, c, d, e, f"
    assert listed("gfedcba") == "a, b, c, d, e, f and 1 more"


def test_what_decides_comes_first():
    said = explanation(
        {"fix_class": 0.5, "target_dropped": 0.0, "project_kept": 1.0, "clean": 0.0},
        {"target_dropped"},
    )

    assert said == (
        "cannot be merged: still vulnerable (target_dropped). "
        "could be better: another kind of fix than the case accepts in full (fix_class 0.50)"
    )


TOUCHED = untouched(NO_FIX)
TOUCHED.manifest["x"] = 1


@pytest.mark.parametrize(
    ("case_id", "output", "start", "evidence"),
    [
        (LODASH, solved(LODASH), "nothing to object to", {}),
        (NO_FIX, solved(NO_FIX), "nothing to object to", {}),
        (LODASH, untouched(LODASH), "cannot be merged: still vulnerable (target_dropped)",
         {"target_dropped": "node_modules/lodash 4.17.20", "fix_class": "none; accepted: lock-refresh"}),
        (LODASH, dict(SYSTEMS["blind-override"](load(LODASH))),
         "cannot be merged: overridden without need, more widely or further than needed (",
         {"no_needless_override": "lodash", "fix_class": "global-override; accepted: lock-refresh"}),
        (NO_FIX, TOUCHED, "cannot be merged: there was nothing to change (unchanged)",
         {"unchanged": "changed: package.json", "says_so": "right is 'no-fix'"}),
    ],
)  # fmt: skip
def test_an_answer_is_told_what_is_wrong_and_on_what_that_rests(case_id, output, start, evidence):
    found = score(case_id, output)

    assert found.explanation.startswith(start)
    assert found.evidence.items() >= evidence.items()
    assert "target_dropped" in evidence or "target_dropped" not in found.evidence
    assert evidence or (found.explanation, dict(found.evidence)) == (start, {})
