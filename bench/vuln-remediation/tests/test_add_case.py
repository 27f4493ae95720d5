# mypy: allow-untyped-defs, allow-untyped-calls
"""Curating: both forms of a record give the same facts, proposals those of the cases; only the pinned npm records."""

import argparse
import json
import shutil

import pytest
from _benchgate_bench.vuln_remediation.expected import read_expected
from _benchgate_bench.vuln_remediation.lockfile import package_name
from _benchgate_bench.vuln_remediation.metadata import Registry
from _benchgate_bench.vuln_remediation.project import read_input, read_output
from _benchgate_bench.vuln_remediation.systems.npm_audit_fix import RECORDED
from _benchgate_bench.vuln_remediation.tests.support import (
    CARELESS,
    CASES,
    CLASS,
    COOKIE,
    LODASH,
    SYSTEMS,
    TWO,
    expected_folder,
    few,
    load,
    required_npm,
    score_of,
    solved,
)
from _benchgate_bench.vuln_remediation.tools import add_case, cassettes, npm, registry
from _benchgate_bench.vuln_remediation.tools.freeze import freeze, render, unresolved
from _benchgate_bench.vuln_remediation.tools.propose import propose
from _benchgate_bench.vuln_remediation.tools.records import RecordError, facts_of, read_record

from benchgate.testing import load_cases

RECORDS = CLASS / "tools" / "records"
RECENT = [
    case_id
    for case_id in CASES
    if case_id >= TWO and load(case_id).facts["fix_class"] != "direct-replaced"
]
"""A person says what may replace a dependency; nothing proposes it."""

ANSWERED = ("049", "055", "056")
"""Cases that were made with npm's answer, which changes more than ladder's: their bounds are wider."""


def written(tmp_path, held):
    path = tmp_path / "record.json"
    path.write_text(json.dumps(held))
    return path


GITHUB = {
    "ghsa_id": "GHSA-aaaa-aaaa-aaaa", "cve_id": "CVE-2024-0001", "published_at": "2024-10-04T20:31:00Z",
    "updated_at": "2024-10-05T20:31:00Z", "severity": "medium", "cwes": [{"cwe_id": "CWE-74"}], "cvss": None,
}  # fmt: skip
PACKAGE = {"ecosystem": "npm", "name": "a"}


def by_github(tmp_path, text, **fields):
    """Return the facts of a record of GitHub's about one range."""
    listed = [{"package": fields.pop("package", PACKAGE), "vulnerable_version_range": text}]
    return facts_of(read_record(written(tmp_path, {**GITHUB, "vulnerabilities": listed, **fields})))


def test_both_forms_of_a_record_give_the_same_facts(tmp_path):
    facts = facts_of(read_record(RECORDS / "GHSA-35jh-r3h4-6jhm.json"))
    github = {
        "ghsa_id": facts["ghsa"], "cve_id": facts["cve"], "updated_at": facts["source"]["modified"] + "T10:00:00Z",
        "severity": "high", "cwes": [{"cwe_id": cwe} for cwe in facts["cwe"]],
        "cvss": {"score": 7.2, "vector_string": "CVSS:3.1/AV:N"}, "package": {"ecosystem": "npm", "name": "lodash"},
        "source": {key: facts["source"][key] for key in ("repo", "path", "commit", "licence")},
    }  # fmt: skip

    assert by_github(tmp_path, "< 4.17.21", **github) == {**facts, "note": ""}


@pytest.mark.parametrize(
    ("text", "range_"),
    [
        (">= 1.0.0, < 1.2.6", ">=1.0.0 <1.2.6"),
        ("<= 2.0.1", "<=2.0.1"),
        ("= 1.0.0", ">=1.0.0 <=1.0.0"),
        (">= 5.0.0-alpha.1, < 5.0.0-beta.3", ">=5.0.0-alpha.1 <5.0.0-beta.3"),
        (">= 0", "*"),
    ],
)
def test_ranges_as_github_writes_them(tmp_path, text, range_):
    facts = by_github(tmp_path, text)

    assert (facts["vulnerable_range"], facts["severity"]) == (range_, "MODERATE")


