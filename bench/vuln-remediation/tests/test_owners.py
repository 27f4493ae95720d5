# mypy: allow-untyped-defs, allow-untyped-calls
"""A workspace is judged as the project is: no key is excused for one owner and judged for the other."""

import json

import pytest
from _benchgate_bench.vuln_remediation import changes
from _benchgate_bench.vuln_remediation.consistency import lock_problems
from _benchgate_bench.vuln_remediation.expected import Advisory
from _benchgate_bench.vuln_remediation.metadata import Registry
from _benchgate_bench.vuln_remediation.project import Project
from _benchgate_bench.vuln_remediation.rubric import PENALTIES
from _benchgate_bench.vuln_remediation.tests.support import (
    WORKSPACES,
    Output,
    score,
    score_made,
    solved,
)

API = "packages/api"
NAME = f"{API}/package.json"
ADDRESS = "https://host.invalid/x.tgz"
VULNERABLE = "4.0.0"

OVERRIDES = [
    {"form-data": ADDRESS}, {"form-data": VULNERABLE}, {"ms": "2.0.0"}, {"axios": {"form-data": VULNERABLE}},
    {"form-data": 5}, 5, [1], "x", None,
]  # fmt: skip
FIELDS = {
    "peerDependenciesMeta": {"x": {"optional": True}}, "bundleDependencies": ["axios"], "engines": {"node": "<1"},
    "scripts": {"postinstall": "x"}, "workspaces": ["a"], "description": "x", "private": False, "x:y": 1,
    "packages/api:scripts": {"a": "b"}, "resolutions": {"form-data": VULNERABLE}, "pnpm": {}, "os": ["win32"],
    "optionalDependencies": {"a": ADDRESS}, "devDependencies": {"ms": "^2.0.0"}, "peerDependencies": {"ms": "*"},
    "packageManager": "npm@1", "type": "module", "dependenciesMeta": {}, "bin": {"node": "x.js"}, "gypfile": True,
}  # fmt: skip


def planted(owner, key, value, *, marked=False):
    output = solved(WORKSPACES)
    if marked:
        output.packages[owner]["hasInstallScript"] = True
    if owner:
        held = json.loads(output.further[NAME])
        output.further[NAME] = json.dumps({**held, key: value})
    else:
        output.manifest[key] = value
    return score(WORKSPACES, output)


@pytest.mark.parametrize(
    ("key", "value"),
    [*(("overrides", value) for value in OVERRIDES), *FIELDS.items(), ("overrides", {})],
)
def test_a_key_costs_a_workspace_what_it_costs_the_project(key, value):
    own, of_workspace = planted("", key, value), planted(API, key, value)

    assert of_workspace.passed is own.passed
    assert of_workspace.safety_penalty == own.safety_penalty
    assert (of_workspace.score == 1.0) is (own.score == 1.0)


@pytest.mark.parametrize("value", OVERRIDES)
def test_overrides_of_a_workspace_are_sent_back(value):
    result = planted(API, "overrides", value)

    assert not result.passed
    if isinstance(value, dict) and ADDRESS in value.values():
        assert result.safety_penalty == PENALTIES["foreign_address"]


ENTRY = {
    "dependencies": {"axios": "^1.7.7", "debug": "^4.3.4", "ms": "^2"}, "peerDependencies": {"ms": "*"},
    "devDependencies": {"ms": "*"}, "optionalDependencies": {"x": "*"}, "dev": False, "optional": 0, "peer": None,
    "devOptional": "", "overrides": {"a": "1"}, "engines": {"node": "<1"}, "bin": {"a": "b"},
    "version": "2.0.0", "scripts": {"install": "x"}, "hasInstallScript": True, "gypfile": True, "license": "x",
    "resolved": ADDRESS, "extraneous": True,
}  # fmt: skip
RUN = {"bin", "scripts", "hasInstallScript", "gypfile"}


