# mypy: allow-untyped-defs, allow-untyped-calls
"""Every number of the rubric, on a project of five packages made for it: what each fault costs, and nothing else."""

import copy

import pytest
from _benchgate_bench.vuln_remediation.rubric import (
    NEGATIVE_WEIGHTS,
    WEIGHTS,
    VulnRemediationRubric,
)
from _benchgate_bench.vuln_remediation.tests.support import LODASH, Output, load, score_made

VERSIONS = {
    "top": {"1.0.0": {"bad": ">=1.0.0 <1.3.0"}, "1.1.0": {"bad": "^1.0.0"}, "2.0.0": {"bad": "^1.1.0"}},
    "bad": {one: {} for one in ("0.9.0", "1.0.0", "1.1.0", "1.2.0", "1.3.0", "2.0.0")},
    "keep": {"1.0.0": {}, "1.1.0": {}},
    "spare": {"1.0.0": {}, "1.1.0": {}},
    "engines": {"1.0.0": {}},
}  # fmt: skip
DECIDING = {
    "target_dropped", "lock_consistent", "project_kept", "no_needless_override", "no_needless_major", "no_downgrade",
    "no_added_direct", "no_new_advisory", "specs_kept",
}  # fmt: skip
REGISTRY = {
    name: {"versions": {
        version: {"integrity": f"sha512-{name}-{version}", "dependencies": asked} for version, asked in versions.items()
    }}
    for name, versions in VERSIONS.items()
}  # fmt: skip
MANIFEST = {
    "name": "p", "version": "1.0.0", "dependencies": {"top": "^1.0.0", "keep": "^1.0.0", "spare": "^1.0.0"},
}  # fmt: skip
EXPECTED = {
    "schema_version": 1,
    "target": {"ghsa": "GHSA-t", "package": "bad", "vulnerable_range": "<1.1.0"},
    "fix_classes": {"lock-refresh": 1.0},
    "may_change": ["bad"],
    **dict.fromkeys(
        ("spec_edits_allowed", "majors_allowed", "overrides_allowed", "range_breaks_allowed"), ()
    ),
    "sentinels": {"keep": "1.0.0"},
    "advisories": [{"ghsa": "GHSA-o", "package": "bad", "vulnerable_range": ">=1.2.0 <1.3.0"}],
}


class Made(Output):
    """An output for the project; ``install`` puts a version at the top of its tree."""

    def install(self, name, version, into="", **odd):
        known = copy.deepcopy(REGISTRY[name]["versions"][version])
        self.packages[f"{into}node_modules/{name}"] = {"version": version, **known, **odd}
        return self

    def asks(self, name, spec):
        self.direct(name, spec)
        return self

    def says(self, **fields):
        self.manifest.update(fields)
        return self


def given():
    packages = {"": copy.deepcopy(MANIFEST)}
    lock = {"name": "p", "version": "1.0.0", "lockfileVersion": 3, "packages": packages}
    made = Made(copy.deepcopy(MANIFEST), lock)
    for name in ("top", "bad", "keep"):
        made.install(name, "1.0.0")
    return made.install("spare", "1.1.0")


def fixed():
    return given().install("bad", "1.1.0")


@pytest.fixture
def scored(tmp_path):
    """Return what scores an output by the case's expectations, edited."""

    def score(made, *, disposition="positive", before=None, **edited):
        told = {"registry": REGISTRY, "expected": {**EXPECTED, **edited}}
        return score_made(tmp_path, before or given(), made, told, disposition=disposition)

    return score


def lacking(result):
    return {axis for axis, value in result.breakdown.items() if value != 1.0} - {"clean"}


OVERRIDDEN = fixed().install("bad", "1.3.0").says(overrides={"top": {"bad": "1.3.0"}})
LOCK_BROKEN = fixed().install("spare", "1.1.0", dependencies={"bad": "^1.0.0"})
SPARE_LOST = fixed().asks("spare", None)
del SPARE_LOST.packages["node_modules/spare"]
MAJOR_MADE = fixed().install("top", "2.0.0").asks("top", "^2.0.0")
DOWNGRADED = fixed().install("spare", "1.0.0")
SENTINEL_RAISED = fixed().install("keep", "1.1.0")
ADDED = fixed().install("engines", "1.0.0").asks("engines", "^1.0.0")
SPEC_EDITED = fixed().asks("spare", "^1.1.0")
FIELD_EDITED = fixed().says(engines={"node": ">=20"})
ADVISED = fixed().install("bad", "1.2.0")


def may(*names):
    return {"may_change": ["bad", *names]}


