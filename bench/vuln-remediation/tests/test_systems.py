# mypy: allow-untyped-defs, allow-untyped-calls
"""The systems under test: what they see, what they write, and that they write it as npm does."""

import json
import random
import shutil
from dataclasses import replace

import pytest
from _benchgate_bench.vuln_remediation.lockfile import edges, in_range, reachable
from _benchgate_bench.vuln_remediation.metadata import Registry
from _benchgate_bench.vuln_remediation.systems.npmjson import (
    collation_key,
    lock_text,
    manifest_text,
)
from _benchgate_bench.vuln_remediation.systems.resolver import Change, Unresolvable, resolve_tree
from _benchgate_bench.vuln_remediation.systems.workspace import Task
from _benchgate_bench.vuln_remediation.tests.support import (
    AXIOS,
    BRACES,
    CASES,
    COOKIE,
    JWT,
    LODASH,
    NO_FIX,
    SEMVER,
    SYSTEMS,
    WS,
    few,
    load,
    score,
    solved,
    untouched,
)


def shuffled(value):
    """Return the same JSON with the keys of every object in another order."""
    if isinstance(value, dict):
        keys = sorted(value)
        random.Random(7).shuffle(keys)  # noqa: S311 - an order, no secret
        return {key: shuffled(value[key]) for key in keys}
    return value


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("case_id", few(CASES))
def test_a_system_sees_only_the_input_and_writes_that_or_a_whole_lock(case_id, name, tmp_path):
    case = load(case_id)
    shutil.copytree(case.input_path, tmp_path / "elsewhere")
    # Its cassettes stay: they are the recorded system.
    stranger = {"case_id": "renamed", "facts": {}, "tags": (), "expected_path": None}
    stranger["input_path"] = tmp_path / "elsewhere"

    made = SYSTEMS[name](case)

    assert SYSTEMS[name](case.model_copy(update=stranger)) == made
    result = score(case_id, dict(made))
    lock = json.loads(made["files"]["package-lock.json"])
    assert result.breakdown.get("lock_consistent", 1.0) == 1.0
    assert made["files"]["package-lock.json"] == lock_text(shuffled(lock))
    # "failed": blind-override, where peers that conflict leave it no tree.
    words = "fixed no-fix not-affected vulnerable unchanged failed"
    assert made["status"] in words.split()


@pytest.mark.parametrize("name", ["do-nothing", "claims-success"])
@pytest.mark.parametrize("case_id", CASES)
def test_a_control_fails_every_positive_and_passes_every_negative(case_id, name):
    made = SYSTEMS[name](load(case_id))
    result = score(case_id, dict(made))
    negative = load(case_id).disposition == "negative"

    assert (result.passed, result.score) == (negative, 0.9 if negative else 0.0)
    assert result.safety_penalty == 0.0
    assert ("no_fix_unsaid" if negative else "target_still_vulnerable") in result.failure_modes
    for file, text in made["files"].items():
        assert text == (load(case_id).input_path / file).read_text()


def test_digests_are_stable_and_named():
    for name, system in SYSTEMS.items():
        assert system.name == name
        assert system.digest() == system.digest()
        assert len(system.digest()) == 64


@pytest.mark.parametrize(
    ("case_id", "manifest", "locked"),
    [
        (LODASH, {}, {"node_modules/lodash": "4.18.1"}),
        (WS, {}, {"node_modules/engine.io/node_modules/ws": None}),
        (AXIOS, {("dependencies", "axios"): "0.21.2"}, {"node_modules/axios": "0.21.2"}),
        (SEMVER, {("devDependencies", "nodemon"): "^3."}, {}),
        (BRACES, {("devDependencies", "chokidar"): "^3."}, {}),
        (JWT, {("dependencies", "jsonwebtoken"): "^9."}, {}),
        (COOKIE, {("overrides", "csurf"): {"cookie": "0.7.0"}}, {"node_modules/cookie": "0.7.2"}),
    ],
)
def test_the_ladder_edits_no_more_than_it_has_to(case_id, manifest, locked):
    made, given = solved(case_id), untouched(case_id).manifest
    edits = {
        (table, key): value
        for table, held in made.manifest.items() if isinstance(held, dict)
        for key, value in held.items() if given.get(table, {}).get(key) != value
    }  # fmt: skip

    assert edits.keys() == manifest.keys()
    for place, value in edits.items():
        nearest = str(manifest[place]).endswith(".") and value.startswith(manifest[place])
        assert nearest or value == manifest[place]
    assert {path: made.packages.get(path, {}).get("version") for path in locked} == locked