@pytest.mark.parametrize("path", ["", API, "node_modules/api"])
@pytest.mark.parametrize(("key", "value"), ENTRY.items())
def test_no_key_of_the_entry_of_an_owner_or_of_its_link_is_excused(path, key, value):
    output = solved(WORKSPACES)
    output.packages[path][key] = value

    result = score(WORKSPACES, output)

    assert not result.passed
    assert ("code_added" in result.failure_modes) is (key in RUN)
    assert ("foreign_address" in result.failure_modes) is (key == "resolved")


@pytest.mark.parametrize("owner", ["", API])
def test_the_mark_that_npm_writes_for_a_script_is_no_further_fault(owner):
    """The script is a fault: it runs, and nobody asked for it."""
    scripts = {"preinstall": "npx x"}
    alone, marked = (
        planted(owner, "scripts", scripts),
        planted(owner, "scripts", scripts, marked=True),
    )

    assert marked.failure_modes == alone.failure_modes
    assert "code_added" in alone.failure_modes


def test_a_workspace_does_not_go():
    lost = solved(WORKSPACES)
    del lost.packages["packages/web"], lost.packages["node_modules/web"]

    assert not score(WORKSPACES, lost).passed


@pytest.mark.parametrize("path", [f"{API}x", "packages/web"])
def test_a_link_leads_where_it_led(path):
    output = solved(WORKSPACES)
    output.packages["node_modules/api"]["resolved"] = path

    assert "foreign_address" in score(WORKSPACES, output).failure_modes


@pytest.mark.parametrize("name", ["package.json", NAME])
@pytest.mark.parametrize("text", [{}, None, 5, ["x"]])
def test_a_manifest_that_is_no_text_is_none(name, text):
    made = solved(WORKSPACES).files()
    made["files"][name] = text

    assert score(WORKSPACES, made).failure_modes == ("output_missing_file",)


# What follows is shown on a project made for it: one workspace, below which `top` asks for `bad`.
VERSIONS = {
    "top": {"1.0.0": {"dependencies": {"bad": "^1.0.0"}}},
    "bad": {"1.0.0": {}, "1.1.0": {"engines": {"node": ">=18"}}, "1.2.0": {}, "2.0.0": {}},
}  # fmt: skip
REGISTRY = {
    name: {"versions": {one: {"integrity": f"sha512-{name}-{one}", **held} for one, held in found.items()}}
    for name, found in VERSIONS.items()
}  # fmt: skip
TARGET = {"ghsa": "GHSA-t", "package": "bad", "vulnerable_range": "<1.1.0"}
EXPECTED = {
    "schema_version": 1, "target": TARGET, "fix_classes": {"lock-refresh": 1.0}, "may_change": ["bad"],
    **dict.fromkeys(
        ("spec_edits_allowed", "majors_allowed", "overrides_allowed", "range_breaks_allowed"), ()
    ),
    "sentinels": {}, "advisories": [],
}  # fmt: skip


def project(bad="1.0.0", **fields):
    """Return the project with a version of ``bad``, and further fields of the manifest of its workspace."""
    asks = {"dependencies": {"top": "^1.0.0"}}
    member = {"name": "api", "version": "1.0.0", **asks, **fields}
    root = {"name": "p", "version": "1.0.0", "workspaces": ["packages/*"]}
    packages = {
        "": dict(root),
        API: {"name": "api", "version": "1.0.0", **asks, **_engines(fields)},
        "node_modules/api": {"resolved": API, "link": True},
        "node_modules/bad": {"version": bad, **REGISTRY["bad"]["versions"][bad]},
        "node_modules/top": {"version": "1.0.0", **REGISTRY["top"]["versions"]["1.0.0"]},
    }
    lock = {"name": "p", "version": "1.0.0", "lockfileVersion": 3, "packages": packages}
    return Output(root, lock, further={NAME: json.dumps(member)})


def _engines(fields):
    return {"engines": fields["engines"]} if "engines" in fields else {}


def judged(tmp_path, before, after):
    return score_made(tmp_path, before, after, {"registry": REGISTRY, "expected": EXPECTED})


