# mypy: allow-untyped-defs, allow-untyped-calls
"""npm, which shares no code with the rubric, must find the same vulnerable entries and the same broken edges."""

import itertools

import pytest
from _benchgate_bench.vuln_remediation.tests.support import (
    CASES,
    CLASS,
    COOKIE,
    LODASH,
    SYSTEMS,
    load,
    required_npm,
    untouched,
)
from _benchgate_bench.vuln_remediation.tools import judges

BELOW_A_WORKSPACE = ("046-cve-2022-25883-semver", "blind-override")
"""Far below a workspace ``npm ls`` calls what an override bends invalid; ``npm install`` and ``ci`` keep it."""


npm = pytest.fixture(required_npm, scope="module")


def differing(verdicts):
    return [
        (one.item.case_id, one.item.label, one.instances, one.npm_instances, one.npm_whole)
        for one in verdicts if not one.agrees
    ]  # fmt: skip


@pytest.mark.nightly
def test_npm_agrees_on_every_output_of_every_system(npm):
    items = judges.outputs([load(case_id) for case_id in CASES], SYSTEMS)

    verdicts = judges.judge(npm, judges.distinct(items))

    assert [found[:2] for found in differing(verdicts)] == [BELOW_A_WORKSPACE]
    assert judges.sentence(len(items), verdicts) in (CLASS / "details/history.md").read_text()


@pytest.mark.nightly
def test_npm_agrees_on_damaged_locks(npm):
    items = judges.damaged_inputs([load(case_id) for case_id in CASES], seeds=1)

    verdicts = judges.judge(npm, items)

    assert differing(verdicts) == []
    assert sum(not found.whole for found in verdicts) > len(verdicts) // 2
    assert judges.sentence(len(items), verdicts) in (CLASS / "details/history.md").read_text()


def test_npm_looks_through_an_alias_as_the_rubric_does(npm):
    hidden = untouched(LODASH)
    hidden.direct("lodash", None)
    hidden.direct("utils", "npm:lodash@4.17.20")
    entry = hidden.packages.pop("node_modules/lodash")
    hidden.packages["node_modules/utils"] = {"name": "lodash", **entry}

    (verdict,) = judges.judge(npm, [judges.Item(LODASH, "alias", hidden.files()["files"])])

    assert verdict.npm_instances == {"lodash": {"node_modules/utils"}}
    assert verdict.agrees


def with_two_rules(one, other):
    """Return cookie 0.7.2 locked below csurf, with two rules of which only one says so."""
    output = untouched(COOKIE)
    output.manifest["overrides"] = {
        key: version if key.startswith("cookie") else {"cookie": version}
        for key, version in (one, other)
    }
    output.take(COOKIE, "node_modules/csurf/node_modules/cookie", "cookie", "0.7.2")
    return judges.Item(COOKIE, f"{one} {other}", output.files()["files"])


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(7, id="some", marks=pytest.mark.slow),
        pytest.param(1, id="all", marks=pytest.mark.nightly),  # npm takes a second for each
    ],
)
def test_npm_takes_the_same_of_two_rules(npm, step):
    keys = ("cookie", "cookie@<0.7.0", "cookie@0.4", "csurf", "csurf@^1.11.0")
    versions = itertools.permutations(("0.7.1", "0.7.2"))
    pairs = itertools.product(itertools.permutations(keys, 2), versions)

    items = [with_two_rules(*zip(*pair, strict=True)) for pair in pairs]
    verdicts = judges.judge(npm, items[::step])

    assert differing(verdicts) == []
    assert {found.whole for found in verdicts} == {True, False}
