# mypy: allow-untyped-defs, allow-untyped-calls
# ruff: noqa: T201 - the order is printed
"""
The order of twenty answers to one project, as two readers ranked them who had seen neither rubric nor scores.

Reader 1 is a model asked as a senior maintainer, reader 2 one asked as a security engineer. Both read a line on each
answer (the words beside it below) and put them in order, best first, ties allowed; the rubric's order is that of the
score less the penalty. The project has five direct dependencies, three of them vulnerable.
"""

import copy
import itertools
import math

import pytest
from _benchgate_bench.vuln_remediation.tests.support import Output, score_made

READERS = ("A|E|B|C D|K|F|T|L|H|G|M N|I|O|R|S|J|P|Q", "A|E|B|C|D|F|K|L|H|T|G|I|M N|R|S|J O|P Q")
HIT = ("bad-1", "bad-2", "bad-3")
VERSIONS = {
    **dict.fromkeys(HIT, ("1.0.0", "1.1.0")),
    "keep": ("1.0.0", "1.0.1"),
    "big": ("1.0.0", "2.0.0"),
    "new": ("1.0.0",),
}
REGISTRY = {
    name: {"versions": {one: {"integrity": f"sha512-{name}-{one}"} for one in versions}}
    for name, versions in VERSIONS.items()
}
MANIFEST = {
    "name": "p",
    "version": "1.0.0",
    "dependencies": dict.fromkeys((*HIT, "keep", "big"), "^1.0.0"),
}
ADVISORIES = [{"ghsa": f"GHSA-{one}", "package": one, "vulnerable_range": "<1.1.0"} for one in HIT]
EXPECTED = {
    "schema_version": 1, "target": ADVISORIES[0], "also": ADVISORIES[1:], "fix_classes": {"lock-refresh": 1.0},
    "may_change": list(HIT), "spec_edits_allowed": [], "majors_allowed": [], "overrides_allowed": [],
    "range_breaks_allowed": [], "sentinels": {}, "advisories": [],
}  # fmt: skip


def entry(name, version):
    return {"version": version, **REGISTRY[name]["versions"][version]}


def given(fixed=0):
    versions = {
        name: "1.1.0" if name in HIT[:fixed] else "1.0.0" for name in MANIFEST["dependencies"]
    }
    packages = {f"node_modules/{name}": entry(name, version) for name, version in versions.items()}
    lock = {"name": "p", "version": "1.0.0", "lockfileVersion": 3}
    lock["packages"] = {"": copy.deepcopy(MANIFEST), **packages}
    return Output(copy.deepcopy(MANIFEST), lock)


def answers():
    """Return the answers by letter, each with what the readers were told."""
    made = {letter: given(3) for letter in "ABCDEFGJKLMNOPQST"}
    made |= {"H": given(2), "I": given(1), "R": given()}
    at = {letter: one.packages for letter, one in made.items()}
    made["B"].manifest["//"] = "..."  # a comment added
    at["D"]["node_modules/keep"] = entry("keep", "1.0.1")  # an unrelated patch
    made["E"].direct("bad-1", "^1.1.0")  # a range raised to the fix
    made["F"].manifest["overrides"] = {"bad-1": "^1.0.0"}  # a needless override
    made["G"].direct("big", "^2.0.0")  # a needless major
    at["G"]["node_modules/big"] = entry("big", "2.0.0")
    at["J"]["node_modules/keep"]["dev"] = True  # a production package marked as development
    at["K"]["node_modules/new"] = entry("new", "1.0.0")  # an entry that nothing depends on
    made["L"].manifest["dependencies"]["bad-1"] = "^1.1.0"  # the root entry has the old range
    at["M"]["node_modules/bad-1"]["integrity"] = "sha512-invented"
    at["N"]["node_modules/bad-1"]["version"] = "1.1.9"  # a version that does not exist
    made["O"].direct("keep", None)  # a direct dependency removed
    del at["O"]["node_modules/keep"]
    made["P"].manifest["scripts"] = {"postinstall": "node x.js"}
    at["Q"]["node_modules/bad-1"]["resolved"] = "https://elsewhere.invalid/bad-1-1.1.0.tgz"
    made["T"].direct("new", "^1.0.0")  # a new direct dependency that nothing uses
    at["T"]["node_modules/new"] = entry("new", "1.0.0")
    found = {letter: one.files() for letter, one in made.items()}
    found["C"]["files"]["SECURITY.md"] = "text"
    cut_off = found["S"]["files"]["package-lock.json"][:200]
    found["S"]["files"]["package-lock.json"] = cut_off
    return found


def tau(one, other):
    """Return Kendall's tau-b of two orders, each letter to its rank."""
    pairs = [
        (one[a] - one[b], other[a] - other[b]) for a, b in itertools.combinations(sorted(one), 2)
    ]
    signs = sum((x > 0) - (x < 0) if y > 0 else (x < 0) - (x > 0) if y < 0 else 0 for x, y in pairs)
    return signs / math.sqrt(sum(x != 0 for x, _ in pairs) * sum(y != 0 for _, y in pairs))


@pytest.fixture
def worth(tmp_path):
    told = {"registry": REGISTRY, "expected": EXPECTED}
    scores = {letter: score_made(tmp_path, given(), one, told) for letter, one in answers().items()}
    return {letter: one.score - (one.safety_penalty or 0.0) for letter, one in scores.items()}


def test_the_rubric_orders_answers_as_the_readers_do(worth):
    readers = [
        {letter: rank for rank, tied in enumerate(order.split("|")) for letter in tied.split()}
        for order in READERS
    ]
    ranks = {letter: -round(value, 9) for letter, value in worth.items()}
    found = [tau(ranks, reader) for reader in readers]
    print(*(f"{letter} {worth[letter]:.2f}" for letter in sorted(worth, key=ranks.__getitem__)))
    print(f"Kendall's tau {found[0]:.2f}, {found[1]:.2f}; of the two readers {tau(*readers):.2f}")

    assert min(found) >= 0.75


def test_what_is_left_to_do_grades_what_is_not_right(worth):
    # All fixed, and style; two of three advisories; an invented hash; nothing done, or a file that cannot be read.
    assert worth["A"] >= worth["B"] > worth["H"] > worth["I"] > worth["M"]
    assert worth["H"] > worth["R"] >= worth["S"] == 0.0
    assert worth["H"] > max(worth[letter] for letter in "MNOPQ")
