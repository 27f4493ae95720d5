# mypy: allow-untyped-defs, allow-untyped-calls
"""The modules of the rubric at their limits: exact values, and what is just beyond each limit."""

import copy
import json

import pytest
from _benchgate_bench.vuln_remediation import changes
from _benchgate_bench.vuln_remediation.allowed import edited_fields
from _benchgate_bench.vuln_remediation.consistency import lock_problems
from _benchgate_bench.vuln_remediation.expected import Advisory, Expected
from _benchgate_bench.vuln_remediation.flags import flagged, placement
from _benchgate_bench.vuln_remediation.lockfile import (
    Edge,
    edges_from,
    folder_name,
    has_address,
    instances,
    parent_folder,
    reachable,
    split_alias,
    vulnerable,
)
from _benchgate_bench.vuln_remediation.metadata import Registry, fits
from _benchgate_bench.vuln_remediation.overrides import (
    Bending,
    Override,
    is_malformed,
    read_overrides,
)
from _benchgate_bench.vuln_remediation.project import Project, UnusableOutput, read_output
from _benchgate_bench.vuln_remediation.semver import (
    affects,
    ascending,
    breaking_line,
    intersects,
    is_prerelease,
    is_range,
    satisfies,
    sort_key,
)
from _benchgate_bench.vuln_remediation.tests.support import LODASH, expected_folder
from pydantic import ValidationError

UNREADABLE = (-1, 0, 0, ())


def project(packages, root=None, **manifest):
    """Return a project whose root entry says what its manifest says."""
    manifest = {"name": "p", "version": "1.0.0", **manifest}
    kept = {key: held for key, held in manifest.items() if key not in ("overrides", "scripts")}
    entries = {"": {**kept, **(root or {})}}
    for path, entry in packages.items():
        folder = "/".join(f"node_modules/{name}" for name in path.split(">"))
        known = entry if isinstance(entry, dict) else {"version": entry}
        entries[folder] = {"integrity": f"sha512-{folder_name(folder)}", **known}
    lock = {"name": "p", "version": "1.0.0", "lockfileVersion": 3, "packages": entries}
    return Project(copy.deepcopy(manifest), lock)


def problems(made):
    """Return what is wrong with a lock whose every entry is known to the registry as it is."""
    known = {}
    for path, entry in made.packages.items():
        if path and not entry.get("link"):
            name = entry.get("name") or folder_name(path)
            known.setdefault(name, {"versions": {}})["versions"][entry["version"]] = entry
    return lock_problems(made, Registry(known))


# semver


@pytest.mark.parametrize(
    ("version", "key"),
    [
        ("1.2.3", (1, 2, 3, ((2, 0, ""),))),
        ("0.0.0", (0, 0, 0, ((2, 0, ""),))),
        ("1.2.3-alpha.4", (1, 2, 3, ((1, 0, "alpha"), (0, 4, "")))),
        ("junk", UNREADABLE),
        ("", UNREADABLE),
        ("1.2.3beta", UNREADABLE),
        ("1.0.0-" + "a" * 1994, (1, 0, 0, ((1, 0, "a" * 1994),))),
        ("1.0.0-" + "a" * 1995, UNREADABLE),
        ("1.0.0-" + "a" * 3000, UNREADABLE),
    ],
    ids=range(9),
)
def test_the_key_of_a_version(version, key):
    assert sort_key(version) == key


@pytest.mark.parametrize(
    ("version", "line"),
    [
        ("1.2.3", (1,)),
        ("12.0.0-b", (12,)),
        ("0.2.3", (0, 2)),
        ("0.0.3", (0, 0, 3)),
        ("0.0.0", (0, 0, 0)),
        ("junk", (-1,)),
    ],
)
def test_the_line_that_a_caret_keeps(version, line):
    assert breaking_line(version) == line


def test_a_version_and_a_range_are_read_up_to_their_length():
    longest, range_ = "1.0.0-" + "a" * 1994, ">=1.0.0-a"
    padded = "1.0.0" + " " * 1995

    assert satisfies(longest, range_)
    assert not satisfies(longest + "a", range_)
    assert not satisfies(longest + "a" * 1000, range_)
    assert satisfies("1.0.0", padded)
    assert not satisfies("1.0.0", padded + " ")
    assert not satisfies("1.0.0", padded + " " * 1000)
    assert is_range(padded)
    assert not is_range(padded + " ")
    assert not is_range(padded + " " * 1000)


def test_ranges_are_read_strictly():
    assert not satisfies("1.2.3beta", ">=1.2.3-a")
    assert satisfies("1.2.3-beta", ">=1.2.3-a")


def test_what_a_prerelease_is():
    assert [is_prerelease(one) for one in ("1.0.0", "1.0.0-1", "junk")] == [False, True, True]
    assert ascending(["1.10.0", "1.9.0", "1.10.0-1", "junk"]) == [
        "junk", "1.9.0", "1.10.0-1", "1.10.0",
    ]  # fmt: skip


# metadata


def test_what_npm_chooses_from():
    assert [fits("1.0.0-1", spec) for spec in ("", "*", "latest", "1.0.0-1")] == [
        False, False, False, True,
    ]  # fmt: skip
    assert [fits("1.0.0", spec) for spec in ("", "*", "latest", "^1.0.0", "2")] == [
        True, True, True, True, False,
    ]  # fmt: skip