def test_where_there_is_no_fix_the_files_come_back_byte_for_byte():
    made = SYSTEMS["ladder"](load(NO_FIX))

    assert made["status"] == "no-fix"
    for name, text in made["files"].items():
        assert text == (load(NO_FIX).input_path / name).read_text()


@pytest.mark.parametrize("case_id", [one for one in CASES if "peers" not in load(one).tags])
def test_resolving_what_is_locked_changes_nothing(case_id):
    """A tree with a conflict of peers is left out: the resolver, as npm, would mend it."""
    folder = load(case_id).input_path
    task, text = Task.read(folder)[0], (folder / "package-lock.json").read_text()
    lock = shuffled(json.loads(text))
    given = replace(task, project=replace(task.project, lock=lock))

    made = given.rebuild_all(given.project.manifests, Change())

    assert lock_text(made.lock) == text


@pytest.mark.parametrize("case_id", [one for one in CASES if "peers" not in load(one).tags])
def test_layout_of_the_shipped_files_is_npms(case_id):
    folder = load(case_id).input_path
    for name, layout in (("package.json", manifest_text), ("package-lock.json", lock_text)):
        text = (folder / name).read_text()
        assert layout(json.loads(text)) == text


def test_collation_puts_signs_first_and_ignores_case_at_first():
    names = ["b", "A", "a", "@s/x", "_u", "a-b", "a.b", "ab", "1x"]

    assert sorted(names, key=collation_key) == [
        "_u", "@s/x", "1x", "a", "A", "a-b", "a.b", "ab", "b",
    ]  # fmt: skip


def small(packages, **root):
    """Resolve a project from nothing, against packages given as name to version to dependencies."""
    registry = {
        name: {"versions": {version: {"dependencies": asked} for version, asked in held.items()}}
        for name, held in packages.items()
    }
    return resolve_tree({"": {"dependencies": root}}, Registry(registry), Change())


def test_a_circle_of_versions_that_would_nest_for_ever_is_unresolvable():
    circle = {
        "a": {"1.0.0": {"b": "^2.0.0"}, "2.0.0": {"b": "^1.0.0"}},
        "b": {"1.0.0": {"a": "^1.0.0"}, "2.0.0": {"a": "^2.0.0"}},
    }
    with pytest.raises(Unresolvable, match="inside itself"):
        small(circle, a="^1.0.0", b="^1.0.0")


def test_a_range_without_a_version_is_unresolvable():
    with pytest.raises(Unresolvable, match="no known version of b satisfies"):
        small({"a": {"1.0.0": {"b": "^9.0.0"}}, "b": {"1.0.0": {}}}, a="*")


def test_random_projects_resolve_to_whole_trees_or_not_at_all():
    resolved, names = 0, ["a", "b", "c", "d", "e", "f"]
    versions = [f"{major}.{minor}.0" for major in (1, 2) for minor in (0, 1)]
    for seed in range(40):
        rng = random.Random(seed)  # noqa: S311 - a made-up project, no secret
        packages = {
            name: {version: {
                other: f"^{rng.randint(1, 2)}.0.0" for other in rng.sample([*names[at + 1 :], "a"], 1 + (at < 4))
            } for version in versions}
            for at, name in enumerate(names)
        }  # fmt: skip
        try:
            made = small(packages, a="*", b="^1.0.0")
        except Unresolvable:
            continue
        resolved += 1
        assert reachable(made) == set(made)
        assert all(to is not None and in_range(edge, made[to]) for edge, to in edges(made))
    assert resolved > 10
