"""With the plugin installed but unused, a pytest run pays nothing for it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = ("pydantic", "pydantic_core", "scipy", "numpy", "tomli", "rfc8785")
CODE = """
import json, sys, pytest
options = ["-p", "no:randomly", "-p", "no:hypothesispytest", "-p", "no:cacheprovider", "-q"]
status = pytest.main([*options, *sys.argv[1:]])
loaded = sorted(name for name in sys.modules if name.partition(".")[0] == "benchgate")
heavy = [name for name in {heavy} if name in sys.modules]
sys.stderr.write(json.dumps([int(status), heavy, loaded]))
"""


def imported(folder, *arguments: str) -> tuple[int, list[str], list[str]]:
    """Run pytest in a fresh interpreter; return its status, the heavy modules and ours that it imported."""
    code = CODE.replace("{heavy}", repr(HEAVY))
    made = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return tuple(json.loads(made.stderr.splitlines()[-1]))


@pytest.mark.parametrize(
    "arguments",
    [(), ("test_plain.py",), ("--co",), ("--help",), ("--markers",)],
    ids=["plain", "path", "--co", "--help", "--markers"],
)
def test_nothing_heavy_is_imported_without_a_bench(pytester, arguments):
    pytester.makepyfile(test_plain="def test_plain(): pass")
    status, heavy, loaded = imported(pytester.path, *arguments)
    assert status == 0
    assert heavy == []
    assert "benchgate.pytest_plugin" in loaded
    assert "benchgate.models" not in loaded


def test_nothing_heavy_is_imported_beside_a_bench_that_is_not_asked_for(bench):
    bench.pytester.makepyfile(test_plain="def test_plain(): pass")
    status, heavy, _ = imported(bench.root)
    assert status == 0
    assert heavy == []


def test_a_bench_without_a_comparison_needs_no_statistics_to_collect(bench):
    status, heavy, _ = imported(bench.root, "--bench=echo", "--co")
    assert status == 0
    assert not {"scipy", "numpy"} & set(heavy)


def test_an_unused_plugin_writes_nothing(bench):
    bench.pytester.makepyfile(test_plain="def test_plain(): pass")
    bench.pytest().assert_outcomes(passed=1)
    assert not bench.out.exists()


def test_the_plugin_can_be_switched_off(bench):
    bench.pytester.makepyfile(test_plain="def test_plain(): pass")
    result = bench.pytest("-p", "no:benchgate", "test_plain.py", apart=True)
    result.assert_outcomes(passed=1)


def test_the_plugin_can_be_named_where_entry_points_are_off(bench, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    result = bench.run("-p", "pytest_timeout", "-p", "benchgate.pytest_plugin", apart=True)
    result.assert_outcomes(passed=3)
    assert result.ret == pytest.ExitCode.OK
