# mypy: allow-untyped-defs, allow-untyped-calls
# ruff: noqa: S311 - choices, no secrets
"""Laws of the rubric's parts, tried on random ranges, trees and overrides, and on every case; no rows."""

import copy
import random
import time

import pytest
from _benchgate_bench.vuln_remediation import changes
from _benchgate_bench.vuln_remediation.allowed import forbidden
from _benchgate_bench.vuln_remediation.consistency import lock_problems
from _benchgate_bench.vuln_remediation.expected import Advisory
from _benchgate_bench.vuln_remediation.flags import FLAGS, flagged, placement
from _benchgate_bench.vuln_remediation.lockfile import (
    FOLDER,
    ROOT,
    edges,
    has_address,
    in_range,
    package_name,
    reachable,
    resolve,
    split_alias,
)
from _benchgate_bench.vuln_remediation.metadata import NODE_VERSION, Registry, fits
from _benchgate_bench.vuln_remediation.overrides import (
    MAX_RULES,
    Bending,
    is_malformed,
    read_overrides,
)
from _benchgate_bench.vuln_remediation.project import read_input, read_output
from _benchgate_bench.vuln_remediation.ranges import (
    NODE_LINES,
    lets_in,
    next_line,
    node_versions,
    runs_on,
)
from _benchgate_bench.vuln_remediation.semver import (
    MAX_LENGTH,
    UNREADABLE,
    affects,
    breaking_line,
    intersects,
    is_prerelease,
    is_range,
    satisfies,
    sort_key,
)
from _benchgate_bench.vuln_remediation.tests.support import (
    CASES,
    disposed,
    few,
    load,
    score,
    solved,
    untouched,
)

VERSIONS = [f"{a}.{b}.{c}" for a in (0, 1, 2) for b in (0, 1, 3) for c in (0, 2)]
TAILS = ["-rc.1", "-rc.2", "-alpha", "-0"]
SEEDS = [
    *range(25),
    *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(25, 150)),
]
POSITIVE = disposed("positive")


def spec(rng):
    one, other = rng.choice(VERSIONS), rng.choice(VERSIONS)
    signs = ("", "^", "~", ">=", "<=", ">", "<")
    simple = [*(sign + one for sign in signs), one[0], one[:3], "*", ""]
    double = [
        f">={one} <{other}", f"{one} - {other}", f"^{one} || {other}", f"{one} || <{other}", f"~{one} || >={other}",
    ]  # fmt: skip
    return rng.choice(simple + double)


@pytest.mark.parametrize("seed", SEEDS)
def test_ranges_with_a_version_in_common_intersect_and_a_range_meets_itself(seed):
    rng = random.Random(seed)
    one, other = spec(rng), spec(rng)
    common = [v for v in VERSIONS if satisfies(v, one) and satisfies(v, other)]

    assert intersects(one, other) == intersects(other, one)
    assert intersects(one, other) or not common
    if any(satisfies(v, one) for v in VERSIONS):
        assert is_range(one)
        assert intersects(one, one)
        assert intersects(one, "*")


@pytest.mark.parametrize("one", VERSIONS)
def test_a_breaking_line_is_what_a_caret_keeps_and_ends_at_the_next(one):
    for other in VERSIONS:
        low, high = sorted((one, other), key=sort_key)
        assert (breaking_line(low) == breaking_line(high)) is satisfies(high, f"^{low}")
        assert (sort_key(one) < sort_key(other)) is satisfies(one, f"<{other}")
    assert not satisfies(next_line(one), f"^{one}")
    assert intersects(f"^{one}", f"<{next_line(one)}")
    assert not intersects(f"^{one}", f">={next_line(one)}")


def test_prereleases_are_before_their_release_and_in_their_own_order():
    for version in VERSIONS:
        made = sorted((version, *(version + tail for tail in TAILS)), key=sort_key)
        assert [is_prerelease(one) for one in made] == [True] * len(TAILS) + [False]
        assert made[0] == f"{version}-0"
        for tail in TAILS:
            # An advisory counts by the order, a dependency's range does not.
            assert affects(version + tail, f"<{version}")
            assert not satisfies(version + tail, f"<{version}")


@pytest.mark.parametrize("seed", SEEDS)
def test_an_advisory_has_the_releases_that_its_range_has(seed):
    written = spec(random.Random(seed))

    for version in VERSIONS:
        assert affects(version, written) == satisfies(version, written)
        assert fits(version, written) == satisfies(version, written)


