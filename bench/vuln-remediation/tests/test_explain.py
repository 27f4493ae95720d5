# mypy: allow-untyped-defs, allow-untyped-calls
"""Why an answer scored as it did, in words."""

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


def told(case_id, output):
    """Return explanation and evidence of an answer."""
    found = score(case_id, output)
    return found.explanation, dict(found.evidence)


def test_every_axis_has_a_meaning():
    assert sorted(MEANINGS) == sorted([*rubric.WEIGHTS, *rubric.NEGATIVE_WEIGHTS])
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


def test_a_perfect_answer_has_nothing_to_object_to():
    assert told(LODASH, solved(LODASH)) == ("nothing to object to", {})
    assert told(NO_FIX, solved(NO_FIX)) == ("nothing to object to", {})


def test_an_unchanged_tree_names_what_is_left():
    said, evidence = told(LODASH, untouched(LODASH))

    assert evidence["target_dropped"] == "node_modules/lodash 4.17.20"
    assert evidence["fix_class"] == "none; accepted: lock-refresh"
    assert said.startswith("cannot be merged: still vulnerable (target_dropped)")


def test_a_global_override_says_what_it_bends():
    said, evidence = told(LODASH, dict(SYSTEMS["blind-override"](load(LODASH))))

    assert said.startswith(
        "cannot be merged: overridden without need, more widely or further than needed ("
    )
    assert evidence["no_needless_override"] == "lodash"
    assert "target_dropped" not in evidence


def test_what_was_changed_on_a_negative_is_named():
    changed = untouched(NO_FIX)
    changed.manifest["x"] = 1

    said, evidence = told(NO_FIX, changed)

    assert evidence == {"unchanged": "changed: package.json", "says_so": "right is 'no-fix'"}
    assert said.startswith("cannot be merged: there was nothing to change (unchanged)")