def test_an_engine_that_cannot_be_read_hinders_nothing():
    versions = {
        "1.0.0": {"engines": {"node": ">=99"}},
        "1.1.0": {"engines": ["node"]},
        "1.2.0": {"engines": {"node": 20}},
        "1.3.0": {"engines": {"node": ">=20.20.3"}},
    }
    registry = Registry(
        {"a": {"versions": versions}, "b": {"latest": "9.0.0", "versions": versions}}
    )

    assert registry.pick("a", "*") == registry.pick("b", "*") == "1.2.0"
    assert registry.pick("a", "<1.2.0") == "1.1.0"
    assert registry.pick("a", "<1.1.0") == "1.0.0"
    assert registry.versions("a") == list(versions)
    assert registry.versions("nobody") == []
    assert registry.manifest("a", "1.1.0") == versions["1.1.0"]
    assert registry.manifest("a", "2.0.0") is registry.manifest("nobody", "1.0.0") is None


def test_node_20_20_2_is_the_one_that_is_asked_for():
    versions = {"1.0.0": {}, "1.1.0": {"engines": {"node": "20.20.2"}}}

    assert Registry({"a": {"versions": versions}}).pick("a", "*") == "1.1.0"


def test_a_registry_is_read_from_its_file(tmp_path):
    (tmp_path / "registry.json").write_text('{"packages": {"é": {"versions": {}}}}', "utf-8")

    assert Registry.load(tmp_path / "registry.json").packages == {"é": {"versions": {}}}


@pytest.mark.parametrize(
    ("version", "affected", "hit"),
    [
        ("4.17.21-rc.1", "<4.17.21", True),
        ("5.0.0-beta.1", "<4.19.2 || >=5.0.0-alpha.1 <5.0.0-beta.3", True),
        ("5.0.0-beta.3", "<4.19.2 || >=5.0.0-alpha.1 <5.0.0-beta.3", False),
        ("8.0.0-alpha.4", ">=8.0.0-alpha.0 <8.0.0-alpha.4", False),
        ("5.0.0", "<4.19.2 || >=5.0.0-alpha.1 <5.0.0-beta.3", False),
        ("1.0.0", "no range", False),
        ("no version", "*", False),
        ("1.0.0", "<" + "1" * 3000, False),
    ],
)
def test_an_advisory_counts_prereleases_by_their_order(version, affected, hit):
    assert affects(version, affected) is hit


@pytest.mark.parametrize(
    ("one", "other", "common"),
    [
        ("0.4.0", "<0.7.0", True),
        ("^1.0.0", "<1.0.0", False),
        ("^1.0.0", "<=1.0.0", True),
        ("^1.0.0", ">=2.0.0", False),
        ("^1.0.0 || ^3.0.0", "2 - 4", True),
        ("*", "1.0.0", True),
        ("", "", True),
        (">1.0.0", "<1.0.0", False),
        (">1.0.0", "<=1.0.0", False),
        ("1.0.0", "1.0.0", True),
        ("1.0.0", "1.0.1", False),
        ("~1.2.0", "1.2.9", True),
        ("latest", "*", False),
        ("*", "no range", False),
        ("* >=2.0.0", "<1.0.0", False),
        (">=2.0.0 *", "<=2.0.0", True),
    ],
)
def test_ranges_that_have_versions_in_common(one, other, common):
    assert intersects(one, other) is common
    assert intersects(other, one) is common


# lockfile


def test_an_optional_peer_is_one_of_the_peers_only():
    names = {"a": "*"}
    meta = {"peerDependenciesMeta": {"a": {"optional": True}}}

    def kind(path, table, held=meta):
        (edge,) = edges_from(path, {table: names, **held})
        return edge.kind

    assert kind("x", "peerDependencies") == "peerOptional"
    assert kind("x", "peerDependencies", {}) == "peer"
    assert (
        kind("x", "peerDependencies", {"peerDependenciesMeta": {"b": {"optional": True}}}) == "peer"
    )
    assert (
        kind("x", "peerDependencies", {"peerDependenciesMeta": {"a": {"optional": False}}})
        == "peer"
    )
    assert kind("x", "dependencies") == "prod"
    assert kind("x", "optionalDependencies") == "optional"
    assert kind("", "devDependencies") == "dev"
    assert edges_from("node_modules/x", {"devDependencies": names}) == []


def test_of_two_tables_the_later_one_counts():
    tables = ("peerDependencies", "dependencies", "optionalDependencies", "devDependencies")
    entry = {table: {"a": table} for table in tables}

    assert [edge.spec for edge in edges_from("", entry)] == ["devDependencies"]
    packaged = edges_from("node_modules/x", entry)
    assert [edge.spec for edge in packaged] == ["optionalDependencies"]
    workspace = edges_from("packages/x", entry)
    assert [edge.spec for edge in workspace] == ["devDependencies"]


@pytest.mark.parametrize(
    ("kind", "absent", "peer"),
    [
        ("prod", False, False),
        ("dev", False, False),
        ("optional", True, False),
        ("peer", False, True),
        ("peerOptional", True, True),
    ],
)
def test_what_a_kind_of_edge_means(kind, absent, peer):
    edge = Edge("", "a", "npm:b@^1", kind)

    assert (edge.may_be_absent, edge.is_peer) == (absent, peer)
    assert (edge.package, edge.range) == ("b", "^1")


def test_odd_aliases_and_addresses():
    assert split_alias("a", "npm:") == ("", "*")
    assert split_alias("a", "npm:@1") == ("@1", "*")
    assert split_alias("a", "npm:b@") == ("b", "")
    assert [has_address(one) for one in ("a:b", "a/b", "npm:a/b", "a", "")] == [
        True, True, False, False, False,
    ]  # fmt: skip
    assert parent_folder("node_modules/a") == parent_folder("packages/a") == ""
    assert parent_folder("node_modules/a/node_modules/@s/b") == "node_modules/a"
    assert parent_folder("node_modules/MAX/node_modules/b") == "node_modules/MAX"