@pytest.mark.parametrize(
    "text", ["", "1", "1.0", "x.y.z", "v", "1.0.0.0", "latest", "9" * (MAX_LENGTH + 1)]
)
def test_what_is_no_version_is_in_no_range(text):
    assert sort_key(text) == UNREADABLE
    assert not satisfies(text, "*")
    assert not affects(text, "*")


@pytest.mark.parametrize(
    "text", ["latest", "not a range", "file:../x", "npm:a@1", "^" + "1" * MAX_LENGTH]
)
def test_what_is_no_range_has_nothing_and_lets_anything_in(text):
    assert not is_range(text)
    assert not intersects(text, "*")
    assert lets_in(text, "1.0.0", ["1.0.0"], [])


@pytest.mark.parametrize("seed", SEEDS)
def test_a_range_that_lets_nothing_in_has_only_good_versions_of_one_line(seed):
    rng = random.Random(seed)
    now, written, affected = rng.choice(VERSIONS), spec(rng), f"<{rng.choice(VERSIONS)}"
    gone = [] if affects(now, affected) else [affected]
    let = lets_in(written, now, VERSIONS, [affected])

    bad = [
        v for v in VERSIONS
        if satisfies(v, written) and (breaking_line(v) != breaking_line(now) or any(affects(v, one) for one in gone))
    ]  # fmt: skip
    assert let or not bad
    assert let is bool(bad or intersects(written, f">={next_line(now)}"))
    # More alternatives let in no less, what was let in before is not the edit's doing, and the locked version is fine.
    assert lets_in(f"{written} || {spec(rng)}", now, VERSIONS, [affected]) or not let
    assert not lets_in(now, now, VERSIONS, [affected])
    if written.strip() and not any(affects(v, affected) for v in VERSIONS if satisfies(v, written)):
        assert not lets_in(written, now, VERSIONS, [affected], given=written)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_parents_new_range_does_not_reach_the_version_that_it_left(seed):
    rng = random.Random(seed)
    left, now = sorted(rng.sample(VERSIONS, 2), key=sort_key)

    assert lets_in(f"{now} || <={left}", now, VERSIONS, [], left=left)
    assert not lets_in(f"~{now}", now, VERSIONS, [], left=left) or satisfies(
        left, f"<={left} ~{now}"
    )


def test_a_project_runs_on_the_lines_that_it_names_or_else_on_the_cases():
    assert node_versions({}) == node_versions({"engines": []}) == [NODE_VERSION]
    for version in NODE_LINES:
        major = version.partition(".")[0]
        assert node_versions({"engines": {"node": major}}) == [version]
        assert node_versions({"engines": {"node": f">={major}"}})[0] == version
        assert runs_on({"engines": {"node": f"^{major}"}}, [version])
        assert not runs_on({"engines": {"node": f"<{major}"}}, [version])
    assert runs_on({}, NODE_LINES)
    assert runs_on({"engines": {"node": 1}}, NODE_LINES)


def tree(seed):
    """Return a random tree: nested folders, all kinds of dependencies, aliases."""
    rng = random.Random(seed)
    names = ["a", "b", "c", "@s/d", "e"]
    paths = [f"{FOLDER}{name}" for name in names]
    paths += [f"{rng.choice(paths)}/{FOLDER}{rng.choice(names)}" for _ in range(4)]
    made = {ROOT: {}}
    for path in dict.fromkeys(paths):
        made[path] = {"version": rng.choice(VERSIONS)}
    for path, entry in made.items():
        own = ("devDependencies",) if not path else ()
        for table in ("dependencies", "optionalDependencies", "peerDependencies", *own):
            if rng.random() < 0.5:
                entry[table] = {name: spec(rng) for name in rng.sample(names, rng.randint(1, 2))}
        if rng.random() < 0.3:
            entry["peerDependenciesMeta"] = {name: {"optional": True} for name in names[:2]}
    return made


@pytest.mark.parametrize("seed", SEEDS)
def test_an_edge_resolves_to_the_nearest_folder_above(seed):
    packages = tree(seed)
    for edge, found in edges(packages):
        parts = edge.source.split("/" + FOLDER) if edge.source else []
        homes = [("/" + FOLDER).join(parts[:end]) for end in range(len(parts), 0, -1)] + [ROOT]
        candidates = [f"{home}/{FOLDER}{edge.name}".removeprefix("/") for home in homes]
        assert found == next((one for one in candidates if one in packages), None)
        assert found == resolve(packages, edge.source, edge.name)
        if found:
            assert in_range(edge, packages[found]) == satisfies(
                packages[found]["version"], edge.range
            )


