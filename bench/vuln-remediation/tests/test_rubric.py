# mypy: allow-untyped-defs, allow-untyped-calls
"""Each axis of the rubric on its own: one edit of a perfect answer costs what the table says."""

import math

import pytest
from _benchgate_bench.vuln_remediation.rubric import (
    NEGATIVE_WEIGHTS,
    PENALTIES,
    WEIGHTS,
    VulnRemediationRubric,
)
from _benchgate_bench.vuln_remediation.tests.support import (
    ALIAS,
    ANSI,
    AXIOS,
    BACKPORT,
    BRACES,
    CASES,
    COOKIE,
    LODASH,
    NO_FIX,
    SEMVER,
    SYSTEMS,
    WS,
    disposed,
    load,
    score,
    solved,
    untouched,
)

POSITIVE, NEGATIVE = disposed("positive"), disposed("negative")


def lacking(result):
    """Return the axes below 1, without the summary."""
    return {axis for axis, value in result.breakdown.items() if value < 1.0} - {"clean"}


def without(*axes):
    """Return the score that is left when some axes are 0."""
    return math.fsum(weight for axis, weight in WEIGHTS.items() if axis not in axes) / 100


def test_weights_sum_to_one_hundred():
    assert sum(WEIGHTS.values()) == sum(NEGATIVE_WEIGHTS.values()) == 100


@pytest.mark.parametrize("case_id", POSITIVE)
def test_an_unchanged_tree_fails_every_positive(case_id):
    result = score(case_id, untouched(case_id))

    assert (result.passed, result.score) == (False, 0.0)
    assert "target_still_vulnerable" in result.failure_modes


@pytest.mark.parametrize("case_id", NEGATIVE)
def test_an_unchanged_tree_passes_every_negative(case_id):
    silent = score(case_id, untouched(case_id, status="whatever"))
    honest = score(case_id, solved(case_id))

    assert silent.passed
    assert silent.score == pytest.approx(0.9)
    assert silent.failure_modes == ("no_fix_unsaid",)
    assert (honest.passed, honest.score, honest.failure_modes) == (True, 1.0, ())


@pytest.mark.parametrize(
    ("case_id", "status"), [(NO_FIX, "not-affected"), (ALIAS, "no-fix"), (BACKPORT, "no-fix")]
)
def test_no_fix_and_not_affected_are_two_things(case_id, status):
    result = score(case_id, untouched(case_id, status=status))

    assert (result.passed, result.breakdown["says_so"]) == (True, 0.0)


def test_repairing_what_only_looks_vulnerable_fails():
    renamed = score(ALIAS, dict(SYSTEMS["blind-override"](load(ALIAS))))
    bumped = untouched(BACKPORT, status="not-affected")
    bumped.take(BACKPORT, "node_modules/axios", "axios", "0.28.1")

    assert (renamed.passed, renamed.score) == (False, 0.0)
    assert score(BACKPORT, bumped).failure_modes == ("tree_changed",)


def test_a_changed_tree_fails_a_negative_whatever_it_says():
    edited = untouched(NO_FIX, status="no-fix")
    edited.direct("ip", None)
    del edited.packages["node_modules/ip"]

    result = score(NO_FIX, edited)

    assert (result.passed, result.score) == (False, 0.0)
    assert "tree_changed" in result.failure_modes


def test_layout_of_the_text_is_no_change():
    result = score(NO_FIX, untouched(NO_FIX, status="no-fix"))  # written without indentation

    assert result.breakdown["unchanged"] == 1.0


@pytest.mark.parametrize("case_id", POSITIVE)
def test_a_perfect_fix_scores_exactly_one(case_id):
    result = score(case_id, solved(case_id))

    assert result.passed
    assert result.score == 1.0
    assert set(result.breakdown.values()) == {1.0}
    assert result.failure_modes == ()
    assert result.safety_penalty == 0.0


def test_what_a_positive_says_about_itself_counts_for_nothing():
    humble, boastful = solved(LODASH), untouched(LODASH)
    humble.status = "no-fix"
    boastful.status = "fixed"

    assert score(LODASH, humble).score == 1.0
    assert score(LODASH, boastful).score == 0.0


def test_a_second_best_kind_of_fix_earns_its_credit():
    scoped = untouched(SEMVER)
    scoped.manifest["overrides"] = {"simple-update-notifier": {"semver": "7.5.4"}}
    scoped.take(
        SEMVER, "node_modules/simple-update-notifier/node_modules/semver", "semver", "7.5.4"
    )
    for name, version in (("lru-cache", "6.0.0"), ("yallist", "4.0.0")):
        scoped.take(SEMVER, f"node_modules/{name}", name, version)
        scoped.packages[f"node_modules/{name}"]["dev"] = True

    result = score(SEMVER, scoped)

    assert result.passed
    assert result.breakdown["fix_class"] == 0.5
    assert result.breakdown["no_needless_override"] == 1.0
    assert result.breakdown["edges_in_range"] == 0.0


def test_a_global_override_that_drags_another_parent_down():
    result = score(COOKIE, dict(SYSTEMS["blind-override"](load(COOKIE))))

    assert {"no_downgrade", "edges_in_range", "no_needless_override"} <= lacking(result)
    assert result.safety_penalty == PENALTIES["downgrade"]


def test_an_advisory_that_was_there_before_is_not_new():
    result = score(AXIOS, solved(AXIOS))  # CVE-2023-45857 hits 0.21.1 and 0.21.2 alike

    assert result.breakdown["no_new_advisory"] == 1.0


@pytest.mark.parametrize("case_id", [LODASH, ANSI, WS, BRACES])
def test_a_needless_override(case_id):
    result = score(case_id, dict(SYSTEMS["blind-override"](load(case_id))))

    assert result.breakdown["target_dropped"] == result.breakdown["lock_consistent"] == 1.0
    assert not result.passed  # the target is gone, but a reviewer would send it back
    assert "override_needless" in result.failure_modes
    assert result.breakdown["fix_class"] == 0.0
    assert result.score <= 0.76


@pytest.mark.parametrize("case_id", CASES)
def test_the_same_output_gets_the_same_score(case_id):
    made = solved(case_id).files()

    assert VulnRemediationRubric().score(load(case_id), made) == VulnRemediationRubric().score(
        load(case_id), made
    )


def test_the_rubric_refuses_a_case_without_expectations():
    blind = load(LODASH).model_copy(update={"expected_path": None})

    with pytest.raises(ValueError, match="expected/"):
        VulnRemediationRubric().score(blind, {})