def test_who_is_reached_from_somewhere_else_than_the_project():
    made = project(
        {"a": {"version": "1.0.0", "dependencies": {"b": "*"}}, "b": "1.0.0", "c": "1.0.0"},
        dependencies={"a": "*", "c": "*"},
    )

    assert reachable(made.packages, "node_modules/a") == {"node_modules/b"}
    assert reachable(made.packages, "node_modules/b") == set()
    assert reachable(made.packages) == set(made.packages)


def test_a_project_is_no_instance_of_the_package_that_it_is_called_after():
    made = project({"a": "1.0.0", "a>a": "2.0.0"}, name="a")

    assert instances(made.packages, "a") == ["node_modules/a", "node_modules/a/node_modules/a"]
    assert vulnerable(made.packages, "a", "<2.0.0") == ["node_modules/a"]
    assert changes.versions(made.packages) == {"a": {"1.0.0", "2.0.0"}}


# flags


@pytest.mark.parametrize(
    ("table", "meta", "flags"),
    [
        ("dependencies", {}, set()),
        ("devDependencies", {}, {"dev"}),
        ("optionalDependencies", {}, {"optional"}),
        ("peerDependencies", {}, {"peer"}),
        ("peerDependencies", {"a": {"optional": True}}, {"optional", "peer"}),
    ],
)
def test_the_flags_of_what_the_project_asks_for(table, meta, flags):
    made = project({"a": "1.0.0", "b": "1.0.0"}, peerDependenciesMeta=meta, **{table: {"a": "*"}})
    everything = {"dev", "optional", "peer"}

    assert placement(made.packages) == {
        "": set(), "node_modules/a": flags, "node_modules/b": everything,
    }  # fmt: skip


def test_flags_are_put_in_order_and_wrong_ones_taken_away():
    made = project(
        {"a": {"version": "1.0.0", "dev": True, "x": 1}, "b": "1.0.0"}, dependencies={"a": "*"}
    )
    found = flagged(made.packages)

    assert list(found["node_modules/a"]) == ["integrity", "version", "x"]
    assert list(found["node_modules/b"]) == ["integrity", "version", "dev", "optional", "peer"]
    assert found["node_modules/b"]["peer"] is True


# project


def output(manifest="{}", lock='{"lockfileVersion": 3, "packages": {"": {}}}'):
    return {"files": {"package.json": manifest, "package-lock.json": lock}}


def packed(packages, version=3):
    return json.dumps({"lockfileVersion": version, "packages": packages})


def refused(made):
    with pytest.raises(UnusableOutput) as caught:
        read_output(made)
    assert str(caught.value) == caught.value.code
    return caught.value.code


def test_a_file_is_read_up_to_its_length():
    longest = "{}" + " " * 19_999_998

    assert read_output(output(longest)).manifest == {}
    assert refused(output(longest + " ")) == "output_missing_file"
    assert refused(output(longest + " " * 1000)) == "output_missing_file"


@pytest.mark.parametrize(
    "lock",
    [
        packed({"": {}, "node_modules/a": {"version": "1.0.0"}}),
        packed({"": {}, "node_modules/a": {"link": True}}),
        packed({"": {}, "node_modules/a": {"version": "1", "peerDependenciesMeta": {"x": {}}}}),
        packed({"": {"version": "1.0.0"}}),
    ],
)
def test_sound_locks(lock):
    assert read_output(output(lock=lock)).lock == json.loads(lock)


@pytest.mark.parametrize(
    ("lock", "code"),
    [
        (packed({"": {"version": "1.0.0"}, "node_modules/a": {}}), "lockfile_malformed"),
        (packed({"": {"version": "1.0.0"}, "node_modules/a": {"link": 1}}), "lockfile_malformed"),
        (
            packed({"": {"version": "1.0.0"}, "node_modules/a": {"version": 1}}),
            "lockfile_malformed",
        ),
        (packed({"": {}, "a": []}), "lockfile_malformed"),
        (packed({"node_modules/a": {"version": "1.0.0"}}), "lockfile_malformed"),
        (packed([""]), "lockfile_malformed"),
        (packed({"": {"peerDependenciesMeta": {"x": 1}}}), "lockfile_malformed"),
        (packed({"": {"peerDependenciesMeta": []}}), "lockfile_malformed"),
        (packed({"": {"devDependencies": {"x": 1}}}), "lockfile_malformed"),
        (packed({"": {"devDependencies": None}}), "lockfile_malformed"),
        (packed({"": {}}, version=2), "lockfile_not_v3"),
        (packed({"": {}}, version=4), "lockfile_not_v3"),
        (packed({"": {}}, version=True), "lockfile_not_v3"),
        ("[]", "output_not_json"),
        ("", "output_not_json"),
    ],
)
def test_locks_that_do_not(lock, code):
    assert refused(output(lock=lock)) == code


def test_a_manifest_of_wrong_shape():
    assert refused(output(manifest='{"dependencies": {"a": 1}}')) == "lockfile_malformed"
    assert refused({"files": {"package-lock.json": "{}"}}) == "output_missing_file"


def test_direct_dependencies_with_their_tables():
    made = project({}, dependencies={"a": "1", "b": "2"}, devDependencies={"b": "3"})

    assert made.direct == {"a": ("dependencies", "1"), "b": ("devDependencies", "3")}


# expected