def test_a_record_of_several_packages_needs_a_choice():
    record = read_record(RECORDS / "GHSA-67hx-6x53-jw92.json")

    with pytest.raises(RecordError, match=r"@babel/traverse, babel-traverse: choose one"):
        facts_of(record)
    assert facts_of(record, ["babel-traverse"])["vulnerable_range"] == "*"
    with pytest.raises(RecordError, match="choose one"):
        facts_of(record, ["nobody"])
    assert facts_of({**record, "aliases": []}, ["@babel/traverse"])["cve"] == ""


def test_records_as_they_are_published_need_nothing_of_this_bench(tmp_path):
    events = [{"introduced": "0"}, {"fixed": "1.2.0"}]
    osv = {
        "schema_version": "1.4.0", "id": "GHSA-aaaa-aaaa-aaaa", "modified": "2024-10-05T20:31:00Z",
        "published": "2024-10-04T20:31:00Z", "aliases": ["CVE-2024-0001"], "details": "text", "severity": [],
        "affected": [{"package": PACKAGE, "ranges": [{"type": "ECOSYSTEM", "events": events}]}],
        "database_specific": {"cwe_ids": ["CWE-74"], "severity": "LOW", "github_reviewed": True},
    }  # fmt: skip
    found = facts_of(read_record(written(tmp_path, osv)))

    assert found == by_github(tmp_path, "< 1.2.0", severity="low")
    assert found["source"] == {
        "path": "advisories/github-reviewed/2024/10/GHSA-aaaa-aaaa-aaaa/GHSA-aaaa-aaaa-aaaa.json",
        "repo": "github/advisory-database", "licence": "CC-BY-4.0", "modified": "2024-10-05",
    }  # fmt: skip
    assert "details" not in read_record(written(tmp_path, osv))
    for broken in ({}, {"id": "x"}, {**osv, "affected": None}):
        with pytest.raises(RecordError, match="no record of OSV or GitHub"):
            read_record(written(tmp_path, broken))


@pytest.mark.parametrize("case_id", RECENT)
def test_a_case_that_is_proposed_again_is_the_same(case_id):
    case = load(case_id)
    given = read_input(case.input_path)
    expected = json.loads((expected_folder(case_id) / "expected.json").read_text())
    targets = [expected["target"], *expected.get("also", [])]
    made = solved(case_id).files()
    npm_made = json.loads(case.cassettes["npm-audit-fix"].path.read_bytes())["files"]

    registry = Registry.load(case.input_path / "registry.json")
    answers = (read_output(made, given), made["status"]), read_output({"files": npm_made}, given)
    found = propose(given, *answers, targets, registry)

    bounds = {key: expected.get(key, {}) for key in found.expected}
    if case_id[:3] in ANSWERED:
        assert all(one in bounds[key] for key in bounds for one in found.expected[key])
    else:
        assert found.expected == bounds
    assert found.fix_class == case.facts["fix_class"]
    assert found.disposition == case.disposition
    assert found.parent_chain == list(case.facts["parent_chain"])


@pytest.mark.parametrize("case_id", [LODASH, TWO])
def test_metadata_that_was_frozen_can_be_frozen_again(case_id):
    folder = load(case_id).input_path
    project = read_input(folder)
    metadata = add_case.read_metadata(folder / "registry.json")
    expected = read_expected(expected_folder(case_id))
    held = json.loads((folder / "registry.json").read_text())["packages"]

    again = freeze(metadata, project.lock, {one.package for one in expected.targets}, {})

    # What only a prerelease that was left out could bring in is not there the second time.
    assert again.keys() <= held.keys()
    assert all(
        held[name]["versions"][version] == entry
        for name, one in again.items()
        for version, entry in one["versions"].items()
    )
    assert {package_name(*one) for one in project.packages.items() if one[0]} <= again.keys()


@pytest.mark.parametrize("case_id", few(CASES))
def test_no_system_without_care_passes_on_what_was_frozen_if_it_does_not_on_all_there_is(
    tmp_path, case_id
):
    """A registry of the right versions alone would be solved by whoever takes any."""
    case = load(case_id)
    metadata = add_case.read_metadata(case.input_path / "registry.json")
    lock = dict(read_input(case.input_path).lock)
    frozen = add_case.frozen_for(lock, named_in(case), metadata)
    shutil.copytree(case.input_path, tmp_path / "input")
    (tmp_path / "input" / "registry.json").write_text(render(frozen))
    small = case.model_copy(update={"input_path": tmp_path / "input"})

    assert sum(len(one["versions"]) for one in frozen.values()) <= sum(
        len(one["versions"]) for one in metadata.values()
    )
    for name, system in {**CARELESS, "blind-override": SYSTEMS["blind-override"]}.items():
        if score_of(small, system(small)).passed:
            assert score_of(case, system(case)).passed, name


