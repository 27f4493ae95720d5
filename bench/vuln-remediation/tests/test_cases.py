# mypy: allow-untyped-defs, allow-untyped-calls
"""The shipped cases themselves: complete, dated, attributed, without an address, and as hard as they say."""

import json
import re

import pytest
import tomli
from _benchgate_bench.vuln_remediation import changes, rubric
from _benchgate_bench.vuln_remediation.consistency import lock_problems
from _benchgate_bench.vuln_remediation.expected import read_expected
from _benchgate_bench.vuln_remediation.lockfile import vulnerable
from _benchgate_bench.vuln_remediation.metadata import Registry
from _benchgate_bench.vuln_remediation.project import read_input
from _benchgate_bench.vuln_remediation.semver import satisfies
from _benchgate_bench.vuln_remediation.tests.support import (
    ALIAS,
    BACKPORT,
    CASES,
    CLASS,
    expected_folder,
    load,
)
from _benchgate_bench.vuln_remediation.tools.freeze import unresolved
from _benchgate_bench.vuln_remediation.tools.propose import NAMES
from _benchgate_bench.vuln_remediation.tools.records import facts_of, read_record

RESERVED = {
    "rubric_error", "invalid_rl_payload", "input_modified", "unknown_failure_mode", "harness_error", "timeout",
}  # fmt: skip


def taxonomy():
    return tomli.loads((CLASS / "failure_modes.toml").read_text())["failure_modes"]


def addresses(value, key=""):
    """Yield every ``resolved`` and string with a scheme, but of licences, of funding, and of workspaces."""
    if isinstance(value, dict):
        inside = value.get("link") and str(value.get("resolved")).startswith("packages/")
        skipped = {"funding", "deprecated", "license"} | ({"resolved"} if inside else set())
        for name in value.keys() - skipped:
            yield from addresses(value[name], name)
    elif isinstance(value, list):
        for held in value:
            yield from addresses(held, key)
    elif isinstance(value, str) and value.startswith("{"):
        yield from addresses(json.loads(value))  # a file in a cassette
    elif key == "resolved" or re.search(r"://|^(git|github|file|link):", str(value)):
        yield key, value


def test_no_file_names_a_download_address():
    for path in sorted((CLASS / "cases").rglob("*.json")):
        assert list(addresses(json.loads(path.read_text(encoding="utf-8")))) == [], path


@pytest.mark.parametrize("case_id", CASES)
def test_the_folder_is_the_id_and_has_only_what_it_may(case_id):
    folder = CLASS / "cases" / case_id

    assert load(case_id).case_id == case_id
    assert re.fullmatch(r"\d{3}-cve-\d{4}-\d{4,}-[a-z0-9-]+", case_id)
    assert not re.search(r"-t\d+$", case_id)
    names = {"case.toml", "input", "expected", "cassettes"}
    assert {path.name for path in folder.iterdir()} == names


@pytest.mark.parametrize("case_id", CASES)
def test_the_input_is_whole_and_hit_by_its_advisory_or_known_not_to_be(case_id):
    case = load(case_id)
    project = read_input(case.input_path)
    advisory = json.loads((case.input_path / "advisory.json").read_text())
    target = read_expected(expected_folder(case_id)).target

    registry = Registry.load(case.input_path / "registry.json")
    if not {"own-pin", "peers", "real-lock"} & set(case.tags):
        assert lock_problems(project, registry) == ()
        assert changes.broken_ranges(project) == set()
    for one in read_expected(expected_folder(case_id)).targets:
        hit = vulnerable(project.packages, one.package, one.vulnerable_range)
        assert bool(hit) is (case.facts["fix_class"] != "not-affected")
    for field in ("ghsa", "package", "vulnerable_range"):
        assert advisory[field] == case.facts[field] == getattr(target, field)
    told, fields = read_expected(expected_folder(case_id)), ("ghsa", "package", "vulnerable_range")
    also = [{key: one[key] for key in fields} for one in advisory.get("also", [])]
    assert also == [one.model_dump() for one in (*told.also, *told.no_fix)]


@pytest.mark.parametrize("case_id", CASES)
def test_every_version_that_is_offered_can_be_resolved(case_id):
    """Else npm ends with ETARGET, or an answer by the real registry has a version that the rubric does not know."""
    registry = Registry.load(load(case_id).input_path / "registry.json")

    assert unresolved(registry.packages) == []