@pytest.mark.parametrize(
    "edit",
    [
        {"fix_classes": {"lock-refresh": 0}},
        {"fix_classes": {"lock-refresh": -0.5}},
        {"fix_classes": {"lock-refresh": 1.5}},
        {"fix_classes": {"no-fix": 1.0}},
        {"schema_version": 2},
        {"schema_version": 0},
        {"more": 1},
        {"target": {"ghsa": "G", "package": "a", "vulnerable_range": "*", "more": 1}},
    ],
)
def test_expectations_out_of_bounds_are_refused(edit):
    held = json.loads((expected_folder(LODASH) / "expected.json").read_text())

    assert Expected.model_validate_json(json.dumps(held))
    with pytest.raises(ValidationError):
        Expected.model_validate_json(json.dumps({**held, **edit}))


# overrides


def nested(depth):
    table = {"x": "1.0.0"}
    for level in range(depth):
        table = {f"s{level}": table}
    return {"overrides": table}


def test_scopes_are_read_to_their_depth():
    (deepest,) = read_overrides(nested(20))

    assert len(deepest.scope) == 20
    assert read_overrides(nested(21)) == read_overrides(nested(25)) == []


def test_every_key_but_the_dot_is_a_package():
    found = read_overrides({"overrides": {"a": {".": "1.0.0", "-": "2.0.0", "z": "3.0.0"}}})

    scope = (("a", ""),)
    assert found == [
        Override((), "a", "", "1.0.0"),
        Override(scope, "-", "", "2.0.0"),
        Override(scope, "z", "", "3.0.0"),
    ]


def test_tables_are_read_to_the_depth_of_the_rules():
    assert [is_malformed(nested(depth)) for depth in (1, 2, 20, 21, 25)] == [
        False, False, False, True, True,
    ]  # fmt: skip
    assert not is_malformed({"overrides": {"-a": {"b": "1.0.0"}}})
    assert is_malformed({"overrides": {"a": {".": {"b": "1.0.0"}}}})
    assert is_malformed({"overrides": {".": "1.0.0"}})
    assert is_malformed({"overrides": {"a": {"": "1.0.0"}}})


def test_a_reference_stands_for_the_range_of_the_project():
    manifest = {
        "dependencies": {"a": "^2", "b": "^3"},
        "devDependencies": {"a": "^1", "d": "^4"},
        "peerDependencies": {"a": "^0", "p": "^5"},
        "overrides": {"a": "$a", "b": "$b", "d": "$d", "p": "$p", "e": "$e", "f": 1},
    }

    assert [rule.value for rule in read_overrides(manifest)] == ["^1", "^3", "^4", "^5", "$e"]


def test_a_key_without_a_range_applies_to_what_is_no_range_too():
    edge = Edge("node_modules/b", "a", "latest", "prod")

    assert Override((), "a", "", "1.0.0").asks(edge)
    assert Override((), "a", "*", "1.0.0").asks(edge)
    assert not Override((), "a", "^1", "1.0.0").asks(edge)


TREE = project(
    {
        "a": {"version": "1.0.0", "dependencies": {"c": "^1.0.0"}},
        "c": "1.0.0",
        "d": {"version": "2.0.0", "dependencies": {"c": "^1.0.0", "p": "*"}},
        "p": {"version": "1.0.0", "dependencies": {"c": "1"}},
    },
    dependencies={"a": "*", "c": "*", "d": "*"},
).packages


@pytest.mark.parametrize(
    ("overrides", "bent"),
    [
        ({"c": "9"}, {"a", "d", "p"}),
        ({"c@^1.0.0": "9"}, {"a", "d", "p"}),
        ({"c@1": "9"}, {"a", "d", "p"}),
        ({"c@<1.0.0": "9"}, set()),
        ({"c@<1.0.1": "9"}, {"a", "d", "p"}),
        ({"c@>=2": "9"}, set()),
        ({"c@*": "9"}, {"a", "d", "p"}),
        ({"a": {"c": "9"}}, {"a"}),
        ({"a@^1.0.0": {"c": "9"}}, {"a"}),
        ({"a@^2.0.0": {"c": "9"}}, set()),
        ({"d": {"c": "9"}}, {"d", "p"}),
        ({"d@2": {"c": "9"}}, {"d", "p"}),
        ({"d": {"p": {"c": "9"}}}, {"p"}),
        ({"a": {"p": {"c": "9"}}}, set()),
        ({"p": {"c": "9"}}, {"p"}),  # the project is called p too, and is no scope
        ({"p": {"d": {"c": "9"}}}, set()),
        ({"b": {"c": "9"}}, set()),
        ({"a": "9"}, set()),  # only the project asks for it
    ],
)
def test_which_edges_a_rule_bends(overrides, bent):
    bending = Bending(read_overrides({"overrides": overrides}), TREE)
    found = {
        path
        for path, entry in TREE.items()
        for edge in edges_from(path, entry)
        if bending.rules_for(edge)
    }

    assert found == {f"node_modules/{name}" for name in bent}


# changes


def test_packages_that_changed_came_or_went():
    before = project({"same": "1.0.0", "new": "1.0.0", "gone": "1.0.0"})
    after = project({"same": "1.0.0", "new": "2.0.0", "come": "1.0.0"}, version="2.0.0")

    assert changes.changed_packages(before, after) == {"new", "gone", "come"}


