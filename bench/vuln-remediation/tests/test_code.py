# mypy: allow-untyped-defs, allow-untyped-calls
"""The cases with code: what their tests say of each answer is shipped, and what an observer runs and refuses to run."""

import json
import os

import pytest
from _benchgate_bench.vuln_remediation.expected import read_expected
from _benchgate_bench.vuln_remediation.observers import runner, store
from _benchgate_bench.vuln_remediation.observers.npm_test import (
    PACKAGES,
    TESTS,
    npm_test,
    project_of,
    untested,
)
from _benchgate_bench.vuln_remediation.project import LOCK, MANIFEST
from _benchgate_bench.vuln_remediation.tests.support import (
    CODED,
    LODASH,
    SYSTEMS,
    disposed,
    expected_folder,
    load,
    score,
    score_made,
    untouched,
)
from _benchgate_bench.vuln_remediation.tools.record_observations import answers, right

FIRST = CODED[0]
EDITED = min(read_expected(expected_folder(FIRST)).code_allowed)


def changed(case_id, **files):
    """Return the right answer with files of another text."""
    made = right(load(case_id))
    return {**made, "files": {**made["files"], **files}}


def test_what_the_tests_say_is_shipped_of_every_answer():
    known = store.stored()
    missing = [
        name
        for name, case, output in answers()
        if untested(case, output) is None and store.key_of(project_of(case, output)) not in known
    ]

    assert missing == [], "test them with tools/record_observations.py"


@pytest.mark.parametrize("case_id", CODED)
def test_a_person_solves_it_and_the_ladder_does_not(case_id):
    person, ladder = (
        score(case_id, right(load(case_id))),
        score(case_id, SYSTEMS["ladder"](load(case_id))),
    )

    assert (person.passed, person.score, person.breakdown["clean"]) == (True, 1.0, 1.0)
    assert not ladder.passed
    assert load(case_id).held_out


@pytest.mark.parametrize("case_id", CODED)
def test_the_tests_pass_on_the_project_as_it_was_given(case_id):
    case = load(case_id)
    given = json.loads((case.input_path / MANIFEST).read_text())
    unseen = sorted((expected_folder(case_id) / TESTS).rglob("*.js"))

    assert npm_test(case, untouched(case_id).files()) == {"passed": True}
    assert given["scripts"] == {"test": "node --test"}
    assert unseen
    assert not any(
        (case.input_path / path.relative_to(expected_folder(case_id) / TESTS)).exists()
        for path in unseen
    )


def test_a_case_without_code_asks_for_no_tests():
    assert npm_test(load(LODASH), {"files": {}}) == {"asked": False}
    assert {*CODED} <= {*disposed("positive")}


def test_an_answer_is_its_files_however_npm_lays_them_out():
    case, made = load(FIRST), right(load(FIRST))
    laid_out = {name: json.dumps(json.loads(made["files"][name])) for name in (MANIFEST, LOCK)}
    keys = [
        store.key_of(project_of(case, changed(FIRST, **files)))
        for files in ({}, laid_out, {EDITED: "changed"}, {MANIFEST: '{"name": "x"}'})
    ]

    assert keys[0] == keys[1]
    assert len({*keys}) == 3


def test_what_nobody_tested_is_unavailable(monkeypatch):
    monkeypatch.delenv(PACKAGES, raising=False)

    with pytest.raises(
        runner.Unavailable, match=f"^not tested: set {PACKAGES} to a folder of packages"
    ):
        npm_test(load(FIRST), changed(FIRST, **{EDITED: "// nobody has tested this\n"}))


def with_lock(case_id, **fields):
    """Return the right answer with fields of its first package changed."""
    lock = json.loads(right(load(case_id))["files"][LOCK])
    path = min(path for path in lock["packages"] if path)
    lock["packages"][path].update(fields)
    return changed(case_id, **{LOCK: json.dumps(lock)})


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (with_lock(FIRST, resolved="https://elsewhere.invalid/a.tgz"), "foreign_address"),
        (with_lock(FIRST, integrity="sha512-invented"), "integrity_mismatch"),
        (with_lock(FIRST, version="99.0.0"), "version_unknown"),
        (changed(FIRST, **{"test/pages.test.js": ""}), "code_added"),
        (changed(FIRST, **{"lib/more.js": ""}), "code_added"),
        (changed(FIRST, **{EDITED: "\ud800"}), "no text"),
        (changed(FIRST, **{EDITED: None}), "no text"),
        (changed(FIRST, **{LOCK: "{"}), "output_not_json"),
        ({}, "output_missing_file"),
    ],
)  # fmt: skip
def test_what_no_judge_would_run_is_not_run(answer, why):
    found = npm_test(load(FIRST), answer)

    assert (found["passed"], found["error"]) == (False, f"not tried: {why}")
    assert not score(FIRST, answer).passed


TOLD = {
    "registry": {name: {"versions": {v: {"integrity": f"sha512-{name}{v}"} for v in ("1.0.0", "1.1.0")}}
                 for name in ("bad", "good")},
    "expected": {
        "schema_version": 1, "target": {"ghsa": "GHSA-x", "package": "bad", "vulnerable_range": "*"},
        "fix_classes": {"direct-replaced": 1.0}, "may_change": ["bad", "good"], "spec_edits_allowed": [],
        "majors_allowed": [], "overrides_allowed": [], "range_breaks_allowed": [], "sentinels": {}, "advisories": [],
        "leaving_allowed": ["bad"], "joining_allowed": ["good"], "code_allowed": ["index.js"],
    },
}  # fmt: skip