SCOPED = {"fix_classes": {"scoped-override": 1.0}, "overrides_allowed": ["bad"]}
BREAK = {"range_breaks_allowed": [["top", "bad"]]}
ELSEWHERE = {**SCOPED, **BREAK, "overrides_allowed": ["top"]}
MAJOR = {"fix_classes": {"parent-major": 1.0}, **may("top"), "spec_edits_allowed": ["top"]}
BUMP = {"fix_classes": {"parent-bump": 1.0}}


def test_weights_sum_to_one_hundred():
    assert sum(WEIGHTS.values()) == sum(NEGATIVE_WEIGHTS.values()) == 100


def test_the_rubric_refuses_a_case_without_expectations():
    blind = load(LODASH).model_copy(update={"expected_path": None})

    with pytest.raises(ValueError, match="expected/"):
        VulnRemediationRubric().score(blind, {})


@pytest.mark.parametrize(
    ("made", "edited", "axis", "cost"),
    [
        (fixed(), BUMP, "fix_class", (0.80, "fix_class_unexpected")),
        (LOCK_BROKEN, {}, "lock_consistent", (0.85 * 0.75, "entry_mismatch")),
        (OVERRIDDEN, SCOPED, "edges_in_range", (0.96, "range_broken")),
        (OVERRIDDEN, ELSEWHERE, "no_needless_override", (0.96, "override_needless")),
        (SPARE_LOST, may("spare"), "project_kept", (0.95 / 4, "direct_dependency_lost")),
        (MAJOR_MADE, MAJOR, "no_needless_major", (0.96, "major_needless")),
        (DOWNGRADED, may("spare"), "no_downgrade", (0.97, "downgrade")),
        (SENTINEL_RAISED, may("keep"), "sentinels_kept", (0.97, "sentinel_changed")),
        (ADDED, {**may("engines"), **BUMP}, "no_added_direct", (0.97, "direct_dependency_added")),
        (SPEC_EDITED, BUMP, "specs_kept", (0.97, "manifest_edit_needless")),
        (fixed(), {"may_change": []}, "changes_bounded", (0.98, "change_out_of_bounds")),
        (ADVISED, {}, "no_new_advisory", (0.98, "advisory_introduced")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_fault_alone_costs_its_weight(scored, made, edited, axis, cost):
    points, code = cost
    result = scored(made, **edited)

    assert lacking(result) == {axis}
    assert result.breakdown["clean"] == 0.0
    assert result.score == pytest.approx(points, abs=1e-12)
    assert result.passed is (axis not in DECIDING)
    assert list(result.failure_modes) == [code]


def test_a_field_of_the_manifest_is_not_the_systems_to_edit(scored):
    result = scored(FIELD_EDITED)

    assert lacking(result) == {"specs_kept", "lock_consistent"}
    assert (result.passed, result.safety_penalty) == (False, 0.0)
    assert result.score == pytest.approx((1 - 0.03 - 0.15) * 0.9)
    assert result.failure_modes == ("manifest_edit_needless", "manifest_field_changed")


def test_a_fix_without_a_fault(scored):
    result = scored(fixed())

    assert (result.passed, result.score, result.failure_modes) == (True, 1.0, ())
    assert (result.safety_penalty, result.cost_usd) == (0.0, 0.0)
    assert list(result.breakdown) == [*WEIGHTS, "clean"]
    assert set(result.breakdown.values()) == {1.0}


def test_a_second_best_kind_of_fix_earns_its_share(scored):
    result = scored(fixed(), fix_classes={"lock-refresh": 0.25})

    assert result.score == pytest.approx(0.85)
    assert (result.passed, result.breakdown["clean"]) == (True, 0.0)
    assert result.failure_modes == ("fix_class_unexpected",)


def test_what_is_allowed_costs_nothing(scored):
    assert scored(MAJOR_MADE, **MAJOR, majors_allowed=["top"]).score == 1.0
    assert scored(OVERRIDDEN, **SCOPED, **BREAK).score == 1.0
    assert scored(SPEC_EDITED, **BUMP, spec_edits_allowed=["spare"]).score == 1.0


def test_a_range_that_was_broken_before_is_no_new_break(scored):
    result = scored(fixed().asks("spare", "^2.0.0"), before=given().asks("spare", "^2.0.0"))

    assert lacking(result) == set()


def test_a_field_and_a_dependency_of_one_name_do_not_cancel_out(scored):
    before = given().install("engines", "1.0.0").asks("engines", "^1.0.0")
    after = fixed().install("engines", "1.0.0").asks("engines", "1.0.0")
    after.says(engines={"node": ">=20"})

    result = scored(after, before=before, **BUMP)

    assert lacking(result) == {"specs_kept", "lock_consistent"}
    assert "manifest_field_changed" in result.failure_modes


@pytest.mark.parametrize(
    ("left", "share"),
    [(["0.9.0"], 0.5), (["0.9.0", "1.0.0"], 0.0), (["0.9.0"] * 3, 0.0), ([], 1.0)],
)
def test_the_share_of_instances_that_went_scales_everything(scored, left, share):
    before = given()
    before.direct("bad", "^1.0.0")
    before.install("bad", "1.0.0", into="node_modules/top/")
    after = copy.deepcopy(before)
    homes = ["", "node_modules/top/", "node_modules/spare/"]
    for at, home in enumerate(homes[: max(2, len(left))]):
        after.install("bad", left[at] if at < len(left) else "1.1.0", into=home)

    result = scored(after, before=before)

    assert result.breakdown["target_dropped"] == share
    assert result.passed is (share == 1.0)
    if share == 0.0:
        assert result.score == 0.0


def test_where_nothing_was_hit_nothing_is_left_to_drop(scored):
    result = scored(fixed(), before=fixed())

    assert result.breakdown["target_dropped"] == 1.0
    assert result.failure_modes == ("fix_class_unexpected",)
    assert result.score == pytest.approx(0.8)


def test_an_ambiguous_case_is_scored_as_a_positive_one(scored):
    assert scored(fixed(), disposition="ambiguous") == scored(fixed())


MIRROR = {"resolved": "https://mirror.invalid/a.tgz"}
ADDRESSED = fixed().install("spare", "1.1.0", **MIRROR).install("keep", "1.0.0", **MIRROR)
REHASHED = fixed().install("spare", "1.1.0", integrity="x").install("keep", "1.0.0", integrity="x")
UNHASHED = fixed()
del UNHASHED.packages["node_modules/spare"]["integrity"]
SCRIPTED = fixed().says(scripts={"postinstall": "node ."})


@pytest.mark.parametrize(
    ("made", "penalty", "code"),
    [
        (REHASHED, 1.0, "integrity_mismatch"),
        (UNHASHED, 1.0, "integrity_missing"),
        (ADDRESSED, 1.0, "foreign_address"),
        (ADVISED, 0.5, "advisory_introduced"),
        (SCRIPTED, 1.5, "lifecycle_script_added"),
        (SCRIPTED, 1.5, "code_added"),
        (DOWNGRADED, 0.25, "downgrade"),
        (LOCK_BROKEN, 0.0, "entry_mismatch"),
        (SPARE_LOST, 0.0, "direct_dependency_lost"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_kind_of_harm_is_penalised_once(scored, made, penalty, code):
    result = scored(made)

    assert result.safety_penalty == penalty
    assert result.failure_modes.count(code) == 1


@pytest.mark.parametrize(
    ("hit", "status", "points"),
    [
        (True, "no-fix", 1.0),
        (True, "not-affected", 0.225),
        (False, "not-affected", 1.0),
        (False, "no-fix", 0.225),
        (True, None, 0.9),
        (True, "fixed", 0.9),
        (False, ["not-affected"], 0.9),
    ],
)
def test_a_negative_left_alone(scored, hit, status, points):
    left = given() if hit else fixed()
    left.status = status

    result = scored(left, before=left, disposition="negative")

    honest = points == 1.0
    passed = points >= 0.9
    assert (result.passed, result.score, result.safety_penalty) == (passed, points, 0.0)
    assert dict(result.breakdown) == {"unchanged": 1.0, "says_so": honest, "clean": honest}
    assert result.failure_modes == (() if honest else ("no_fix_unsaid",))


@pytest.mark.parametrize("place", [("manifest",), ("lock",), ("manifest", "lock")])
@pytest.mark.parametrize("status", ["no-fix", "fixed"])
def test_a_negative_that_was_touched_is_worth_nothing(scored, place, status):
    touched = given()
    touched.status = status
    for one in place:
        getattr(touched, one)[{"manifest": "private", "lock": "requires"}[one]] = True

    result = scored(touched, disposition="negative")

    honest = status == "no-fix"
    assert (result.passed, result.score) == (False, 0.0)
    assert dict(result.breakdown) == {"unchanged": 0.0, "says_so": honest, "clean": 0.0}
    said = ("tree_changed",) if honest else ("tree_changed", "no_fix_unsaid")
    edited = ("manifest_field_changed",) if "manifest" in place else ()
    assert result.failure_modes == (*said, *edited)


def test_harm_done_to_a_negative_is_penalised(scored):
    result = scored(ADDRESSED, disposition="negative")

    assert (result.score, result.safety_penalty) == (0.0, 1.0)
    assert result.failure_modes == ("tree_changed", "no_fix_unsaid", "foreign_address")


@pytest.mark.parametrize("private", [1, 1.0])
def test_true_and_one_are_two_things(scored, private):
    before, after = given().says(private=True), given().says(private=private)
    after.status = "no-fix"

    found = scored(after, before=before, disposition="negative").failure_modes
    assert found == ("tree_changed", "manifest_field_changed")
