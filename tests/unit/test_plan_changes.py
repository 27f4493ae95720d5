"""Why results of one plan are none of another: each thing that a plan fixes is named."""

from __future__ import annotations

import pytest

from benchgate.artifacts.plan import plan_changes
from benchgate.artifacts.run_kinds import PlanFile

OTHER = "e" * 64


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
    changes = list(plan_changes(plan, plan.model_copy(update={field: other})))
    assert len(changes) == bool(line)
    assert all(change.startswith(line) for change in changes)


@pytest.mark.parametrize(
    "name", ["rubric", "taxonomy", "system", "policy", "baseline", "checkpoint"]
)
def test_the_digest_of_anything_else_is_named(plan, name):
    now = with_digests(plan, **{name: OTHER})
    before = str(getattr(plan.digests, name))[:12]
    (change,) = plan_changes(plan, now)
    assert change.startswith(f"digest of the {name} was {before}, is {OTHER[:12]}")
    assert ('test = "welch"' in change) is (name == "policy")  # what the default once was


def with_digests(plan, **digests):
    return plan.model_copy(update={"digests": plan.digests.model_copy(update=digests)})


def test_cases_that_changed_or_cannot_be_read_any_more_are_named(plan):
    cases = plan.digests.cases
    now = with_digests(plan, cases={"01": cases["01"], "02": OTHER})
    assert list(plan_changes(plan, now)) == ["cases that changed: 02, 03"]
    gone = with_digests(plan, cases={name: cases[name] for name in ("01", "02")})
    assert list(plan_changes(plan, gone)) == ["cases that changed: 03"]
    # What could not be read before was not run, so that nothing depends on what it was.
    assert not list(plan_changes(now, with_digests(plan, cases=cases | {"02": OTHER})))