@pytest.mark.parametrize(
    ("given", "made", "passes"),
    [
        (None, None, True),
        (None, {"bad": "1.2.0"}, False),
        (None, {"other": "1.0.0"}, False),
        ({"bad": "1.0.0"}, {"bad": "1.0.0"}, True),
        ({"bad": "1.0.0"}, None, True),
        ({"bad": "1.0.0"}, {"bad": "1.2.0"}, True),
        ({"bad": "1.0.0"}, {"bad": "^1.2.0"}, True),
        ({"bad": "1.0.0"}, {"bad": ">=1.0.0"}, False),
        ({"bad": "1.0.0"}, {"bad": "2.0.0"}, False),
        ({"bad": "1.0.0"}, {"bad": ADDRESS}, False),
        ({"other": "1.0.0"}, {"other": "1.0.0"}, True),
        ({"other": "1.0.0"}, None, False),
        ({"other": "1.0.0"}, {"other": "1.1.0"}, False),
    ],
)
def test_an_own_override_of_a_workspace_goes_only_if_it_pins_what_is_vulnerable(
    tmp_path, given, made, passes
):
    before = project(**({"overrides": given} if given else {}))
    after = project("1.2.0", **({"overrides": made} if made else {}))

    assert judged(tmp_path, before, after).passed is passes


@pytest.mark.parametrize("bad", ["1.1.0", "1.2.0"])
@pytest.mark.parametrize("asked", [None, ">=16", ">=20"])
def test_what_a_workspace_needs_runs_on_its_own_node(tmp_path, bad, asked):
    fields = {"engines": {"node": asked}} if asked else {}

    result = judged(tmp_path, project(**fields), project(bad, **fields))

    assert result.passed is (asked != ">=16" or bad == "1.2.0")


@pytest.mark.parametrize("planted_field", [{"overrides": {"bad": "1.0.0"}}, {"overrides": 5}])
def test_style_excuses_no_override_of_a_workspace_on_a_negative(tmp_path, planted_field):
    told = {"registry": REGISTRY, "expected": EXPECTED}
    after = project("1.2.0", description="x", **planted_field)

    result = score_made(tmp_path, project("1.2.0"), after, told, disposition="negative")

    assert (result.passed, result.score) == (False, 0.0)


def test_a_peer_of_a_workspace_may_lie_below_it_as_one_of_the_project_may():
    """npm keeps such a tree where another workspace needs another version, and ``npm ls`` finds it whole."""
    before = project("2.0.0")
    member = {"name": "api", "version": "1.0.0", "peerDependencies": {"bad": "^1.0.0"}}
    web = {"name": "web", "version": "1.0.0", "dependencies": {"bad": "^2.0.0"}}
    packages = {
        **before.packages,
        API: member,
        "packages/web": web,
        "node_modules/web": {"resolved": "packages/web", "link": True},
        f"{API}/node_modules/bad": {
            "version": "1.2.0",
            **REGISTRY["bad"]["versions"]["1.2.0"],
            "peer": True,
        },
    }
    del packages["node_modules/top"]
    lock = {**before.lock, "packages": packages}
    made = Project(before.manifest, lock, {API: member, "packages/web": web})

    assert lock_problems(made, Registry(REGISTRY)) == ()


def test_the_nearest_line_that_helps_runs_on_the_node_of_the_workspace_that_needs_it():
    """An override may pass over a line that the workspace cannot run, and no other."""
    engines = {"engines": {"node": ">=16"}}
    found = {
        "top": REGISTRY["top"],
        "bad": {"versions": {"1.0.0": {}, "1.1.0": {"engines": {"node": ">=18"}}, "2.0.0": {}}},
    }
    target = Advisory(**TARGET)
    for fields, far in (({}, {"bad"}), (engines, set())):
        before, after = project(**fields), project("2.0.0", **fields)
        after.manifest["overrides"] = {"bad": "2.0.0"}
        states = [
            Project(one.manifest, one.lock, {API: json.loads(one.further[NAME])})
            for one in (before, after)
        ]
        assert changes.far_overrides(*states, Registry(found), [target]) == far
