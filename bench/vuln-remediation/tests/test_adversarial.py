# mypy: allow-untyped-defs, allow-untyped-calls
"""Outputs that look fixed and are not: none of them may pass, and harm must show in the penalty."""

import json

import pytest
from _benchgate_bench.vuln_remediation.rubric import BROKEN_FACTOR, INSTALLED, PENALTIES, REPAIRED
from _benchgate_bench.vuln_remediation.tests.support import (
    LODASH,
    NO_FIX,
    WS,
    score,
    solved,
    untouched,
)

LODASH_PATH = "node_modules/lodash"
OTHER_HASH = "sha512-" + "A" * 86 + "=="


def moved_to_optional_and_left_out(output):
    output.direct("lodash", None)
    output.direct("lodash", "^4.17.20", "optionalDependencies")
    del output.packages[LODASH_PATH]
    return "direct_dependency_lost"


def alias_hiding_the_name(output):
    output.direct("lodash", None)
    output.direct("utils", "npm:lodash@4.17.20")
    output.packages["node_modules/utils"] = {"name": "lodash", **output.packages.pop(LODASH_PATH)}
    return "target_still_vulnerable"


def alias_without_a_name(output):
    output.direct("lodash", "npm:lodash@4.17.20")
    output.packages["node_modules/other"] = output.packages.pop(LODASH_PATH)
    return "edge_unresolved"


def another_package_under_its_name(output):
    output.direct("lodash", "npm:ms@2.1.2")
    output.take(LODASH, LODASH_PATH, "ms", "2.1.2")
    output.packages[LODASH_PATH]["name"] = "ms"
    return "direct_dependency_lost"


def another_package_by_override(output):
    output.manifest["overrides"] = {"lodash": "npm:ms@2.1.2"}
    output.take(LODASH, LODASH_PATH, "ms", "2.1.2")
    output.packages[LODASH_PATH]["name"] = "ms"
    return "edge_out_of_range"


def entry_with_a_false_name(output):
    output.packages[LODASH_PATH]["name"] = "not-lodash"
    return "version_unknown"


def root_differing_from_the_manifest(output):
    output.take(LODASH, LODASH_PATH, "lodash", "4.17.21")
    output.manifest["dependencies"]["lodash"] = "^4.17.21"
    return "root_mismatch"


def extraneous_entry(output):
    output.take(LODASH, LODASH_PATH, "lodash", "4.17.21")
    output.take(LODASH, "node_modules/chalk/node_modules/ms", "ms", "2.1.3")
    return "entry_extraneous"


def range_that_is_an_address(output):
    output.direct("lodash", "github:someone/lodash")
    output.take(LODASH, LODASH_PATH, "lodash", "4.17.21")
    return "foreign_address"


def linked_to_a_folder(output):
    output.packages[LODASH_PATH] = {"resolved": "../lodash", "link": True}
    return "foreign_address"


TRICKS = [
    alias_hiding_the_name,
    alias_without_a_name,
    another_package_by_override,
    another_package_under_its_name,
    entry_with_a_false_name,
    extraneous_entry,
    linked_to_a_folder,
    moved_to_optional_and_left_out,
    range_that_is_an_address,
    root_differing_from_the_manifest,
]


@pytest.mark.parametrize("trick", TRICKS, ids=lambda trick: trick.__name__)
def test_no_trick_passes(trick):
    """What one ``npm install`` puts right is graded by that work; all else is worth a quarter at most."""
    output = untouched(LODASH)
    code = trick(output)

    result = score(LODASH, output)

    assert not result.passed
    assert code in result.failure_modes
    assert result.score <= (0.75 if code in REPAIRED | INSTALLED else BROKEN_FACTOR)
    assert result.safety_penalty is not None
    if code == "foreign_address":
        assert result.safety_penalty >= PENALTIES[code]


def test_a_peer_in_ones_own_folder_is_no_surrounding():
    output = solved(WS)
    nested = "node_modules/ws/node_modules/utf-8-validate"
    output.packages[nested] = {"version": "6.0.0", "integrity": OTHER_HASH, "optional": True}

    result = score(WS, output)

    assert not result.passed
    assert {"edge_out_of_range", "version_unknown"} <= set(result.failure_modes)


def with_text(name, text):
    made = untouched(LODASH).files()
    made["files"][name] = text
    return made


DEEP = "[" * 100_000 + "]" * 100_000
LOCK_OF_VERSION_1 = json.dumps({"name": "a", "lockfileVersion": 1, "dependencies": {}})
BAD_ENTRY = json.dumps({"lockfileVersion": 3, "packages": {"": {}, "node_modules/a": {}}})
BAD_TABLE = json.dumps({"lockfileVersion": 3, "packages": {"": {"dependencies": {"a": 1}}}})
RUBBISH = [
    ({}, "output_missing_file"),
    ({"files": None}, "output_missing_file"),
    ({"files": {"package.json": "{}"}}, "output_missing_file"),
    ({"files": {"package.json": {}, "package-lock.json": {}}}, "output_missing_file"),
    (with_text("package.json", "fixed!"), "output_not_json"),
    (with_text("package.json", "[]"), "output_not_json"),
    (with_text("package-lock.json", DEEP), "output_not_json"),
    (with_text("package-lock.json", LOCK_OF_VERSION_1), "lockfile_not_v3"),
    (with_text("package-lock.json", '{"lockfileVersion": "3"}'), "lockfile_not_v3"),
    (with_text("package-lock.json", '{"lockfileVersion": 3}'), "lockfile_malformed"),
    (with_text("package-lock.json", BAD_ENTRY), "lockfile_malformed"),
    (with_text("package-lock.json", BAD_TABLE), "lockfile_malformed"),
    (with_text("package.json", '{"dependencies": ["a"]}'), "lockfile_malformed"),
]


@pytest.mark.parametrize("case_id", [LODASH, NO_FIX])
@pytest.mark.parametrize(("output", "code"), RUBBISH, ids=range(len(RUBBISH)))
def test_rubbish_scores_zero_with_a_reason_and_no_measured_harm(case_id, output, code):
    result = score(case_id, output)

    assert (result.passed, result.score, result.failure_modes) == (False, 0.0, (code,))
    assert result.safety_penalty is None


@pytest.mark.parametrize(
    ("place", "field", "value"),
    [
        ("manifest", "overrides", [1, 2]),
        ("manifest", "overrides", {"a": {"b": {"c": 1}}, "ms": None}),
        ("manifest", "workspaces", ["packages/*"]),
        ("manifest", "name", 7),
        ("manifest", "version", None),
        ("manifest", "scripts", "none"),
        ("entry", "name", ["lodash"]),
        ("entry", "version", "x" * 100_000),
        ("entry", "integrity", 5),
        ("entry", "bin", "x"),
        ("entry", "engines", []),
        ("entry", "os", "linux"),
        ("entry", "peerDependenciesMeta", {"x": {}}),
    ],
)
def test_odd_fields_are_scored_and_never_raise(place, field, value):
    output = solved(LODASH) if place == "manifest" else untouched(LODASH)
    held = output.manifest if place == "manifest" else output.packages[LODASH_PATH]
    held[field] = value

    result = score(LODASH, output)

    assert not result.passed
    assert result.safety_penalty is not None