def test_direct_dependencies_lost_and_added():
    before = project({}, dependencies={"a": "1", "moved": "1"})
    after = project({}, dependencies={"b": "1"}, devDependencies={"moved": "1"})

    assert changes.lost_direct(before, after) == {
        ("dependencies", "a", "a"),
        ("dependencies", "moved", "moved"),
    }
    assert changes.added_direct(before, after) == {"b"}
    assert changes.added_direct(after, before) == {"a"}
    assert changes.edited_specs(before, after) == set()


def test_fields_that_were_edited():
    before = project({}, same=1, edited=1, gone=1, dependencies={"a": "1"}, overrides={})
    after = project({}, same=1, edited=2, come=1, devDependencies={"a": "1"}, overrides={"a": "1"})

    assert edited_fields(before, after) == {"edited", "gone", "come"}


def direct(version):
    return project({"a": version, "b": "1.0.0"}, dependencies={"a": "*", "b": "*"})


@pytest.mark.parametrize(
    ("old", "new", "bumped"),
    [
        ("1.0.0", "2.0.0", {"a"}),
        ("2.0.0", "1.0.0", set()),
        ("1.0.0", "1.9.0", set()),
        ("0.1.0", "0.2.0", {"a"}),
        ("0.0.1", "0.0.2", {"a"}),
        ("0.9.0", "1.0.0", {"a"}),
        ("1.0.0", "1.0.0", set()),
    ],
)
def test_breaking_lines_crossed_upward(old, new, bumped):
    assert changes.major_bumps(direct(old), direct(new)) == bumped


def test_who_gets_a_lower_version_is_named_by_what_it_gets():
    asked = {"dependencies": {"b": "*", "absent": "*"}}
    before = project({"a": {"version": "1.0.0", **asked}, "b": "1.1.0"}, dependencies={"a": "*"})
    after = project({"a": {"version": "1.0.0", **asked}, "b": "1.0.0"}, dependencies={"a": "*"})
    newer = project({"a": {"version": "1.0.1", **asked}, "b": "1.0.0"}, dependencies={"a": "*"})

    assert changes.downgraded(before, after) == {"b"}
    assert changes.downgraded(after, before) == changes.downgraded(before, newer) == set()


def test_an_edge_that_leads_nowhere_hides_no_later_one():
    asked = {"optionalDependencies": {"absent": "*"}, "dependencies": {}}
    root = {"dependencies": {"a": "*", "z": "*"}}
    before = project(
        {"a": {"version": "1.0.0", **asked}, "z": "1.1.0"}, optionalDependencies={"0": "*"}, **root
    )
    after = project(
        {"a": {"version": "1.0.0", **asked}, "z": "1.0.0"}, optionalDependencies={"0": "*"}, **root
    )
    nested_before = project(
        {"a": {"version": "1.0.0", "dependencies": {"absent": "*", "z": "*"}}, "z": "1.1.0"}
    )
    nested_after = project(
        {"a": {"version": "1.0.0", "dependencies": {"absent": "*", "z": "*"}}, "z": "1.0.0"}
    )

    assert changes.downgraded(before, after) == {"z"}
    assert changes.downgraded(nested_before, nested_after) == {"z"}


def test_a_project_of_a_new_version_still_asks_as_the_same():
    before = project({"a": "1.1.0"}, dependencies={"a": "*"})
    after = project({"a": "1.0.0"}, dependencies={"a": "*"}, version="1.0.1")

    assert changes.downgraded(before, after) == {"a"}


@pytest.mark.parametrize(
    ("before", "after", "added"),
    [
        ({}, {"scripts": {"preinstall": "x"}}, True),
        ({}, {"scripts": {"install": "x"}}, True),
        ({}, {"scripts": {"postinstall": "x"}}, True),
        ({}, {"scripts": {"prepublish": "x"}}, True),
        ({}, {"scripts": {"preprepare": "x"}}, True),
        ({}, {"scripts": {"prepare": "x"}}, True),
        ({}, {"scripts": {"postprepare": "x"}}, True),
        ({"scripts": {"install": "x"}}, {"scripts": {"install": "y"}}, True),
        ({"scripts": {"install": "x"}}, {"scripts": {"prepare": "x"}}, True),
        ({"scripts": {"install": "x"}}, {"scripts": {"install": "x"}}, False),
        ({"scripts": {"install": "x"}}, {}, False),
        ({}, {"scripts": {}}, False),
        ({}, {"scripts": {"install": ""}}, False),
        ({}, {"scripts": "install"}, False),
        ({"scripts": "x"}, {"scripts": {"install": "x"}}, True),
        ({"scripts": {}}, {}, False),
        ({}, {"scripts": {"test": "x", "postpublish": "x"}}, False),
        ({}, {}, False),
    ],
)
def test_scripts_of_the_project(before, after, added):
    assert bool(changes.scripts_added(project({}, **before), project({}, **after))) is added


def test_a_script_that_was_read_again_is_the_same():
    text = '{"scripts": {"install": "node a"}}'
    before, after = (project({}, **json.loads(text)) for _ in range(2))

    assert not changes.scripts_added(before, after)


def test_install_scripts_in_the_lock():
    plain = project({"a": "1.0.0"})
    flagged = project({"a": {"version": "1.0.0", "hasInstallScript": True}})
    own = project({"a": "1.0.0"}, root={"hasInstallScript": True})

    assert changes.scripts_added(plain, flagged) == {"a"}
    assert not changes.scripts_added(flagged, flagged)
    assert not changes.scripts_added(flagged, plain)
    assert not changes.scripts_added(plain, own)


BAD = {"version": "1.0.0", "dependencies": {"bad": "*"}}