@pytest.mark.parametrize("case_id", CASES)
def test_expectations_are_bounds_within_the_project(case_id):
    case = load(case_id)
    expected = read_expected(expected_folder(case_id))
    project = read_input(case.input_path)
    known = Registry.load(case.input_path / "registry.json").packages.keys()

    assert expected.spec_edits_allowed <= project.direct.keys()
    assert expected.majors_allowed <= expected.spec_edits_allowed
    assert expected.may_change <= known
    assert expected.sentinels.items() <= changes.direct_versions(project).items()
    assert bool(expected.fix_classes) is (case.disposition == "positive")
    assert max(expected.fix_classes.values(), default=1.0) == 1.0


def test_every_fix_class_is_there_and_what_is_held_out_is_spread_over_them():
    held = [case_id for case_id in CASES if load(case_id).held_out]
    every, classes = (
        {load(case_id).facts["fix_class"] for case_id in chosen} for chosen in (CASES, held)
    )

    others = {
        *("lock-refresh", "lock-refresh-of-parent", "direct-major", "direct-replaced"),
        *("no-fix", "not-affected"),
    }
    assert every == others | {*NAMES.values()}
    assert len(CASES) / 5 < len(held) < len(CASES) / 2
    assert len(classes) >= len(every) - 1
    assert {"positive", "negative"} == {load(case_id).disposition for case_id in held}


def test_cases_of_one_package_are_one_cluster_and_harm_is_critical():
    packages = {load(case_id).cluster: load(case_id).facts["package"] for case_id in CASES}

    assert len(set(packages.values())) == len(packages)
    for case_id in CASES:
        case = load(case_id)
        assert packages[case.cluster] == case.facts["package"]
        severe = case.facts["severity"] == "CRITICAL"
        assert case.critical is (case.disposition == "negative" or severe)


@pytest.mark.parametrize("case_id", CASES)
def test_every_advisory_has_its_record_and_its_facts_follow_from_it(case_id):
    facts = load(case_id).facts
    record = read_record(CLASS / "tools" / "records" / f"{facts['ghsa']}.json")
    found = facts_of(record, facts["package"])

    for key in ("cve", "ghsa", "severity"):
        assert found[key] == facts[key]
    assert found["cwe"] == list(facts["cwe"])
    ranges = (one["vulnerable_range"].split(" || ") for one in (found, facts))
    assert set(next(ranges)) == set(next(ranges))
    assert {*facts["first_patched"]} == {r["fixed"] for r in facts["ranges"] if "fixed" in r}
    assert facts["source"]["licence"] == "CC-BY-4.0"


def test_the_frozen_advisories_are_those_of_the_cases():
    listed = {
        one["url"].rpartition("/")[2]: (name, one["vulnerable_versions"])
        for name, found in json.loads((CLASS / "tools" / "advisories.json").read_text()).items()
        for one in found
    }
    targets = [read_expected(expected_folder(case_id)) for case_id in CASES]
    known = {one.ghsa: one for expected in targets for one in expected.targets}
    others = {one.ghsa: one for expected in targets for one in expected.advisories}

    assert listed == {
        ghsa: (one.package, one.vulnerable_range) for ghsa, one in (known | others).items()
    }


def test_what_only_looks_vulnerable_does_so():
    packages = {one: read_input(load(one).input_path).packages for one in (ALIAS, BACKPORT)}
    alias, facts = packages[ALIAS]["node_modules/lodash"], load(BACKPORT).facts
    advisory = json.loads((load(BACKPORT).input_path / "advisory.json").read_text())
    (wrong,) = advisory["superseded_copies"]

    assert alias["name"] == "lodash.merge"
    assert satisfies(alias["version"], load(ALIAS).facts["vulnerable_range"])
    assert vulnerable(packages[BACKPORT], "axios", wrong["vulnerable_range"])
    assert wrong["modified"] in facts["note"]


def test_the_taxonomy_has_what_the_rubric_can_emit_and_no_more():
    quoted = {
        found
        for name in ("rubric.py", "allowed.py", "consistency.py", "project.py")
        for found in re.findall(r'"([a-z0-9]+(?:_[a-z0-9]+)+)"', (CLASS / name).read_text())
    }
    known = taxonomy()
    axes = {*rubric.WEIGHTS, *rubric.NEGATIVE_WEIGHTS, rubric.TESTS}

    assert set(rubric.PENALTIES) <= known.keys()
    assert known.keys() - quoted - {"downgrade"} == set()
    assert quoted - known.keys() - axes == set()
    assert not RESERVED & known.keys()


def test_only_harm_blocks():
    blocking = {code for code, mode in taxonomy().items() if mode["severity"] == "block"}

    assert blocking == {
        "integrity_missing", "integrity_mismatch", "foreign_address", "advisory_introduced", "code_added",
    }  # fmt: skip
    assert all(set(mode) == {"severity", "description"} for mode in taxonomy().values())