def made_of(*names):
    """Return a project that depends on some packages."""
    output = untouched(LODASH)
    output.manifest = {
        "name": "p",
        "version": "1.0.0",
        "dependencies": dict.fromkeys(names, "^1.0.0"),
    }
    output.lock = {"name": "p", "version": "1.0.0", "lockfileVersion": 3, "requires": True}
    packages = {
        f"node_modules/{name}": {"version": "1.0.0", "integrity": f"sha512-{name}1.0.0"}
        for name in names
    }
    output.lock["packages"] = {"": dict(output.manifest), **packages}
    return output


@pytest.mark.parametrize(
    ("names", "seen", "passed", "points"),
    [
        (["good"], {"passed": True}, True, 1.0),
        ([], {"passed": True}, True, 1.0),
        (["good"], {"passed": False, "error": "npm test", "failed": ["it adds"]}, False, 0.25),
        (["bad"], {"passed": True}, False, 0.0),
    ],
)
def test_a_dependency_that_nothing_helps_may_go_where_the_case_says_so(
    tmp_path, names, seen, passed, points
):
    found = score_made(tmp_path, made_of("bad"), made_of(*names), TOLD, observation=seen)

    assert (found.passed, found.score) == (passed, points)
    assert found.breakdown["tests_pass"] == float(seen["passed"])
    assert ("tests_fail" in found.failure_modes) is not seen["passed"]
    assert seen["passed"] or "it adds" in found.evidence.values()


def test_without_that_word_it_may_not(tmp_path):
    told = {**TOLD, "expected": {**TOLD["expected"], "leaving_allowed": [], "joining_allowed": []}}
    found = score_made(
        tmp_path, made_of("bad"), made_of("good"), told, observation={"passed": True}
    )

    assert {"direct_dependency_lost", "direct_dependency_added"} <= {*found.failure_modes}


def test_a_case_with_code_is_not_scored_unobserved(tmp_path):
    with pytest.raises(ValueError, match="observation of the project's tests"):
        score_made(tmp_path, made_of("bad"), made_of("good"), TOLD, observation={})


FILES = {"package.json": "{}", "test/a.test.js": "test('adds', f);\ntest(\n  'takes', f);\n"}


@pytest.fixture
def npm(tmp_path, monkeypatch):
    """A function that makes an npm whose install and whose tests say something and end with a code."""
    if os.name == "nt":
        pytest.skip("it is a shell script")
    monkeypatch.setattr(runner, "APART", ())

    def make(ci=("", 0), test=("", 0)):
        program = tmp_path / "npm"
        (said, code), (tested, ended) = ci, test
        program.write_text(
            f"#!/bin/sh\nif [ $1 = ci ]; then echo '{said}'; exit {code}; fi\necho '{tested}'\nexit {ended}\n"
        )
        program.chmod(0o755)
        return runner.Runner(program, tmp_path / "cache").test(FILES, ["test/a.test.js"])

    return make


def test_all_tests_have_to_pass(npm):
    both, one = "ok 1 - adds\n  ok 2 - takes", "ok 1 - adds\nnot ok 2 - takes"

    assert npm(test=(both, 0)) == {"passed": True}
    assert npm(test=(one, 1)) == {"passed": False, "error": "npm test", "failed": ["takes"]}


def test_code_that_ends_the_process_before_its_tests_have_run_passes_none(npm):
    assert npm(test=("ok 1 - /tmp/test/a.test.js", 0)) == {
        "passed": False, "error": "npm test", "failed": ["adds", "takes"],
    }  # fmt: skip


def test_what_npm_refuses_is_the_answers_and_what_it_cannot_get_is_not(npm):
    assert npm(ci=("npm error code EUSAGE", 1)) == {"passed": False, "error": "npm ci: EUSAGE"}
    for code in ("ENOTCACHED", "ENOTFOUND"):
        with pytest.raises(runner.Unavailable, match=f"could not get a package .{code}"):
            npm(ci=(f"npm error code {code}", 1))


def test_an_install_past_its_time_is_nobodys_verdict_and_tests_past_theirs_are(npm, monkeypatch):
    monkeypatch.setattr(runner, "PATIENCE", 0.5)
    late = {"passed": False, "error": "npm test", "failed": ["adds", "takes"]}

    assert npm(test=("'; sleep 9; echo '", 0)) == late
    with pytest.raises(runner.Unavailable, match="could not get a package"):
        npm(ci=("'; sleep 9; echo '", 0))


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get(PACKAGES), reason=f"{PACKAGES} names no packages")
@pytest.mark.parametrize("case_id", CODED)
def test_what_was_recorded_is_what_is_seen_again(case_id):
    case = load(case_id)
    for answer in (right(case), SYSTEMS["ladder"](case)):
        if untested(case, answer) is None:
            assert npm_test.run(case, project_of(case, answer)) == npm_test(case, answer)