@pytest.mark.parametrize(
    ("packages", "manifest", "kind"),
    [
        ({}, {}, "none"),
        ({"bad": "1.1.0"}, {}, "lock-refresh"),
        ({"bad": "1.1.0", "up": {**BAD, "version": "1.1.0"}}, {}, "lock-refresh-of-parent"),
        ({"p": "1.1.0"}, {}, "lock-refresh"),  # the project is called p too, and is no parent
        ({"up": {**BAD, "version": "1.1.0"}}, {"dependencies": {"up": "^1.1.0", "bad": "*", "p": "*"}}, "parent-bump"),
        ({"up": {**BAD, "version": "2.0.0"}}, {"dependencies": {"up": "^2.0.0", "bad": "*", "p": "*"}}, "parent-major"),
        ({"bad": "1.1.0"}, {"dependencies": {"up": "*", "bad": "^1.1.0", "p": "*"}}, "direct-spec-bump"),
        ({"bad": "2.0.0"}, {"dependencies": {"up": "*", "bad": "^2.0.0", "p": "*"}}, "direct-major"),
        ({}, {"dependencies": {"up": "*", "bad": "*", "p": "*", "more": "*"}}, "parent-bump"),
        ({}, {"overrides": {"up": {"bad": "1.1.0"}}}, "scoped-override"),
        ({}, {"overrides": {"bad": "1.1.0"}}, "global-override"),
        ({}, {"overrides": {"bad": "1.1.0", "up": {"bad": "1.1.0"}}}, "global-override"),
    ],
)  # fmt: skip
def test_kinds_of_fixes(packages, manifest, kind):
    root = {"dependencies": {"up": "*", "bad": "*", "p": "*"}}
    held = {"bad": "1.0.0", "up": BAD, "p": "1.0.0"}
    before, after = project(held, **root), project({**held, **packages}, **{**root, **manifest})

    assert changes.fix_class(before, after, ["node_modules/bad"]) == kind


def test_an_override_that_was_there_before_is_not_fresh():
    before = project({}, overrides={"a": "1", "b": {"c": "1"}})
    after = project({}, overrides={"a": "1", "b": {"c": "2"}, "d": "1"})

    assert changes.fresh_overrides(before, after) == [
        Override((("b", ""),), "c", "", "2"),
        Override((), "d", "", "1"),
    ]
    # They bend nothing that is vulnerable.
    assert changes.needless_overrides(before, after, ["c", "d"], ["node_modules/c"]) == {"c", "d"}


BENT = project(
    {
        "up": {"version": "1.0.0", "dependencies": {"bad": "^1.0.0"}},
        "bad": "1.0.0",
        "other": {"version": "1.0.0", "dependencies": {"bad": "^2.0.0"}},
        "other/node_modules/bad": "2.0.0",
    },
    dependencies={"up": "*", "other": "*"},
)


@pytest.mark.parametrize(
    ("overrides", "narrow"),
    [
        ({"up": {"bad": "1.1.0"}}, True),
        ({"bad@<1.1.0": "1.1.0"}, True),
        ({"bad@1": "1.1.0"}, True),
        ({"bad@1 || 2": "1.1.0"}, False),
        ({"bad": "1.1.0"}, False),
        ({"bad@*": "1.1.0"}, False),
        ({"other": {"bad": "2.1.0"}}, False),
        ({"nobody": {"bad": "1.1.0"}}, False),
        ({"bad@3": "1.1.0"}, False),
    ],
)
def test_a_narrow_override_bends_what_is_vulnerable_and_no_more(overrides, narrow):
    (rule,) = read_overrides({"overrides": overrides})

    assert changes.is_narrow(rule, BENT, ["node_modules/bad"]) is narrow


SPECS_BEFORE = project(
    {"a": "1.0.0", "bad": "0.21.1"}, dependencies={"a": "1.0.0", "bad": "0.21.1"}
)
SPECS_KNOWN = Registry(
    {
        "bad": {"versions": {v: {} for v in ("0.21.0", "0.21.1", "0.21.2", "0.22.0")}},
        "a": {"versions": {v: {} for v in ("1.0.0", "1.1.0", "2.0.0")}},
    }
)


@pytest.mark.parametrize(
    ("name", "version", "spec", "loose"),
    [
        ("bad", "0.21.2", "0.21.2", False),
        ("bad", "0.21.2", "^0.21.2", False),
        ("bad", "0.21.2", ">=0.21.2 <0.22.0", False),
        ("bad", "0.21.2", "*", True),
        ("bad", "0.21.2", "", True),
        ("bad", "0.21.2", ">=0", True),
        ("bad", "0.21.2", "^0.21.1", True),
        ("bad", "0.21.2", "0.21.1 || 0.21.2", True),
        ("bad", "0.21.2", ">=0.21.2", True),
        ("bad", "0.21.2", "0.21.0 || 0.21.2", True),
        ("bad", "0.21.2", "0.21.2 || 0.22.0", True),
        ("bad", "0.21.2", "0.21.2 || 0.23.0", False),
        ("bad", "0.21.2", "0.21.2 || 1.0.0", True),
        ("a", "1.1.0", "1.1.0", False),
        ("a", "1.1.0", "^1.1.0", False),
        ("a", "1.1.0", "^1.0.0", True),
        ("a", "1.1.0", ">=1.1.0", True),
        ("a", "1.1.0", "1.1.0 || 2", True),
        ("a", "1.0.0", "^1.0.0", False),
    ],
)
def test_a_range_that_lets_back_in_what_had_to_go(name, version, spec, loose):
    after = project(
        {"a": "1.0.0", "bad": "0.21.1", name: version},
        dependencies={"a": "1.0.0", "bad": "0.21.1", name: spec},
    )
    target = Advisory(ghsa="GHSA-t", package="bad", vulnerable_range="<0.21.2")

    found = changes.loosened_specs(SPECS_BEFORE, after, SPECS_KNOWN, [target])

    assert found == ({name} if loose else set())


