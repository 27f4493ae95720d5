# mypy: allow-untyped-defs, allow-untyped-calls
"""Recordings of the real npm: intact, made from the current cases, and equal when recorded again."""

import hashlib
import json
import shutil

import pytest
from _benchgate_bench.vuln_remediation.systems.npm_audit_fix import (
    RECORDED,
    SYSTEM,
    CassetteError,
    NpmAuditFix,
)
from _benchgate_bench.vuln_remediation.tests.support import (
    ANSI,
    BACKPORT,
    CASES,
    CLASS,
    LODASH,
    load,
    required_npm,
    score,
)
from _benchgate_bench.vuln_remediation.tools import cassettes

from benchgate.models import Cassette


def body(case_id):
    return load(case_id).cassettes[SYSTEM].path.read_bytes()


def with_cassette(case_id, path, made, sha256=None):
    """Return a case whose cassette is ``made``, named with its own digest or with another."""
    path.write_bytes(made)
    named = Cassette(path=path, sha256=sha256 or hashlib.sha256(made).hexdigest())
    return load(case_id).model_copy(update={"cassettes": {SYSTEM: named}})


@pytest.mark.parametrize("case_id", CASES)
def test_a_cassette_is_whole_and_made_from_the_case(case_id):
    recorded = json.loads(body(case_id))
    given = CLASS / "cases" / case_id / "input"
    advisories = recorded["inputs"].pop("advisories.json")

    assert (recorded["tool"], recorded["version"], recorded["node"]) == RECORDED
    assert recorded["exit_code"] in (0, 1)
    assert recorded["inputs"] == {
        name: hashlib.sha256((given / name).read_bytes()).hexdigest() for name in recorded["inputs"]
    }
    assert advisories == cassettes.advisories_digest(case_id)
    assert {"--omit-lockfile-registry-resolved", "--ignore-scripts"} <= set(recorded["arguments"])
    assert not [part for part in recorded["arguments"] if "/" in part.partition("=")[2][:1]]


@pytest.mark.parametrize("case_id", CASES)
def test_what_is_played_back_is_what_was_recorded(case_id):
    recorded = json.loads(body(case_id))

    made = NpmAuditFix()(load(case_id))

    assert made["files"] == recorded["files"]
    assert made["status"] == ("vulnerable" if recorded["exit_code"] else "fixed")


def test_a_cassette_that_is_not_there(tmp_path):
    bare = load(LODASH).model_copy(update={"cassettes": {}})
    gone = with_cassette(LODASH, tmp_path / "gone.json", body(LODASH))
    (tmp_path / "gone.json").unlink()

    with pytest.raises(CassetteError, match=r"case 001-.*: no \[cassettes.npm-audit-fix\]"):
        NpmAuditFix()(bare)
    with pytest.raises(CassetteError, match="cannot be read: No such file"):
        NpmAuditFix()(gone)


SEALED = load(LODASH).cassettes[SYSTEM].sha256
CHANGED = f"has sha256 .*, case.toml says {SEALED}"


def told(field):
    return json.dumps({**json.loads(body(LODASH)), field: "9.9.9"}).encode()


@pytest.mark.parametrize(
    ("made", "sha256", "said"),
    [
        (body(LODASH).replace(b'"exit_code": 0', b'"exit_code": 1'), SEALED, CHANGED),
        (body(LODASH).replace(b"4.17.2", b"4.17.3"), SEALED, CHANGED),
        (body(LODASH) + b"\n", SEALED, CHANGED),
        (b"", SEALED, CHANGED),
        (body(ANSI), SEALED, CHANGED),
        (body(ANSI), None, "package.json is not the one that was recorded with"),
        *((told(one), None, r"9\.9\.9") for one in ("schema_version", "tool", "version", "node")),
        *((rubbish, None, "") for rubbish in (b"not json", b"[]", b"{}", b'{"files": null}')),
    ],
)
def test_another_cassette_than_the_recorded_is_refused(made, sha256, said, tmp_path):
    case = with_cassette(LODASH, tmp_path / "other.json", made, sha256)

    assert made != body(LODASH)
    with pytest.raises(CassetteError, match=said or None):
        NpmAuditFix()(case)


def test_a_changed_input_needs_a_new_recording(tmp_path):
    shutil.copytree(load(LODASH).input_path, tmp_path / "input")
    with (tmp_path / "input" / "registry.json").open("a") as file:
        file.write("\n")
    moved = load(LODASH).model_copy(update={"input_path": tmp_path / "input"})

    with pytest.raises(CassetteError, match=r"registry.json is not the one"):
        NpmAuditFix()(moved)


def test_storing_a_cassette_leaves_the_rest_of_a_case_alone(tmp_path, monkeypatch):
    shutil.copytree(CLASS / "cases" / LODASH, tmp_path / "cases" / LODASH)
    monkeypatch.setattr(cassettes, "CLASS", tmp_path)
    text = (CLASS / "cases" / LODASH / "case.toml").read_text()

    cassettes.store(LODASH, body(LODASH))
    again = (tmp_path / "cases" / LODASH / "case.toml").read_text()
    cassettes.store(LODASH, b"other")
    other = (tmp_path / "cases" / LODASH / "case.toml").read_text()

    assert again == text
    assert cassettes.without_cassette(other) == cassettes.without_cassette(text)
    assert hashlib.sha256(b"other").hexdigest() in other
    assert load(LODASH).cassettes[SYSTEM].sha256 not in other


LAID_OUT = {
    name: json.dumps(json.loads(text)) for name, text in json.loads(body(LODASH))["files"].items()
}


@pytest.mark.parametrize(
    ("fields", "unlike"),
    [
        ({}, ["layout"]),
        ({"exit_code": 1}, ["exit_code"]),
        ({"version": "11.99.0", "files": LAID_OUT}, []),
        ({"version": "11.99.0", "files": {**LAID_OUT, "package-lock.json": "{}"}}, ["package-lock.json"]),
    ],
)  # fmt: skip
def test_the_same_tool_must_write_the_same_bytes_and_another_the_same_json(fields, unlike):
    made = json.dumps({**json.loads(body(LODASH)), **fields}).encode()

    assert cassettes.differences(body(LODASH), body(LODASH)) == []
    assert cassettes.differences(body(LODASH), made) == unlike


@pytest.mark.nightly
def test_npm_does_today_what_it_did_when_it_was_recorded():
    npm = required_npm()
    made = cassettes.record(npm, CASES)

    versions = f"npm {npm.version} on Node.js {npm.node}, recorded {RECORDED}"
    found = {case_id: cassettes.differences(body(case_id), made[case_id]) for case_id in CASES}
    assert {case_id: fields for case_id, fields in found.items() if fields} == {}, versions


@pytest.mark.nightly
def test_a_case_that_npm_solves_by_force_is_easy():
    runs = cassettes.forced(required_npm(), CASES)
    solved = {one for one, run in runs.items() if score(one, {"files": run.files}).passed}

    assert {one for one in solved if load(one).difficulty != "easy"} == set()


def test_a_recording_names_neither_the_machine_nor_the_registry():
    made = cassettes.record(required_npm(), [BACKPORT])[BACKPORT].decode()

    for word in ("127.0.0.1", "localhost", 'resolved\\"', str(CLASS), "/tmp"):  # noqa: S108
        assert word not in made
