"""Why results of one plan are none of another: each field that a rule names is told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchgate.artifacts.trial_kinds import PlanDigests, PlanFile
from benchgate.cassettes.manifest import CassetteManifest
from benchgate.errors import PlanChanged
from benchgate.results.rules import (
    DIGESTS,
    EXTEND,
    FIELDS,
    MERGE,
    RENEW,
    REPLAY,
    RESUME,
    TAKEN,
)

OTHER = "e" * 64
NO_MATTER = {"schema_version", "report_kind", "started_at", "resumes", "shard"}
"""Fields of a plan on which no result depends: when it began, what it completes, which part of a run it is."""


@pytest.fixture
def plan(echo):
    return PlanFile.read_json((echo.run().published.folder / "plan.json").read_bytes())


@pytest.mark.parametrize(
    ("field", "other", "line"),
    [
        ("benchgate", "9.9", "benchgate was '0.1.0', is '9.9'"),
        ("system", "loud", "system was "),
        ("trial_count", 3, "trial_count was 1, is 3"),
        ("seed", 7, "seed was 0, is 7"),
        ("timeout_seconds", 9.0, "timeout_seconds was 600.0, is 9.0"),
        ("isolation_class", "sealed", "isolation_class was "),
        ("baseline_system", "old", "baseline_system was None, is 'old'"),
        ("case_ids", ("01", "02", "03", "07"), "new cases: 07"),
        ("case_ids", ("01", "03"), "cases that are gone: 02"),
        ("started_at", None, ""),
        ("resumes", None, ""),
    ],
)
def test_a_change_is_named(plan, field, other, line):
    """When a run began, and what it completes, is no change."""
    changes = list(RESUME.differences(plan, plan.model_copy(update={field: other})))
    assert len(changes) == bool(line)
    assert all(change.startswith(line) for change in changes)


@pytest.mark.parametrize(
    "name", ["rubric", "taxonomy", "system", "policy", "baseline", "checkpoint"]
)
def test_the_digest_of_anything_else_is_named(plan, name):
    now = with_digests(plan, **{name: OTHER})
    before = str(getattr(plan.digests, name))[:12]
    (change,) = RESUME.differences(plan, now)
    assert change.startswith(f"digest of the {name} was {before}, is {OTHER[:12]}")
    assert ('test = "welch"' in change) is (name == "policy")  # what the default once was


def with_digests(plan, **digests):
    return plan.model_copy(update={"digests": plan.digests.model_copy(update=digests)})


def test_cases_that_changed_or_cannot_be_read_any_more_are_named(plan):
    cases = plan.digests.cases
    now = with_digests(plan, cases={"01": cases["01"], "02": OTHER})
    unreadable = "cases that cannot be read any more: 03"
    assert list(RESUME.differences(plan, now)) == [unreadable, "cases that changed: 02"]
    gone = with_digests(plan, cases={name: cases[name] for name in ("01", "02")})
    assert list(RESUME.differences(plan, gone)) == [unreadable]
    # What could not be read before was not run, so that nothing depends on what it was.
    assert not list(RESUME.differences(now, with_digests(plan, cases=cases | {"02": OTHER})))


def test_each_field_of_a_plan_is_compared_or_does_not_matter():
    """Else results of another plan would be taken over once a field comes that nobody thought of."""
    assert {*FIELDS} & {*PlanFile.model_fields} == (
        {*PlanFile.model_fields} - NO_MATTER - {"case_ids", "digests"}
    )
    assert {*DIGESTS} == {*PlanDigests.model_fields} - {"cases", "scorer"}


def cases_of(plan, *case_ids, **others):
    """The plan with these cases; others are changed or new."""
    digests = {name: plan.digests.cases[name] for name in case_ids} | others
    now = plan.model_copy(update={"case_ids": tuple(digests)})
    return with_digests(now, cases=digests)


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        (RESUME, ["new cases: 09", "cases that are gone: 03", "cases that changed: 02"]),
        (EXTEND, ["cases that changed: 02"]),
        (MERGE, ["cases that are gone: 03", "cases that changed: 02"]),
        (REPLAY, ["new cases: 09", "cases that changed: 02"]),
        (RENEW, []),
    ],
)
def test_which_cases_may_differ_depends_on_the_rule(plan, rule, told):
    now = cases_of(plan, "01", **{"02": OTHER, "09": OTHER})
    assert list(rule.differences(plan, now)) == told


def test_an_extension_may_be_judged_by_another_policy_and_version(plan):
    now = with_digests(plan, policy=OTHER, baseline=OTHER)
    now = now.model_copy(update={"benchgate": "9.9", "baseline_system": "old"})
    assert not list(EXTEND.differences(plan, now))
    assert list(EXTEND.differences(plan, with_digests(plan, rubric=OTHER)))


def test_a_recording_needs_its_seed_and_as_many_trials(echo, plan):
    report = echo.run(trials=2).judgement.report
    two = CassetteManifest.of_run(report, {})
    one = two.model_copy(update={"trial_count": 1})
    assert not list(REPLAY.differences(two, one))
    told = "each case has 1 trial, and 2 are asked for"
    assert list(REPLAY.differences(one, two)) == [told]
    other = two.model_copy(update={"system": "loud", "system_digest": "v2"})
    assert not list(REPLAY.differences(two, other))  # whoever asked for a system is told apart
    assert list(RENEW.differences(two, other)) == [
        "system was 'Echo.agent', is 'loud'",
        "digest of the system was None, is v2",
    ]


def test_what_differs_is_said_with_what_cannot_be_done(tmp_path, plan):
    with pytest.raises(PlanChanged, match="cannot be merged; this has changed since:\n  seed was"):
        MERGE.check(tmp_path, plan, plan.model_copy(update={"seed": 7}))


def test_to_take_less_of_what_failed_is_a_second_chance():
    order = list(TAKEN)
    for passed in order:
        for failed in order:
            rule = replace(REPLAY, passed=passed, failed=failed)
            assert rule.is_second_chance == (order.index(failed) < order.index(passed))
            assert rule.asks_system == ("nothing" in {passed, failed})