def test_a_further_table_adds_a_direct_dependency():
    before = project({"a": "1.0.0"}, dependencies={"a": "*"})
    after = project({"a": "1.0.0"}, dependencies={"a": "*"}, peerDependencies={"a": "*"})

    assert changes.added_direct(before, after) == {"a"}
    assert changes.added_direct(after, before) == set()


# consistency


def whole(**manifest):
    return project(
        {"a": {"version": "1.0.0", "dependencies": {"b": "^1.0.0"}}, "b": "1.0.0"},
        **{"dependencies": {"a": "^1.0.0"}, **manifest},
    )


def test_a_consistent_lock_has_no_problem():
    assert problems(whole()) == ()


def test_a_peer_of_the_project_is_at_its_top():
    assert problems(project({"a": "1.0.0"}, peerDependencies={"a": "^1.0.0"})) == ()


def test_a_peer_in_the_folder_of_who_asks_for_it():
    asking = {"version": "1.0.0", "peerDependencies": {"b": "*"}}
    root = {"dependencies": {"a": "*", "b": "*"}}

    assert problems(project({"a": asking, "b": "1.0.0"}, **root)) == ()
    assert problems(project({"a": asking, "a>b": "1.0.0", "b": "1.0.0"}, **root)) == (
        "edge_out_of_range",
    )


@pytest.mark.parametrize("field", ["name", "version"])
def test_the_lock_is_called_as_the_manifest_is(field):
    made = whole()
    made.lock[field] = "other"

    assert problems(made) == ("root_mismatch",)


@pytest.mark.parametrize(
    "field",
    [
        "name", "version", "dependencies", "devDependencies", "optionalDependencies", "peerDependencies",
        "peerDependenciesMeta", "workspaces",
    ],
)  # fmt: skip
def test_the_root_entry_says_what_the_manifest_says(field):
    made = project({})
    made.packages[""][field] = {"x": {}} if field == "peerDependenciesMeta" else {}
    assert ("root_mismatch" in problems(made)) is (
        field in ("name", "version", "peerDependenciesMeta")
    )

    made.packages[""].pop(field)
    made.manifest[field] = ["x"] if field == "workspaces" else {}
    assert ("root_mismatch" in problems(made)) is (field in ("name", "version", "workspaces"))


@pytest.mark.parametrize("own", ["^1.0.0", "^0.9.0 || ^1.0.0"])
@pytest.mark.parametrize(
    ("rule", "found"),
    [
        ({"a": "1.0.0"}, True),
        ({"a": "~1.0.0"}, True),
        ({"a": "$a"}, False),
        ({"a@^9": "1.0.0"}, False),
        ({"b": "^1.0.0"}, False),
        ({"z": {"a": "1.0.0"}}, False),
    ],
)
def test_an_override_must_not_contradict_the_project(own, rule, found):
    made = whole(dependencies={"a": own}, overrides=rule)

    assert ("override_conflict" in problems(made)) is found


def test_an_override_of_the_very_range_contradicts_as_well():
    conflicting = whole(overrides={"a@^1.0.0": "1.0.0"})

    assert problems(conflicting) == ("override_conflict",)


@pytest.mark.parametrize(
    "made",
    [
        project({}, root={"dependencies": {}}, dependencies={"a": "file:a"}),
        project({}, overrides={"a": "git+ssh://host.invalid/a"}),
        project({}, root={"resolved": "x"}),
        project({}, root={"dependencies": {"a": "b/a"}}),
        project({"a": {"version": "1.0.0", "resolved": ""}}, dependencies={"a": "*"}),
        project({"a": {"version": "1.0.0", "optionalDependencies": {"b": "file:b"}}}, dependencies={"a": "*"}),
    ],
    ids=range(6),
)  # fmt: skip
def test_an_address_is_found_in_every_place(made):
    assert "foreign_address" in problems(made)


def test_what_is_no_address():
    assert problems(whole(overrides={"b": "1.0.0"})) == ()


@pytest.mark.parametrize("flag", ["dev", "optional", "devOptional"])
def test_a_flag_must_follow_from_the_place(flag):
    placed = {"dev": "devDependencies", "optional": "optionalDependencies"}
    entry = {"version": "1.0.0", flag: True}

    assert problems(project({"a": entry}, dependencies={"a": "*"})) == ("flags_mismatch",)
    if flag in placed:
        assert problems(project({"a": entry}, **{placed[flag]: {"a": "*"}})) == ()
        assert problems(project({"a": "1.0.0"}, **{placed[flag]: {"a": "*"}})) == (
            "flags_mismatch",
        )


def test_the_project_itself_has_no_flags():
    made = whole()
    made.packages[""]["dev"] = True

    assert problems(made) == ()


@pytest.mark.parametrize("named", ["a", "z"])
def test_an_override_explains_its_own_package_alone(named):
    """``m`` is required and overridden; its folder has another package of the forced version."""
    made = project(
        {
            "x": {"version": "1.0.0", "dependencies": {"m": "^1.0.0"}},
            "m": {"version": "2.0.0", "name": named},
        },
        dependencies={"x": "*"},
        overrides={"m": "2.0.0"},
    )

    assert problems(made) == ("edge_out_of_range",)