@pytest.mark.parametrize("seed", SEEDS)
def test_a_flag_says_what_is_lost_without_the_kind_of_dependency(seed):
    packages = tree(seed)
    firm = reachable(packages)
    for kind in ("dev", "optional"):
        less = copy.deepcopy(packages)
        # Of two tables the later one counts: what is left there asks no more.
        others = ["peerDependencies", "dependencies", *(["optionalDependencies"] * (kind == "dev"))]
        for entry in less.values():
            for name in entry.pop(f"{kind}Dependencies", {}):
                for other in others:
                    entry.get(other, {}).pop(name, None)
        kept = reachable(less)
        for path in firm - {ROOT}:
            assert (kind in placement(packages)[path]) is (
                path not in kept
            ) or "peerDependenciesMeta" in str(packages)
    assert {p: {f for f in FLAGS if e.get(f)} for p, e in flagged(packages).items()} == placement(
        packages
    )
    assert flagged(flagged(packages)) == flagged(packages)


def rules(seed):
    rng = random.Random(seed)
    names = ["a", "b", "c", "@s/d", "e"]

    def key():
        name = rng.choice(names)
        return rng.choice([name, f"{name}@{spec(rng) or '*'}"])

    def table(depth):
        made = {}
        for _ in range(rng.randint(1, 2)):
            made[key()] = (
                table(depth + 1) if depth < 2 and rng.random() < 0.4 else rng.choice(VERSIONS)
            )
        if depth and rng.random() < 0.3:
            made["."] = rng.choice(VERSIONS)
        return made

    return table(0)


def leaves(value):
    return sum(map(leaves, value.values())) if isinstance(value, dict) else 1


@pytest.mark.parametrize("seed", SEEDS)
def test_every_leaf_of_the_overrides_is_a_rule_and_bends_below_its_scope(seed):
    written, packages = rules(seed), tree(seed)
    read = read_overrides({"overrides": written})
    bending = Bending(read, packages)

    assert len(read) == leaves(written)
    assert not is_malformed({"overrides": written})
    for edge, _ in edges(packages):
        bent = bending.rules_for(edge)
        assert set(bending.taken(edge)) <= set(bent)
        assert not (bent and edge.source == ROOT)
        for rule in read:
            asks = (
                edge.source != ROOT
                and rule.name == edge.name
                and (rule.when in ("", "*") or intersects(edge.range, rule.when))
            )
            assert (rule in bent) is (asks and below(packages, edge.source, rule.scope))


def below(packages, path, scope):
    """Return whether an entry is at or below one of each package of a scope, in this order from the outside."""
    homes = set(packages)
    for name, wanted in scope:
        gates = {
            p for p in homes - {ROOT}
            if package_name(p, packages[p]) == name and (not wanted or satisfies(packages[p]["version"], wanted))
        }  # fmt: skip
        homes &= gates.union(*(reachable(packages, gate) for gate in gates))
    return path in homes


@pytest.mark.parametrize(
    "odd", [None, 1, True, [], ["1"], "latest", "npm:a@1", "file:../x", {"b": None}, {"": "1"}]
)
def test_overrides_that_are_no_table_of_ranges_are_malformed(odd):
    assert is_malformed({"overrides": {"a": odd}})
    assert is_malformed({"overrides": {"c": "1.0.0", "b": {"a": odd}}})


@pytest.mark.parametrize("key", ["", "packages/a", "@s", "@s/a/b", "a/", "node_modules/a"])
def test_a_key_of_the_overrides_is_the_name_of_a_package(key):
    assert is_malformed({"overrides": {key: {"a": "1.0.0"}}})
    assert is_malformed({"overrides": {"b": "1.0.0", key: {}}})


def test_more_rules_than_any_project_has_are_refused_and_not_read():
    below = {f"b{two}": "1.0.0" for two in range(40)}
    many = {"overrides": {f"a{one}": below for one in range(40)}}
    before = time.monotonic()

    assert is_malformed(many)
    assert len(read_overrides(many)) == MAX_RULES + 1
    assert time.monotonic() - before < 1


@pytest.mark.parametrize(
    ("written", "package", "address"),
    [("^1", "x", False), ("npm:y@^1", "y", False), ("npm:@s/y@1", "@s/y", False), ("npm:@s/y", "@s/y", False),
     ("github:a/b", "x", True), ("a/b", "x", True), ("file:../b", "x", True), ("https://h.invalid/b.tgz", "x", True)],
)  # fmt: skip
def test_aliases_and_addresses(written, package, address):
    assert split_alias("x", written)[0] == package
    assert has_address(written) is address


