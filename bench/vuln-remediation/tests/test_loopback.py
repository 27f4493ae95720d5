# mypy: allow-untyped-defs, allow-untyped-calls
"""The registry that npm is recorded and judged with: it serves what is frozen, on the loopback interface only."""

import gzip
import json
import urllib.error
import urllib.request

import pytest
from _benchgate_bench.vuln_remediation.tests.support import CLASS, LODASH
from _benchgate_bench.vuln_remediation.tools.cassettes import frozen_advisories, frozen_packages
from _benchgate_bench.vuln_remediation.tools.loopback_registry import BULK, LoopbackRegistry

SCOPED = {"@a/b": {"versions": {"1.0.0": {"integrity": "sha512-x", "dependencies": {"c": "*"}}}}}


@pytest.fixture(scope="module")
def registry():
    packages = {"lodash": frozen_packages(LODASH), "small": SCOPED}
    with LoopbackRegistry(packages, {"lodash": frozen_advisories()}) as served:
        yield served


def fetch(address, body=None, headers=None):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    request = urllib.request.Request(address, body, headers or {})  # noqa: S310 - our own server
    with opener.open(request, timeout=300) as answer:
        return json.load(answer)


def test_it_listens_on_the_loopback_interface_on_a_free_port(registry):
    with LoopbackRegistry({}, {}) as other:
        assert other.url("a") != registry.url("a")
        assert other.url("a").startswith("http://127.0.0.1:")


def test_a_package_is_served_as_it_was_frozen(registry):
    served = fetch(registry.url("lodash") + "lodash")
    frozen = frozen_packages(LODASH)["lodash"]

    assert served["dist-tags"] == {"latest": frozen["latest"]}
    assert served["versions"].keys() == frozen["versions"].keys()
    for version, manifest in served["versions"].items():
        assert (manifest["name"], manifest["version"]) == ("lodash", version)
        assert manifest["dist"]["integrity"] == frozen["versions"][version]["integrity"]


@pytest.mark.parametrize("name", ["@a/b", "@a%2fb", "@a%2Fb"])
def test_scoped_names(registry, name):
    served = fetch(registry.url("small") + name)

    assert served["name"] == "@a/b"
    assert served["versions"]["1.0.0"]["dependencies"] == {"c": "*"}


@pytest.mark.parametrize(
    ("of", "name", "body"),
    [
        ("lodash", "express", None),
        ("small", "lodash", None),
        ("none", "lodash", None),
        ("small", "@a/b/-/1.0.0.tgz", None),
        ("lodash", "-/npm/v1/security/audits/quick", b"{}"),
    ],
)
def test_what_is_not_frozen_does_not_exist(registry, of, name, body):
    with pytest.raises(urllib.error.HTTPError, match="404"):
        fetch(registry.url(of) + name, body)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_advisories_come_for_the_packages_asked_for(registry, pack):
    asked = pack(json.dumps({"lodash": ["4.17.20"], "ms": ["2.1.2"]}).encode())
    headers = {} if pack is bytes else {"Content-Encoding": "gzip"}

    served = fetch(registry.url("lodash") + BULK, asked, headers)

    assert served == {"lodash": frozen_advisories()["lodash"]}


def test_what_scores_shares_nothing_with_systems_and_tools():
    for path in CLASS.glob("*.py"):
        if path.name != "registration.py":
            text = path.read_text()
            assert ".systems" not in text
            assert ".tools" not in text