def test_an_override_is_found_by_the_name_that_is_asked_for():
    made = project(
        {
            "x": {"version": "1.0.0", "dependencies": {"alias": "npm:m@^1.0.0"}},
            "alias": {"version": "2.0.0", "name": "m"},
        },
        dependencies={"x": "*"},
        overrides={"alias": "2.0.0"},
    )

    assert problems(made) == ()
    made.manifest["overrides"] = {"m": "2.0.0"}
    assert problems(made) == ("edge_out_of_range",)


@pytest.mark.parametrize(
    ("overrides", "found"),
    [
        ({"b": "9"}, True),
        ({"a": {"b": "9"}}, True),
        ({"w": {"a": {"b": "9"}}}, True),
        ({"w": {"b": "9"}}, True),
        ({"w": {"b": "9"}, "b": "1.0.0"}, True),  # of two rules the closer one counts
        ({"b": "9", "w": {"b": "1.0.0"}}, False),
        ({"a": {"b": "9"}, "w": {"a": {"b": "1.0.0"}}}, False),
        ({"b@1": "9", "b": "1.0.0"}, True),  # of two in one scope the first
        ({"b@1": "1.0.0", "b": "9"}, False),
        ({"a": {"b": "1.0.0"}, "a@1": {"b": "9"}}, False),
        ({"a@1": {"b": "9"}, "a": {"b": "1.0.0"}}, True),
        ({"a": {"b": "1.0.0"}, "w": {"b": "9"}}, True),  # either may be closer
        ({"w": {"b": "9"}, "b": "8"}, True),
        ({"b@1": "9"}, True),
        ({"b@2": "9"}, False),
        ({"a": {"w": {"b": "9"}}}, False),
        ({"b": "1.0.0"}, False),
    ],
)
def test_a_rule_that_certainly_applies_must_be_locked(overrides, found):
    made = project(
        {
            "w": {"version": "1.0.0", "dependencies": {"a": "*"}},
            "a": {"version": "1.0.0", "dependencies": {"b": "^1.0.0"}},
            "b": "1.0.0",
        },
        dependencies={"w": "*"},
        overrides=overrides,
    )

    assert problems(made) == (("override_not_locked",) if found else ())


def test_a_scope_that_can_be_gone_around_is_uncertain():
    for direct, found in (({"b": "*"}, True), ({"b": "*", "m": "*"}, False)):
        made = project(
            {
                "b": {"version": "1.0.0", "dependencies": {"m": "*"}},
                "m": {"version": "1.0.0", "dependencies": {"t": "^1.0.0"}},
                "t": "1.0.0",
            },
            dependencies=direct,
            overrides={"b": {"t": "9"}},
        )
        assert problems(made) == (("override_not_locked",) if found else ())


@pytest.mark.parametrize(
    ("overrides", "malformed"),
    [
        ({}, False),
        ({"b": "1.0.0"}, False),
        ({"b": ""}, False),
        ({"a": {".": "1.0.0", "b": "^1"}}, False),
        ([], True),
        (None, True),
        ("b", True),
        ({"b": None}, True),
        ({"b": 1}, True),
        ({"b": ["1.0.0"]}, True),
        ({"": "1.0.0"}, True),
        ({".": "1.0.0"}, True),
        ({"a": {".": {}}}, True),
        ({"b": "$nobody"}, True),
        ({"b": "latest"}, True),
        ({"b": "npm:c@1"}, True),
        ({"b@latest": "1.0.0"}, True),
        ({"a": {"b": {"c": True}}}, True),
    ],
)
def test_overrides_must_be_tables_of_ranges(overrides, malformed):
    assert is_malformed({"overrides": overrides}) is malformed


def test_a_reference_to_a_direct_dependency_is_a_range():
    assert not is_malformed({"dependencies": {"b": "^1.0.0"}, "overrides": {"c": "$b"}})


def test_the_projects_own_range_behind_a_dot_forces_nothing():
    manifest = {"dependencies": {"a": "^1"}, "overrides": {"a": {".": "^1", "b": "1.0.0"}}}

    assert read_overrides(manifest) == [Override((("a", ""),), "b", "", "1.0.0")]


def test_everything_that_can_be_wrong_with_an_entry():
    made = whole()
    known = {
        name: {"versions": {"1.0.0": copy.deepcopy(made.packages[f"node_modules/{name}"])}}
        for name in "ab"
    }

    def judged(**edit):
        entry = {**made.packages["node_modules/b"], **edit}
        lock = {**made.lock, "packages": {**made.packages, "node_modules/b": entry}}
        return lock_problems(Project(made.manifest, lock), Registry(known))

    assert judged() == ()
    assert judged(integrity="sha512-other") == ("integrity_mismatch",)
    assert judged(integrity="") == judged(integrity=None) == ("integrity_missing",)
    assert judged(version="1.0.1") == ("version_unknown",)


def test_what_nothing_depends_on_is_extraneous():
    made = whole()
    made.packages["node_modules/c"] = {"version": "1.0.0"}

    assert "entry_extraneous" in problems(made)


@pytest.mark.parametrize(
    ("table", "found"),
    [("dependencies", True), ("devDependencies", True), ("peerDependencies", True), ("optionalDependencies", False)],
)  # fmt: skip
def test_what_is_absent_and_asked_for(table, found):
    made = project({}, **{table: {"gone": "*"}})

    assert problems(made) == (("edge_unresolved",) if found else ())


def test_an_absent_package_hides_no_later_fault():
    made = project({"z": "1.0.0"}, dependencies={"z": "^2.0.0"}, optionalDependencies={"a": "*"})

    assert problems(made) == ("edge_out_of_range",)
