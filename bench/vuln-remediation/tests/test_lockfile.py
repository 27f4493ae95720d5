# mypy: allow-untyped-defs, allow-untyped-calls
"""Reading locks: names, folders, what an edge resolves to, and what its range takes."""

from typing import Any

import pytest
from _benchgate_bench.vuln_remediation.flags import placement
from _benchgate_bench.vuln_remediation.lockfile import (
    Edge,
    child_folder,
    edges_from,
    folders_upward,
    has_address,
    in_range,
    instances,
    package_name,
    reachable,
    resolve,
    split_alias,
)
from _benchgate_bench.vuln_remediation.metadata import Registry
from _benchgate_bench.vuln_remediation.overrides import Bending, read_overrides, split_key
from _benchgate_bench.vuln_remediation.semver import breaking_line, satisfies, sort_key

TREE: dict[str, dict[str, Any]] = {
    "": {"dependencies": {"a": "^1.0.0", "b": "^1.0.0"}, "devDependencies": {"d": "*"}},
    "node_modules/a": {"version": "1.0.0", "dependencies": {"c": "^2.0.0"}},
    "node_modules/b": {
        "version": "1.0.0",
        "dependencies": {"c": "^1.0.0"},
        "optionalDependencies": {"o": "*", "gone": "*"},
        "peerDependencies": {"a": "^1.0.0", "absent": "*"},
        "peerDependenciesMeta": {"absent": {"optional": True}},
    },
    "node_modules/c": {"version": "1.5.0"},
    "node_modules/a/node_modules/c": {"version": "2.0.0", "dependencies": {"b": "*"}},
    "node_modules/d": {"version": "3.0.0", "dependencies": {"e": "*"}},
    "node_modules/e": {"version": "1.0.0"},
    "node_modules/o": {"version": "1.0.0", "dependencies": {"e": "*"}},
}


def kinds(path):
    return {edge.name: edge.kind for edge in edges_from(path, TREE[path])}


def test_folders_upward():
    assert list(folders_upward("node_modules/@s/a/node_modules/b")) == [
        "node_modules/@s/a/node_modules/b",
        "node_modules/@s/a",
        "",
    ]


@pytest.mark.parametrize(
    ("source", "name", "found"),
    [
        ("node_modules/a", "c", "node_modules/a/node_modules/c"),
        ("node_modules/b", "c", "node_modules/c"),
        ("node_modules/a/node_modules/c", "b", "node_modules/b"),
        ("", "a", "node_modules/a"),
        ("node_modules/b", "gone", None),
    ],
)
def test_resolution_goes_from_the_own_folder_upward(source, name, found):
    assert resolve(TREE, source, name) == found


def test_kinds_of_edges():
    assert kinds("node_modules/b") == {
        "c": "prod",
        "o": "optional",
        "gone": "optional",
        "a": "peer",
        "absent": "peerOptional",
    }
    assert kinds("")["d"] == "dev"


def test_what_is_reachable():
    stray = {**TREE, "node_modules/stray": {"version": "1.0.0"}}

    assert reachable(stray) == set(TREE)


def test_only_an_optional_peer_keeps_nothing():
    tree: dict[str, dict[str, Any]] = {
        "": {"dependencies": {"a": "*"}},
        "node_modules/a": {
            "version": "1.0.0",
            "peerDependencies": {"p": "*"},
            "peerDependenciesMeta": {"p": {"optional": True}},
        },
        "node_modules/p": {"version": "1.0.0"},
    }

    assert "node_modules/p" not in reachable(tree)


def test_flags_follow_from_the_place():
    flags = placement(TREE)

    assert flags["node_modules/d"] == {"dev"}
    assert flags["node_modules/o"] == {"optional"}
    assert flags["node_modules/e"] == {"devOptional"}
    assert flags["node_modules/c"] == set()


def test_a_name_field_goes_before_the_folder():
    tree = {"node_modules/x": {"name": "real", "version": "1.0.0"}}

    assert package_name("node_modules/x", tree["node_modules/x"]) == "real"
    assert instances(tree, "real") == ["node_modules/x"]
    assert instances(tree, "x") == []