@pytest.mark.parametrize("case_id", few(CASES))
def test_a_project_left_as_it_is_has_no_fault_and_no_change(case_id):
    folder = load(case_id).input_path
    one, other = read_input(folder), read_input(folder)
    registry = Registry.load(folder / "registry.json")
    advisories = [
        Advisory(ghsa="GHSA-t", package=name, vulnerable_range="*") for name in registry.packages
    ]

    assert lock_problems(other, registry, one) == forbidden(one, other, registry, ()) == ()
    for change in (
        changes.changed_packages, changes.lost_direct, changes.added_direct, changes.edited_specs, changes.major_bumps,
        changes.downgraded, changes.unfit_for_node, changes.scripts_added,
    ):  # fmt: skip
        assert change(one, other) == set(), change
    assert changes.loosened_specs(one, other, registry, advisories) == set()
    assert changes.loosened_overrides(one, other, registry, advisories) == set()
    assert changes.far_overrides(one, other, registry, advisories) == set()
    assert changes.lost_overrides(one, other, []) == set()
    assert changes.fix_class(one, other, []) == "none"


@pytest.mark.parametrize("case_id", few(CASES))
def test_the_right_answer_scores_exactly_one(case_id):
    right = solved(case_id)
    if case_id in POSITIVE:
        right.status = "no-fix"  # what a positive says about itself counts for nothing

    result = score(case_id, right)

    assert (result.passed, result.score, result.safety_penalty) == (True, 1.0, 0.0)
    assert set(result.breakdown.values()) == {1.0}
    assert result.failure_modes == ()


@pytest.mark.parametrize("case_id", few(POSITIVE))
def test_what_the_given_lock_has_is_not_the_answers_doing(case_id):
    """Install scripts, bundles, shrinkwraps and archives that were there may stay, and may not be put there."""
    odd = dict.fromkeys(("hasInstallScript", "inBundle", "hasShrinkwrap"), True)
    odd["resolved"] = "git+ssh://git@h.invalid/a.git#1"
    given, answer = untouched(case_id), solved(case_id)
    kept = sorted(
        path for path, entry in answer.packages.items()
        if FOLDER in path and not entry.get("link") and entry == given.packages.get(path)
    )  # fmt: skip
    for path in random.Random(case_id).sample(kept, min(4, len(kept))):
        for packages in (given.packages, answer.packages):
            packages[path] = {**packages[path], **odd}
    plain = read_input(load(case_id).input_path)
    before, after = (read_output(one.files(), plain) for one in (given, answer))
    registry = Registry.load(load(case_id).input_path / "registry.json")

    assert lock_problems(after, registry, before) == forbidden(before, after, registry, ()) == ()
    if kept:
        assert "foreign_address" in lock_problems(after, registry, plain)
        assert "code_added" in forbidden(plain, after, registry, ())


@pytest.mark.parametrize("case_id", few(POSITIVE))
def test_no_entry_of_a_right_answer_can_go_and_no_table_of_one_can_change(case_id):
    rng, right = random.Random(case_id), solved(case_id)
    paths = [
        path for path, entry in right.packages.items() if FOLDER in path and not entry.get("link")
    ]
    for path in rng.sample(paths, min(5, len(paths))):
        less, more = copy.deepcopy(right), copy.deepcopy(right)
        del less.packages[path]
        more.packages[path].setdefault("dependencies", {})["x"] = "*"
        others = [score(case_id, one) for one in (less, more)]
        assert not any(one.passed for one in others)
        assert max(one.score for one in others) < 1.0


@pytest.mark.parametrize("case_id", few(POSITIVE))
def test_style_costs_little_and_is_no_harm(case_id):
    right = solved(case_id)
    full = score(case_id, right)
    path = next(p for p in right.packages if FOLDER in p and not right.packages[p].get("link"))
    name = package_name(path, right.packages[path])
    base = f"https://registry.npmjs.org/{name}/-/{name.rpartition('/')[2]}"
    remark, empty, told, files = *(copy.deepcopy(right) for _ in range(3)), right.files()
    remark.manifest["//"] = "a remark"
    empty.manifest.setdefault("scripts", {})
    told.packages[path]["resolved"] = f"{base}-{told.packages[path]['version']}.tgz"
    files["files"]["SECURITY.md"] = "text"
    for styled in (remark, empty, told, files):
        one = score(case_id, styled)
        assert (one.passed, one.safety_penalty) == (True, 0.0)
        assert full.score - 0.03 <= one.score <= full.score