@pytest.mark.parametrize(
    ("entry", "lacking"),
    [
        ({}, []),
        ({"dependencies": {"b": "^1.0.0", "other": "npm:b@1"}}, []),
        ({"dependencies": {"b": "^2.0.0"}}, ["b@^2.0.0"]),
        ({"dependencies": {"c": "*"}}, ["c@*"]),
        ({"dependencies": {"b": "npm:c@1"}}, ["c@1"]),
        ({"peerDependencies": {"c": "*"}}, ["c@*"]),
        ({"peerDependencies": {"c": "*"}, "peerDependenciesMeta": {"c": {"optional": True}}}, []),
        ({"optionalDependencies": {"c": "*"}}, ["c@*"]),
    ],
)
def test_what_npm_needs_of_a_version_is_offered_too(entry, lacking):
    packages = {"a": {"versions": {"1.0.0": entry}}, "b": {"versions": {"1.0.0": {}}}}

    assert unresolved(packages) == [("a", "1.0.0", asked) for asked in lacking]


def test_a_case_whose_locked_versions_cannot_be_resolved_is_refused(tmp_path):
    case = load(LODASH)
    held = json.loads((case.input_path / "registry.json").read_text())
    del held["packages"]["ms"]
    metadata = tmp_path / "metadata.json"
    metadata.write_text(json.dumps(held))
    options = argparse.Namespace(project=case.input_path, metadata=metadata, tests=None, joining=[])

    with pytest.raises(RecordError, match=r"what is locked: debug 4\.3\.4 needs ms@2\.1\.2"):
        add_case._write_input(tmp_path / "input", options, named_in(case))


def named_in(case):
    """Return what the advisories of a case name."""
    advisory = json.loads((case.input_path / "advisory.json").read_text())
    return [advisory, *advisory.get("also", [])]


@pytest.fixture
def add_again(tmp_path, monkeypatch):
    """Return a function that adds a case once more, to a class of its own, and returns it."""
    found = required_npm()
    if (found.version, found.node) != RECORDED[1:]:
        pytest.skip("another npm than the recorded one")
    made, advisories = tmp_path / CLASS.name, tmp_path / "advisories.json"
    shutil.copy(cassettes.ADVISORIES, advisories)
    monkeypatch.setattr(add_case, "RECORDS", tmp_path / "records")
    monkeypatch.setattr(cassettes, "ADVISORIES", advisories)
    for module in (add_case, cassettes, registry):
        monkeypatch.setattr(module, "CLASS", made)

    def add(case_id, difficulty):
        case = load(case_id)
        options = argparse.Namespace(
            case="900-again", record=[RECORDS / f"{case.facts['ghsa']}.json"], project=case.input_path,
            metadata=case.input_path / "registry.json", answer=None, no_fix=[], package=None, cluster=None,
            held_out=False, critical=False, tag=[], note=None, difficulty=difficulty, tests=None, leaving=[],
            joining=[],
        )  # fmt: skip
        assert add_case.add(options) == 0
        (added,) = load_cases(made).values()
        return added

    return add


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case_id", "marked", "passes"),
    [(LODASH, "easy", "install-latest, npm audit fix --force"), (COOKIE, "hard", "nobody")],
)
def test_a_case_that_force_solves_is_easy_whatever_was_said(
    add_again, capsys, case_id, marked, passes
):
    added = add_again(case_id, "hard")

    assert added.difficulty == marked
    assert set(added.cassettes) == {"npm-audit-fix"}
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith(f"{added.case_id}: {marked}, ")
    assert said[1] == f"passed without care by: {passes}"


def test_another_npm_than_the_recorded_is_refused(monkeypatch, capsys):
    class Other:
        version, node = "0.0.1", "1.0.0"

    monkeypatch.setattr(npm.Npm, "find", classmethod(lambda _cls: Other()))

    assert add_case.add(argparse.Namespace()) == 2  # before anything is looked at
    said = "needs npm 11.17.0 on Node.js 24.19.0, found npm 0.0.1 on Node.js 1.0.0"
    assert said in capsys.readouterr().err