@pytest.mark.parametrize(
    ("spec", "package", "wanted"),
    [
        ("^1.0.0", "x", "^1.0.0"),
        ("npm:real@^1.0.0", "real", "^1.0.0"),
        ("npm:@s/real@1.x", "@s/real", "1.x"),
        ("npm:@s/real", "@s/real", "*"),
    ],
)
def test_aliases(spec, package, wanted):
    assert split_alias("x", spec) == (package, wanted)


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ("^1.0.0 || >=2", False),
        ("latest", False),
        ("npm:@s/a@1", False),
        ("https://host.invalid/a.tgz", True),
        ("git+ssh://host.invalid/a", True),
        ("someone/a", True),
        ("file:../a", True),
    ],
)
def test_addresses(spec, found):
    assert has_address(spec) is found


def test_an_edge_wants_its_package_not_only_its_folder():
    edge = Edge("", "x", "npm:real@^1.0.0", "prod")

    assert in_range(edge, {"name": "real", "version": "1.2.0"})
    assert not in_range(edge, {"version": "1.2.0"})
    assert not in_range(edge, {"name": "real", "version": "2.0.0"})


def test_child_folder():
    assert child_folder("", "a") == "node_modules/a"
    assert child_folder("node_modules/a", "@s/b") == "node_modules/a/node_modules/@s/b"


@pytest.mark.parametrize(
    ("version", "spec", "found"),
    [
        ("1.2.3", "^1.2.0", True),
        ("0.2.3", "^0.1.0", False),
        ("2.0.0-beta.1", "^2.0.0-alpha", True),
        ("3.0.0-beta.1", "^2.4.2", False),
        ("2.1.5", ">= 2.1.2 < 3", True),
        ("1.2.3", "", True),
        ("1.0.0beta2", "*", False),
        ("1.0.0", "not a range", False),
        ("1.0.0", "x" * 5000, False),
    ],
)
def test_ranges(version, spec, found):
    assert satisfies(version, spec) is found


def test_precedence_of_versions():
    order = ["junk", "1.0.0-1", "1.0.0-2", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0", "1.0.10"]

    assert sorted(set(order), key=sort_key) == order


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("1.2.3", "1.9.0", True),
        ("1.2.3", "2.0.0", False),
        ("0.21.1", "0.21.4", True),
        ("0.21.1", "0.22.0", False),
        ("0.0.3", "0.0.4", False),
    ],
)
def test_breaking_lines(one, other, same):
    assert (breaking_line(one) == breaking_line(other)) is same


def test_npm_picks_latest_then_the_highest_and_what_runs():
    versions = {"1.0.0": {}, "1.1.0": {}, "1.2.0": {"engines": {"node": ">=99"}}, "2.0.0-b": {}}
    registry = Registry(
        {"a": {"latest": "1.0.0", "versions": versions}, "b": {"versions": versions}}
    )

    assert registry.pick("a", "^1.0.0") == "1.0.0"
    assert registry.pick("b", "^1.0.0") == "1.1.0"
    assert registry.pick("b", "1.2.0") == "1.2.0"
    assert registry.pick("b", "*") == "1.1.0"
    assert registry.pick("a", "^1.0.0", avoid="1.0.0") == "1.1.0"
    assert registry.pick("a", "1.0.0", avoid="1.0.0") == "1.0.0"
    assert registry.pick("a", "^3.0.0") is None
    assert registry.pick("nobody", "*") is None


def test_override_rules_are_flattened():
    manifest = {
        "dependencies": {"c": "^1.5.0"},
        "overrides": {"c": "$c", "a@^1": {".": "1.0.0", "c": "2.0.0", "@s/x@^3": {"y": "1"}}},
    }

    found = {(rule.scope, rule.name, rule.when, rule.value) for rule in read_overrides(manifest)}

    assert found == {
        ((), "c", "", "^1.5.0"),
        ((), "a", "^1", "1.0.0"),
        ((("a", "^1"),), "c", "", "2.0.0"),
        ((("a", "^1"), ("@s/x", "^3")), "y", "", "1"),
    }


def test_keys_of_overrides():
    assert split_key("@s/x") == ("@s/x", "")
    assert split_key("@s/x@^3") == ("@s/x", "^3")


def test_an_override_bends_edges_in_its_scope_only():
    rules = read_overrides({"overrides": {"a": {"c": "9.0.0"}, "e": "2.0.0"}})
    bending = Bending(rules, TREE)
    by_source = {
        (edge.source, edge.name): bool(bending.rules_for(edge))
        for path in TREE
        for edge in edges_from(path, TREE[path])
    }

    assert by_source["node_modules/a", "c"]
    assert by_source["node_modules/b", "c"]  # b is below a: its own c depends on it
    assert by_source["node_modules/d", "e"]
    assert not by_source["", "a"]
